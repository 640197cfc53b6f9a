// Section Rounds: the protocol of a sealed campaign, from dealing noise to the one opening. The
// dashboard's head closes campaigns with `closeCampaign` from here too.

import { confirmed, copyButton, el, fill, large, once, renew, svg } from "../requester/elements.js";
import { counted, listed, sentence, shortly, whole } from "../requester/formats.js";
import { fingerprintElement } from "../requester/keyholder-cards.js";
import { isSealed } from "../requester/policy.js";
import { ask, Problem } from "../requester/requests.js";
import { keep, kept } from "./invitations.js";
import { sectionElement } from "./sections.js";

/** @import { Rounds, Seat, Section, State } from "../requester/types.js" */

/** How many dropped uploads are listed. */
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
    /** @type {Rounds | null} the last known ones */
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
    this.none = el("p", { text: "This campaign is a draft. Its keyholders can start once you open it." });
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

  /** The next action comes first. @param {boolean} linksFirst */
  order(linksFirst) {
    const [first, second] = linksFirst ? [this.links.element, this.keyholders] : [this.keyholders, this.links.element];
    if (this.cards.firstElementChild !== first) second.before(first);
  }

  /** @param {State} state @param {Rounds} rounds */
  buttons({ campaign, overview }, rounds) {
    const { phase, waiting, checked, minimum } = rounds;
    const isOver = ["opening", "opened", "dead"].includes(phase);
    if (campaign.state === "open" && !isOver && isEnough(rounds)) return [this.button("Close, and open the total", "quiet", () => this.close())];
    if (campaign.published) return [el("p", { text: "The truths are published. Workers can read them and compute their own weights." })];
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
        `The uploads of ${waiting === 1 ? "one worker" : `${whole(waiting)} workers`} are discarded for good: they count in no truth ` +
"and cannot be added later, because only one total is ever opened.",
        "If a keyholder is only temporarily offline, wait for it: waiting loses nothing.",
      ],
      action: `Discard ${counted(waiting, "upload")}`,
    });
    if (!sure) return;
    await ask(`${this.path}/rounds/open-without`, { method: "POST" });
    this.changed();
  }

  async publish() {
    const sure = await confirmed({
      title: "Publish the truths to workers?",
      words: ["Anyone who has a link or took part can then read the truth of every task, and compute on their own device how often they agreed. This cannot be undone."],
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

/** A sentence with commands in backticks. @param {string} text */
const coded = (text) => text.split("`").map((part, at) => (at % 2 ? el("code", { text: part }) : part));

/** Whether there can be enough uploads for a total. @param {Rounds} rounds */
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
    el("p", { class: "fine", text: `All ${whole(keyholders.length)} must deal noise and confirm the checks. Then any ${whole(needed)} can open the total.` }),
  ];
}

/** @param {Rounds} rounds */
function droppedOf({ dropped }) {
  const more = dropped.length - SHOWN;
  return [
    el("h3", { text: "Dropped uploads" }),
    el("p", { class: "hint", text: "The keyholders found that these are not valid answers. They are in no total." }),
    el("dl", { class: "reasons" }, dropped.slice(0, SHOWN).map(({ worker, words }) =>
      el("div", {}, el("dt", {}, "Worker ", el("code", { title: worker, text: `${worker.slice(0, SHORT)}…` })), el("dd", { text: sentence(words) })))),
    ...(more > 0 ? [el("p", { class: "hint", text: `And ${whole(more)} more.` })] : []),
  ];
}

// The five steps, and the current one in words.

const STEPS = ["Dealing noise", "Collecting", "Checking", "Opening", "Opened"];
/** Checking repeats while answers are collected. @type {Record<Rounds["phase"], number>} */
const AT = { dealing: 0, collecting: 1, checking: 2, closing: 2, opening: 3, opened: 4, dead: 0 };

/** @param {Rounds} rounds */
function stepLine({ phase }) {
  const here = AT[phase];
  return el("ol", { class: phase === "dead" ? "phases dead" : "phases", "aria-label": "Steps of the protocol" },
    STEPS.map((name, at) => el("li", { class: at < here || phase === "opened" ? "done" : null, "aria-current": at === here ? "step" : null },
      el("span", { text: name }), at < here && el("span", { class: "unseen", text: ", done" }))));
}

/** The current phase, and what to do. @param {Rounds} rounds */
export function roundWords(rounds) {
  const { phase, waiting, checked, minimum, quorum } = rounds;
  switch (phase) {
    case "dealing":
      return dealingWords(rounds);
    case "collecting":
      return `All noise is dealt. Workers can answer. Keyholders check new uploads from time to time.${short(checked, minimum)}`;
    case "checking":
      return `Keyholders are checking ${counted(waiting, "upload")}. They see shares, not answers.`;
    case "closing":
      return closingWords(rounds);
    case "opening":
      return `${whole(quorum.opened)} of ${whole(quorum.needed)} shares of the total are in. ${quorum.opened < quorum.needed ? "The other keyholders must be running." : "Truths follow in a moment."}`;
    case "opened":
      return `The total of ${counted(checked, "worker")} is open. Nothing else of this campaign will ever be opened.`;
    case "dead":
      return "This campaign has ended without a total. Nothing that was sent can ever be opened. Create it again with reliable keyholders.";
  }
}

/** @param {Rounds} rounds */
function dealingWords({ keyholders }) {
  const missing = keyholders.filter(({ dealt }) => !dealt).map(({ name }) => name);
  if (missing.length === 0) return "All noise is dealt. The keyholders are checking it.";
  return `Waiting for the noise of ${listed(missing)}. Workers can already answer. Nothing is opened without every keyholder’s noise.`;
}

/** @param {Rounds} rounds */
function closingWords({ waiting, checked, minimum }) {
  if (waiting) return `The campaign is closed. Once the last ${counted(waiting, "upload")} ${waiting === 1 ? "is" : "are"} checked, the total is opened.`;
  if (checked < minimum) return "The campaign is closed. Its total cannot be opened: too few uploads passed the checks.";
  return "The campaign is closed. Everything is checked, and the total will be opened next.";
}

/** @param {number} checked @param {number} minimum */
function short(checked, minimum) {
  const missing = minimum - checked;
  return missing > 0 ? ` ${counted(missing, "more upload")} must pass the checks before a total can be opened.` : "";
}

// The table of keyholders and what each has done.

const COLUMNS = ["Keyholder", "Seen", "Noise", "Confirmed", "Share"];

/** @param {Seat[]} keyholders */
function keyholderTable(keyholders) {
  // Explicit roles, because rows are grids on phones.
  return el("table", { class: "keyholders", role: "table" },
    el("caption", { class: "unseen", text: "Keyholders and their progress" }),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, COLUMNS.map((text) => el("th", { scope: "col", role: "columnheader", text })))),
    el("tbody", { role: "rowgroup" }, keyholders.map(seatRow)),
  );
}

