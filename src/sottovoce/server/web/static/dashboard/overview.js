// Section Overview: the campaign's progress, the spread and certainty of its truths, and refused reports.

import { heatStrip, histogram } from "../charts/chart.js";
import { el, large, renew } from "../requester/elements.js";
import { counted, figure, percent, range, whole } from "../requester/formats.js";
import { roundWords } from "./rounds.js";
import { address, sectionElement } from "./sections.js";

/** @import { Campaign, Certainty, Coverage, Overview, Rejections, Rounds, Section, State } from "../requester/types.js" */

/** Shown if the policy hides which tasks a worker answered. */
export const WHY_NO_COUNTS =
  "This campaign’s policy hides which tasks a worker answered: workers send a report for every task " +
"they get, answered or skipped. The number of reports of a task or worker therefore says nothing " +
"about answers and is not shown.";

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
    renew(progress, [overview, rounds, campaign.state, campaign.cut_short], () => (rounds ? sealedProgress(overview, rounds) : progressOf(overview, campaign)));
    renew(parts.coverage, coverage, () => (coverage.hidden ? noCoverage() : coverageOf(overview)));
    renew(parts.certainty, [certainty, campaign.unit], () => certaintyOf(certainty, campaign.unit));
    renew(parts.rejections, rejections, () => rejectionRows(rejections));
  }
  return { name: "overview", title: "Overview", element, show: update, update };
}

/**
 * The campaign in one sentence, for screen readers.
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
 * The state of inference, and the effect of more answers.
 *
 * @param {Overview} overview
 * @param {Campaign} campaign
 */
function progressOf(overview, { state, cut_short: stopped }) {
  const { summary, reports_waiting: waiting, more } = overview;
  const lines = [];
  if (waiting > 0) {
    lines.push(el("p", { class: "notice", text: `Inference is catching up: ${counted(waiting, "report")} waiting.` }));
  }
  if (stopped > 0) {
    lines.push(el("p", { class: "notice", text: `${counted(stopped, "device")} stopped early: the worker’s privacy budget does not cover all tasks.` }));
  }
  if (more && state === "open") lines.push(el("p", { class: "forecast", text: more.words }));
  if (summary?.problem) lines.push(el("p", { class: "notice bad", text: `No truths: ${summary.problem}.` }));
  else if (summary) {
    lines.push(el("p", { text: convergence(overview) }));
    if (summary.alpha) lines.push(el("p", { class: "hint", text: agreementWords(summary.alpha) }));
  }
  else if (waiting === 0) lines.push(el("p", { text: NOTHING_YET[state] }));
  for (const text of summary?.warnings ?? []) lines.push(el("p", { class: "notice bad", text: `Warning: ${text}.` }));
  return lines;
}

/** @type {Record<string, string>} */
const NOTHING_YET = {
  draft: "This campaign is a draft. It accepts reports once you open it.",
  open: "No reports yet. Truths appear a few seconds after the first reports.",
  closed: "This campaign was closed before any report arrived.",
};

/** @param {Overview} overview */
function convergence({ summary, changed, certainty }) {
  if (!summary) return "";
  const news = changed ? ` ${moved(changed, certainty?.kind === "standard_error")}` : "";
  const steady = summary.settled
    ? "The truths have settled: more reports hardly change them."
    : "More reports may still change the truths.";
  const rest = summary.converged ? "converged after" : "was stopped after";
  const left = summary.left_out ? ` It could not use ${counted(summary.left_out, "report")}.` : "";
  return `${steady}${news} The method, ${summary.method}, ${rest} ${counted(summary.rounds, "round")}.${left}`;
}

/** @param {[number, number, number]} alpha The value and its interval. */
function agreementWords([value, low, high]) {
  const [shown, from, to] = [value, low, high].map((part) => part.toFixed(2));
  return `Agreement of the randomised reports: Krippendorff’s alpha ${shown}, 95 % interval ${from} to ${to}. Noise lowers it: the answers agree more than the reports.`;
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
  const head = el("h3", { text: "Coverage" });
  if (!coverage.most) return [head, el("p", { class: "hint", text: "No reports yet." })];
  const { most } = coverage;
  return [
    head,
    el("p", { class: "hint", text: spreadWords(coverage, tasks) }),
    heatStrip({
      title: "Reports per task, in task order",
      cells: coverage.strip.map(({ first, last, mean }) => ({
        label: first === last ? first : `${first} to ${last}`,
        value: mean,
      })),
      format: figure,
    }),
    histogram({
      title: "Tasks by number of reports",
      bars: coverage.histogram.map(({ answers, tasks: count }, i) => ({
        label: level(answers, (coverage.histogram[i + 1]?.answers ?? most + 1) - 1),
        value: count,
      })),
      format: whole,
    }),
  ];
}

