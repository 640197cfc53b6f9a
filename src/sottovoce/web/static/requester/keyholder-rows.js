// The keyholders of a sealed campaign and what each has done: a small table.

import { el, svg } from "./building.js";
import { fingerprintOf } from "./fingerprints.js";
import { shortly, whole } from "./saying.js";

/** @typedef {import("./shapes.js").Seat} Seat */

const COLUMNS = ["Keyholder", "Seen", "Noise", "Confirmed", "Share"];

/** @param {Seat[]} keyholders */
export function keyholderTable(keyholders) {
  // The roles are said, since a phone lays the rows out as grids.
  return el("table", { class: "keyholders", role: "table" },
    el("caption", { class: "unseen", text: "What each keyholder has done" }),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, COLUMNS.map((text) => el("th", { scope: "col", role: "columnheader", text })))),
    el("tbody", { role: "rowgroup" }, keyholders.map(seatRow)),
  );
}

/** @param {Seat} keyholder */
function seatRow({ seat, name, fingerprint, dealt, confirmed, opened, ...seen }) {
  return el("tr", { role: "row" },
    el("th", { scope: "row", role: "rowheader" }, el("span", { class: "seat-name" }, el("span", { class: "unseen", text: "Seat " }), el("span", { class: "seat", text: String(seat) }), " ", name), fingerprintOf(fingerprint)),
    el("td", { role: "cell" }, presence(seen)),
    el("td", { role: "cell" }, mark(dealt, "dealt")),
    el("td", { role: "cell" }, mark(confirmed !== null, confirmed === 0 ? "noise" : `batch ${whole(confirmed ?? 0)}`)),
    el("td", { role: "cell" }, mark(opened, "in")),
  );
}

/** @param {{seen_on: string | null, is_here: boolean}} seen */
function presence({ seen_on, is_here }) {
  if (is_here) return el("span", { class: "chip open", text: "here" });
  return el("span", { class: "chip", text: seen_on ? shortly(seen_on) : "never" });
}

/** @param {boolean} isDone @param {string} words */
function mark(isDone, words) {
  if (!isDone) return el("span", { class: "tag" }, el("span", { "aria-hidden": "true", text: "–" }), el("span", { class: "unseen", text: "not yet" }));
  return el("span", { class: "mark-done" },
    svg("svg", { viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true" }, svg("path", { d: "M2 6.5 5 9.5 10 3", fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linecap": "round", "stroke-linejoin": "round" })),
    words);
}
