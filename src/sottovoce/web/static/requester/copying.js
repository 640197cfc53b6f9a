// A button that copies a text, and says that it has.

import { offerCopy } from "../clipboard.js";
import { el } from "./building.js";

/**
 * @param {string} label
 * @param {() => string} text
 * @param {string} [look] the button's class
 * @param {string} [name] what the button is called where its label does not say enough
 */
export function copying(label, text, look = "quiet", name = undefined) {
  const button = el("button", { type: "button", class: look, text: label, "aria-label": name, hidden: true });
  const status = el("span", { class: "hint", role: "status" });
  offerCopy(button, status, text);
  return el("span", { class: "copying" }, button, " ", status);
}
