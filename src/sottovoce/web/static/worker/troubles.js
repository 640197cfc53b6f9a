// What keeps somebody from answering, in words, and what can be done about it.

import { el, heading } from "./building.js";
import { inTerminal } from "./consent.js";
import { t } from "./wording.js";

/** @import { Trouble } from "./types.js" */

/** Where the Python client can do what this page cannot. */
const TERMINAL = ["unverifiable", "no_storage"];

/** @param {Trouble} trouble */
export function problem({ kind, facts }) {
  const known = t.troubles[/** @type {keyof typeof t.troubles} */ (kind)];
  const [title, words] = known ?? t.troubles.error;
  if (!known) facts = [kind];
  return [
    el("p", { class: "kicker" }, t.halted),
    heading(title),
    el("p", { class: "lead" }, words),
    facts.length > 0 && el("ul", { class: "facts" }, ...facts.map((fact) =>
      el("li", {}, kind === "unverifiable" ? t.reasons[/** @type {keyof typeof t.reasons} */ (fact)] : el("code", {}, fact)))),
    TERMINAL.includes(kind) && el("section", { class: "card" }, ...inTerminal()),
  ];
}

/** @param {string} kind @param {...string} facts @returns {Trouble} */
export const trouble = (kind, ...facts) => ({ kind, facts });
