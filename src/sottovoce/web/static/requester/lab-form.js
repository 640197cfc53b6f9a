// The scenario of the lab.

import { el, fill } from "./building.js";
import { choosing, field, wholeNumber } from "./fields.js";
import { calledName, comparable } from "./mechanisms.js";
import { SEALED } from "./promises.js";

/**
 * A campaign that does not exist. Numbers are as they were typed.
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
 * @property {string[]} mechanisms up to three
 */

const MOST = 3;
const MOST_LABELS = 1000;
/** @type {{value: Lab["kind"], name: string}[]} */
const KINDS = [{ value: "categorical", name: "Labels" }, { value: "ordinal", name: "Labels in an order" }, { value: "numeric", name: "Numbers" }];
const ABILITIES = [{ value: "mixed", name: "Mixed" }, { value: "able", name: "Fairly able" }, { value: "expert", name: "Experts" }];
const HIDING = [{ value: "no", name: "Can be seen" }, { value: "yes", name: "Stays private" }];

/**
 * @param {Lab} lab
 * @param {(isFine: boolean) => void} changed
 */
export function scenarioForm(lab, changed) {
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
  const [tasks, workers, answers] = [made("tasks", "Tasks"), made("workers", "Workers"), made("answers", "Answers of each")];
  const [domain, mechanisms] = [el("div", { class: "side-by-side" }), el("div", { class: "ticks" })];
  const said = (/** @type {{say: (words: string) => boolean}} */ one, /** @type {number | string} */ found) => one.say(typeof found === "string" ? found : "");
  const check = () => {
    const isNumeric = lab.kind === "numeric";
    const [from, to] = [Number(lab.low), Number(lab.high)];
    return [
      isNumeric || said(labels, wholeNumber(lab.labels, 2, MOST_LABELS)),
      !isNumeric || low.say(lab.low && Number.isFinite(from) ? "" : "Write a number."),
      !isNumeric || high.say(lab.high && Number.isFinite(to) ? (to > from ? "" : "More than the lowest.") : "Write a number."),
      said(tasks, wholeNumber(lab.tasks, 1, 1_000_000)),
      said(workers, wholeNumber(lab.workers, 1, 1_000_000)),
      said(answers, wholeNumber(lab.answers, 1, Math.min(Number(lab.tasks) || 1, 1_000_000))),
    ].every(Boolean);
  };
  const choices = () => {
    const fit = comparable({ kind: lab.kind, labels: Array(Number(lab.labels) || 2).fill(""), hides: lab.hides });
    lab.mechanisms = lab.mechanisms.filter((name) => fit.some((each) => each.name === name));
    if (!lab.mechanisms.length) lab.mechanisms = fit.slice(0, 1).map(({ name }) => name);
    fill(mechanisms, fit.map(({ name, inBrowser }) => tick(name, inBrowser)));
    limit();
  };
  const tick = (/** @type {string} */ name, /** @type {boolean} */ inBrowser) => {
    const box = el("input", { type: "checkbox", value: name, checked: lab.mechanisms.includes(name) });
    box.addEventListener("change", () => {
      lab.mechanisms = box.checked ? [...lab.mechanisms, name] : lab.mechanisms.filter((each) => each !== name);
      limit();
      changed(check());
    });
    return el("label", { class: "tick" }, box, el("span", {}, calledName(name),
      !inBrowser && el("span", { class: "hint", text: "Workers need the terminal" }), name === SEALED && el("span", { class: "hint", text: "You need keyholders" })));
  };
  const limit = () => {
    for (const box of mechanisms.querySelectorAll("input")) {
      box.disabled = box.checked ? lab.mechanisms.length === 1 : lab.mechanisms.length >= MOST;
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
    choosing("Who answered what", HIDING, lab.hides ? "yes" : "no", (value) => {
      lab.hides = value === "yes";
      reshape();
    }),
    el("fieldset", { class: "field" }, el("legend", { text: "Mechanisms, up to three" }), mechanisms),
  );
  fill(domain, lab.kind === "numeric" ? [low.element, high.element] : labels.element);
  choices();
  return { element, check };
}
