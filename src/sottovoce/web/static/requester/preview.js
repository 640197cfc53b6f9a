// The first question as a worker will see it, in the frame of a phone. Nothing in it can be used.

import { el, fill } from "./building.js";
import { whole } from "./saying.js";

/** @typedef {import("./draft.js").Draft} Draft */

const MOST = 7;
const HEADLINE = 90;

/** @param {Draft} draft */
export function preview(draft) {
  const screen = el("div", { class: "screen" });
  const element = el("figure", { class: "phone-figure" },
    el("div", { class: "phone", inert: true, "aria-hidden": "true" }, screen),
    el("figcaption", { class: "fine", text: "The first question as a worker sees it" }),
  );
  const update = () => fill(screen, shown(draft));
  update();
  return { element, update };
}

/** @param {Draft} draft */
function shown(draft) {
  const task = draft.tasks?.first[0];
  const text = task?.text || task?.task || "The first task";
  const count = Math.min(Number(draft.answers) || 20, draft.tasks?.count ?? 20);
  const question = draft.question.trim() || "Your question";
  return [
    el("p", { class: "kicker" }, `1 of ${whole(count)}`, el("span", { class: "bar" }, el("span", { class: "done" }))),
    question !== text && el("p", { class: "hint", text: question }),
    el("p", { class: text.length > HEADLINE ? "headline long" : "headline", text }),
    task?.image && el("p", { class: "image", text: "Its image" }),
    draft.kind === "numeric" ? numberField(draft) : labelField(draft),
    el("p", { class: "shown-actions" },
      el("span", { class: "shown-button", text: "Next" }), el("span", { class: "shown-button quiet", text: "Back" }), el("span", { class: "shown-button quiet", text: "Skip" })),
  ];
}

/** @param {Draft} draft */
function labelField({ labels }) {
  const left = labels.length - MOST;
  return el("div", { class: "shown-choices" },
    labels.slice(0, MOST).map((label, at) => el("p", { class: "shown-choice" }, el("span", { class: "ring" }), el("span", { text: label || `Label ${at + 1}` }))),
    left > 0 && el("p", { class: "hint", text: `and ${whole(left)} more` }),
  );
}

/** @param {Draft} draft */
function numberField({ numbers }) {
  const unit = numbers.unit.trim();
  const step = numbers.step.trim();
  return el("div", {},
    el("p", { class: "shown-number" }, el("span", { class: "box" }), unit && el("span", { text: unit })),
    el("p", { class: "hint", text: `From ${numbers.low || "…"} to ${numbers.high || "…"}${unit ? ` ${unit}` : ""}${step ? `, in steps of ${step}` : ""}.` }),
  );
}
