// Form fields, each with its label, hint and error.

import { el } from "./elements.js";

/** @typedef {{element: HTMLElement, say: (words: string) => boolean}} Field */

let made = 0;

/**
 * A labelled input. `say` shows an error (or none) and returns whether the input is valid.
 *
 * @template {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} I
 * @param {string} label
 * @param {I} input
 * @param {string} [hint]
 * @returns {Field & {input: I}}
 */
export function field(label, input, hint) {
  const id = input.id || `field-${++made}`;
  input.id = id;
  input.setAttribute("aria-describedby", `${id}-error${hint ? ` ${id}-hint` : ""}`);
  const error = el("p", { class: "error", id: `${id}-error` });
  const element = el("div", { class: "field" },
    el("label", { for: id, text: label }),
    input,
    error,
    hint && el("p", { class: "hint", id: `${id}-hint`, text: hint }),
  );
  const say = (/** @type {string} */ words) => said(input, error, words);
  input.addEventListener("input", () => say(""));
  return { element, input, say };
}

/**
 * Radio buttons, each with a hint.
 *
 * @template {string} V
 * @param {string} legend
 * @param {{value: V, name: string, hint?: string}[]} choices
 * @param {V} chosen
 * @param {(value: V) => void} onchoice
 * @returns {HTMLFieldSetElement}
 */
export function choosing(legend, choices, chosen, onchoice) {
  const name = `choice-${++made}`;
  return el("fieldset", { class: "field" },
    el("legend", { text: legend }),
    el("div", { class: "choices" }, choices.map(({ value, name: words, hint }) =>
      el("label", { class: "choice" },
        el("input", { type: "radio", name, value, checked: value === chosen, onchange: () => onchoice(value) }),
        el("span", {}, words, hint && el("span", { class: "hint", text: hint })),
      ))),
  );
}

/**
 * A whole number in a range, or the error message.
 *
 * @param {string} text
 * @param {number} least
 * @param {number} most
 * @returns {number | string}
 */
export function wholeNumber(text, least, most) {
  const value = Number(text);
  if (/^\s*\d+\s*$/.test(text) && value >= least && value <= most) return value;
  return `Enter a whole number from ${least.toLocaleString("en-GB")} to ${most.toLocaleString("en-GB")}.`;
}

/** @param {Element} input @param {HTMLElement} error @param {string} words */
function said(input, error, words) {
  error.textContent = words;
  if (words) input.setAttribute("aria-invalid", "true");
  else input.removeAttribute("aria-invalid");
  return words === "";
}
