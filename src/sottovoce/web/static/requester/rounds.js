// The protocol of a sealed campaign as it goes: what came in, what was checked, who is here, and the
// one opening.

import { ask, Problem } from "./asking.js";
import { el } from "./building.js";
import { closeCampaign } from "./closing.js";
import { confirmed } from "./confirming.js";
import { KeyholderLinks } from "./keyholder-links.js";
import { keyholderTable } from "./keyholder-rows.js";
import { large } from "./large-figures.js";
import { once } from "./pressing.js";
import { isSealed } from "./promises.js";
import { renew } from "./renewing.js";
import { roundWords, stepLine } from "./round-steps.js";
import { counted, sentence, whole } from "./saying.js";
import { sectionElement } from "./sections.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Rounds} Rounds */
/** @typedef {import("./shapes.js").Section} Section */

/** Dropped uploads that are written out. */
const SHOWN = 20;
/** Digits of a pseudonym that are enough to tell two workers apart. */
const SHORT = 8;

/** @param {string} path @param {() => void} changed @returns {Section} */
export function roundsSection(path, changed) {
  return new RoundsSection(path, changed);
}

class RoundsSection {
  /** @param {string} path @param {() => void} changed */
  constructor(path, changed) {
    this.name = "rounds";
    this.title = "Rounds";
    this.path = path;
    this.changed = changed;
    /** @type {Rounds | null} as they were last heard of */
    this.rounds = null;
    this.progress = el("div");
    this.problem = el("p", { class: "notice bad", role: "alert", hidden: true });
    this.actions = el("div");
    this.figures = el("dl", { class: "large" });
    this.keyholders = el("div", { class: "card" });
    this.links = new KeyholderLinks(path, (...button) => this.button(...button));
    this.dropped = el("div", { class: "card" });
    this.cards = el("div", { class: "stack" }, this.keyholders, this.links.element, this.dropped);
    this.body = el("div", {}, this.progress, this.actions, this.problem, this.figures, this.cards);
    this.none = el("p", { text: "This campaign is a draft: its keyholders can begin once you open it." });
    this.element = sectionElement("rounds", "Rounds", this.none, this.body);
  }

  /** @param {State} state */
  isFor({ campaign }) {
    return isSealed(campaign.policy);
  }

  /** @param {State} state */
  show(state) {
    this.problem.hidden = true;
    this.update(state);
  }

  /** @param {State} state */
  update(state) {
    const { rounds, campaign, overview } = state;
    this.rounds = rounds;
    this.none.hidden = rounds !== null;
    this.body.hidden = rounds === null;
    if (rounds === null) return;
    const { keyholders, quorum, dropped, phase, waiting, checked } = rounds;
    renew(this.progress, rounds, () => progressOf(rounds));
    renew(this.actions, [phase, waiting, checked, isEnough(rounds), campaign.state, campaign.published, overview.summary !== null], () => this.buttons(state, rounds));
    renew(this.figures, rounds, () => figures(rounds));
    renew(this.keyholders, [keyholders, quorum], () => keyholdersOf(rounds));
    renew(this.dropped, dropped, () => droppedOf(rounds));
    this.dropped.hidden = dropped.length === 0;
    this.links.element.hidden = phase === "opened" || phase === "dead";
    this.order(phase === "dealing");
  }

  /** What has to be done first stands first. @param {boolean} linksFirst */
  order(linksFirst) {
    const [first, second] = linksFirst ? [this.links.element, this.keyholders] : [this.keyholders, this.links.element];
    if (this.cards.firstElementChild !== first) second.before(first);
  }

  /** @param {State} state @param {Rounds} rounds */
  buttons({ campaign, overview }, rounds) {
    const { phase, waiting, checked, minimum } = rounds;
    const isOver = ["opening", "opened", "dead"].includes(phase);
    if (campaign.state === "open" && !isOver && isEnough(rounds)) return [this.button("Close, and open the total", "quiet", () => this.close())];
    if (campaign.published) return [el("p", { text: "The truths are published: workers can read them, and weigh their own answers." })];
    if (phase === "opened") return overview.summary ? [this.button("Publish the truths to workers", "", () => this.publish())] : [el("p", { class: "hint busy", text: "The truths are being computed" })];
    if (campaign.state === "closed" && !isOver && waiting > 0 && checked >= minimum) {
      return [this.button(`Open without ${counted(waiting, "unchecked upload")}`, "danger", () => this.openWithout(waiting))];
    }
    return [];
  }

