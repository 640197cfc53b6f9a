// The trade-off lab: predicted scores against privacy, for a campaign that does not exist.

import { isSignedIn, leadToSignIn, place } from "./asking.js";
import { at, el, fill } from "./building.js";
import { copying } from "./copying.js";
import { newDraft } from "./draft.js";
import { labChart, labTable } from "./lab-chart.js";
import { scenarioForm } from "./lab-form.js";
import { planLine } from "./lab-line.js";
import { Outlooks } from "./outlooks.js";
import { SEALED } from "./promises.js";
import { handOver } from "./scenario.js";

/** @typedef {import("./lab-form.js").Lab} Lab */

const BASE = document.documentElement.dataset.base ?? "";
const KEPT = `sottovoce:lab:${BASE}`;
const PAUSE = 250;

/** From very private to hardly private, per answer. */
const EPSILONS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6];
/** The order in which they are asked for: the shape of the line shows early. */
const ORDER = [4, 2, 6, 0, 7, 1, 3, 5];

if (isSignedIn()) begin();
else leadToSignIn();

function begin() {
  const lab = restored();
  const [chart, table, line] = [el("div"), el("div"), el("pre", { tabindex: "0" })];
  let later = 0;
  const outlooks = new Outlooks(() => show());
  const show = () => {
    const found = lab.mechanisms.map((mechanism) => EPSILONS.map((epsilon) => outlooks.of(asked(lab, mechanism, epsilon))));
    fill(chart, labChart(lab, EPSILONS, found));
    fill(table, labTable(lab, EPSILONS, found));
    fill(line, el("code", {}, planLine(lab, EPSILONS).flatMap((words) => [el("span", { class: "whole", text: words }), " "])));
  };
  const want = () => outlooks.want(ORDER.flatMap((index) => lab.mechanisms.map((mechanism) => asked(lab, mechanism, EPSILONS[index] ?? 1))));
  const changed = (isFine = true) => {
    sessionStorage.setItem(KEPT, JSON.stringify(lab));
    clearTimeout(later);
    if (!isFine) return outlooks.stop();
    show();
    later = setTimeout(want, PAUSE);
  };
  const form = scenarioForm(lab, changed);
  const use = () => {
    handOver(drafted(lab));
    location.assign(place("campaigns", "new"));
  };
  fill(at("lab"), el("div", { class: "with-crowd" },
    el("form", { class: "card", novalidate: true, onsubmit: (/** @type {Event} */ event) => event.preventDefault() }, form.element),
    el("div", { class: "lab-results" },
      el("section", { class: "card" }, chart, table,
        el("div", { class: "actions" }, el("button", { type: "button", text: "Use this for a new campaign", onclick: use }))),
      el("section", { class: "card" },
        el("h2", { text: "The same on the command line" }), line,
        el("p", {}, copying("Copy", () => (line.textContent ?? "").trim())),
        el("p", { class: "hint" }, "It tries every mechanism that fits, with larger simulations, and says which to take. Do you have raw answers of a pilot? They never go to a server: ", el("code", { text: "sottovoce tradeoff answers.csv" }), " draws this picture from them on your own machine."),
      ),
    ),
  ));
  changed(form.check());
}

/** @returns {Lab} */
function restored() {
  const text = sessionStorage.getItem(KEPT);
  /** @type {Lab} */
  const usual = { kind: "categorical", labels: "4", low: "0", high: "10", tasks: "100", workers: "40", answers: "20", ability: "mixed", hides: false, mechanisms: ["randomized-response"] };
  return text ? { ...usual, ...JSON.parse(text) } : usual;
}

/** @param {Lab} lab @param {string} mechanism @param {number} epsilon */
function asked(lab, mechanism, epsilon) {
  return {
    domain: domainOf(lab),
    privacy: { epsilon, unit: "answer", answers: Number(lab.answers), hide_participation: lab.hides, mechanism },
    tasks: Number(lab.tasks), workers: Number(lab.workers), ability: lab.ability,
  };
}

/** @param {Lab} lab */
function domainOf({ kind, labels, low, high }) {
  if (kind === "numeric") return { kind, low: Number(low), high: Number(high) };
  return { kind, labels: names(Number(labels)) };
}

/** @param {number} count */
function names(count) {
  return count === 2 ? ["Yes", "No"] : Array.from({ length: count }, (_, index) => `Label ${index + 1}`);
}

/** What a new campaign takes over. @param {Lab} lab */
function drafted(lab) {
  const { kind, workers, answers, ability, hides, mechanisms: [first = ""] } = lab;
  const sealed = first === SEALED;
  const numbers = { ...newDraft().numbers, low: lab.low, high: lab.high };
  return { kind, workers, answers, ability, hides, numbers, labels: kind === "numeric" ? newDraft().labels : names(Number(lab.labels)), sealed, mechanism: sealed ? "" : first };
}
