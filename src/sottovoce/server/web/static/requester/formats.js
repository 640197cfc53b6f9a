// Numbers, times and counts as text. The pages are in British English, times in UTC.

const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const FOUR_DIGITS = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 4 });

/** A count with separators: 12,000. @param {number} count */
export const whole = (count) => WHOLE.format(count);

/** A number with at most four significant digits. @param {number} value */
export const figure = (value) => minus(FOUR_DIGITS.format(value));

/** A range of numbers with few digits: the label of a bar. @param {number} low @param {number} high */
export function range(low, high) {
  const near = (/** @type {number} */ digits) =>
    [low, high].every((end) => Math.abs(end - Number(end.toFixed(digits))) <= (high - low) / 50);
  const digits = [0, 1, 2, 3, 4, 5, 6].find(near) ?? 7;
  return `${minus(low.toFixed(digits))}–${minus(high.toFixed(digits))}`;
}

/**
 * A number to the digits that its error leaves: 3.14159 with an error of 0.012 is 3.142.
 *
 * @param {number} value
 * @param {number} error
 */
export function measured(value, error) {
  const digits = error > 0 ? 1 - Math.floor(Math.log10(error)) : 3;
  return minus(value.toFixed(Math.max(0, Math.min(9, digits))));
}

/** A count with its noun: "1 report", "1,200 reports". @param {number} count @param {string} noun */
export const counted = (count, noun) => `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;

/** A message from the server as a sentence. @param {string} message */
export function sentence(message) {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A list of names: "A", "A and B", "A, B and C". @param {string[]} names */
export const listed = (names) => (names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

/**
 * A share in per cent. It shows 0% or 100% only when the share is exactly that.
 *
 * @param {number} share from 0 to 1
 */
export function percent(share) {
  const of100 = share * 100;
  if (share > 0 && of100 < 0.1) return "under 0.1 %";
  if (share < 1 && of100 > 99.9) return "over 99.9 %";
  return `${of100 < 10 || of100 > 99 ? trimmed(of100.toFixed(1)) : Math.round(of100)} %`;
}

/** The time of day. @param {Date} moment */
export const clock = (moment) => `${moment.toISOString().slice(11, 19)} UTC`;

/** A day written out: 2031-12-24 is 24 December 2031. @param {string} day */
export const written = (day) => dated(day, "long");

/** A day in short form: 24 Dec 2031. @param {string} day */
export const shortly = (day) => dated(day, "short");

/** @param {string} day @param {"long" | "short"} month */
function dated(day, month) {
  const date = new Date(`${day}T00:00:00Z`);
  return date.toLocaleDateString("en-GB", { day: "numeric", month, year: "numeric", timeZone: "UTC" });
}

/** A size in bytes. @param {number} bytes */
export function size(bytes) {
  const units = ["bytes", "kB", "MB", "GB"];
  const power = Math.min(3, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  return `${figure(bytes / 1000 ** power)} ${units[power]}`;
}

/** @param {string} text */
const minus = (text) => text.replace("-", "−");

/** @param {string} text */
const trimmed = (text) => text.replace(/\.0$/, "");
