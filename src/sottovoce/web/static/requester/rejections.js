// What was refused, why, and what one can do about it.

import { el } from "./building.js";
import { counted, whole } from "./saying.js";

/** @typedef {import("./shapes.js").Rejections} Rejections */

/** @type {Record<string, string>} */
const REMEDIES = {
  malformed: "Somebody’s software sends what no report looks like. The page and the command line of this release do not.",
  oversize: "Somebody’s software sends more than any report can be. Nothing is needed from you.",
  unsupported: "Somebody’s software sends reports in another form. It should use the documented interface.",
  no_credential: "The link was cut off before the #. Send it again, whole: the part after the # is the invite.",
  bad_credential: "The invite is unknown here, or was revoked. Send a new link.",
  invite_expired: "The link’s last day has passed. Make new links with a later day, or without one.",
  invite_used: "A link for one worker was used by a second one. Give each worker a link of their own, or use the open link.",
  not_open: "Reports came before the campaign opened, or after it closed. A closed campaign stays closed.",
  quota_reached: "As many workers as you allowed have taken part. The quota cannot be changed once a campaign is open.",
  foreign_policy: "The worker’s software was made for another promise than this campaign’s. Reloading the page helps.",
  simulated: "Noise from a seed protects nobody: simulated reports belong into simulated campaigns, real ones into real campaigns.",
  not_admitted: "The reports are not what this policy’s randomiser sends, or are on other tasks than the worker was given.",
  already_reported: "A worker reported on the same tasks again. The first report counts, and nothing is lost.",
  conflict: "Two different reports had one identifier. The first one counts.",
  erased: "The worker had taken this report back. That is their right, and it stays back.",
  busy: "More came at once than could be written. Software waits a second and sends again by itself.",
  unavailable: "The server’s storage was full or did not answer. Ask whoever runs it.",
};

/** @param {Rejections} rejections */
export function rejectionRows({ rejections, total }) {
  const head = el("h3", { text: "What was refused" });
  if (total === 0) return [head, el("p", { class: "hint", text: "Nothing so far." })];
  return [
    head,
    el("p", { class: "hint", text: `${counted(total, "submission")} refused; software tries some of them again.` }),
    el(
      "dl",
      { class: "reasons" },
      rejections.map(({ reason, words, count }) =>
        el(
          "div",
          {},
          el("dt", {}, el("strong", { text: whole(count) }), ` ${words}`),
          REMEDIES[reason] ? el("dd", { text: REMEDIES[reason] }) : null,
        ),
      ),
    ),
  ];
}
