// Mechanisms in plain words, and which of them fit.

import { SEALED } from "./promises.js";

/** @typedef {{kind: string, labels: string[], hides: boolean}} Asked */
/** @typedef {{name: string, words: string, inBrowser: boolean}} Mechanism */

/** @type {Record<string, string>} */
const WORDS = {
  "randomized-response": "Randomised response: the true label, or another one",
  "null-randomized-response": "Randomised response with “no answer” as a label",
  "subset-selection": "Subset selection: a set that may have the true answer in it",
  "two-layer": "Two layers: every worker has odds of its own",
  laplace: "Laplace noise: the number, and some more or less",
  piecewise: "Piecewise: mostly a number near the true one",
  duchi: "Two ends: which end of the range it is nearer to",
  threshold: "Threshold: above or below a random mark",
  "matrix-factorization": "Matrix factorisation: all answers in one bundle",
  [SEALED]: "Sealed sums: keyholders open one total, with noise in it",
};

const ON_TERMINALS = ["two-layer", "matrix-factorization"];
const MOST_SEALED_LABELS = 256;

/** A mechanism in plain words. @param {string} name */
export function inWords(name) {
  return WORDS[name] ?? name;
}

/** A mechanism's name as people say it. @param {string} name */
export function calledName(name) {
  return inWords(name).split(":")[0] ?? name;
}

/**
 * Those that fit, the ones that pages can do first.
 *
 * @param {Asked} asked
 * @returns {Mechanism[]}
 */
export function fitting({ kind, labels, hides }) {
  const names = kind === "numeric" ? ofNumbers(hides) : ofLabels(labels.length, hides);
  return names.map((name) => ({ name, words: inWords(name), inBrowser: !ON_TERMINALS.includes(name) }));
}

/**
 * Those that can be compared: sealed answers too, as far as a ballot has room for so many labels.
 *
 * @param {Asked} asked
 * @returns {Mechanism[]}
 */
export function comparable(asked) {
  const isTooMany = asked.kind !== "numeric" && asked.labels.length > MOST_SEALED_LABELS;
  return [...fitting(asked), ...(isTooMany ? [] : [{ name: SEALED, words: inWords(SEALED), inBrowser: true }])];
}

/** @param {boolean} hides */
function ofNumbers(hides) {
  return hides
    ? ["laplace", "threshold", "subset-selection", "matrix-factorization"]
    : ["piecewise", "laplace", "duchi", "threshold", "subset-selection"];
}

/** @param {number} labels @param {boolean} hides */
function ofLabels(labels, hides) {
  const first = hides ? "null-randomized-response" : "randomized-response";
  return [first, ...(hides || labels > 2 ? ["subset-selection"] : []), "two-layer"];
}

/** What the number of 100 counts. @param {string} mechanism */
export function counting(mechanism) {
  switch (mechanism) {
    case "subset-selection":
      return "of 100 workers so many send a set with their answer in it";
    case "laplace":
    case "piecewise":
      return "of 100 workers so many send a number near their own";
    case "duchi":
    case "threshold":
      return "of 100 workers so many tell the true side";
    case SEALED:
      return "of 100 guesses at an answer so many are right at most";
    default:
      return "of 100 workers so many send their true answer";
  }
}
