// The scales of a chart: ranges, round ticks, short numbers.

/** @import { Format, Value } from "./chart.js" */

/** The ticks of an axis, and the position of a value from 0 to 1.
 * @typedef {{ticks: {at: number, words: string}[], share: (value: number) => number}} Across
 */

const SMALL = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });
const LARGE = new Intl.NumberFormat("en-GB", { notation: "compact", maximumSignificantDigits: 3 });
const TINY = new Intl.NumberFormat("en-GB", { notation: "scientific", maximumSignificantDigits: 3 });

/** Whether this is a finite number. @param {unknown} value @returns {value is number} */
export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

/** A number in few characters. @type {Format} */
export function plain(value) {
  const size = Math.abs(value);
  if (size >= 1e15 || (size > 0 && size < 1e-3)) return TINY.format(value).toLowerCase();
  return (size >= 1e4 ? LARGE : SMALL).format(value);
}

/**
 * The range to show: round numbers around all values, or the given ends.
 *
 * @param {Value[]} values
 * @param {number} [least]
 * @param {number} [most]
 * @returns {[number, number]}
 */
export function extent(values, least, most) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!isNumber(value)) continue;
    [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  if (low > high) [low, high] = [0, 1];
  [low, high] = [least ?? low, most ?? high];
  if (!(high > low)) {
    const around = Math.abs(low) / 10 || 1;
    [low, high] = [least ?? low - around, Math.max(low, high) + around];
  }
  const step = stepOf(low, high, 5);
  return [least ?? Math.floor(low / step) * step, most ?? Math.ceil(high / step) * step];
}

/**
 * Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} about how many of them
 */
export function ticks(low, high, about) {
  const step = stepOf(low, high, about);
  const [first, last] = [Math.ceil(low / step - 1e-9), Math.floor(high / step + 1e-9)];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => rounded((first + at) * step));
}

/** @param {number} low @param {number} high @param {number} about */
function stepOf(low, high, about) {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= rough * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** Removes floating-point errors. @param {number} value */
function rounded(value) {
  return Number(value.toPrecision(12));
}

/**
 * A linear axis.
 *
 * @param {{values: number[]}} x
 * @param {Format} format
 * @returns {(about: number) => Across}
 */
export function steady({ values }, format) {
  const known = values.filter(isNumber);
  const [low, high] = [known.reduce(least, Infinity), known.reduce(most, -Infinity)];
  if (!(high > low)) return () => ({ share: () => 0.5, ticks: known.slice(0, 1).map((value) => ({ at: 0.5, words: format(value) })) });
  const share = (/** @type {number} */ value) => (value - low) / (high - low);
  return (about) => ({
    share,
    ticks: ticks(low, high, about).map((value) => ({ at: share(value), words: format(value) })),
  });
}

/** @param {number} one @param {number} other */
const least = (one, other) => Math.min(one, other);
/** @param {number} one @param {number} other */
const most = (one, other) => Math.max(one, other);

/**
 * An axis that spaces the values of a list evenly.
 *
 * @param {{values: number[]}} x
 * @param {Format} format
 * @returns {(about: number) => Across}
 */
export function evenly({ values }, format) {
  const last = Math.max(1, values.length - 1);
  const share = (/** @type {number} */ value) => placeIn(values, value) / last;
  return (about) => {
    const every = Math.max(1, Math.ceil(values.length / about));
    const some = values.filter((_, at) => at % every === 0);
    return { share, ticks: some.map((value) => ({ at: share(value), words: format(value) })) };
  };
}

/** Interpolates between two values of the list. @param {number[]} values @param {number} value */
function placeIn(values, value) {
  const after = values.findIndex((each) => each >= value);
  if (after <= 0) return after < 0 ? values.length - 1 : 0;
  const [before, behind] = [values[after - 1] ?? 0, values[after] ?? 1];
  return after - 1 + (value - before) / (behind - before);
}
