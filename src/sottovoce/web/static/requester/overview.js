// How the campaign is doing, at a glance.

import { heatStrip, histogram } from "../charts.js";
import { el } from "./building.js";
import { large } from "./large-figures.js";
import { rejectionRows } from "./rejections.js";
import { renew } from "./renewing.js";
import { counted, figure, percent, range, whole } from "./saying.js";
import { sealedFigures, sealedProgress, sealedSentence } from "./sealed-overview.js";
import { sectionElement } from "./sections.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Overview} Overview */
/** @typedef {import("./shapes.js").Certainty} Certainty */
/** @typedef {import("./shapes.js").Section} Section */

/** Said where the policy hides which tasks a worker answered. */
export const WHY_NO_COUNTS =
  "This campaign’s policy hides which tasks a worker answered: everybody reports on every task they " +
  "are given, answered or skipped. How many reports a task or a worker has therefore says nothing " +
  "about answers, and is not shown.";

/** @returns {Section} */
export function overviewSection() {
  const figures = el("dl", { class: "large" });
  const progress = el("div");
  const parts = { coverage: el("div"), certainty: el("div"), rejections: el("div") };
  const [coverage, ...others] = Object.values(parts).map((part) => el("div", { class: "card" }, part));
  const cards = el("div", { class: "pair" }, coverage, el("div", { class: "stack" }, others));
  const element = sectionElement("overview", "Overview", figures, progress, cards);

  /** @param {State} state */
  function update({ campaign, overview, rejections, rounds }) {
    const { coverage, certainty } = overview;
    renew(figures, [overview, rounds], () => (rounds ? sealedFigures(overview, rounds) : largeFigures(overview)));
    renew(progress, [overview, rounds, campaign.state], () => (rounds ? sealedProgress(overview, rounds) : progressOf(overview, campaign.state)));
    renew(parts.coverage, coverage, () => (coverage.hidden ? noCoverage() : coverageOf(overview)));
    renew(parts.certainty, [certainty, campaign.unit], () => certaintyOf(certainty, campaign.unit));
    renew(parts.rejections, rejections, () => rejectionRows(rejections));
  }
  return { name: "overview", title: "Overview", element, show: update, update };
}

/**
 * The campaign in one sentence, for whoever listens.
 *
 * @param {State} state
 */
export function sentence({ overview, rounds }) {
  if (rounds) return sealedSentence(rounds);
  const { workers, reports, certainty, reports_waiting: waiting } = overview;
  const came = `${counted(workers, "worker")} sent ${counted(reports, "report")}`;
  const settled = certainty ? `, and ${whole(certainty.settled)} of ${counted(overview.tasks, "task")} settled` : "";
  return `${came}${settled}${waiting ? `; ${counted(waiting, "report")} waiting` : ""}.`;
}

/** @param {Overview} overview */
function largeFigures({ workers, reports, certainty, tasks, reports_waiting: waiting }) {
  const settled = certainty?.settled ?? 0;
  return [
    large("Workers", whole(workers)),
    large("Reports", whole(reports)),
    large("Settled tasks", whole(settled), `of ${whole(tasks)}`),
    large("Reports waiting", whole(waiting)),
  ];
}

/**
 * Where inference stands, and what more answers would do.
 *
 * @param {Overview} overview
 * @param {string} state
 */
function progressOf(overview, state) {
  const { summary, reports_waiting: waiting, more } = overview;
  const lines = [];
  if (waiting > 0) {
    lines.push(el("p", { class: "notice", text: `Inference is catching up: ${counted(waiting, "report")} waiting.` }));
  }
  if (more && state === "open") lines.push(el("p", { class: "forecast", text: more.words }));
  if (summary?.problem) lines.push(el("p", { class: "notice bad", text: `No truths: ${summary.problem}.` }));
  else if (summary) lines.push(el("p", { text: convergence(overview) }));
  else if (waiting === 0) lines.push(el("p", { text: NOTHING_YET[state] }));
  return lines;
}

/** @type {Record<string, string>} */
const NOTHING_YET = {
  draft: "This campaign is a draft: it takes reports once you open it.",
  open: "No report has come in yet. Truths appear a few seconds after the first ones.",
  closed: "This campaign was closed before any report came in.",
};

