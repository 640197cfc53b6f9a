// What a stop of the slider means and costs, in words, numbers and a line.

import { lineChart } from "../charts.js";
import { plain } from "../charts/scales.js";
import { el } from "./building.js";
import { counting } from "./mechanisms.js";
import { betsOf100, inNumbers, keptOf100, of100 } from "./odds.js";
import { isOutlook } from "./outlooks.js";
import { SEALED } from "./promises.js";
import { counted, percent } from "./saying.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./outlooks.js").Outlook} Outlook */
/** @typedef {Outlook | import("./asking.js").Problem | null} Found */

/** Less of the way from guessing to clean answers than this is hardly any. */
const HARDLY = 0.15;
const MOST_PLAIN_LABELS = 9;

/** The number of 100 that a stop stands for. @param {Draft} draft @param {number} epsilon @param {Found} found */
export function keptAt(draft, epsilon, found) {
  if (draft.sealed) return betsAt(draft, epsilon, found);
  if (isOutlook(found)) return of100(found.guarantee.odds);
  const isPlain = ["", "randomized-response", "null-randomized-response"].includes(draft.mechanism);
  if (draft.kind === "numeric" || draft.unit === "worker" || !isPlain || draft.labels.length > MOST_PLAIN_LABELS) return null;
  return keptOf100(epsilon, draft.labels.length + Number(draft.hides));
}

/** @param {Draft} draft @param {number} epsilon @param {Found} found */
function betsAt({ unit }, epsilon, found) {
  if (isOutlook(found)) return betsOf100(found.guarantee.per_answer.epsilon ?? Infinity);
  return unit === "answer" ? betsOf100(epsilon) : null;
}

/** @param {Draft} draft @param {Outlook | null} outlook @param {number | null} kept */
export function sentence({ sealed }, outlook, kept) {
  if (sealed) return kept === null ? "…" : betWords(kept);
  if (outlook?.guarantee.odds) return outlook.guarantee.odds;
  if (outlook) return "Nothing that is sent stands for one answer, so there are no odds to say.";
  return kept === null ? "…" : `Of 100 workers with the same answer ${kept} send it.`;
}

/** @param {number} bets */
function betWords(bets) {
  const many = bets > 99 ? "nearly always" : `at most ${bets} times of 100`;
  return `No answer is ever opened, only totals with noise in them. Who is torn between two answers of a worker and sees the totals guesses right ${many}.`;
}

/** @param {Outlook} outlook @param {Draft} draft */
export function reading({ score, expected, band, trials }, draft) {
  const say = format(score, draft);
  const [low, high] = band.map(say);
  const what = score === "accuracy" ? "of the truths found" : "from the truth, on average";
  return [
    el("p", { class: "big-number" }, el("strong", { text: say(expected) }), ` ${what}`),
    el("p", { class: "hint", text: `9 of 10 such campaigns end between ${low} and ${high}. Simulated ${counted(trials, "time")}, if the crowd is as you say.` }),
  ];
}

/** What it would be without keyholders, at the same guarantee. @param {Found} found @param {Draft} draft */
export function besides(found, draft) {
  if (!isOutlook(found)) return [];
  return [el("p", { class: "beside-it" }, "Randomised on each device: ", el("strong", { text: format(found.score, draft)(found.expected) }), ".")];
}

/** @param {Outlook["score"]} score @param {Draft} draft */
function format(score, draft) {
  const unit = draft.numbers.unit.trim();
  return score === "accuracy" ? percent : (/** @type {number} */ value) => `${plain(value)}${unit ? ` ${unit}` : ""}`;
}

/** What has to be said frankly. @param {Outlook | null} outlook */
export function frankly(outlook) {
  if (!outlook) return [];
  const { expected, constant, clean, guarantee, in_browser } = outlook;
  const isHopeless = (expected - constant) / (clean - constant || 1) < HARDLY;
  return [
    guarantee.warning && el("p", { class: "notice bad", text: guarantee.warning }),
    isHopeless && el("p", { class: "notice bad", text: "Expect hardly better than guessing: more workers, more answers, or less privacy." }),
    !in_browser && el("p", { class: "notice bad", text: "A browser cannot do this: workers will need the terminal and “sottovoce answer”." }),
  ];
}

/** @param {Draft} draft @param {Outlook | null} outlook */
export function totals(draft, outlook) {
  const answers = Number(draft.answers) || 1;
  const each = outlook && inNumbers(outlook.guarantee.per_answer);
  const all = outlook && inNumbers(outlook.guarantee.per_worker);
  return [
    el("p", { text: answers === 1 ? "A worker gives one answer: this is all that is ever betrayed." : `What reports betray adds up: the promise for all ${counted(answers, "answer")} of a worker together is weaker than for one.` }),
    el("p", { class: "fine number", text: each ? `In numbers: ${each} for one answer, ${all} for a worker’s ${counted(answers, "answer")}.` : " " }),
    outlook && el("details", { class: "fine" }, el("summary", { text: "What was assumed" }), el("ul", {}, outlook.notes.map((text) => el("li", { text })))),
  ];
}

/**
 * @param {Draft} draft
 * @param {number[]} values
 * @param {Found[]} found
 * @param {Found[] | null} beside what it is compared with
 */
export function drawn(draft, values, found, beside) {
  const first = found.find(isOutlook);
  const isAccuracy = draft.kind !== "numeric";
  const say = format(isAccuracy ? "accuracy" : "mean error", draft);
  const kept = new Map(values.map((epsilon, at) => [epsilon, keptAt(draft, epsilon, found[at] ?? null)]));
  const mechanism = draft.sealed ? SEALED : (first?.mechanism ?? draft.mechanism);
  return lineChart({
    title: isAccuracy ? "Truths found, by privacy" : "Distance from the truth, by privacy",
    x: { label: counting(mechanism), values, even: true, format: (epsilon) => String(kept.get(epsilon) ?? "·") },
    y: { format: isAccuracy ? (share) => `${Math.round(100 * share)} %` : say, ...(isAccuracy ? { high: 1 } : { low: 0 }) },
    series: beside ? [series("sealed", found), series("randomised on each device", beside)] : [series("expected", found)],
    reference: first ? [{ name: "without any privacy", value: first.clean }, { name: "guessing", value: first.constant }] : [],
    marker: { x: draft.epsilon },
  });
}

/** @param {string} name @param {Found[]} found */
function series(name, found) {
  const some = found.map((each) => (isOutlook(each) ? each : null));
  return {
    name,
    values: some.map((each) => each?.expected ?? null),
    low: some.map((each) => each?.band[0] ?? null),
    high: some.map((each) => each?.band[1] ?? null),
  };
}
