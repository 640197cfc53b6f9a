// How a sealed campaign is doing, at a glance: truths come once, so it is told how near that is.

import { el } from "./building.js";
import { large } from "./large-figures.js";
import { roundWords } from "./round-steps.js";
import { counted, whole } from "./saying.js";
import { address } from "./sections.js";

/** @typedef {import("./shapes.js").Overview} Overview */
/** @typedef {import("./shapes.js").Rounds} Rounds */

/** The campaign in one sentence, for whoever listens. @param {Rounds} rounds */
export const sealedSentence = (rounds) => `${counted(rounds.uploads, "upload")}, ${whole(rounds.checked)} checked. ${roundWords(rounds)}`;

/** @param {Overview} overview @param {Rounds} rounds */
export function sealedFigures({ certainty, tasks }, { uploads, checked, waiting }) {
  return [
    large("Uploads", whole(uploads)),
    large("Checked", whole(checked)),
    large("Waiting", whole(waiting)),
    large("Settled tasks", whole(certainty?.settled ?? 0), `of ${whole(tasks)}`),
  ];
}

/** Where it stands. @param {Overview} overview @param {Rounds} rounds */
export function sealedProgress(overview, rounds) {
  const { summary } = overview;
  const [words, way] = [roundWords(rounds), el("a", { href: address("rounds"), text: "How the rounds stand" })];
  if (summary?.problem) return [el("p", { class: "notice bad", text: `No truths: ${summary.problem}.` }), el("p", {}, way)];
  if (summary) return [el("p", { text: `${words} The method was ${summary.method}.` })];
  return [el("p", { class: "forecast", text: words }), el("p", {}, "Answers are sealed: truths appear once, after you have closed the campaign and the keyholders have opened the total. ", way, ".")];
}
