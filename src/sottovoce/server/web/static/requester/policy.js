// A policy in words: its mechanism, its guarantee in odds and numbers, and the promise of sealed answers.

import { el, svg } from "./elements.js";
import { counted, figure, whole } from "./formats.js";
import { fingerprint, fingerprintElement } from "./keyholder-cards.js";

/** @import { Card } from "./keyholder-cards.js" */
/** @import { Devices, Held, Policy } from "./types.js" */

/**
 * A mechanism as the server lists it. The pages use these properties, never its name.
 *
 * @typedef {object} Mechanism
 * @property {string} name
 * @property {string} words its plain name and, after a colon, what it does
 * @property {string | null} counts what the number of 100 counts; null: true answers
 * @property {string[]} takes kinds of answers
 * @property {boolean} can_hide which tasks a worker answered
 * @property {boolean} always_hides that, and has no way not to
 * @property {boolean} in_browser
 * @property {boolean} needs_keyholders for whom answers are sealed
 * @property {boolean} keeps_answers as randomised response does
 * @property {number} fewest_symbols labels, and “no answer” where that is hidden
 * @property {number | null} most_labels
 */

/** Those that pages list, in their order. @type {Mechanism[]} */
const MECHANISMS = JSON.parse(/** @type {HTMLMetaElement} */ (document.querySelector("meta[name=mechanisms]")).content);

/** @param {string} name @returns {Mechanism | undefined} */
const listed = (name) => MECHANISMS.find((each) => each.name === name);

/** The one of campaigns whose answers are sealed for keyholders, by its name. */
export const SEALED = MECHANISMS.find((each) => each.needs_keyholders)?.name ?? "";

/** @param {string} name */
export const needsKeyholders = (name) => listed(name)?.needs_keyholders ?? false;

/** Whether its odds are those of randomised response. @param {string} name */
export const keepsAnswers = (name) => listed(name)?.keeps_answers ?? false;

/** The name of a policy's mechanism; of a sample, that of what is sampled. @param {Policy} policy @returns {string} */
export const mechanismName = ({ mechanism }) => (mechanism.of ?? mechanism).name;

/** Whether answers are sealed for keyholders. @param {Policy} policy */
export const isSealed = (policy) => needsKeyholders(mechanismName(policy));

// Mechanisms in words, and those that fit a campaign.

/** @typedef {{kind: string, labels: string[], hides: boolean}} Asked */

/** A mechanism in plain words. @param {string} name */
export function inWords(name) {
  return listed(name)?.words ?? name;
}

/** A mechanism's name as people say it. @param {string} name */
export function calledName(name) {
  return inWords(name).split(":")[0] ?? name;
}

/** What the number of 100 counts. @param {string} name */
export function counting(name) {
  return listed(name)?.counts ?? "how many of 100 workers send their true answer";
}

/**
 * Mechanisms that fit and need no keyholders.
 *
 * @param {Asked} asked
 */
export function fitting(asked) {
  return comparable(asked).filter((each) => !each.needs_keyholders);
}

/**
 * Mechanisms to compare; includes sealed answers if a ballot has room for this many labels.
 *
 * @param {Asked} asked
 */
export function comparable({ kind, labels, hides }) {
  const isNumeric = kind === "numeric";
  const hasRoom = (/** @type {Mechanism} */ { fewest_symbols, most_labels }) =>
    labels.length + Number(hides) >= fewest_symbols && labels.length <= (most_labels ?? Infinity);
  return MECHANISMS.filter((each) =>
    each.takes.includes(isNumeric ? "numeric" : "categorical") &&
    (hides ? each.can_hide : !each.always_hides) &&
    (isNumeric || hasRoom(each)));
}

// The guarantee in odds: stops of the slider, a hundred marks, numbers.

/** @type {Record<"answer" | "worker", number[]>} */
const STOPS = {
  answer: [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6],
  worker: [0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 12, 16, 20],
};

/**
 * The stops of the slider, with the one that a draft already has.
 *
 * @param {"answer" | "worker"} unit
 * @param {number} epsilon
 */
export function stops(unit, epsilon) {
  return [...new Set([...STOPS[unit], epsilon])].sort((one, other) => one - other);
}

/** The number of 100 in a sentence of the server's. @param {string | null} sentence @returns {number | null} */
export function of100(sentence) {
  const [, many] = sentence?.match(/^Of 100 workers\D*(\d+) /) ?? [];
  return many === undefined ? null : Number(many);
}

/**
 * How many of 100 answers randomised response keeps, computed before the server's reply:
 * e^epsilon / (e^epsilon + symbols - 1).
 *
 * @param {number} epsilon
 * @param {number} symbols
 */
export function keptOf100(epsilon, symbols) {
  return Math.round((100 * Math.exp(epsilon)) / (Math.exp(epsilon) + symbols - 1));
}

