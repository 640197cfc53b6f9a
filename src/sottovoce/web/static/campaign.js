// Puts the whole link, with the invite that only the browser knows, into the line to run.

import { offerCopy } from "./clipboard.js";

const INVITE = /^#svi_[A-Za-z0-9_-]{43}$/;
const line = document.getElementById("answer");

if (line && INVITE.test(location.hash)) {
  line.textContent = `sottovoce answer '${location.href}'`;
  const button = /** @type {HTMLElement} */ (document.getElementById("copy"));
  const status = /** @type {HTMLElement} */ (document.getElementById("copied"));
  offerCopy(button, status, () => line.textContent ?? "");
} else if (line) {
  /** @type {HTMLElement} */ (document.getElementById("missing")).hidden = false;
}
