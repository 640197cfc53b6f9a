// Closing a campaign, which cannot be undone: what it means is said first.

import { ask } from "./asking.js";
import { confirmed } from "./confirming.js";
import { counted, whole } from "./saying.js";

/** @typedef {import("./shapes.js").Rounds} Rounds */

/**
 * Closes the campaign if the person wants it; tells what to say then, or nothing.
 *
 * @param {string} path
 * @param {Rounds | null} rounds of a sealed campaign
 */
export async function closeCampaign(path, rounds) {
  const sure = await confirmed({
    title: "Close this campaign for good?",
    words: [
      "No report is taken from then on. Workers are told that it is over, so a closed campaign " +
        "does not open again.",
      ...(rounds ? openingWords(rounds) : ["Truths, weights and exports stay."]),
    ],
    action: "Close it for good",
  });
  if (!sure) return "";
  await ask(`${path}/close`, { method: "POST" });
  return rounds ? "Closed. The keyholders open the total once everything is checked." : "Closed. The last reports are still being worked in.";
}

/** @param {Rounds} rounds */
function openingWords({ uploads, dropped, minimum, quorum }) {
  const left = uploads - dropped.length;
  const missing = minimum - left;
  if (missing > 0) return [`Only ${counted(left, "upload")} can be in the total, and the smallest set is ${whole(minimum)}: nothing that was sent could ever be opened. Wait for ${whole(missing)} more.`];
  return [`Then the keyholders check the last uploads, and ${whole(quorum.needed)} of them open the total: once, and no other ever.`];
}
