// A large quiet figure with its name.

import { el } from "./building.js";

/** @param {string} name @param {string} value @param {string} [beside] */
export function large(name, value, beside) {
  return el(
    "div",
    {},
    el("dt", { text: name }),
    el("dd", {}, value, beside ? el("span", { class: "beside", text: ` ${beside}` }) : null),
  );
}
