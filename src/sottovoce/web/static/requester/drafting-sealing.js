// How answers are protected: randomised on each device, or sealed for keyholders who open one total.

import { el, fill } from "./building.js";
import { FEWEST } from "./draft.js";
import { choosing, field, wholeNumber } from "./fields.js";
import { keyholdersEditor } from "./keyholders-editor.js";

/** @typedef {import("./draft.js").Draft} Draft */

const MOST_MINIMUM = 1_000_000;

const PROTECTIONS = [
  { value: "device", name: "Randomised on each device", hint: "Chance changes some answers before they leave. It needs nobody’s help or trust, and truths grow clearer while reports come in." },
  { value: "sealed", name: "Sealed: shared among keyholders", hint: "Only one total of all workers is ever opened, once, after closing: as a rule far fewer errors at the same guarantee. It needs three organisations that would not all collude, and each has to run one command." },
];
/** @type {{value: Draft["layout"], name: string, hint: string}[]} */
const LAYOUTS = [
  { value: "sum", name: "Their mean", hint: "The least noise. A few workers who are far off can move it." },
  { value: "histogram", name: "Robust: their middle", hint: "Answers are counted in 16 ranges. Workers who are far off hardly matter; it is a little coarser." },
];

/**
 * The choice itself.
 *
 * @param {Draft} draft
 * @param {() => void} changed
 */
export function protectionChoice(draft, changed) {
  return choosing("How answers are protected", PROTECTIONS, draft.sealed ? "sealed" : "device", (value) => {
    draft.sealed = value === "sealed";
    changed();
  });
}

/**
 * What a sealed campaign needs: keyholders, how many of them may be bad, the smallest set, and what
 * is opened of numbers.
 *
 * @param {Draft} draft
 * @param {() => void} changed
 */
export function sealingPart(draft, changed) {
  const collusion = el("div");
  const editor = keyholdersEditor(draft, () => {
    draft.degree = Math.min(draft.degree, mostBad(draft));
    fill(collusion, bad(draft, changed));
    changed();
  });
  const minimum = field("Smallest set", el("input", { value: draft.minimum, inputmode: "numeric", autocomplete: "off" }),
    "Keyholders never open a total of fewer workers than this, whoever asks.");
  minimum.input.addEventListener("input", () => {
    draft.minimum = minimum.input.value.trim();
    changed();
  });
  fill(collusion, bad(draft, changed));
  const element = el("section", { class: "card sealing", "aria-labelledby": "sealing" },
    el("div", {},
      el("h2", { id: "sealing", text: "Keyholders" }),
      el("p", { text: "Choose organisations that would not all collude: a university, a union, an archive. An answer is split into shares, one sealed for each of them. They check the shares without reading them, add noise, and open the total when you have closed the campaign." }),
      el("p", {}, "Have each run ", el("code", { text: "sottovoce keyholder init --name …" }), " and send you its card. Then ring them up: the fingerprint that they read out must be the one you see here. Whoever swapped a card on its way could read shares."),
      minimum.element, collusion,
      draft.kind === "numeric" && choosing("What is opened of numbers", LAYOUTS, draft.layout, (value) => {
        draft.layout = value;
        changed();
      }),
    ),
    editor.element,
  );
  const sayMinimum = () => {
    const found = wholeNumber(draft.minimum, 2, MOST_MINIMUM);
    return minimum.say(typeof found === "string" ? found : "");
  };
  const check = () => [editor.check(), sayMinimum()].every(Boolean);
  const mayLeave = () => [editor.mayLeave(), sayMinimum()].every(Boolean);
  const blame = (/** @type {import("./asking.js").Problem} */ problem) => {
    if (!problem.field?.startsWith("privacy.sealed")) return false;
    (problem.field.includes("minimum") ? minimum : editor).say(problem.message);
    return true;
  };
  return { element, check, mayLeave, blame };
}

/** How many keyholders may be bad among so many. @param {Draft} draft */
const mostBad = ({ cards }) => Math.max(1, Math.floor((cards.length - 1) / 2));

/** @param {Draft} draft @param {() => void} changed */
function bad(draft, changed) {
  const most = mostBad(draft);
  const seats = Math.max(FEWEST, draft.cards.length);
  const rule = el("p", { class: "hint", text: `To be safe from one that is bad it takes ${FEWEST} keyholders, from two it takes five: twice as many, and one more. Add cards for more.` });
  if (most === 1) return [el("p", {}, el("strong", { text: `Safe from 1 of ${seats}. ` }), `Any two keyholders who put their shares together could read answers; one alone learns nothing.`), rule];
  const choices = Array.from({ length: most }, (_, at) => ({ value: String(at + 1), name: `${at + 1} of ${seats}`, hint: `${at + 2} open the total once all have checked it.` }));
  return [choosing("How many keyholders may be bad", choices, String(draft.degree), (value) => {
    draft.degree = Number(value);
    changed();
  }), rule];
}
