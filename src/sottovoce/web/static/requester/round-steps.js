// Where a sealed campaign stands: five steps, and what happens now in words.

import { el } from "./building.js";
import { counted, listed, whole } from "./saying.js";

/** @typedef {import("./shapes.js").Rounds} Rounds */

const STEPS = ["Dealing noise", "Collecting", "Checking", "Opening", "Opened"];
/** Checking is done again and again while answers are collected. @type {Record<Rounds["phase"], number>} */
const AT = { dealing: 0, collecting: 1, checking: 2, closing: 2, opening: 3, opened: 4, dead: 0 };

/** @param {Rounds} rounds */
export function stepLine({ phase }) {
  const here = AT[phase];
  return el("ol", { class: phase === "dead" ? "phases dead" : "phases", "aria-label": "Steps of the protocol" },
    STEPS.map((name, at) => el("li", { class: at < here || phase === "opened" ? "done" : null, "aria-current": at === here ? "step" : null },
      el("span", { text: name }), at < here && el("span", { class: "unseen", text: ", done" }))));
}

/** What happens now, and what to do about it. @param {Rounds} rounds */
export function roundWords(rounds) {
  const { phase, waiting, checked, minimum, quorum } = rounds;
  switch (phase) {
    case "dealing":
      return dealingWords(rounds);
    case "collecting":
      return `All noise is dealt. Workers can answer; keyholders check from time to time what has come in.${short(checked, minimum)}`;
    case "checking":
      return `Keyholders are checking ${counted(waiting, "upload")}. They see shares of it, and no answer.`;
    case "closing":
      return closingWords(rounds);
    case "opening":
      return `${whole(quorum.opened)} of ${whole(quorum.needed)} shares of the total are in. ${quorum.opened < quorum.needed ? "The other keyholders have to be running." : "Truths follow in a moment."}`;
    case "opened":
      return `The total of ${counted(checked, "worker")} is open. Nothing else will ever be opened of this campaign.`;
    case "dead":
      return "This campaign has ended without a total: nothing that was sent can ever be opened. Draft it again, with keyholders that can be relied on.";
  }
}

/** @param {Rounds} rounds */
function dealingWords({ keyholders }) {
  const missing = keyholders.filter(({ dealt }) => !dealt).map(({ name }) => name);
  if (missing.length === 0) return "All noise is dealt, and the keyholders are checking each other’s.";
  return `Waiting for the noise of ${listed(missing)}. Workers may answer meanwhile; without everybody’s noise nothing is ever opened.`;
}

/** @param {Rounds} rounds */
function closingWords({ waiting, checked, minimum }) {
  if (waiting) return `The campaign is closed. Once the last ${counted(waiting, "upload")} ${waiting === 1 ? "is" : "are"} checked, the total is opened.`;
  if (checked < minimum) return "The campaign is closed, and its total stays shut: too few uploads passed.";
  return "The campaign is closed. Everything is checked, and the total is about to be opened.";
}

/** @param {number} checked @param {number} minimum */
function short(checked, minimum) {
  const missing = minimum - checked;
  return missing > 0 ? ` ${counted(missing, "more upload")} must pass before a total may be opened.` : "";
}
