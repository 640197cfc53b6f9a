// What the lab found: a line with its band for each mechanism, and the same in a table.

import { lineChart } from "../charts.js";
import { plain } from "../charts/scales.js";
import { el } from "./building.js";
import { calledName, counting } from "./mechanisms.js";
import { betsOf100, of100 } from "./odds.js";
import { isOutlook } from "./outlooks.js";
import { SEALED } from "./promises.js";
import { percent } from "./saying.js";

/** @typedef {import("./lab-form.js").Lab} Lab */
/** @typedef {(import("./outlooks.js").Outlook | import("./asking.js").Problem | null)[][]} Found a row for each mechanism */

/** @param {Lab} lab @param {number[]} epsilons @param {Found} found */
export function labChart(lab, epsilons, found) {
  const isAccuracy = lab.kind !== "numeric";
  const first = found.flat().find(isOutlook);
  const odds = new Map(epsilons.map((epsilon, at) => [epsilon, oddsAt(found[0]?.[at] ?? null)]));
  return lineChart({
    title: isAccuracy ? "Truths found, by privacy" : "Mean distance from the truth, by privacy",
    x: {
      label: `epsilon for one answer; below it, ${counting(lab.mechanisms[0] ?? "")}`,
      values: epsilons, even: true,
      format: (epsilon) => `${epsilon}${odds.get(epsilon) ?? ""}`,
    },
    y: { format: isAccuracy ? (share) => `${Math.round(100 * share)} %` : plain, ...(isAccuracy ? { high: 1 } : { low: 0 }) },
    series: lab.mechanisms.map((name, at) => ({
      name: calledName(name),
      values: epsilons.map((_, place) => score(found, at, place, (one) => one.expected)),
      low: epsilons.map((_, place) => score(found, at, place, (one) => one.band[0])),
      high: epsilons.map((_, place) => score(found, at, place, (one) => one.band[1])),
    })),
    reference: first ? [{ name: "without any privacy", value: first.clean }, { name: "guessing", value: first.constant }] : [],
  });
}

/** @param {Lab} lab @param {number[]} epsilons @param {Found} found */
export function labTable(lab, epsilons, found) {
  const say = lab.kind === "numeric" ? plain : percent;
  const cell = (/** @type {Found[0][0]} */ one) => {
    if (one === null) return el("td", { class: "amount hint", text: "…" });
    if (!isOutlook(one)) return el("td", { class: "amount hint", text: "not possible", title: one.message });
    return el("td", { class: "amount" }, say(one.expected), el("span", { class: "fine", text: ` ${say(one.band[0])} – ${say(one.band[1])}` }));
  };
  const refused = found.flat().find((one) => one !== null && !isOutlook(one));
  return el("div", {},
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Forecasts" },
      el("table", { class: "numbers lab-table" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "epsilon" }), lab.mechanisms.map((name) => el("th", { scope: "col", class: "amount", text: calledName(name) })))),
        el("tbody", {}, epsilons.map((epsilon, place) => el("tr", {}, el("th", { scope: "row", text: String(epsilon) }), found.map((row) => cell(row[place] ?? null))))),
      )),
    refused && el("p", { class: "error", text: /** @type {Error} */ (refused).message }),
    el("p", { class: "fine", text: "The expected score, and the band in which 9 of 10 such campaigns end. Simulated, if the crowd is as you say. Smaller epsilon is more private." }),
  );
}

/** @param {Found} found @param {number} row @param {number} place @param {(one: import("./outlooks.js").Outlook) => number} of */
function score(found, row, place, of) {
  const one = found[row]?.[place] ?? null;
  return isOutlook(one) ? of(one) : null;
}

/** @param {Found[0][0]} one */
function oddsAt(one) {
  const kept = !isOutlook(one) ? null : one.mechanism === SEALED ? betsOf100(one.guarantee.per_answer.epsilon ?? Infinity) : of100(one.guarantee.odds);
  return kept === null ? "" : `\n${kept}`;
}
