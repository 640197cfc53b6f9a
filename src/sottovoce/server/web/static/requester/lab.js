// The trade-off lab: predicted scores against privacy for a campaign that does not exist yet.

import { lineChart } from "../charts/chart.js";
import { plain } from "../charts/scales.js";
import { handOver, newDraft } from "../draft/draft.js";
import { at, copyButton, el, fill } from "./elements.js";
import { choosing, field, wholeNumber } from "./fields.js";
import { Forecasts, isForecast } from "./forecasts.js";
import { percent } from "./formats.js";
import { betsOf100, calledName, comparable, counting, needsKeyholders, of100 } from "./policy.js";
import { isSignedIn, leadToSignIn, place } from "./requests.js";

/** @import { Forecast } from "./forecasts.js" */
/** @import { Mechanism } from "./policy.js" */
/** @import { Problem } from "./requests.js" */

// The form: the scenario.

/**
 * A planned campaign. Numbers are texts as typed.
 *
 * @typedef {object} Lab
 * @property {"categorical" | "ordinal" | "numeric"} kind
 * @property {string} labels how many
 * @property {string} low
 * @property {string} high
 * @property {string} tasks
 * @property {string} workers
 * @property {string} answers
 * @property {string} ability
 * @property {boolean} hides
 * @property {string[]} mechanisms up to three; none: the first that fits
 */

const MOST_MECHANISMS = 3;
const MOST_LABELS = 1000;
/** @type {{value: Lab["kind"], name: string}[]} */
const KINDS = [{ value: "categorical", name: "Labels" }, { value: "ordinal", name: "Ordered labels" }, { value: "numeric", name: "Numbers" }];
const ABILITIES = [{ value: "mixed", name: "Mixed" }, { value: "able", name: "Good" }, { value: "expert", name: "Experts" }];
const HIDING = [{ value: "no", name: "Visible" }, { value: "yes", name: "Private" }];

/**
 * @param {Lab} lab
 * @param {(isFine: boolean) => void} changed
 */
function scenarioForm(lab, changed) {
  const made = (/** @type {"labels" | "tasks" | "workers" | "answers" | "low" | "high"} */ name, /** @type {string} */ label) => {
    const one = field(label, el("input", { value: lab[name], inputmode: name === "low" || name === "high" ? "text" : "numeric", autocomplete: "off" }));
    one.input.addEventListener("input", () => {
      lab[name] = one.input.value.trim();
      if (name === "labels") choices();
      changed(check());
    });
    return one;
  };
  const [labels, low, high] = [made("labels", "How many labels"), made("low", "Lowest"), made("high", "Highest")];
  const [tasks, workers, answers] = [made("tasks", "Tasks"), made("workers", "Workers"), made("answers", "Answers per worker")];
  const [domain, mechanisms] = [el("div", { class: "side-by-side" }), el("div", { class: "ticks" })];
  const said = (/** @type {{say: (words: string) => boolean}} */ one, /** @type {number | string} */ found) => one.say(typeof found === "string" ? found : "");
  const check = () => {
    const isNumeric = lab.kind === "numeric";
    const [from, to] = [Number(lab.low), Number(lab.high)];
    return [
      isNumeric || said(labels, wholeNumber(lab.labels, 2, MOST_LABELS)),
      !isNumeric || low.say(lab.low && Number.isFinite(from) ? "" : "Enter a number."),
      !isNumeric || high.say(lab.high && Number.isFinite(to) ? (to > from ? "" : "Must be greater than the lowest.") : "Enter a number."),
      said(tasks, wholeNumber(lab.tasks, 1, 1_000_000)),
      said(workers, wholeNumber(lab.workers, 1, 1_000_000)),
      said(answers, wholeNumber(lab.answers, 1, Math.min(Number(lab.tasks) || 1, 1_000_000))),
    ].every(Boolean);
  };
  const choices = () => {
    const fit = comparable({ kind: lab.kind, labels: Array(Number(lab.labels) || 2).fill(""), hides: lab.hides });
    lab.mechanisms = lab.mechanisms.filter((name) => fit.some((each) => each.name === name));
    if (!lab.mechanisms.length) lab.mechanisms = fit.slice(0, 1).map(({ name }) => name);
    fill(mechanisms, fit.map(tick));
    limit();
  };
  const tick = (/** @type {Mechanism} */ { name, in_browser, needs_keyholders }) => {
    const box = el("input", { type: "checkbox", value: name, checked: lab.mechanisms.includes(name) });
    box.addEventListener("change", () => {
      lab.mechanisms = box.checked ? [...lab.mechanisms, name] : lab.mechanisms.filter((each) => each !== name);
      limit();
      changed(check());
    });
    return el("label", { class: "tick" }, box, el("span", {}, calledName(name),
      !in_browser && el("span", { class: "hint", text: "Workers need the terminal" }), needs_keyholders && el("span", { class: "hint", text: "You need keyholders" })));
  };
  const limit = () => {
    for (const box of mechanisms.querySelectorAll("input")) {
      box.disabled = box.checked ? lab.mechanisms.length === 1 : lab.mechanisms.length >= MOST_MECHANISMS;
    }
  };
  const reshape = () => {
    fill(domain, lab.kind === "numeric" ? [low.element, high.element] : labels.element);
    choices();
    changed(check());
  };
  const element = el("div", {},
    choosing("Answers are", KINDS, lab.kind, (kind) => {
      lab.kind = kind;
      reshape();
    }),
    domain,
    el("div", { class: "side-by-side three" }, tasks.element, workers.element, answers.element),
    choosing("The crowd is", ABILITIES, lab.ability, (ability) => {
      lab.ability = ability;
      changed(check());
    }),
    choosing("Which tasks were answered", HIDING, lab.hides ? "yes" : "no", (value) => {
      lab.hides = value === "yes";
      reshape();
    }),
    el("fieldset", { class: "field" }, el("legend", { text: "Mechanisms, up to three" }), mechanisms),
  );
  fill(domain, lab.kind === "numeric" ? [low.element, high.element] : labels.element);
  choices();
  return { element, check };
}

