// A guarantee in odds: stops from very private to hardly private, a hundred marks, a sentence.

import { svg } from "./building.js";
import { figure } from "./saying.js";

/** @type {Record<"answer" | "worker", number[]>} */
const STOPS = {
  answer: [0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6],
  worker: [0.5, 1, 1.5, 2, 3, 4, 6, 8, 10, 12, 16, 20],
};

/**
 * The stops of the slider, with the one that a draft already has.
 *
 * @param {"answer" | "worker"} unit
 * @param {number} epsilon
 */
export function stops(unit, epsilon) {
  return [...new Set([...STOPS[unit], epsilon])].sort((one, other) => one - other);
}

/** The number of 100 in a sentence of the server's. @param {string | null} sentence @returns {number | null} */
export function of100(sentence) {
  const [, many] = sentence?.match(/^Of 100 workers\D*(\d+) /) ?? [];
  return many === undefined ? null : Number(many);
}

/**
 * How many of 100 are kept by randomised response over so many symbols, before the server says it:
 * e^epsilon / (e^epsilon + symbols - 1).
 *
 * @param {number} epsilon
 * @param {number} symbols
 */
export function keptOf100(epsilon, symbols) {
  return Math.round((100 * Math.exp(epsilon)) / (Math.exp(epsilon) + symbols - 1));
}

/**
 * How many of 100 bets on one of two answers, as likely as each other before, are won at most by who
 * sees what is opened: e^epsilon / (e^epsilon + 1), rounded up.
 *
 * @param {number} epsilon
 */
export function betsOf100(epsilon) {
  return Math.ceil(100 / (1 + Math.exp(-epsilon)) - 1e-9);
}

/** Ten rows of ten: full for what is kept, hollow for the others. @param {number | null} kept */
export function hundred(kept) {
  const marks = Array.from({ length: 100 }, (_, at) => {
    const isKept = kept !== null && at < kept;
    return svg("circle", { class: isKept ? "kept" : "turned", cx: 10 + 20 * (at % 10), cy: 10 + 20 * Math.floor(at / 10), r: isKept ? 6.5 : 5.75 });
  });
  return svg("svg", { class: "hundred", viewBox: "0 0 200 200", "aria-hidden": "true" }, marks);
}

/**
 * A guarantee in numbers, rounded up: nothing is promised that does not hold.
 *
 * @param {import("./shapes.js").Held} held
 */
export function inNumbers({ epsilon, delta }) {
  if (epsilon === null) return "no finite epsilon";
  const digits = 10 ** (3 - Math.floor(Math.log10(epsilon || 1)));
  return `epsilon ${figure(Math.ceil(epsilon * digits - 1e-9) / digits)}${delta ? `, delta ${figure(delta)}` : ""}`;
}
