// One truth in the table: what it is, how sure it is in figures and as a drawing, and whether it is open.

import { el, svg } from "./building.js";
import { measured, percent, whole } from "./saying.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Truth} Truth */

/** So many standard errors on either side hold the truth 95 times in 100, if errors are normal. */
const NORMAL_95 = 1.959964;

/** @param {Truth} truth @param {State} state @param {string | undefined} text @param {boolean} hidden */
export function truthRow(truth, state, text, hidden) {
  const isOpen = !isSettled(truth, state);
  return el(
    "tr",
    { class: isOpen ? "open" : "" },
    el("th", { scope: "row" }, truth.task, text ? el("span", { class: "task-text", text }) : null),
    el("td", { class: "truth", text: truthText(truth, state) }),
    state.campaign.domain.kind === "numeric" ? spread(truth, state) : el("td", {}, confidence(truth, state)),
    hidden ? null : el("td", { class: "amount", text: whole(truth.answers) }),
    el("td", {}, el("span", { class: isOpen ? "tag open" : "tag", text: isOpen ? "Open" : "Settled" })),
  );
}

/** Labels can be numbers too, and those are as they are. @param {Truth} truth @param {State} state */
function truthText({ truth, standard_error: error }, { campaign }) {
  if (campaign.domain.kind !== "numeric") return String(truth);
  const number = measured(Number(truth), error ?? 0);
  return campaign.unit ? `${number}\u00a0${campaign.unit}` : number;
}

/** @param {Truth} truth @param {State} state */
function isSettled({ confidence: share, standard_error: error }, { overview }) {
  const certainty = overview.certainty;
  if (!certainty) return false;
  if (certainty.kind === "confidence") return (share ?? 0) >= certainty.threshold;
  return typeof error === "number" && error <= certainty.threshold;
}

/** @param {Truth} truth @param {State} state */
function confidence({ confidence: share }, { overview }) {
  if (typeof share !== "number") return "unknown";
  const threshold = overview.certainty?.threshold ?? 1;
  return el("span", { class: "sure" }, bar(share, threshold), el("span", { text: percent(share).replace("over ", "> ") }));
}

/** @param {number} share @param {number} threshold */
function bar(share, threshold) {
  return svg(
    "svg",
    { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", y: 3, width: 100, height: 4 }),
    svg("rect", { class: "value", y: 3, width: 100 * share, height: 4 }),
    svg("rect", { class: "limit", x: 100 * threshold - 0.5, width: 1, height: 10 }),
  );
}

/** Two cells: how far a number may be off, and from where to where it reaches. @param {Truth} truth @param {State} state */
function spread({ truth, standard_error: error }, { campaign }) {
  const { low = 0, high = 1 } = campaign.domain;
  const value = Number(truth);
  if (typeof error !== "number") return [el("td", { text: "unknown" }), el("td", { text: "unknown" })];
  const from = Math.max(low, value - NORMAL_95 * error);
  const to = Math.min(high, value + NORMAL_95 * error);
  const words = `${measured(from, error)} to ${measured(to, error)}`;
  return [
    el("td", { class: "error-figure", text: `± ${measured(error, error)}` }),
    el("td", {}, el("span", { class: "sure" }, whiskers([from, value, to], low, high), el("span", { text: words }))),
  ];
}

/** @param {[number, number, number]} values from, truth and to @param {number} low @param {number} high */
function whiskers(values, low, high) {
  const [from, middle, to] = /** @type {[number, number, number]} */ (
    values.map((value) => (100 * (value - low)) / (high - low))
  );
  return svg(
    "svg",
    { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", y: 4.5, width: 100, height: 1 }),
    svg("rect", { class: "value", x: from, y: 3.5, width: Math.max(to - from, 0.5), height: 3 }),
    svg("rect", { class: "limit", x: middle - 0.75, width: 1.5, height: 10 }),
  );
}
