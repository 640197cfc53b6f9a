// Step 2: the question, the labels or the range of an answer, and a preview of the worker's page.

import { el, fill } from "../requester/elements.js";
import { choosing, field, wholeNumber } from "../requester/fields.js";
import { whole } from "../requester/formats.js";
import { numberOf } from "./draft.js";

/** @import { Problem } from "../requester/requests.js" */
/** @import { Draft } from "./draft.js" */
/** @import { View } from "./wizard.js" */

const MOST_WORKERS = 2 ** 31 - 1;

/** @type {{value: Draft["kind"], name: string, hint: string}[]} */
const KINDS = [
  { value: "categorical", name: "Labels", hint: "One word from a list without order: oak, birch, lime." },
  { value: "ordinal", name: "Ordered labels", hint: "From least to most: never, seldom, often, always." },
  { value: "numeric", name: "Numbers", hint: "A number in a range: 0 to 100 metres." },
];

/** @type {{value: Draft["assignment"], name: string, hint: string}[]} */
const GIVEN = [
  { value: "need", name: "The most needed tasks", hint: "First those with too few reports, then undecided ones. Settled tasks are not asked any more." },
  { value: "hash", name: "Tasks chosen by chance", hint: "Always so if participation is hidden, answers are sealed or a sample is sent." },
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
  const title = field("Title", el("input", { value: draft.title, maxlength: 200, autocomplete: "off" }), "Workers see it first, and your campaigns are listed by it.");
  const question = field("Question", el("textarea", { rows: 3, maxlength: 5000 }, draft.question), "The same question for every task. Plain text.");
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
  const giving = choosing("Each worker gets …", GIVEN, draft.assignment, (/** @type {Draft["assignment"]} */ how) => {
    draft.assignment = how;
    keep();
  });
  const kinds = choosing("An answer is …", KINDS, draft.kind, choose);
  fill(room, draft.kind === "numeric" ? numbers.element : labels.element);
  const element = el("div", { class: "with-aside" },
    el("div", { class: "card" }, title.element, question.element, kinds, room,
      el("details", { class: "more", open: draft.assignment === "hash" }, el("summary", { text: "Choice of tasks" }), giving), ends.element),
    el("aside", { class: "sticky", "aria-label": "Preview" }, seen.element),
  );
  const check = () => {
    const fine = [
      title.say(draft.title.trim() ? "" : "Enter a title."),
      question.say(draft.question.trim() ? "" : "Enter the question."),
      draft.kind === "numeric" ? numbers.check() : labels.check(),
      ends.check(),
    ];
    return fine.every(Boolean);
  };
  const blame = (/** @type {Problem} */ problem) => {
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
  const [step, unit] = [made("step", "Step", "Leave empty for any number."), made("unit", "Unit", "m, °C, years …", "text")];
  const element = el("fieldset", { class: "field" }, el("legend", { text: "Numbers" }),
    el("p", { class: "hint", text: "The range is public. A wider range needs more noise." }),
    el("div", { class: "side-by-side" }, low.element, high.element, step.element, unit.element));
  const check = () => {
    const [from, to, by] = [numberOf(numbers.low), numberOf(numbers.high), numberOf(numbers.step)];
    const isWhole = Math.abs((to - from) / by - Math.round((to - from) / by)) < 1e-6;
    return [
      low.say(Number.isFinite(from) ? "" : "Enter a number."),
      high.say(!Number.isFinite(to) ? "Enter a number." : to <= from ? "Must be greater than the lowest." : ""),
      step.say(!numbers.step.trim() || (by > 0 && isWhole) ? "" : by > 0 ? "The range must be a whole number of steps." : "Enter a number above 0, or leave it empty."),
    ].every(Boolean);
  };
  return { element, check, unit };
}

/** When the campaign closes automatically. @param {Draft} draft @param {() => void} changed */
function ending(draft, changed) {
  const day = field("Closes on", el("input", { type: "date", value: draft.closesOn }), "The first day (UTC) on which no reports are accepted. Leave empty to close it yourself.");
  const quota = field("Maximum number of workers", el("input", { value: draft.quota, inputmode: "numeric", autocomplete: "off" }), "Leave empty for no limit.");
  bind(day.input, (value) => (draft.closesOn = value), changed);
  bind(quota.input, (value) => (draft.quota = value.trim()), changed);
  const element = el("details", { class: "more", open: Boolean(draft.closesOn || draft.quota) }, el("summary", { text: "End of the campaign" }),
    el("div", { class: "side-by-side" }, day.element, quota.element));
  const check = () => {
    const many = draft.quota ? wholeNumber(draft.quota, 1, MOST_WORKERS) : 1;
    const today = new Date().toISOString().slice(0, 10);
    const fine = [
      day.say(draft.closesOn && draft.closesOn <= today ? "This day has already begun. Choose a later one." : ""),
      quota.say(typeof many === "string" ? many : ""),
    ].every(Boolean);
    if (!fine) element.open = true;
    return fine;
  };
  return { element, check, fields: { closes_on: day, quota } };
}

// The editor of labels: add, remove, reorder. Several pasted lines become several labels.

const LONGEST_LABEL = 1000;

/**
 * @param {string[]} labels changed in place
 * @param {() => void} changed
 */
function labelsEditor(labels, changed) {
  const list = el("ol", { class: "labels" });
  const error = el("p", { class: "error", id: "labels-error" });
  const add = el("button", { type: "button", class: "quiet", text: "Add a label", onclick: () => insert(labels.length) });
  const inputs = () => [...list.querySelectorAll("input")];

  const insert = (/** @type {number} */ at) => {
    labels.splice(at, 0, "");
    draw(at);
  };
  const draw = (/** @type {number} */ focus = -1) => {
    fill(list, labels.map((label, at) => row(label, at)));
    inputs()[focus]?.focus();
    changed();
  };
  const move = (/** @type {number} */ from, /** @type {number} */ to) => {
    const [label = ""] = labels.splice(from, 1);
    labels.splice(to, 0, label);
    draw();
    const kind = to < from ? "up" : "down";
    const buttons = list.children[to]?.querySelectorAll("button") ?? [];
    /** @type {HTMLElement | undefined} */ ([...buttons].find((each) => each.dataset.kind === kind && !each.disabled) ?? inputs()[to])?.focus();
  };
  const remove = (/** @type {number} */ at) => {
    labels.splice(at, 1);
    draw(Math.min(at, labels.length - 1));
  };
  const paste = (/** @type {ClipboardEvent} */ event, /** @type {number} */ at) => {
    const lines = (event.clipboardData?.getData("text") ?? "").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (lines.length < 2) return;
    event.preventDefault();
    labels.splice(at, 1, ...lines);
    draw(at + lines.length - 1);
  };
  const typed = (/** @type {KeyboardEvent} */ event, /** @type {number} */ at) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    insert(at + 1);
  };
  const row = (/** @type {string} */ label, /** @type {number} */ at) => {
    const name = label || `label ${at + 1}`;
    const input = el("input", { value: label, maxlength: LONGEST_LABEL, autocomplete: "off", "aria-label": `Label ${at + 1}`, "aria-describedby": "labels-error",
      onpaste: (/** @type {ClipboardEvent} */ event) => paste(event, at), onkeydown: (/** @type {KeyboardEvent} */ event) => typed(event, at) });
    input.addEventListener("input", () => {
      labels[at] = input.value;
      changed();
    });
    const tool = (/** @type {string} */ kind, /** @type {string} */ words, /** @type {string} */ sign, /** @type {boolean} */ isOff, /** @type {() => void} */ does) =>
      el("button", { type: "button", class: "tool", "data-kind": kind, "aria-label": `${words} ${name}`, disabled: isOff, text: sign, onclick: does });
    return el("li", {}, input,
      tool("up", "Move up", "↑", at === 0, () => move(at, at - 1)),
      tool("down", "Move down", "↓", at === labels.length - 1, () => move(at, at + 1)),
      tool("remove", "Remove", "×", labels.length <= 2, () => remove(at)),
    );
  };
  draw();

  const check = () => {
    const trimmed = labels.map((label) => label.trim());
    const empty = trimmed.indexOf("");
    const twice = trimmed.findIndex((label, at) => trimmed.indexOf(label) < at);
    const wrong = empty >= 0 ? empty : twice;
    inputs().forEach((input, at) => (at === wrong ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid")));
    error.textContent = empty >= 0 ? `Label ${empty + 1} is empty. Enter a text or remove it.`
      : twice >= 0 ? `“${trimmed[twice]}” appears twice. Labels must be different.` : "";
    return wrong < 0;
  };
  const say = (/** @type {string} */ words) => {
    error.textContent = words;
  };
  const element = el("fieldset", { class: "field" }, el("legend", { text: "Labels" }),
    el("p", { class: "hint", text: "The choices, in this order. Press Enter to add one, or paste several lines." }),
    list, error, el("div", { class: "actions" }, add));
  return { element, check, say };
}

// The preview: the first question in the frame of a phone. It takes no input.

const MOST_SHOWN = 7;
const HEADLINE = 90;

/** @param {Draft} draft */
export function preview(draft) {
  const screen = el("div", { class: "screen" });
  const element = el("figure", { class: "phone-figure" },
    el("div", { class: "phone", inert: true, "aria-hidden": "true" }, screen),
    el("figcaption", { class: "fine", text: "The first question as a worker sees it" }),
  );
  const update = () => fill(screen, shown(draft));
  update();
  return { element, update };
}

/** @param {Draft} draft */
function shown(draft) {
  const task = draft.tasks?.first[0];
  const text = task?.text || task?.task || "The first task";
  const count = Math.min(Number(draft.answers) || 20, draft.tasks?.count ?? 20);
  const question = draft.question.trim() || "Your question";
  return [
    el("p", { class: "kicker" }, `1 of ${whole(count)}`, el("span", { class: "bar" }, el("span", { class: "done" }))),
    question !== text && el("p", { class: "hint", text: question }),
    el("p", { class: text.length > HEADLINE ? "headline long" : "headline", text }),
    task?.image && el("p", { class: "image", text: "Its image" }),
    draft.kind === "numeric" ? numberField(draft) : labelField(draft),
    el("p", { class: "shown-actions" },
      el("span", { class: "shown-button", text: "Next" }), el("span", { class: "shown-button quiet", text: "Back" }), el("span", { class: "shown-button quiet", text: "Skip" })),
  ];
}

/** @param {Draft} draft */
function labelField({ labels }) {
  const left = labels.length - MOST_SHOWN;
  return el("div", { class: "shown-choices" },
    labels.slice(0, MOST_SHOWN).map((label, at) => el("p", { class: "shown-choice" }, el("span", { class: "ring" }), el("span", { text: label || `Label ${at + 1}` }))),
    left > 0 && el("p", { class: "hint", text: `and ${whole(left)} more` }),
  );
}

/** @param {Draft} draft */
function numberField({ numbers }) {
  const unit = numbers.unit.trim();
  const step = numbers.step.trim();
  return el("div", {},
    el("p", { class: "shown-number" }, el("span", { class: "box" }), unit && el("span", { text: unit })),
    el("p", { class: "hint", text: `From ${numbers.low || "…"} to ${numbers.high || "…"}${unit ? ` ${unit}` : ""}${step ? `, in steps of ${step}` : ""}.` }),
  );
}