  async close() {
    if (await closeCampaign(this.path, this.rounds)) this.changed();
  }

  /** @param {number} waiting */
  async openWithout(waiting) {
    const sure = await confirmed({
      title: `Open the total without ${counted(waiting, "upload")}?`,
      words: [
        `What ${waiting === 1 ? "a worker has" : `${whole(waiting)} workers have`} sent is given up for good: it will be in no truth, ` +
          "and it cannot be added later, since only one total is ever opened.",
        "If a keyholder is only away for a while, waiting for it loses nothing.",
      ],
      action: `Give up ${counted(waiting, "upload")}`,
    });
    if (!sure) return;
    await ask(`${this.path}/rounds/open-without`, { method: "POST" });
    this.changed();
  }

  async publish() {
    const sure = await confirmed({
      title: "Publish the truths to workers?",
      words: ["Whoever has a link or took part can then read the truth of every task, and compute on the own device how often it agreed. This cannot be taken back."],
      action: "Publish the truths",
    });
    if (!sure) return;
    await ask(`${this.path}/publish`, { method: "POST" });
    this.changed();
  }

  /** @param {string} text @param {string} look @param {() => Promise<void>} act */
  button(text, look, act) {
    const button = el("button", { type: "button", class: look, text });
    button.addEventListener("click", () => void once(button, () => this.attempt(act)));
    return el("p", { class: "actions" }, button);
  }

  /** @param {() => Promise<void>} act */
  async attempt(act) {
    this.problem.hidden = true;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem.textContent = error.detail;
      this.problem.hidden = false;
    }
  }
}

/** A sentence in which commands stand between backticks. @param {string} text */
const coded = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", { text: part }) : part));

/** Whether there may be enough for a total. @param {Rounds} rounds */
const isEnough = ({ uploads, dropped, minimum }) => uploads - dropped.length >= minimum;

/** @param {Rounds} rounds */
function progressOf(rounds) {
  const { problem } = rounds;
  return [
    stepLine(rounds),
    el("p", { class: "forecast", text: roundWords(rounds) }),
    ...(problem ? [el("p", { class: "notice bad" }, coded(sentence(problem)))] : []),
  ];
}

/** @param {Rounds} rounds */
function figures({ uploads, checked, waiting, dropped, minimum }) {
  return [
    large("Uploads", whole(uploads)),
    large("Checked", whole(checked), checked < minimum ? `of ${whole(minimum)} needed` : undefined),
    large("Waiting", whole(waiting)),
    large("Dropped", whole(dropped.length)),
  ];
}

/** @param {Rounds} rounds */
function keyholdersOf({ keyholders, quorum: { needed, opened } }) {
  const dots = Array.from({ length: needed }, (_, at) => el("span", { class: at < opened ? "full" : "" }));
  return [
    el("div", { class: "card-head" },
      el("h3", { text: "Keyholders" }),
      el("p", { class: "quorum" }, el("span", { class: "dots", "aria-hidden": "true" }, dots), opened > needed ? `${whole(opened)} shares in, ${whole(needed)} needed` : `${whole(opened)} of ${whole(needed)} shares in`)),
    keyholderTable(keyholders),
    el("p", { class: "fine", text: `All ${whole(keyholders.length)} have to deal noise and confirm what was checked; then any ${whole(needed)} open the total.` }),
  ];
}

/** @param {Rounds} rounds */
function droppedOf({ dropped }) {
  const more = dropped.length - SHOWN;
  return [
    el("h3", { text: "Dropped uploads" }),
    el("p", { class: "hint", text: "The keyholders found that these are no valid answers. They are in no total." }),
    el("dl", { class: "reasons" }, dropped.slice(0, SHOWN).map(({ worker, words }) =>
      el("div", {}, el("dt", {}, "Worker ", el("code", { title: worker, text: `${worker.slice(0, SHORT)}…` })), el("dd", { text: sentence(words) })))),
    ...(more > 0 ? [el("p", { class: "hint", text: `And ${whole(more)} more.` })] : []),
  ];
}
