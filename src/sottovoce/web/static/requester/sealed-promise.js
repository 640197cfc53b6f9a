// What a sealed campaign promises, and who keeps it.

import { el } from "./building.js";
import { fingerprintOf } from "./fingerprints.js";
import { fingerprint } from "./keyholder-cards.js";
import { counted, whole } from "./saying.js";

/** @typedef {{mechanism: Record<string, any>}} Policy */
/** @typedef {import("./keyholder-cards.js").Card} Card */

/** The promise in one sentence. @param {Policy} policy */
export function sealedWords({ mechanism: { minimum } }) {
  return `Answers leave the device in sealed shares only. What is opened is one total of ${counted(minimum, "worker")} or more, with noise in it, and only once.`;
}

/** Whom it holds against. @param {Policy} policy */
export function againstWords({ mechanism: { seats, degree } }) {
  const bad = degree === 1 ? "any one keyholder" : `any ${degree} keyholders together`;
  return `this server, other workers, and ${bad} of the ${seats}`;
}

/** What would break it. @param {Policy} policy */
export function brokenWords({ mechanism: { degree } }) {
  return `If ${degree + 1} or more of them worked together, they could read every answer.`;
}

/** The keyholders whose keys the policy pins. @param {Policy} policy */
export function keyholdersCard(policy) {
  const { keyholders, minimum, degree } = policy.mechanism;
  return el("section", { class: "card" },
    el("h2", { text: "Who keeps it" }),
    el("p", { class: "hint", text: "Compare each fingerprint with its keyholder, over the phone, before you open the campaign: the policy pins these keys for good." }),
    el("ol", { class: "seats" }, keyholders.map((/** @type {Card} */ card) => {
      const print = el("span", { class: "hint", text: "…" });
      fingerprint(card).then((text) => print.replaceWith(fingerprintOf(text)));
      return el("li", {}, el("span", { class: "seat-name", text: card.name }), print);
    })),
    el("dl", { class: "fine" },
      el("div", {}, el("dt", { text: "To check answers it takes" }), el("dd", { text: `all ${whole(keyholders.length)}` })),
      el("div", {}, el("dt", { text: "To open the total it takes" }), el("dd", { text: `any ${whole(degree + 1)}` })),
      el("div", {}, el("dt", { text: "Smallest set" }), el("dd", { text: counted(minimum, "worker") })),
    ),
    el("p", { class: "hint", text: brokenWords(policy) }),
  );
}
