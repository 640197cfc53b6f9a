// The dashboard of a campaign: its head and the section in the address. It polls the server for changes.

import { at, confirmed, el, fill, once, renew } from "../requester/elements.js";
import { clock, figure, whole, written } from "../requester/formats.js";
import { againstWords, betsOf100, betWords, isSealed, sealedWords } from "../requester/policy.js";
import { ask, place, Problem } from "../requester/requests.js";
import { exportsSection, methodsSection } from "./exports.js";
import { copyOpenLink, invitesSection } from "./invitations.js";
import { overviewSection, sentence } from "./overview.js";
import { closeCampaign, roundsSection } from "./rounds.js";
import { Sections, stamp } from "./sections.js";
import { truthsSection } from "./truths.js";
import { settingsSection } from "./webhooks.js";
import { weightsSection } from "./weights.js";

/** @import { Campaign, Devices, Held, State } from "../requester/types.js" */

// The head: title, promise, and the buttons that open, close or delete the campaign.

const STATES = { draft: "Draft", open: "Open", closed: "Closed" };

class CampaignHead {
  /** @param {HTMLElement} element @param {string} path @param {() => void} changed */
  constructor(element, path, changed) {
    this.element = element;
    this.path = path;
    this.changed = changed;
    this.about = el("div");
    this.actions = el("p", { class: "actions" });
    this.status = el("p", { class: "hint", role: "status" });
    this.promise = el("div", { class: "promise-side" });
    /** @type {State["rounds"]} the last known ones */
    this.rounds = null;
  }

  /** @param {State} state */
  update({ campaign, rounds }) {
    this.rounds = rounds;
    if (!this.about.isConnected) fill(this.element, this.about, this.actions, this.status, this.promise);
    const { workers, reports, cut_short, ...fixed } = campaign;
    renew(this.about, fixed, () => about(campaign));
    renew(this.actions, [campaign.state, campaign.title, campaign.simulated], () => this.buttons(campaign));
    renew(this.promise, fixed, () => promise(campaign));
  }

