// The language of the page: English or Japanese. Only the chosen one is loaded.

import { load } from "./requests.js";
import { keepLanguage, language } from "./storage.js";

/** @typedef {typeof import("./english.js")} Words */

/** @type {Words} */
export let t;

/** The chosen language, or the first of the browser's that this page supports. */
const wanted = () =>
  [remembered(), ...navigator.languages].map((code) => code?.slice(0, 2)).find((code) => code && find(code)) ?? "en";

/** @param {string} code @returns {HTMLLinkElement | null} */
const find = (code) => document.querySelector(`link[rel=alternate][hreflang=${code}]`);

function remembered() {
  try {
    return language();
  } catch {
    return null; // without storage, the browser's language is used for the error
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

/** A number in the page's language, with as few digits as possible. @param {number} value */
export const number = (value) => value.toLocaleString(t.code, { maximumFractionDigits: 6 });

/** An epsilon, rounded up at the fourth digit, so that it is never understated. @param {number} value */
export function upwards(value) {
  if (!(value > 0)) return "0";
  const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
  const up = Math.ceil(Number((value / unit).toPrecision(12))) * unit;
  return Number(up.toPrecision(4)).toLocaleString(t.code, { maximumFractionDigits: 12 });
}
