// The privacy slider: each stop in odds, next to its predicted cost. Forecasts arrive one at a time, the
// current stop first, and fill in the chart.

import { lineChart } from "../charts/chart.js";
import { plain } from "../charts/scales.js";
import { el, fill } from "../requester/elements.js";
import { Forecasts, isForecast } from "../requester/forecasts.js";
import { counted, percent } from "../requester/formats.js";
import { betsOf100, betWords, counting, devicesWarning, hundred, inNumbers, keepsAnswers, keptOf100, of100, SEALED, stops } from "../requester/policy.js";
import { domainOf, plannedOf, privacyOf } from "./draft.js";

/** @import { Forecast } from "../requester/forecasts.js" */
/** @import { Problem } from "../requester/requests.js" */
/** @import { Draft } from "./draft.js" */

const PAUSE = 200;

/**
 * @param {Draft} draft
 * @param {() => void} keep
 * @param {(workers: number, answers: number) => void} take takes over a proposal
 */
export function privacySlider(draft, keep, take) {
  const range = el("input", { type: "range", id: "privacy", min: 0, step: 1, "aria-describedby": "privacy-words" });
  const [grid, words] = [el("div", { class: "grid" }), el("p", { class: "odds", id: "privacy-words", "aria-live": "polite" })];
  const [expected, notes, total, chart] = [el("div", { class: "expected", "aria-live": "polite" }), el("div"), el("div", { class: "total" }), el("div")];
  const forecasts = new Forecasts(() => show());
  let values = stops(draft.unit, draft.epsilon);
  let later = 0;

  const show = () => {
    const found = values.map((epsilon) => forecasts.of(asked(draft, epsilon)));
    const compared = draft.sealed ? values.map((epsilon) => forecasts.of(asked(onDevices(draft), epsilon))) : null;
    const here = values.indexOf(draft.epsilon);
    const current = found[here] ?? null;
    const kept = keptAt(draft, draft.epsilon, current);
    const forecast = isForecast(current) ? current : null;
    fill(grid, hundred(kept));
    fill(words, sentence(draft, forecast, kept));
    range.setAttribute("aria-valuetext", kept === null ? `epsilon ${draft.epsilon}` : `${kept} of 100`);
    fill(expected, isForecast(current) ? [reading(current, draft), besides(compared?.[here] ?? null, draft)].flat() : current ? el("p", { class: "error", text: current.message }) : el("p", { class: "hint busy", text: "Simulating campaigns like yours" }));
    fill(notes, forecast && devicesWarning(forecast.devices, { workers: Number(draft.workers) || 1, tasks: draft.tasks?.count ?? 1 }, take), warnings(forecast));
    fill(total, totals(draft, forecast));
    swap(chart, drawn(draft, values, found, compared));
  };
  const want = () => {
    const at = values.indexOf(draft.epsilon);
    const near = values.map((_, index) => index).sort((one, other) => Math.abs(one - at) - Math.abs(other - at));
    const compared = draft.sealed ? [draft, onDevices(draft)] : [draft];
    forecasts.want(near.flatMap((index) => compared.map((each) => asked(each, values[index] ?? draft.epsilon))));
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
    forecasts.stop();
  };
  return { element, update, leave };
}

/** @param {Draft} draft @param {number} epsilon */
function asked(draft, epsilon) {
  const tasks = draft.tasks?.count ?? 1;
  const privacy = { ...(draft.sealed ? plannedOf(draft) : privacyOf(draft)), epsilon };
  return { domain: domainOf(draft), privacy, tasks, workers: Number(draft.workers) || 1, ability: draft.ability };
}

/** The same campaign with answers randomised on each device, for comparison with sealing. @param {Draft} draft @returns {Draft} */
const onDevices = (draft) => ({ ...draft, sealed: false, mechanism: "" });

/** Replaces a chart and keeps its table open or closed. @param {HTMLElement} room @param {HTMLElement} chart */
function swap(room, chart) {
  const isOpen = room.querySelector("details")?.open ?? false;
  const details = chart.querySelector("details");
  if (details) details.open = isOpen;
  fill(room, chart);
}

// The meaning and cost of a stop in words, numbers and a chart.

/** @typedef {Forecast | Problem | null} Found */

/** Below this share of the way from guessing to clean answers, a warning is shown. */
const HARDLY = 0.15;
const MOST_PLAIN_LABELS = 9;

/** The number of 100 that a stop stands for. @param {Draft} draft @param {number} epsilon @param {Found} found */
function keptAt(draft, epsilon, found) {
  if (draft.sealed) return betsAt(draft, epsilon, found);
  if (isForecast(found)) return of100(found.guarantee.odds);
  const isPlain = draft.mechanism === "" || keepsAnswers(draft.mechanism);
  if (draft.kind === "numeric" || draft.unit === "worker" || !isPlain || draft.labels.length > MOST_PLAIN_LABELS) return null;
  return keptOf100(epsilon, draft.labels.length + Number(draft.hides));
}

