// The labels people choose from: added, taken away, put in order. Several lines pasted into one
// become several labels.

import { el, fill } from "./building.js";

const LONGEST = 1000;

/**
 * @param {string[]} labels changed in place
 * @param {() => void} changed
 */
export function labelsEditor(labels, changed) {
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
    const input = el("input", { value: label, maxlength: LONGEST, autocomplete: "off", "aria-label": `Label ${at + 1}`, "aria-describedby": "labels-error",
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
    error.textContent = empty >= 0 ? `Label ${empty + 1} is empty. Write something or remove it.`
      : twice >= 0 ? `“${trimmed[twice]}” is there twice. Labels must differ from each other.` : "";
    return wrong < 0;
  };
  const say = (/** @type {string} */ words) => {
    error.textContent = words;
  };
  const element = el("fieldset", { class: "field" }, el("legend", { text: "Labels" }),
    el("p", { class: "hint", text: "What people choose from, in this order. Enter adds one; paste several lines to add many." }),
    list, error, el("div", { class: "actions" }, add));
  return { element, check, say };
}