// The results: a line with its band for each mechanism, and a table.

/** @typedef {(Forecast | Problem | null)[][]} Found a row for each mechanism */

/** @param {Lab} lab @param {number[]} epsilons @param {Found} found */
function labChart(lab, epsilons, found) {
  const isAccuracy = lab.kind !== "numeric";
  const first = found.flat().find(isForecast);
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
function labTable(lab, epsilons, found) {
  const say = lab.kind === "numeric" ? plain : percent;
  const cell = (/** @type {Found[0][0]} */ one) => {
    if (one === null) return el("td", { class: "amount hint", text: "…" });
    if (!isForecast(one)) return el("td", { class: "amount hint", text: "not possible", title: one.message });
    return el("td", { class: "amount" }, say(one.expected), el("span", { class: "fine", text: ` ${say(one.band[0])} – ${say(one.band[1])}` }),
      one.devices.warning && el("span", { class: "fine cut-short", title: one.devices.warning, text: one.devices.answered ? `${one.devices.answered} of ${lab.answers} tasks` : "devices refuse" }));
  };
  const refused = found.flat().find((one) => one !== null && !isForecast(one));
  return el("div", {},
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Forecasts" },
      el("table", { class: "numbers lab-table" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "epsilon" }), lab.mechanisms.map((name) => el("th", { scope: "col", class: "amount", text: calledName(name) })))),
        el("tbody", {}, epsilons.map((epsilon, place) => el("tr", {}, el("th", { scope: "row", text: String(epsilon) }), found.map((row) => cell(row[place] ?? null))))),
      )),
    refused && el("p", { class: "error", text: /** @type {Error} */ (refused).message }),
    el("p", { class: "fine", text: "The expected score and the range that covers 9 of 10 such campaigns. Simulated, assuming that the crowd is as you describe it. Smaller epsilon is more private." }),
    found.flat().some((one) => isForecast(one) && one.devices.warning) && el("p", { class: "notice bad", text: "The marked rows exceed the default budget of workers’ devices: they stop after that many tasks, or refuse. Give each worker fewer tasks." }),
  );
}

/** @param {Found} found @param {number} row @param {number} place @param {(one: Forecast) => number} of */
function score(found, row, place, of) {
  const one = found[row]?.[place] ?? null;
  return isForecast(one) ? of(one) : null;
}