/** @param {Overview} overview */
function convergence({ summary, changed, certainty }) {
  if (!summary) return "";
  const news = changed ? ` ${moved(changed, certainty?.kind === "standard_error")}` : "";
  const steady = summary.settled
    ? "The truths have come to rest: further reports hardly change them."
    : "Further reports may still change truths.";
  const rest = summary.converged ? "came to rest after" : "was stopped after";
  const left = summary.left_out ? ` It could not use ${counted(summary.left_out, "report")}.` : "";
  return `${steady}${news} The method, ${summary.method}, ${rest} ${counted(summary.rounds, "round")}.${left}`;
}

/** @param {{share: number, since: number}} changed @param {boolean} isNumeric */
function moved({ share, since }, isNumeric) {
  const what = isNumeric
    ? `Truths moved by ${percent(share)} of the range on average`
    : `${percent(share)} of truths changed`;
  return `${what} since there were ${counted(since, "report")}.`;
}

/** @param {Overview} overview */
function coverageOf({ coverage, tasks }) {
  const head = el("h3", { text: "How the reports spread over the tasks" });
  if (!coverage.most) return [head, el("p", { class: "hint", text: "No report has come in yet." })];
  const { most } = coverage;
  return [
    head,
    el("p", { class: "hint", text: spreadWords(coverage, tasks) }),
    heatStrip({
      title: "Reports per task, in the order of the tasks",
      cells: coverage.strip.map(({ first, last, mean }) => ({
        label: first === last ? first : `${first} to ${last}`,
        value: mean,
      })),
      format: figure,
    }),
    histogram({
      title: "Tasks by how many reports they have",
      bars: coverage.histogram.map(({ answers, tasks: count }, i) => ({
        label: level(answers, (coverage.histogram[i + 1]?.answers ?? most + 1) - 1),
        value: count,
      })),
      format: whole,
    }),
  ];
}

/** @param {import("./shapes.js").Coverage} coverage @param {number} tasks */
function spreadWords({ untouched, least, median, most }, tasks) {
  const none = untouched
    ? `${whole(untouched)} of ${counted(tasks, "task")} ${untouched === 1 ? "has" : "have"} no report yet. `
    : "";
  if (least === most) return `Every task has ${counted(most ?? 0, "report")}.`;
  return `${none}From ${whole(least ?? 0)} to ${counted(most ?? 0, "report")} a task; half of the tasks have ${figure(median ?? 0)} or more.`;
}

/** Where there are many levels, one stands for several. @param {number} from @param {number} to */
const level = (from, to) => (from === to ? whole(from) : `${whole(from)}–${whole(to)}`);

function noCoverage() {
  return [el("h3", { text: "How the reports spread over the tasks" }), el("p", { text: WHY_NO_COUNTS })];
}

/** @param {Certainty | null} certainty @param {string | null} unit */
function certaintyOf(certainty, unit) {
  const head = el("h3", { text: "How sure the truths are" });
  if (!certainty) return [head, el("p", { class: "hint", text: "There are no truths yet." })];
  return [head, el("p", { class: "hint", text: settledWords(certainty, unit) }), certaintyChart(certainty)];
}

/** When a task counts as settled. @param {Certainty} certainty @param {string | null} unit */
export function settledWords({ kind, threshold, settled, open }, unit) {
  const rule =
    kind === "confidence"
      ? `its truth has a confidence of at least ${percent(threshold)}`
      : `its standard error is at most ${figure(threshold)}${unit ? ` ${unit}` : ""}`;
  return `A task counts as settled once ${rule}: ${whole(settled)} are, ${whole(open)} ${open === 1 ? "is" : "are"} open.`;
}

/** @param {Certainty} certainty */
export function certaintyChart({ kind, histogram: bars }) {
  const isShare = kind === "confidence";
  return histogram({
    title: isShare ? "Tasks by confidence" : "Tasks by standard error",
    bars: (isShare ? padded(bars) : bars).map(({ low, high, tasks }) => ({ label: isShare ? `${range(low * 100, high * 100)} %` : range(low, high), value: tasks })),
    format: whole,
  });
}

/**
 * Bars from at most a half on: where all truths are sure, one bar alone would fill the drawing.
 *
 * @param {Certainty["histogram"]} bars
 */
function padded(bars) {
  const [first] = bars;
  if (!first) return bars;
  const width = first.high - first.low;
  const missing = Math.max(0, Math.round((first.low - 0.5) / width));
  const empty = Array.from({ length: missing }, (_, i) => ({ low: 0.5 + i * width, high: 0.5 + (i + 1) * width, tasks: 0 }));
  return [...empty, ...bars];
}
