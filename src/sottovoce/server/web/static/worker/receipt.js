// Screens: sending, receipt, end.

import { isSealed, remaining } from "./draw.js";
import { button, card, copyable, el, heading } from "./elements.js";
import { number, t } from "./language.js";
import { CAMPAIGN, put, Refused } from "./requests.js";
import { comparison, exact, isShown } from "./review.js";
import { change, keepAnswers, kept, parcelOf, waiting } from "./storage.js";

/** @import { App, Parcel } from "./types.js" */

/** Sending, waiting for a connection, or refused. @param {App} app */
export function sending(app) {
  const parcel = waiting();
  if (!parcel) return receipt(app);
  const status = el("p", { role: "status", class: "notice" }, t.sendingNow);
  const retry = button(t.tryNow, () => deliver(parcel.id, tell), "quiet");
  retry.hidden = true;
  const tell = (/** @type {number | null} */ next) => {
    if (next === null && parcelOf(parcel.id)?.stage === "sent") return app.go("receipt");
    const why = parcelOf(parcel.id)?.why;
    status.replaceChildren(next === null ? t.refusals(why ?? "") : t.waits(number(next)));
    retry.hidden = false;
  };
  if (parcel.stage === "refused") tell(null);
  else deliver(parcel.id, tell);
  return [
    el("p", { class: "kicker" }, t.sendingKicker),
    heading(t.sendingTitle),
    status,
    el("p", {}, t.keptHere),
    el("p", { class: "actions" }, retry),
    isShown(app) && exact(parcel),
  ];
}

/** The server has accepted it. @param {App} app */
export async function receipt(app) {
  const record = kept();
  const parcel = record.parcels.findLast(({ stage }) => stage === "sent");
  const code = record.receipt ?? "";
  const copied = copyable(code, t);
  copied.append(button(t.saveFile, () => save(code), "quiet"));
  const more = remaining(app).length;
  const goOn = () => {
    app.answers.clear();
    app.go("question", 0);
  };
  return [
    el("p", { class: "kicker" }, t.sentKicker),
    heading(t.thanks),
    el("p", { class: "lead" }, isSealed(app)
      ? t.serverHasSealed(number(parcel?.tasks.length ?? 0))
      : t.serverHas(number(parcel ? JSON.parse(parcel.bytes).tasks.length : 0))),
    parcel && !isSealed(app) && (!isShown(app) || app.answers.size > 0) &&
      (await comparison(app, parcel, t.wasSent)),
    card(t.yourReceipt, el("p", {}, t.receiptFor), copied),
    more > 0 && card(t.moreQuestions(number(more)), el("p", {}, t.moreLater), button(t.goOn, goOn, "quiet")),
    el("p", { class: "actions" }, button(t.done, () => app.go("done")), button(t.myData, () => app.go("data"), "quiet")),
  ];
}

/** The end: deletes this tab's data. @param {App} app */
export function done(app) {
  app.answers.clear();
  return [
    el("p", { class: "kicker" }, t.sentKicker),
    heading(t.allDone),
    el("p", { class: "lead" }, t.mayClose),
    el("p", { class: "actions" }, button(t.myData, () => app.go("data"), "quiet")),
  ];
}

/** @param {string} code */
function save(code) {
  const href = URL.createObjectURL(new Blob([`${location.origin}${location.pathname}\n${code}\n`], { type: "text/plain" }));
  el("a", { href, download: `sottovoce-${CAMPAIGN}.txt` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

// Delivery: the drawn bytes are sent, unchanged, until the server has accepted them.

const [FIRST_PAUSE, LONGEST_PAUSE] = [2, 120];

let pause = FIRST_PAUSE;
/** @type {number | undefined} */
let timer;
/** The current attempt: one at a time. @type {Promise<void> | null} */
let flight = null;
/** @type {{id: string, tell: (next: number | null) => void} | null} */
let job = null;

/**
 * Tries now, and again after growing pauses. After each attempt `tell` gets the seconds until the
* next one, or null at the end: the stored state then has the outcome.
 * @param {string} id @param {(next: number | null) => void} tell
 */
async function deliver(id, tell) {
  job = { id, tell };
  pause = FIRST_PAUSE;
  await flight;
  await stage(id, (parcel) => (parcel.stage = "sending"));
  await attempt();
}

/** Stops trying. The data is kept and tried again when the page is opened. */
export function rest() {
  clearTimeout(timer);
  job = null;
}

function attempt() {
  if (!job) return;
  clearTimeout(timer);
  flight ??= tried(job.id).then(tellAll).finally(() => (flight = null));
  return flight;
}

/** Seconds until the next attempt, or null at the end. @param {string} id */
async function tried(id) {
  const [parcel, { invite, receipt }] = [parcelOf(id), kept()];
  if (!parcel || parcel.stage === "sent") return null;
  try {
    await put(parcel, invite ?? "", receipt ?? "");
    await settle(id, "sent");
  } catch (error) {
    if (!(error instanceof Refused)) return 1;
    if (error.passes) return error.pause || 1;
    await settle(id, "refused", error.reason);
  }
  return null;
}

/** @param {number | null} least */
function tellAll(least) {
  const current = job;
  if (!current) return;
  const next = least && Math.max(pause, least);
  pause = Math.min(2 * pause, LONGEST_PAUSE);
  if (next === null) job = null;
  else timer = setTimeout(attempt, 1000 * next);
  current.tell(next);
}

/** Deletes the answers after sending. @param {string} id @param {"sent" | "refused"} how @param {string} [why] */
async function settle(id, how, why) {
  await stage(id, (parcel) => Object.assign(parcel, { stage: how, why }));
  if (how === "sent") keepAnswers(new Map());
}

/** @param {string} id @param {(parcel: Parcel) => unknown} how */
const stage = (id, how) =>
  change((record) => {
    const parcel = record.parcels.find((each) => each.id === id);
    if (parcel && parcel.stage !== "sent") how(parcel);
  });

addEventListener("online", attempt);
addEventListener("focus", attempt);
