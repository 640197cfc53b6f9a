// The draw, or the sealing: once, in one tab at a time, and stored before it is shown. Sealed campaigns
// load their module on demand.

import { PolicyError, randomize } from "../randomize.js";
import { mostNeeded } from "./choice.js";
import { details, el } from "./elements.js";
import { number, t } from "./language.js";
import { CAMPAIGN, load } from "./requests.js";
import { alone, keep, keepAnswers, kept, limit, noteDrawn, spentElsewhere, waiting } from "./storage.js";

/** @import { Sealed } from "../seal.js" */
/** @import { Answers, App, Given, Kept, Offer, Parcel, SealedApp } from "./types.js" */

/** The worker's limit would be exceeded: nothing is drawn. */
export class OverLimit extends Error {}

/** The tasks that are asked and have no draw yet; settled ones are not asked. @param {App} app @param {Kept} [record] */
export function remaining(app, record = kept()) {
  if (!app.verified.separable) return record.parcels.length ? [] : app.tasks;
  const drawn = new Set(record.parcels.flatMap((parcel) => parcel.tasks));
  return app.tasks.filter(({ task, need }) => !drawn.has(task) && need !== 0);
}

/** The privacy loss of all reports to this campaign after this many more. @param {App} app @param {number} more */
export const guaranteeWith = (app, more) => app.verified.guarantee(kept().answers + more);

/** The tasks that the limit on this device covers: all, none, or the most needed if answers may be sent in parts. @param {App} app */
export function asked(app) {
  const tasks = remaining(app);
  if (tasks.length === 0 || fits(app, tasks.length)) return tasks;
  let [low, high] = [0, app.verified.separable ? tasks.length : 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(app, middle)) low = middle;
    else high = middle;
  }
  return mostNeeded(tasks, low);
}

/**
 * Whether to say that the limit does not cover all questions: once, and only if answers may be sent in parts.
 * It depends on the limit and the questions, not on answers.
 * @param {App} app @param {Kept} record
 */
const isCutShort = (app, record) =>
  app.verified.separable && app.offer.assignment !== undefined &&
  !record.parcels.some(({ cutShort }) => cutShort) && asked(app).length < remaining(app, record).length;

/** Whether the limit allows it; rounding errors are ignored, so that 25 times 2 is 50. @param {App} app @param {number} more */
const fits = (app, more) => spentElsewhere() + guaranteeWith(app, more).perWorker <= limit() * (1 + 1e-12);

/** The tasks that would be reported on: all where skipping is hidden, else those with an answer. @param {App} app @param {Given[]} [tasks] */
export const reportable = (app, tasks = asked(app)) =>
  app.verified.hidesParticipation ? tasks : tasks.filter(({ task }) => app.answers.get(task) != null);

/**
 * Makes the data to send, once. Drawing (or sealing) and booking the spend are one write, so neither exists
* without the other. A second tab finds the draw of the first.
 * @param {App} app
 */
export const draw = (app) =>
  alone(async () => {
    const record = kept();
    if (waiting(record)) return;
    const tasks = reportable(app).map(({ task }) => task);
    if (tasks.length === 0) return;
    if (!fits(app, tasks.length)) throw new OverLimit();
    const given = new Map(tasks.map((task) => [task, app.answers.get(task) ?? null]));
    const { submission } = isSealed(app)
      ? await seal(app, given, tasks)
      : await randomize(app.verified, app.worker, given, tasks);
    const id = newId();
    record.parcels.push({ id, bytes: submission, tasks, stage: "drawn", cutShort: isCutShort(app, record) });
    record.answers += tasks.length;
    record.spent = app.verified.guarantee(record.answers).perWorker;
    keep(record);
    noteDrawn(id);
    // Sealed answers are not shown next to the originals, which are no longer needed.
    if (isSealed(app)) forgetAnswers(app);
  });

/** @param {App} app */
function forgetAnswers(app) {
  app.answers.clear();
  keepAnswers(app.answers);
}

const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

// Sealed campaigns: only they load the module that seals.

/** @type {typeof import("../seal.js")} */
let sealer;

/** Whether an unverified policy has keyholders to seal answers for. @param {Offer | undefined} offer */
export const offersSealing = (offer) =>
  "keyholders" in Object(/** @type {{ mechanism?: unknown } | undefined} */ (offer?.policy)?.mechanism);

/** @param {App} app @returns {app is SealedApp} */
export const isSealed = (app) => "keyholders" in app.verified;

/** @param {object} policy @returns {Promise<Sealed>} */
export async function verifySealed(policy) {
  sealer = await load(/** @type {HTMLLinkElement} */ (document.querySelector("#sealer")));
  return sealer.verifySealed(policy);
}

/** Whether one of the two modules that verify policies has refused. @param {unknown} error @returns {error is { code: string }} */
export const isUnverifiable = (error) =>
  error instanceof PolicyError || (sealer !== undefined && error instanceof sealer.PolicyError);

/** @param {SealedApp} app @param {Answers} answers @param {string[]} tasks */
const seal = (app, answers, tasks) => sealer.seal(app.verified, CAMPAIGN, app.worker, answers, tasks);

// Sealed campaigns on screen: how answers are sealed, and the parts that leave.

/** How answers are sealed, and who would have to collude to read them. @param {SealedApp} app */
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

/** A lock or an eye. The words next to it say the same. @type {Record<string, string>} */
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

/** The parts of a contribution: who can open each, and what anyone can read. @param {SealedApp} app @param {Parcel} parcel */
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

/** The number of bytes in a base64 text. @param {string} text */
const sizeOf = (text) => Math.floor((text.length * 3) / 4);