/** @param {Draft} draft @param {number} epsilon @param {Found} found */
function betsAt({ unit }, epsilon, found) {
  if (isForecast(found)) return betsOf100(found.guarantee.per_answer.epsilon ?? Infinity);
  return unit === "answer" ? betsOf100(epsilon) : null;
}

/** @param {Draft} draft @param {Forecast | null} forecast @param {number | null} kept */
function sentence({ sealed }, forecast, kept) {
  if (sealed) return kept === null ? "…" : `No single answer is opened, only totals with noise. ${betWords(kept)}`;
  if (forecast?.guarantee.odds) return forecast.guarantee.odds;
  if (forecast) return "No report is for one answer only, so no odds are defined.";
  return kept === null ? "…" : `Of 100 workers with the same answer, ${kept} send it.`;
}

/** @param {Forecast} forecast @param {Draft} draft */
function reading({ score, expected, band, trials }, draft) {
  const say = format(score, draft);
  const [low, high] = band.map(say);
  const what = score === "accuracy" ? "of the truths found" : "from the truth, on average";
  return [
    el("p", { class: "big-number" }, el("strong", { text: say(expected) }), ` ${what}`),
    el("p", { class: "hint", text: `9 of 10 such campaigns end between ${low} and ${high}. Simulated ${counted(trials, "time")}, assuming that the crowd is as you describe it.` }),
  ];
}

/** The score without keyholders, at the same guarantee. @param {Found} found @param {Draft} draft */
function besides(found, draft) {
  if (!isForecast(found)) return [];
  return [el("p", { class: "compared" }, "Randomised on each device: ", el("strong", { text: format(found.score, draft)(found.expected) }), ".")];
}

/** @param {Forecast["score"]} score @param {Draft} draft */
function format(score, draft) {
  const unit = draft.numbers.unit.trim();
  return score === "accuracy" ? percent : (/** @type {number} */ value) => `${plain(value)}${unit ? ` ${unit}` : ""}`;
}

/** Warnings about a weak guarantee, a score close to guessing, or a mechanism that does not run in a browser. @param {Forecast | null} forecast */
function warnings(forecast) {
  if (!forecast) return [];
  const { expected, constant, clean, guarantee, in_browser } = forecast;
  const isHopeless = (expected - constant) / (clean - constant || 1) < HARDLY;
  return [
    guarantee.warning && el("p", { class: "notice bad", text: guarantee.warning }),
    isHopeless && el("p", { class: "notice bad", text: "Results will be hardly better than guessing. Use more workers, more answers or less privacy." }),
    !in_browser && el("p", { class: "notice bad", text: "This does not run in a browser: workers need a terminal and “sottovoce answer”." }),
  ];
}

/** @param {Draft} draft @param {Forecast | null} forecast */
function totals(draft, forecast) {
  const answers = Number(draft.answers) || 1;
  const each = forecast && inNumbers(forecast.guarantee.per_answer);
  const all = forecast && inNumbers(forecast.guarantee.per_worker);
  return [
    el("p", { text: answers === 1 ? "Each worker gives one answer, so this is the total privacy loss." : `Privacy loss adds up: the guarantee for all ${counted(answers, "answer")} of a worker together is weaker than for one.` }),
    el("p", { class: "fine number", text: each ? `In numbers: ${each} for one answer, ${all} for a worker’s ${counted(answers, "answer")}.` : " " }),
    forecast && el("details", { class: "fine" }, el("summary", { text: "Assumptions" }), el("ul", {}, forecast.notes.map((text) => el("li", { text })))),
  ];
}

/**
 * @param {Draft} draft
 * @param {number[]} values
 * @param {Found[]} found
 * @param {Found[] | null} compared the forecasts to compare with
 */
function drawn(draft, values, found, compared) {
  const first = found.find(isForecast);
  const isAccuracy = draft.kind !== "numeric";
  const say = format(isAccuracy ? "accuracy" : "mean error", draft);
  const kept = new Map(values.map((epsilon, at) => [epsilon, keptAt(draft, epsilon, found[at] ?? null)]));
  const mechanism = draft.sealed ? SEALED : (first?.mechanism ?? draft.mechanism);
  return lineChart({
    title: isAccuracy ? "Truths found, by privacy" : "Distance from the truth, by privacy",
    x: { label: counting(mechanism), values, even: true, format: (epsilon) => String(kept.get(epsilon) ?? "·") },
    y: { format: isAccuracy ? (share) => `${Math.round(100 * share)} %` : say, ...(isAccuracy ? { high: 1 } : { low: 0 }) },
    series: compared ? [series("sealed", found), series("randomised on each device", compared)] : [series("expected", found)],
    reference: first ? [{ name: "without any privacy", value: first.clean }, { name: "guessing", value: first.constant }] : [],
    marker: { x: draft.epsilon },
  });
}

/** @param {string} name @param {Found[]} found */
function series(name, found) {
  const some = found.map((each) => (isForecast(each) ? each : null));
  return {
    name,
    values: some.map((each) => each?.expected ?? null),
    low: some.map((each) => each?.band[0] ?? null),
    high: some.map((each) => each?.band[1] ?? null),
  };
}