/** @param {Found[0][0]} one */
function oddsAt(one) {
  const kept = !isForecast(one) ? null : needsKeyholders(one.mechanism) ? betsOf100(one.guarantee.per_answer.epsilon ?? Infinity) : of100(one.guarantee.odds);
  return kept === null ? "" : `\n${kept}`;
}

// The equivalent command.

/**
 * The words of the command; none is broken across lines.
 *
 * @param {Lab} lab
 * @param {number[]} epsilons
 */
function planLine(lab, epsilons) {
  return [
    "sottovoce plan",
    `--tasks ${lab.tasks}`,
    `--workers ${lab.workers}`,
    `--answers-per-worker ${lab.answers}`,
    domainOption(lab),
    `--epsilon ${epsilons.join(" ")}`,
    `--ability ${lab.ability}`,
    ...(lab.hides ? ["--hide-participation"] : []),
  ];
}

/** @param {Lab} lab */
function domainOption({ kind, labels, low, high }) {
  if (kind === "numeric") return `--range ${low} ${high}`;
  if (kind === "categorical") return `--label-count ${labels}`;
  const names = Array.from({ length: Number(labels) || 2 }, (_, index) => `label-${index + 1}`);
  return `--domain ordinal:${names.join(",")}`;
}

// The page.

const BASE = document.documentElement.dataset.base ?? "";
const KEPT = `sottovoce:lab:${BASE}`;
const PAUSE = 250;

/** Epsilon per answer, from very private to hardly private. */
const EPSILONS = [0.25, 0.5, 1, 1.5, 2, 3, 4, 6];
/** The order of requests: the shape of the line appears early. */
const ORDER = [4, 2, 6, 0, 7, 1, 3, 5];

if (isSignedIn()) begin();
else leadToSignIn();

function begin() {
  const lab = restored();
  const [chart, table, line] = [el("div"), el("div"), el("pre", { tabindex: "0" })];
  let later = 0;
  const forecasts = new Forecasts(() => show());
  const show = () => {
    const found = lab.mechanisms.map((mechanism) => EPSILONS.map((epsilon) => forecasts.of(asked(lab, mechanism, epsilon))));
    fill(chart, labChart(lab, EPSILONS, found));
    fill(table, labTable(lab, EPSILONS, found));
    fill(line, el("code", {}, planLine(lab, EPSILONS).flatMap((words) => [el("span", { class: "whole", text: words }), " "])));
  };
  const want = () => forecasts.want(ORDER.flatMap((index) => lab.mechanisms.map((mechanism) => asked(lab, mechanism, EPSILONS[index] ?? 1))));
  const changed = (isFine = true) => {
    sessionStorage.setItem(KEPT, JSON.stringify(lab));
    clearTimeout(later);
    if (!isFine) return forecasts.stop();
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
        el("div", { class: "actions" }, el("button", { type: "button", text: "Use for a new campaign", onclick: use }))),
      el("section", { class: "card" },
        el("h2", { text: "The same on the command line" }), line,
        el("p", {}, copyButton("Copy", () => (line.textContent ?? "").trim())),
        el("p", { class: "hint" }, "The command tries every mechanism that fits, with larger simulations, and recommends one. If you have raw answers from a pilot, do not send them to a server: ", el("code", { text: "sottovoce tradeoff answers.csv" }), " draws this chart from them on your own machine."),
      ),
    ),
  ));
  changed(form.check());
}

/** @returns {Lab} */
function restored() {
  const text = sessionStorage.getItem(KEPT);
  /** @type {Lab} */
  const usual = { kind: "categorical", labels: "4", low: "0", high: "10", tasks: "100", workers: "40", answers: "20", ability: "mixed", hides: false, mechanisms: [] };
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

/** The values that a new campaign takes over. @param {Lab} lab */
function drafted(lab) {
  const { kind, workers, answers, ability, hides, mechanisms: [first = ""] } = lab;
  const sealed = needsKeyholders(first);
  const numbers = { ...newDraft().numbers, low: lab.low, high: lab.high };
  return { kind, workers, answers, ability, hides, numbers, labels: kind === "numeric" ? newDraft().labels : names(Number(lab.labels)), sealed, mechanism: sealed ? "" : first };
}
