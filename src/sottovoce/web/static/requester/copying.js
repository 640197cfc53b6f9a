// A button that copies a text, and says that it has.

import { offerCopy } from "../clipboard.js";
import { el } from "./building.js";

/**
 * @param {string} label
 * @param {() => string} text
 * @param {string} [look] the button's class
 */
export function copying(label, text, look = "quiet") {
  const button = el("button", { type: "button", class: look, text: label, hidden: true });
  const status = el("span", { class: "hint", role: "status" });
  offerCopy(button, status, text);
  return el("span", { class: "copying" }, button, " ", status);
}