  /** The campaign was deleted: removes all buttons. */
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
      buttons.push(el("a", { class: "button quiet", href: drafting, text: "Edit the draft" }));
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
        "It then accepts reports, and these can no longer be changed: " +
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
"see what they sent. First export the data that you want to keep.",
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
    campaign.block < campaign.tasks ? `each worker gets ${whole(campaign.block)}` : null,
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
function promise({ block, guarantee, devices, policy, policy_hash: hash, state }) {
  const { per_answer: perAnswer, per_worker: perWorker, odds, warning } = guarantee;
  return [
    el(
      "div",
      { class: "promised" },
      el("p", { class: "odds", text: odds ?? withoutOdds(policy) }),
      warning ? el("p", { class: "notice bad", text: warning }) : null,
      state !== "closed" && devices?.warning ? el("p", { class: "hint", text: limitWords(devices, block) }) : null,
      el(
        "details",
        {},
        el("summary", { text: "The guarantee in numbers" }),
        isSealed(policy) && el("p", { class: "hint", text: betWords(betsOf100(perAnswer.epsilon ?? Infinity)) }),
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

/** The effect of the default budget of devices. @param {Devices} devices @param {number} block */
const limitWords = ({ answered, budget }, block) =>
  answered
    ? `At its default budget of epsilon ${budget}, a worker’s device answers ${whole(answered)} of its ${whole(block)} tasks.`
    : `At their default budget of epsilon ${budget}, workers’ devices refuse this campaign: only workers who raise it can answer.`;

/** @param {Campaign["policy"]} policy */
const withoutOdds = (policy) => (isSealed(policy) ? sealedWords(policy) : "Workers’ software randomises every answer.");

/** @param {Held} guarantee */
function held({ epsilon, delta, exact, answers }) {
  if (epsilon === null) return "no finite epsilon";
  const about = delta > 0 ? `, delta ${delta.toPrecision(2)}` : "";
  return `${exact ? "" : "at most "}epsilon ${figure(epsilon)}${about} (up to ${whole(answers)} answers)`;
}

// Polling: every two seconds while something changes, then less often, and never in a hidden tab.

const QUICK = 2_000;
const SLOW = 15_000;
const GROWTH = 1.6;

/**
 * @param {() => Promise<string | null>} look returns the state as any text; null stops polling
 * @returns {() => Promise<void>} polls at once
 */
function watch(look) {
  let pause = QUICK;
  let timer = 0;
  let seen = "";
  let isOver = false;
  /** @type {Promise<void> | null} */
  let going = null;

  async function turn() {
    const now = await look();
    isOver = now === null;
    pause = now === seen ? Math.min(SLOW, pause * GROWTH) : QUICK;
    seen = now ?? "";
  }

  function again() {
    clearTimeout(timer);
    if (isOver || document.hidden) return Promise.resolve();
    going ??= turn().finally(() => {
      going = null;
      if (!isOver && !document.hidden) timer = setTimeout(again, pause);
    });
    return going;
  }

  document.addEventListener("visibilitychange", () => {
    pause = QUICK;
    void again();
  });
  void again();
  // A pending reply can be older than the event that caused this call, so ask again.
  return async () => {
    await going;
    pause = QUICK;
    await again();
  };
}

// The page.

/** Milliseconds between two announcements to screen readers. */
const TELL_EVERY = 10_000;

const id = location.pathname.slice(place("campaigns").length + 1).split("/")[0] ?? "";
const path = `campaigns/${id}`;
const head = new CampaignHead(at("head"), path, () => void look());
const sections = new Sections(at("sections"), at("shown"), [
  overviewSection(),
  roundsSection(path, () => void look()),
  truthsSection(path),
  weightsSection(path),
  invitesSection(path),
  exportsSection(path),
  methodsSection(path),
  settingsSection(path),
]);

/** @type {Date | null} */
let heardAt = null;
let toldAt = 0;

const look = watch(async () => {
  try {
    const [campaign, overview, rejections] = await Promise.all([
      ask(path),
      ask(`${path}/overview`),
      ask(`${path}/rejections`),
    ]);
    const rounds = isSealed(campaign.policy) && campaign.state !== "draft" ? await ask(`${path}/rounds`) : null;
    const state = { campaign, overview, rejections, rounds };
    show(state);
    return JSON.stringify(state);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return excuse(error);
  }
});

/** @param {State} state */
function show(state) {
  heardAt = new Date();
  at("trouble").hidden = true;
  at("sections").hidden = false;
  document.body.classList.toggle("simulated", state.campaign.simulated);
  document.title = `${state.campaign.title} · Sottovoce`;
  head.update(state);
  sections.update(state);
  tell(sentence(state));
}

/** Announces the state to screen readers, at a limited rate. @param {string} text */
function tell(text) {
  const told = at("told");
  if (told.textContent === text || Date.now() - toldAt < TELL_EVERY) return;
  toldAt = Date.now();
  told.textContent = text;
}

/**
 * Keeps the last data on the page and shows its time.
 *
 * @param {Problem} problem
 */
function excuse(problem) {
  const isGone = problem.reason === "not_found";
  if (heardAt === null && isGone) return nothingHere();
  if (isGone) head.end();
  at("trouble").hidden = false;
  at("trouble").textContent = words(problem, isGone);
  return isGone ? null : problem.reason;
}

/** @param {Problem} problem @param {boolean} isGone */
function words(problem, isGone) {
  if (heardAt === null) return `${problem.detail} This page tries again by itself.`;
  const kept = `The data shown is from ${clock(heardAt)}.`;
  if (isGone) return `This campaign has been deleted. ${kept}`;
  return `The server has not responded since ${clock(heardAt)}. ${kept} This page tries again by itself.`;
}

/** The campaign does not exist: shows that and stops polling. */
function nothingHere() {
  fill(
    at("head"),
    el("p", { class: "kicker", text: "Not found" }),
    el("h1", { text: "Campaign not found" }),
    el("p", { text: "It may have been deleted, or the address is incomplete." }),
    el("p", {}, el("a", { class: "button", href: place("campaigns"), text: "All campaigns" })),
  );
  return null;
}