/**
 * The most bets of 100 that an observer of the opened total wins between two answers that were equally
* likely before: e^epsilon / (e^epsilon + 1), rounded up.
 *
 * @param {number} epsilon
 */
export function betsOf100(epsilon) {
  return Math.ceil(100 / (1 + Math.exp(-epsilon)) - 1e-9);
}

/** Ten rows of ten: full for what is kept, hollow for the others. @param {number | null} kept */
export function hundred(kept) {
  const marks = Array.from({ length: 100 }, (_, at) => {
    const isKept = kept !== null && at < kept;
    return svg("circle", { class: isKept ? "kept" : "turned", cx: 10 + 20 * (at % 10), cy: 10 + 20 * Math.floor(at / 10), r: isKept ? 6.5 : 5.75 });
  });
  return svg("svg", { class: "hundred", viewBox: "0 0 200 200", "aria-hidden": "true" }, marks);
}

/**
 * A guarantee in numbers, rounded up so that it always holds.
 *
 * @param {Held} held
 */
export function inNumbers({ epsilon, delta }) {
  if (epsilon === null) return "no finite epsilon";
  const digits = 10 ** (3 - Math.floor(Math.log10(epsilon || 1)));
  return `epsilon ${figure(Math.ceil(epsilon * digits - 1e-9) / digits)}${delta ? `, delta ${figure(delta)}` : ""}`;
}

/** The same in words, of the totals that are opened. @param {number} bets */
export function betWords(bets) {
  const often = bets > 99 ? "nearly always right" : `right at most ${bets} times of 100`;
  return `Suppose someone knows all other answers, and that a worker gave one of two answers. With the totals their guess is ${often}; without them it is right 50 times.`;
}

// The budgets of workers' devices.

/**
 * A warning if devices would stop early or refuse, and crowds with which they would not, one click each.
 *
 * @param {Devices | null} devices
 * @param {{workers: number, tasks: number}} planned
 * @param {(workers: number, answers: number) => void} take
 */
export function devicesWarning(devices, { workers, tasks }, take) {
  if (!devices?.warning) return null;
  const { most } = devices;
  const crowds = most ? [...new Set([devices.workers ?? workers, workers])] : [];
  const words = (/** @type {number} */ crowd) => `${counted(crowd, "worker")} × ${counted(most, "task")} each`;
  const reports = (/** @type {number} */ crowd) => `about ${counted(Math.round((crowd * most) / tasks), "report")} per task`;
  return el("div", { class: "notice bad devices" },
    el("p", { text: devices.warning }),
    crowds.length > 0 && el("ul", { class: "proposals" }, crowds.map((crowd) => el("li", {},
      el("button", { type: "button", class: "quiet", text: words(crowd), onclick: () => take(crowd, most) }),
      el("span", { class: "fine", text: reports(crowd) })))));
}

// The promise of a sealed campaign, and the keyholders who keep it.

/** The promise in one sentence. @param {Policy} policy */
export function sealedWords({ mechanism: { minimum } }) {
  return `Answers leave the device only as sealed shares. Only one total of ${counted(minimum, "worker")} or more is opened, once, with noise added.`;
}

/** Whom it holds against. @param {Policy} policy */
export function againstWords({ mechanism: { seats, degree } }) {
  const bad = degree === 1 ? "any one keyholder" : `any ${degree} keyholders together`;
  return `this server, other workers, and ${bad} of the ${seats}`;
}

/** What would break it. @param {Policy} policy */
function brokenWords({ mechanism: { degree } }) {
  return `If ${degree + 1} or more of them worked together, they could read every answer.`;
}

/** The keyholders whose keys the policy pins. @param {Policy} policy */
export function keyholdersCard(policy) {
  const { keyholders, minimum, degree } = policy.mechanism;
  return el("section", { class: "card" },
    el("h2", { text: "Keyholders" }),
    el("p", { class: "hint", text: "Before you open the campaign, compare each fingerprint with its keyholder by phone. After that the keys cannot be changed." }),
    el("ol", { class: "seats" }, keyholders.map((/** @type {Card} */ card) => {
      const print = el("span", { class: "hint", text: "…" });
      fingerprint(card).then((text) => print.replaceWith(fingerprintElement(text)));
      return el("li", {}, el("span", { class: "seat-name", text: card.name }), print);
    })),
    el("dl", { class: "fine" },
      el("div", {}, el("dt", { text: "Needed to check answers" }), el("dd", { text: `all ${whole(keyholders.length)}` })),
      el("div", {}, el("dt", { text: "Needed to open the total" }), el("dd", { text: `any ${whole(degree + 1)}` })),
      el("div", {}, el("dt", { text: "Minimum number of workers" }), el("dd", { text: counted(minimum, "worker") })),
    ),
    el("p", { class: "hint", text: brokenWords(policy) }),
  );
}
