// What a campaign is and promises, and what can be done with it.

import { ask, place, Problem } from "./asking.js";
import { el, fill } from "./building.js";
import { closeCampaign } from "./closing.js";
import { confirmed } from "./confirming.js";
import { copyOpenLink } from "./invites.js";
import { once } from "./pressing.js";
import { isSealed } from "./promises.js";
import { renew } from "./renewing.js";
import { figure, whole, written } from "./saying.js";
import { againstWords, sealedWords } from "./sealed-promise.js";
import { stamp } from "./sections.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Campaign} Campaign */
/** @typedef {import("./shapes.js").Held} Held */

const STATES = { draft: "Draft", open: "Open", closed: "Closed" };

export class CampaignHead {
  /** @param {HTMLElement} element @param {string} path @param {() => void} changed */
  constructor(element, path, changed) {
    this.element = element;
    this.path = path;
    this.changed = changed;
    this.about = el("div");
    this.actions = el("p", { class: "actions" });
    this.status = el("p", { class: "hint", role: "status" });
    this.promise = el("div", { class: "promise-side" });
    /** @type {State["rounds"]} as they were last heard of */
    this.rounds = null;
  }

  /** @param {State} state */
  update({ campaign, rounds }) {
    this.rounds = rounds;
    if (!this.about.isConnected) fill(this.element, this.about, this.actions, this.status, this.promise);
    const { workers, reports, ...fixed } = campaign;
    renew(this.about, fixed, () => about(campaign));
    renew(this.actions, [campaign.state, campaign.title, campaign.simulated], () => this.buttons(campaign));
    renew(this.promise, fixed, () => promise(campaign));
  }

  /** The campaign is gone: nothing can be done with it. */
  end() {
    this.actions.replaceChildren();
  }

  /** @param {Campaign} campaign */
  buttons(campaign) {
    const { state, simulated } = campaign;
    const buttons = [];
    if (state === "draft") {
      buttons.push(this.button("Open the campaign", "", () => this.open(campaign)));
      const drafting = `${place("campaigns", "new")}#${campaign.id}`;
      buttons.push(el("a", { class: "button quiet", href: drafting, text: "Change the draft" }));
    }
    if (state === "open" && !simulated) {
      buttons.push(this.button("Copy the worker link", "", () => this.copy()));
    }
    if (state === "open") buttons.push(this.button("Close", "quiet", () => this.close()));
    buttons.push(this.button("Delete", "danger", () => this.remove(campaign)));
    return buttons;
  }

  /** @param {string} text @param {string} look @param {() => Promise<void>} act */
  button(text, look, act) {
    const button = el("button", { type: "button", class: look, text });
    button.addEventListener("click", () => void once(button, () => this.attempt(act)));
    return button;
  }

  /** @param {() => Promise<void>} act */
  async attempt(act) {
    this.status.textContent = "";
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.status.textContent = error.detail;
    }
  }

  /** @param {Campaign} campaign */
  async open({ tasks, policy }) {
    const sure = await confirmed({
      title: "Open this campaign?",
      words: [
        "From then on it takes reports, and what it asks and promises can no longer be changed: " +
          `the question, its ${whole(tasks)} tasks, the answers and the privacy.`,
      ],
      action: "Open it",
    });
    if (!sure) return;
    await ask(`${this.path}/open`, { method: "POST" });
    this.status.textContent = isSealed(policy) ? "Open. Now give each keyholder its link, under Rounds." : "Open. Now invite workers.";
    this.changed();
  }

  async copy() {
    this.status.textContent = await copyOpenLink(this.path);
    this.changed();
  }

  async close() {
    const said = await closeCampaign(this.path, this.rounds);
    if (!said) return;
    this.status.textContent = said;
    this.changed();
  }

  /** @param {Campaign} campaign */
  async remove({ title }) {
    const sure = await confirmed({
      title: "Delete this campaign and everything in it?",
      words: [
        "Its tasks, invites, reports, truths and weights are deleted for good. Workers can no longer " +
          "look at what they sent. Export first what you want to keep.",
      ],
      action: "Delete everything",
      typed: title,
    });
    if (!sure) return;
    await ask(this.path, { method: "DELETE" });
    location.assign(place("campaigns"));
  }
}

/** @param {Campaign} campaign */
function about(campaign) {
  const { state, title, question, closes_on: closesOn, closed_on: closedOn } = campaign;
  const facts = [
    `${whole(campaign.tasks)} ${campaign.tasks === 1 ? "task" : "tasks"}`,
    campaign.block < campaign.tasks ? `each worker is given ${whole(campaign.block)}` : null,
    campaign.quota === null ? null : `at most ${whole(campaign.quota)} workers`,
    campaign.unit === null ? null : `in ${campaign.unit}`,
    state === "closed" && closedOn ? `closed on ${written(closedOn)}` : null,
    state !== "closed" && closesOn ? `closes on ${written(closesOn)} (UTC)` : null,
  ];
  return [
    el("p", { class: "marks" }, el("span", { class: `chip ${state}`, text: STATES[state] }), " ", stamp()),
    el("h1", { text: title }),
    ...(question === title ? [] : [el("p", { class: "question", text: question })]),
    el("p", { class: "hint", text: `${facts.filter((fact) => fact !== null).join(" · ")}.` }),
  ];
}

/** @param {Campaign} campaign */
function promise({ guarantee, policy, policy_hash: hash }) {
  const { per_answer: perAnswer, per_worker: perWorker, odds, warning } = guarantee;
  return [
    el(
      "div",
      { class: "promised" },
      el("p", { class: "odds", text: odds ?? withoutOdds(policy) }),
      warning ? el("p", { class: "notice bad", text: warning }) : null,
      el(
        "details",
        {},
        el("summary", { text: "The promise in numbers" }),
        el(
          "dl",
          {},
          el("div", {}, el("dt", { text: "For one answer" }), el("dd", { text: held(perAnswer) })),
          el("div", {}, el("dt", { text: "For all answers of a worker" }), el("dd", { text: held(perWorker) })),
          isSealed(policy) && el("div", {}, el("dt", { text: "Against" }), el("dd", { text: againstWords(policy) })),
          el("div", {}, el("dt", { text: "Policy" }), el("dd", {}, el("code", { class: "hash", text: hash }))),
        ),
      ),
    ),
  ];
}

/** @param {Campaign["policy"]} policy */
const withoutOdds = (policy) => (isSealed(policy) ? sealedWords(policy) : "Workers’ software randomises every answer.");

/** @param {Held} guarantee */
function held({ epsilon, delta, exact, answers }) {
  if (epsilon === null) return "no finite epsilon";
  const about = delta > 0 ? `, delta ${delta.toPrecision(2)}` : "";
  return `${exact ? "" : "at most "}epsilon ${figure(epsilon)}${about} (up to ${whole(answers)} answers)`;
}
