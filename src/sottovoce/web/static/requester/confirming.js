// Asks before something that cannot be undone.

import { el } from "./building.js";

/**
 * @typedef {object} Doubt
 * @property {string} title the question
 * @property {string[]} words what will happen, a paragraph each
 * @property {string} action what the button says that does it
 * @property {string} [typed] what has to be typed first
 */

/**
 * Whether the person wants it. Escape, and everything but the button, means no.
 *
 * @param {Doubt} doubt
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, words, action, typed }) {
  const yes = el("button", { type: "submit", value: "yes", text: action, disabled: typed !== undefined });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "doubt", text: title }),
    words.map((text) => el("p", { text })),
    typed === undefined ? null : typing(typed, yes),
    el(
      "p",
      { class: "actions" },
      yes,
      el("button", { type: "button", class: "quiet", text: "Leave it", onclick: () => dialog.close() }),
    ),
  );
  const dialog = el("dialog", { "aria-labelledby": "doubt" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }),
  );
}

/** @param {string} typed @param {HTMLButtonElement} yes */
function typing(typed, yes) {
  const field = el("input", { autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  field.addEventListener("input", () => {
    yes.disabled = !same(field.value, typed);
  });
  return el("label", {}, "Type “", el("span", { class: "typed", text: typed }), "” to confirm", field);
}

/** Spaces may differ: a title may have some that nobody can see. @param {string} one @param {string} other */
function same(one, other) {
  const plain = (/** @type {string} */ text) => text.normalize().trim().replace(/\s+/g, " ");
  return plain(one) === plain(other);
}
