// The language of the page: English or Japanese. Only the chosen one is loaded.

import { load } from "./requests.js";
import { keepLanguage, language } from "./storage.js";

/** @typedef {typeof import("./english.js")} Words */

/** @type {Words} */
export let t;

/** The chosen language, else the first of the browser's that is spoken here. */
const wanted = () =>
  [remembered(), ...navigator.languages].map((code) => code?.slice(0, 2)).find((code) => code && find(code)) ?? "en";

/** @param {string} code @returns {HTMLLinkElement | null} */
const find = (code) => document.querySelector(`link[rel=alternate][hreflang=${code}]`);

function remembered() {
  try {
    return language();
  } catch {
    return null; // a browser that keeps nothing is told so in its own language
  }
}

/** @param {string} [code] */
export async function speak(code = wanted()) {
  t = await load(/** @type {HTMLLinkElement} */ (find(code)));
  document.documentElement.lang = code;
}

/** @param {string} code */
export async function switchTo(code) {
  await speak(code);
  keepLanguage(code);
}

/** A number in the page's language, with no more digits than it needs. @param {number} value */
export const number = (value) => value.toLocaleString(t.code, { maximumFractionDigits: 6 });

/** An epsilon, rounded up at the fourth digit: never more private than it is. @param {number} value */
export function upwards(value) {
  if (!(value > 0)) return "0";
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  const up = Math.ceil(Number((value / unit).toPrecision(12))) * unit;
  return Number(up.toPrecision(4)).toLocaleString(t.code, { maximumFractionDigits: 12 });
}
