// Who the keyholders of a sealed campaign are: their cards, pasted or from files, a seat for each.

import { el, fill } from "./building.js";
import { FEWEST } from "./draft.js";
import { field } from "./fields.js";
import { fingerprintOf } from "./fingerprints.js";
import { cardsIn, fingerprint, withCard } from "./keyholder-cards.js";
import { counted } from "./saying.js";

/** @typedef {import("./keyholder-cards.js").Card} Card */

const MOST = 15;
const LARGEST = 10_000;

/**
 * @param {{cards: Card[]}} draft changed in place
 * @param {() => void} changed
 */
export function keyholdersEditor(draft, changed) {
  const list = el("ol", { class: "seats", "aria-label": "Keyholders" });
  const status = el("p", { class: "hint", role: "status" });
  const pasted = field("Paste a card", el("textarea", { rows: 3, spellcheck: "false", autocomplete: "off" }),
    "One keyholder’s card, or several one after the other.");
  const file = el("input", { type: "file", class: "unseen", id: "cards", multiple: true, accept: ".json,.card,.txt", "aria-describedby": "cards-error" });
  const problem = el("p", { class: "error", id: "cards-error", role: "alert" });

  const draw = () => {
    const missing = Array.from({ length: Math.max(0, FEWEST - draft.cards.length) }, (_, at) => draft.cards.length + at + 1);
    fill(list, draft.cards.map(seat), missing.map(emptySeat));
  };
  const seat = (/** @type {Card} */ card, /** @type {number} */ at) => {
    const print = el("span", { class: "hint", text: "…" });
    fingerprint(card).then((text) => print.replaceWith(fingerprintOf(text)));
    return el("li", {},
      el("span", { class: "seat-name", text: card.name }), print,
      el("button", { type: "button", class: "tool", text: "×", "aria-label": `Remove ${card.name}`, onclick: () => remove(at) }));
  };
  const remove = (/** @type {number} */ at) => {
    const [gone] = draft.cards.splice(at, 1);
    told(`${gone?.name} is no keyholder any more.`);
    const buttons = list.querySelectorAll("button");
    (buttons[Math.min(at, buttons.length - 1)] ?? pasted.input).focus();
  };
  const told = (/** @type {string} */ words) => {
    draw();
    status.textContent = `${words} ${seatsWords(draft.cards.length)}`;
    changed();
  };
  /** All of them or none. @param {Card[]} cards */
  const add = (cards) => {
    const all = cards.reduce(withCard, draft.cards);
    if (all.length > MOST) throw new Error(`There can be up to ${MOST} keyholders.`);
    draft.cards = all;
    told(`Added: ${cards.map(({ name }) => name).join(", ")}.`);
  };
  const usePasted = () => {
    try {
      add(cardsIn(pasted.input.value));
      pasted.input.value = "";
      return pasted.say("");
    } catch (error) {
      return pasted.say(pasted.input.value.trim() ? /** @type {Error} */ (error).message : "Paste a keyholder’s card first.");
    }
  };
  const useFiles = async (/** @type {File[]} */ files) => {
    problem.textContent = "";
    try {
      add((await Promise.all(files.map(cardsOf))).flat());
    } catch (error) {
      problem.textContent = /** @type {Error} */ (error).message;
    }
    file.value = "";
  };
  file.addEventListener("change", () => void useFiles([...(file.files ?? [])]));
  const missing = () => FEWEST - draft.cards.length;
  const hasRead = () => !pasted.input.value.trim() || usePasted();
  const check = () => hasRead() && pasted.say(missing() > 0 ? `It takes ${FEWEST} keyholders or more: ${counted(missing(), "card")} to go.` : "");
  const mayLeave = () => hasRead() && pasted.say(missing() > 0 && draft.cards.length > 0 ? `A draft is saved with all its keyholders or none: add ${counted(missing(), "card")}, or remove those that are here.` : "");
  draw();
  const element = el("div", {}, list, status, pasted.element,
    el("div", { class: "actions" },
      el("button", { type: "button", class: "quiet", text: "Add this card", onclick: usePasted }),
      el("label", { class: "button quiet filing", for: "cards" }, file, "Choose files"),
    ), problem);
  return { element, check, mayLeave, say: pasted.say };
}

/** @param {number} seats */
const seatsWords = (seats) => (seats < FEWEST ? `${counted(seats, "keyholder")} of ${FEWEST}.` : `${counted(seats, "keyholder")}.`);

/** @param {number} number */
const emptySeat = (number) => el("li", { class: "empty" }, el("span", { class: "hint", text: `No card for seat ${number} yet` }));

/** @param {File} file */
async function cardsOf(file) {
  try {
    if (file.size > LARGEST * MOST) throw new Error("It is too large for a keyholder’s card.");
    return cardsIn(await file.text());
  } catch (error) {
    throw new Error(`${file.name}: ${/** @type {Error} */ (error).message}`);
  }
}
