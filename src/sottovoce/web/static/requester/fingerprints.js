// A fingerprint as it is compared: in groups, half of them on a line.

import { el } from "./building.js";

/** @param {string | null} text */
export function fingerprintOf(text) {
  if (text === null) return el("span", { class: "hint", text: "Fingerprints need HTTPS: “sottovoce keyholder status” shows them too." });
  const groups = text.split(" ");
  const half = Math.ceil(groups.length / 2);
  return el("code", { class: "fingerprint" },
    el("span", { text: groups.slice(0, half).join(" ") }), " ", el("span", { text: groups.slice(half).join(" ") }));
}
