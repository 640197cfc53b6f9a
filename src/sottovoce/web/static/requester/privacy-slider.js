// The slider: privacy in odds, and at once what it costs. Forecasts arrive one after another, the
// one that is looked at first, and fill in the line.

import { lineChart } from "../charts.js";
import { plain } from "../charts/scales.js";
import { el, fill } from "./building.js";
import { domainOf, privacyOf } from "./draft.js";
import { counting } from "./mechanisms.js";
import { hundred, inNumbers, keptOf100, of100, stops } from "./odds.js";
import { isOutlook, Outlooks } from "./outlooks.js";
import { counted, percent } from "./saying.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./outlooks.js").Outlook} Outlook */

const PAUSE = 200;
/** Less of the way from guessing to clean answers than this is hardly any. */
const HARDLY = 0.15;
const MOST_PLAIN_LABELS = 9;

/**
 * @param {Draft} draft
 * @param {() => void} keep
 */
export function privacySlider(draft, keep) {
  const range = el("input", { type: "range", id: "privacy", min: 0, step: 1, "aria-describedby": "privacy-words" });
  const [grid, words] = [el("div", { class: "grid" }), el("p", { class: "odds", id: "privacy-words", "aria-live": "polite" })];
  const [expected, notes, total, chart] = [el("div", { class: "expected", "aria-live": "polite" }), el("div"), el("div", { class: "total" }), el("div")];
  const outlooks = new Outlooks(() => show());
  let values = stops(draft.unit, draft.epsilon);
  let later = 0;

  const show = () => {
    const found = values.map((epsilon) => outlooks.of(asked(draft, epsilon)));
    const current = found[values.indexOf(draft.epsilon)] ?? null;
    const kept = keptAt(draft, draft.epsilon, current);
    const outlook = isOutlook(current) ? current : null;
    fill(grid, hundred(kept));
    fill(words, sentence(outlook, kept));
    range.setAttribute("aria-valuetext", kept === null ? `epsilon ${draft.epsilon}` : `${kept} of 100`);
    fill(expected, isOutlook(current) ? reading(current, draft) : current ? el("p", { class: "error", text: current.message }) : el("p", { class: "hint busy", text: "Simulating campaigns like yours" }));
    fill(notes, frankly(outlook));
    fill(total, totals(draft, outlook));
    swap(chart, drawn(draft, values, found));
  };
  const want = () => {
    const at = values.indexOf(draft.epsilon);
    const near = values.map((_, index) => index).sort((one, other) => Math.abs(one - at) - Math.abs(other - at));
    outlooks.want(near.map((index) => asked(draft, values[index] ?? draft.epsilon)));
  };
  const update = () => {
    values = stops(draft.unit, draft.epsilon);
    range.max = String(values.length - 1);
    range.value = String(values.indexOf(draft.epsilon));
    show();
    clearTimeout(later);
    later = setTimeout(want, PAUSE);
  };
  range.addEventListener("input", () => {
    draft.epsilon = values[Number(range.value)] ?? draft.epsilon;
    keep();
    show();
    clearTimeout(later);
    later = setTimeout(want, PAUSE);
  });
  const element = el("section", { class: "card slider-card" },
    el("label", { for: "privacy", text: "Privacy" }),
    el("div", { class: "slider" }, range, el("p", { class: "ends fine", "aria-hidden": "true" }, el("span", { text: "Very private" }), el("span", { text: "Hardly private" }))),
    el("div", { class: "odds-row" }, grid, words, expected),
    notes, chart, total,
  );
  const leave = () => {
    clearTimeout(later);
    outlooks.stop();
  };
  return { element, update, leave };
}

/** @param {Draft} draft @param {number} epsilon */
function asked(draft, epsilon) {
  const tasks = draft.tasks?.count ?? 1;
  const privacy = { ...privacyOf(draft), epsilon };
  return { domain: domainOf(draft), privacy, tasks, workers: Number(draft.workers) || 1, ability: draft.ability };
}

/** @param {Draft} draft @param {number} epsilon @param {any} found */
function keptAt(draft, epsilon, found) {
  if (isOutlook(found)) return of100(found.guarantee.odds);
  const isPlain = ["", "randomized-response", "null-randomized-response"].includes(draft.mechanism);
  if (draft.kind === "numeric" || draft.unit === "worker" || !isPlain || draft.labels.length > MOST_PLAIN_LABELS) return null;
  return keptOf100(epsilon, draft.labels.length + Number(draft.hides));
}

/** @param {Outlook | null} outlook @param {number | null} kept */
function sentence(outlook, kept) {
  if (outlook?.guarantee.odds) return outlook.guarantee.odds;
  if (outlook) return "Nothing that is sent stands for one answer, so there are no odds to say.";
  return kept === null ? "…" : `Of 100 workers with the same answer ${kept} send it.`;
}

/** @param {Outlook} outlook @param {Draft} draft */
function reading({ score, expected, band, trials }, draft) {
  const say = format(score, draft);
  const [low, high] = band.map(say);
  const what = score === "accuracy" ? "of the truths found" : "from the truth, on average";
  return [
    el("p", { class: "big-number" }, el("strong", { text: say(expected) }), ` ${what}`),
    el("p", { class: "hint", text: `9 of 10 such campaigns end between ${low} and ${high}. Simulated ${counted(trials, "time")}, if the crowd is as you say.` }),
  ];
}

/** @param {Outlook["score"]} score @param {Draft} draft */
function format(score, draft) {
  const unit = draft.numbers.unit.trim();
  return score === "accuracy" ? percent : (/** @type {number} */ value) => `${plain(value)}${unit ? ` ${unit}` : ""}`;
}

/** What has to be said frankly. @param {Outlook | null} outlook */
function frankly(outlook) {
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
function totals(draft, outlook) {
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
 * @param {(Outlook | import("./asking.js").Problem | null)[]} found
 */
function drawn(draft, values, found) {
  const some = found.map((each) => (isOutlook(each) ? each : null));
  const first = some.find((each) => each !== null);
  const isAccuracy = draft.kind !== "numeric";
  const say = format(isAccuracy ? "accuracy" : "mean error", draft);
  const kept = new Map(values.map((epsilon, at) => [epsilon, keptAt(draft, epsilon, some[at] ?? null)]));
  return lineChart({
    title: isAccuracy ? "Truths found, by privacy" : "Distance from the truth, by privacy",
    x: { label: counting(first?.mechanism ?? draft.mechanism), values, even: true, format: (epsilon) => String(kept.get(epsilon) ?? "·") },
    y: { format: isAccuracy ? (share) => `${Math.round(100 * share)} %` : say, ...(isAccuracy ? { high: 1 } : { low: 0 }) },
    series: [{
      name: "expected",
      values: some.map((each) => each?.expected ?? null),
      low: some.map((each) => each?.band[0] ?? null),
      high: some.map((each) => each?.band[1] ?? null),
    }],
    reference: first ? [{ name: "without any privacy", value: first.clean }, { name: "guessing", value: first.constant }] : [],
    marker: { x: draft.epsilon },
  });
}

/** A new chart where one was, its numbers as open as they were. @param {HTMLElement} room @param {HTMLElement} chart */
function swap(room, chart) {
  const isOpen = room.querySelector("details")?.open ?? false;
  const details = chart.querySelector("details");
  if (details) details.open = isOpen;
  fill(room, chart);
}
