// The device's storage. Raw answers are in this tab's sessionStorage only; everything else must survive.

/** @import { Answers, Kept, Shown } from "./types.js" */

const PLACE = location.pathname;
const RECORD = "sottovoce ";
const MINE = RECORD + PLACE;
const SHOWN = `sottovoce-offer ${PLACE}`;
const ANSWERS = `sottovoce-answers ${PLACE}`;
const DRAWN = `sottovoce-drawn ${PLACE}`;
const LIMIT = "sottovoce-limit";
const LANGUAGE = "sottovoce-language";

/** The most epsilon per worker that all campaigns here may learn, unless it was raised. */
const FIRST_LIMIT = 50;

export class StorageFailed extends Error {}

/** Whether stored data can be read back. */
export function canKeep() {
  try {
    write("sottovoce-trial", "1");
    localStorage.removeItem("sottovoce-trial");
    return true;
  } catch {
    return false;
  }
}

/** An exclusive lock across tabs: draws and bookings must not overlap. @template T @param {() => T | Promise<T>} work */
export const alone = (work) => navigator.locks.request("sottovoce", work);

/** @returns {Kept} */
export const kept = () =>
  read(MINE) ?? { invite: null, receipt: null, policy: null, agreed: false, answers: 0, spent: 0, parcels: [] };

/** @param {Kept} record */
export const keep = (record) => write(MINE, JSON.stringify(record));

/** Changes the stored data under the lock. @param {(record: Kept) => void} how */
export const change = (how) =>
  alone(() => {
    const record = kept();
    how(record);
    keep(record);
  });

/** Deletes the data of a campaign in which nothing was drawn. */
export const forget = () =>
  alone(() => {
    if (!kept().parcels.length) [MINE, SHOWN].forEach((key) => localStorage.removeItem(key));
    sessionStorage.removeItem(ANSWERS);
  });

/** @param {string} id */
export const parcelOf = (id) => kept().parcels.find((parcel) => parcel.id === id);

/** @param {Kept} [record] */
export const waiting = (record = kept()) =>
  record.parcels.find(({ stage }) => stage !== "sent" && stage !== "erased");

/** The last offer and tasks, for a reload without a connection. */
export const shown = () => /** @type {Shown | null} */ (read(SHOWN));

/** @param {Shown} seen */
export const keepShown = (seen) => write(SHOWN, JSON.stringify(seen));

/** @returns {Answers} */
export const answersKept = () => new Map(JSON.parse(sessionStorage.getItem(ANSWERS) ?? "[]"));

/** @param {Answers} answers */
export function keepAnswers(answers) {
  if (answers.size) sessionStorage.setItem(ANSWERS, JSON.stringify([...answers]));
  else sessionStorage.removeItem(ANSWERS);
}

/** Whether this tab drew a parcel: only then do its answers belong to the draw. @param {string} id */
export const drewHere = (id) => sessionStorage.getItem(DRAWN) === id;

/** @param {string} id */
export const noteDrawn = (id) => sessionStorage.setItem(DRAWN, id);

/** The epsilon per worker spent in other campaigns of this server; it adds up. */
export const spentElsewhere = () =>
  Object.keys(localStorage)
    .filter((key) => key.startsWith(RECORD) && key !== MINE)
    .reduce((sum, key) => sum + (read(key)?.spent ?? 0), 0);

export const limit = () => read(LIMIT) ?? FIRST_LIMIT;

/** @param {number} epsilon */
export const raiseLimit = (epsilon) => write(LIMIT, String(Math.max(epsilon, limit())));

export const language = () => localStorage.getItem(LANGUAGE);

/** @param {string} code */
export const keepLanguage = (code) => localStorage.setItem(LANGUAGE, code);

/** @param {string} key */
function read(key) {
  const text = localStorage.getItem(key);
  return text === null ? null : JSON.parse(text);
}

/** Reads the data back to check that it was stored. @param {string} key @param {string} text */
function write(key, text) {
  try {
    localStorage.setItem(key, text);
  } catch {
    throw new StorageFailed();
  }
  if (localStorage.getItem(key) !== text) throw new StorageFailed();
}
