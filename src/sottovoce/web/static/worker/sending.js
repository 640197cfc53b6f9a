// Sends what was drawn, byte for byte, until the server has it.

import { put, Refused } from "./asking.js";
import { change, keepAnswers, kept, parcelOf } from "./keeping.js";

/** @import { Parcel } from "./types.js" */

const [FIRST_PAUSE, LONGEST_PAUSE] = [2, 120];

let pause = FIRST_PAUSE;
/** @type {number | undefined} */
let timer;
/** The try that is under way: one at a time. @type {Promise<void> | null} */
let flight = null;
/** @type {{id: string, tell: (next: number | null) => void} | null} */
let job = null;

/**
 * Try now, and again after growing pauses. `tell` hears after each try in how many seconds the next
 * one is, or null when it is over: what is kept then says how it ended.
 * @param {string} id @param {(next: number | null) => void} tell
 */
export async function deliver(id, tell) {
  job = { id, tell };
  pause = FIRST_PAUSE;
  await flight;
  await stage(id, (parcel) => (parcel.stage = "sending"));
  await attempt();
}

/** Nobody looks any more: what waits is kept, and is tried again when somebody does. */
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

/** In how many seconds to try again at the earliest, or null when it is over. @param {string} id */
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

/** Once sent, answers have done their part. @param {string} id @param {"sent" | "refused"} how @param {string} [why] */
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