/** @param {Coverage} coverage @param {number} tasks */
function spreadWords({ untouched, least, median, most }, tasks) {
  const none = untouched
    ? `${whole(untouched)} of ${counted(tasks, "task")} ${untouched === 1 ? "has" : "have"} no report yet. `
    : "";
  if (least === most) return `Every task has ${counted(most ?? 0, "report")}.`;
  return `${none}Tasks have from ${whole(least ?? 0)} to ${counted(most ?? 0, "report")}. Half of the tasks have ${figure(median ?? 0)} or more.`;
}

/** Merges levels if there are many. @param {number} from @param {number} to */
const level = (from, to) => (from === to ? whole(from) : `${whole(from)}–${whole(to)}`);

function noCoverage() {
  return [el("h3", { text: "Coverage" }), el("p", { text: WHY_NO_COUNTS })];
}

/** @param {Certainty | null} certainty @param {string | null} unit */
function certaintyOf(certainty, unit) {
  const head = el("h3", { text: "Certainty" });
  if (!certainty) return [head, el("p", { class: "hint", text: "No truths yet." })];
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
 * Bars that start at 0.5 or lower: if all truths are certain, a single bar would fill the chart.
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

// Sealed campaigns: truths appear once, after the opening, so progress towards it is shown.

/** The campaign in one sentence, for screen readers. @param {Rounds} rounds */
const sealedSentence = (rounds) => `${counted(rounds.uploads, "upload")}, ${whole(rounds.checked)} checked. ${roundWords(rounds)}`;

/** @param {Overview} overview @param {Rounds} rounds */
function sealedFigures({ certainty, tasks }, { uploads, checked, waiting }) {
  return [
    large("Uploads", whole(uploads)),
    large("Checked", whole(checked)),
    large("Waiting", whole(waiting)),
    large("Settled tasks", whole(certainty?.settled ?? 0), `of ${whole(tasks)}`),
  ];
}

/** The current state. @param {Overview} overview @param {Rounds} rounds */
function sealedProgress(overview, rounds) {
  const { summary } = overview;
  const [words, way] = [roundWords(rounds), el("a", { href: address("rounds"), text: "See the progress" })];
  if (summary?.problem) return [el("p", { class: "notice bad", text: `No truths: ${summary.problem}.` }), el("p", {}, way)];
  if (summary) return [el("p", { text: `${words} The method was ${summary.method}.` })];
  return [el("p", { class: "forecast", text: words }), el("p", {}, "Answers are sealed. Truths appear once, after you have closed the campaign and the keyholders have opened the total. ", way, ".")];
}

// Refused submissions, with a reason and a remedy for each.

/** @type {Record<string, string>} */
const REMEDIES = {
  malformed: "A client sent something that is not a report. The page and the command line of this release do not do this.",
  oversize: "A client sent more data than a report can have. You do not need to do anything.",
  unsupported: "A client sent reports in an unsupported format. It should use the documented API.",
  no_credential: "The link was cut off before the #. Send the whole link again: the part after the # is the invite.",
  bad_credential: "The invite is unknown or was revoked. Send a new link.",
  invite_expired: "The link’s last day has passed. Make new links with a later day, or without one.",
  invite_used: "A second worker used a link for one worker. Give each worker their own link, or use the open link.",
  not_open: "Reports arrived before the campaign opened or after it closed. A closed campaign cannot be opened again.",
  quota_reached: "The maximum number of workers has been reached. It cannot be changed once a campaign is open.",
  foreign_policy: "The worker’s software used another policy than this campaign’s. The worker should reload the page.",
  simulated: "Seeded noise protects nobody. Simulated reports are accepted only by simulated campaigns, real reports only by real ones.",
  not_admitted: "The reports do not match this policy’s mechanism, or are for tasks that the worker was not given.",
  already_reported: "A worker reported on the same tasks again. The first report counts.",
  conflict: "Two different reports had the same identifier. The first one counts.",
  erased: "The worker deleted this report. It is not stored again.",
  busy: "Too many reports arrived at once. Clients wait a second and send again automatically.",
  unavailable: "The server’s storage was full or did not respond. Ask the operator.",
};

/** @param {Rejections} rejections */
function rejectionRows({ rejections, total }) {
  const head = el("h3", { text: "Refused submissions" });
  if (total === 0) return [head, el("p", { class: "hint", text: "None so far." })];
  return [
    head,
    el("p", { class: "hint", text: `${counted(total, "submission")} refused. Clients send some of them again.` }),
    el(
      "dl",
      { class: "reasons" },
      rejections.map(({ reason, words, count }) =>
        el(
          "div",
          {},
          el("dt", {}, el("strong", { text: whole(count) }), ` ${words}`),
          REMEDIES[reason] ? el("dd", { text: REMEDIES[reason] }) : null,
        ),
      ),
    ),
  ];
}