/** @param {Seat} keyholder */
function seatRow({ seat, name, fingerprint, dealt, confirmed, opened, ...seen }) {
  return el("tr", { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, el("span", { class: "seat-name" }, el("span", { class: "unseen", text: "Seat " }), el("span", { class: "seat", text: String(seat) }), " ", name), fingerprintElement(fingerprint)),
    el("td", { role: "cell" }, presence(seen)),
    el("td", { role: "cell" }, mark(dealt, "dealt")),
    el("td", { role: "cell" }, mark(confirmed !== null, confirmed === 0 ? "noise" : `batch ${whole(confirmed ?? 0)}`)),
    el("td", { role: "cell" }, mark(opened, "in")),
  );
}

/** @param {{seen_on: string | null, is_here: boolean}} seen */
function presence({ seen_on, is_here }) {
  if (is_here) return el("span", { class: "chip open", text: "here" });
  return el("span", { class: "chip", text: seen_on ? shortly(seen_on) : "never" });
}

/** @param {boolean} isDone @param {string} words */
function mark(isDone, words) {
  if (!isDone) return el("span", { class: "tag" }, el("span", { "aria-hidden": "true", text: "–" }), el("span", { class: "unseen", text: "not yet" }));
  return el("span", { class: "mark-done" },
    svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, svg("path", { d: "M2 6.5 5 9.5 10 3", fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" })),
    words);
}

// Links for keyholders: each takes its seat with its link. New links revoke the old ones.

/** @typedef {{seat: number, name: string, link: string}} SeatLink */

class KeyholderLinks {
  /**
   * @param {string} path
   * @param {(text: string, look: string, act: () => Promise<void>) => HTMLElement} button
   */
  constructor(path, button) {
    this.path = path;
    this.id = path.split("/")[1] ?? "";
    this.button = button;
    this.element = el("div", { class: "card" });
    this.show();
  }

  show() {
    const links = kept(this.id).keyholders;
    fill(
      this.element,
      el("h3", { tabindex: -1, text: "Links for keyholders" }),
      el("p", { class: "hint" }, "Send each keyholder its own link. The keyholder runs ", el("code", { text: "sottovoce keyholder serve 'LINK'" }), " and leaves it running. A link alone opens nothing: the keyholder’s keys are needed too."),
      links.length ? this.list(links) : null,
      links.length ? this.button("Make new links", "quiet", () => this.again()) : this.button("Make the links", "", () => this.make()),
      el("p", { class: "fine", text: links.length ? "This tab keeps them until you close it. The server stores only their hashes." : "New links replace existing ones." }),
    );
  }

  /** @param {SeatLink[]} links */
  list(links) {
    return el("ol", { class: "seat-links" }, links.map(({ name, link }) =>
      el("li", {}, el("span", { class: "seat-name", text: name }), el("code", { text: link }), copyButton("Copy", () => link, "quiet", `Copy the link of ${name}`))));
  }

  async again() {
    const sure = await confirmed({
      title: "Make new links for all keyholders?",
      words: ["The current links stop working at once. Send each keyholder its new link. Their progress is kept."],
      action: "Make new links",
    });
    if (sure) await this.make();
  }

  async make() {
    const { links } = await ask(`${this.path}/keyholders`, { method: "POST" });
    keep(this.id, { keyholders: links });
    this.show();
    this.element.querySelector("h3")?.focus();
  }
}

// Closing cannot be undone, so a dialog explains it first.

/**
 * Closes the campaign if the user confirms. Returns the message to show, or nothing.
 *
 * @param {string} path
 * @param {Rounds | null} rounds of a sealed campaign
 */
export async function closeCampaign(path, rounds) {
  const sure = await confirmed({
    title: "Close this campaign for good?",
    words: [
      "No more reports are accepted. Workers see that the campaign is over, so it " +
"cannot be opened again.",
      ...(rounds ? openingWords(rounds) : ["Truths, weights and exports are kept."]),
    ],
    action: "Close it for good",
  });
  if (!sure) return "";
  await ask(`${path}/close`, { method: "POST" });
  return rounds ? "Closed. The keyholders open the total once everything is checked." : "Closed. The last reports are still being processed.";
}

/** @param {Rounds} rounds */
function openingWords({ uploads, dropped, minimum, quorum }) {
  const left = uploads - dropped.length;
  const missing = minimum - left;
  if (missing > 0) return [`Only ${counted(left, "upload")} can be in the total, and the minimum is ${whole(minimum)}. Nothing that was sent could ever be opened. Wait for ${whole(missing)} more.`];
  return [`The keyholders then check the last uploads, and ${whole(quorum.needed)} of them open the total. Only this one total is ever opened.`];
}
