// What happens to an answer, in odds: a hundred marks and the sentence that says the same.

import { t } from "./wording.js";

/** @import { Verified } from "../randomize.js" */

const SVG = "http://www.w3.org/2000/svg";

/** @param {Verified} verified */
export function oddsSentence({ alphabet, odds }) {
  const kept = odds.of100 > 99 ? t.moreThan99 : String(odds.of100);
  const others = odds.of100 > 99 ? t.fewerThan1 : String(100 - odds.of100);
  switch (alphabet) {
    case "subsets":
      return t.oddsOfSets(kept, others, odds.size ?? 0);
    case "points":
      return t.oddsOfPoints(kept, others);
    case "sides":
    case "sides-or-null":
      return t.oddsOfSides(kept, others);
    case "ends":
      return t.oddsOfEnds(kept, others);
    default:
      return t.oddsOfLabels(kept, others, alphabet === "labels-or-null");
  }
}

/** Ten rows of ten marks, the first of them filled. The sentence beside it says as much. @param {number} filled */
export function hundred(filled) {
  const grid = document.createElementNS(SVG, "svg");
  grid.setAttribute("viewBox", "0 0 100 100");
  grid.setAttribute("class", "hundred");
  grid.setAttribute("aria-hidden", "true");
  for (let i = 0; i < 100; i++) {
    const mark = document.createElementNS(SVG, "circle");
    mark.setAttribute("cx", String((i % 10) * 10 + 5));
    mark.setAttribute("cy", String(Math.floor(i / 10) * 10 + 5));
    mark.setAttribute("r", i < filled ? "3.6" : "2.9");
    if (i >= filled) mark.setAttribute("class", "other");
    grid.append(mark);
  }
  return grid;
}
