// What a sealed campaign shows: how answers are sealed, and the parts that leave.

import { details, el } from "./building.js";
import { number, t } from "./wording.js";

/** @import { Parcel, SealedApp } from "./types.js" */

/** How answers are sealed, and who would have to break their word. @param {SealedApp} app */
export function howSealed({ verified }) {
  const { keyholders, seats, minimum, colluders } = verified;
  const names = keyholders.map(({ name }) => name).join(t.comma);
  return [
    el("p", {}, t.sealedHere),
    el("ol", { class: "steps" },
      ...t.sealedSteps(number(seats), names, number(minimum)).map((step) => el("li", {}, step))),
    el("p", { class: "odds" }, t.takesToRead(number(colluders + 1), number(seats))),
    details(t.whoHoldsKeys,
      el("p", { class: "hint" }, t.fingerprintsFor),
      el("ul", { class: "keyholders" }, ...keyholders.map(({ name, fingerprint }) =>
        el("li", {}, el("strong", {}, name), el("code", { class: "hash" }, fingerprint))))),
  ];
}

const SVG = "http://www.w3.org/2000/svg";

/** A lock, or an eye. The words beside them say as much. @type {Record<string, string>} */
const SIGNS = {
  locked: "M7 11V8a5 5 0 0 1 10 0v3M5 11h14v10H5zM12 15v2",
  readable: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 1 0 0-6",
};

/** @param {string} kind */
function sign(kind) {
  const drawing = document.createElementNS(SVG, "svg");
  drawing.setAttribute("viewBox", "0 0 24 24");
  drawing.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(SVG, "path");
  line.setAttribute("d", SIGNS[kind]);
  drawing.append(line);
  return drawing;
}

/** The parts of a contribution: who can open each, and what anybody can read. @param {SealedApp} app @param {Parcel} parcel */
export function parts(app, parcel) {
  /** @type {string[]} */
  const shares = JSON.parse(parcel.bytes).shares;
  const part = (/** @type {string} */ title, /** @type {string} */ words, /** @type {string} */ kind) =>
    el("li", { class: kind }, sign(kind), el("strong", {}, title), el("span", { class: "note" }, words));
  return el("ul", { class: "parts" },
    ...app.verified.keyholders.map(({ name }, seat) =>
      part(t.sealedFor(name), t.onlyOpenedBy(number(sizeOf(shares[seat])), name), "locked")),
    part(t.readableByServer, t.readable(number(parcel.tasks.length), app.worker), "readable"));
}

/** Bytes that base64 stands for. @param {string} text */
const sizeOf = (text) => Math.floor((text.length * 3) / 4);
