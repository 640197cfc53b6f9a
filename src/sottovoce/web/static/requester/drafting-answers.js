// The second step: the question, and what may be answered.

import { el, fill } from "./building.js";
import { numberOf } from "./draft.js";
import { choosing, field, wholeNumber } from "./fields.js";
import { labelsEditor } from "./labels.js";
import { preview } from "./preview.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./drafting.js").View} View */

const MOST_WORKERS = 2 ** 31 - 1;

/** @type {{value: Draft["kind"], name: string, hint: string}[]} */
const KINDS = [
  { value: "categorical", name: "Labels", hint: "One of some words, none of which is more than another: oak, birch, lime." },
  { value: "ordinal", name: "Labels in an order", hint: "From least to most: never, seldom, often, always." },
  { value: "numeric", name: "Numbers", hint: "A number in a range you name: 0 to 100 metres." },
];

/**
 * @param {Draft} draft
 * @param {() => void} keep
 * @returns {View}
 */
export function answersStep(draft, keep) {
  const seen = preview(draft);
  const changed = () => {
    seen.update();
    keep();
  };
  const title = field("Title", el("input", { value: draft.title, maxlength: 200, autocomplete: "off" }), "What workers see first, and what you find it by.");
  const question = field("Question", el("textarea", { rows: 3, maxlength: 5000 }, draft.question), "It is asked of every task. Plain text.");
  bind(title.input, (value) => (draft.title = value), changed);
  bind(question.input, (value) => (draft.question = value), changed);
  const labels = labelsEditor(draft.labels, changed);
  const numbers = numbersEditor(draft, changed);
  const room = el("div", { class: "room" });
  const choose = (/** @type {Draft["kind"]} */ kind) => {
    draft.kind = kind;
    draft.mechanism = "";
    fill(room, kind === "numeric" ? numbers.element : labels.element);
    changed();
  };
  const ends = ending(draft, keep);
  const kinds = choosing("An answer is …", KINDS, draft.kind, choose);
  fill(room, draft.kind === "numeric" ? numbers.element : labels.element);
  const element = el("div", { class: "with-aside" },
    el("div", { class: "card" }, title.element, question.element, kinds, room, ends.element),
    el("aside", { class: "sticky", "aria-label": "Preview" }, seen.element),
  );
  const check = () => {
    const fine = [
      title.say(draft.title.trim() ? "" : "Give it a title."),
      question.say(draft.question.trim() ? "" : "Write the question."),
      draft.kind === "numeric" ? numbers.check() : labels.check(),
      ends.check(),
    ];
    return fine.every(Boolean);
  };
  const blame = (/** @type {import("./asking.js").Problem} */ problem) => {
    const fields = /** @type {Record<string, {say: (words: string) => unknown}>} */ ({ title, question, unit: numbers.unit, ...ends.fields });
    const found = fields[problem.field ?? ""] ?? (problem.field?.startsWith("domain.labels") ? labels : null);
    found?.say(problem.message);
    return found !== null;
  };
  return { element, check, blame };
}

/**
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {(value: string) => void} set
 * @param {() => void} changed
 */
function bind(input, set, changed) {
  input.addEventListener("input", () => {
    set(input.value);
    changed();
  });
}

/** @param {Draft} draft @param {() => void} changed */
function numbersEditor({ numbers }, changed) {
  const made = (/** @type {keyof typeof numbers} */ name, /** @type {string} */ label, /** @type {string} */ hint, kind = "decimal") => {
    const one = field(label, el("input", { value: numbers[name], inputmode: kind, autocomplete: "off", maxlength: 40 }), hint);
    bind(one.input, (value) => (numbers[name] = value), changed);
    return one;
  };
  const [low, high] = [made("low", "Lowest", "", "text"), made("high", "Highest", "", "text")];
  const [step, unit] = [made("step", "Step", "Empty: any number."), made("unit", "Unit", "m, °C, years …", "text")];
  const element = el("fieldset", { class: "field" }, el("legend", { text: "Numbers" }),
    el("p", { class: "hint", text: "The range is public. The wider it is, the more noise hides a number in it." }),
    el("div", { class: "side-by-side" }, low.element, high.element, step.element, unit.element));
  const check = () => {
    const [from, to, by] = [numberOf(numbers.low), numberOf(numbers.high), numberOf(numbers.step)];
    const isWhole = Math.abs((to - from) / by - Math.round((to - from) / by)) < 1e-6;
    return [
      low.say(Number.isFinite(from) ? "" : "Write a number."),
      high.say(!Number.isFinite(to) ? "Write a number." : to <= from ? "This must be more than the lowest." : ""),
      step.say(!numbers.step.trim() || (by > 0 && isWhole) ? "" : by > 0 ? "Whole steps must lead from the lowest to the highest." : "Write a number above 0, or nothing."),
    ].every(Boolean);
  };
  return { element, check, unit };
}

/** When it ends by itself. @param {Draft} draft @param {() => void} changed */
function ending(draft, changed) {
  const day = field("Closes on", el("input", { type: "date", value: draft.closesOn }), "The first day (UTC) on which no report is taken. Empty: you close it.");
  const quota = field("Most workers", el("input", { value: draft.quota, inputmode: "numeric", autocomplete: "off" }), "Empty: as many as come.");
  bind(day.input, (value) => (draft.closesOn = value), changed);
  bind(quota.input, (value) => (draft.quota = value.trim()), changed);
  const element = el("details", { class: "more", open: Boolean(draft.closesOn || draft.quota) }, el("summary", { text: "When it ends" }),
    el("div", { class: "side-by-side" }, day.element, quota.element));
  const check = () => {
    const many = draft.quota ? wholeNumber(draft.quota, 1, MOST_WORKERS) : 1;
    const today = new Date().toISOString().slice(0, 10);
    const fine = [
      day.say(draft.closesOn && draft.closesOn <= today ? "This day has begun already. Choose a later one." : ""),
      quota.say(typeof many === "string" ? many : ""),
    ].every(Boolean);
    if (!fine) element.open = true;
    return fine;
  };
  return { element, check, fields: { closes_on: day, quota } };
}
