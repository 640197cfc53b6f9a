// Step 3: expected workers and answers, randomised or sealed, and the privacy slider.

import { el, fill } from "../requester/elements.js";
import { choosing, field, wholeNumber } from "../requester/fields.js";
import { counted, whole } from "../requester/formats.js";
import { cardsIn, fingerprint, fingerprintElement, withCard } from "../requester/keyholder-cards.js";
import { fitting } from "../requester/policy.js";
import { adopt, FEWEST, USUAL_EPSILON, usualAnswers } from "./draft.js";
import { privacySlider } from "./privacy-slider.js";

/** @import { Card } from "../requester/keyholder-cards.js" */
/** @import { Problem } from "../requester/requests.js" */
/** @import { Draft } from "./draft.js" */
/** @import { View } from "./wizard.js" */

const MOST_ANSWERS = 2 ** 24;
const MOST_WORKERS = 2 ** 31 - 1;
const USUAL_TOTAL = 8;

/** Workers' ability, by the planner's names. */
const ABILITIES = [
  { value: "mixed", name: "A mixed crowd", hint: "Some are good, most are not much better than guessing." },
  { value: "able", name: "Good", hint: "Everyone is right more often than not." },
  { value: "expert", name: "Experts", hint: "Everyone is nearly always right." },
];
const HIDING = [
  { value: "no", name: "No", hint: "Skipped tasks are visible. Answers stay hidden." },
  { value: "yes", name: "Yes, hide it", hint: "Workers send a report for every task they get, skipped or not. This costs some accuracy." },
];
/** @type {{value: Draft["unit"], name: string, hint: string}[]} */
const UNITS = [
  { value: "answer", name: "For each answer", hint: "A worker’s privacy loss adds up over the answers." },
  { value: "worker", name: "For all answers of a worker", hint: "One guarantee for everything a worker sends. Each answer gets more noise, or only some answers are sent." },
];
/** @type {{value: Draft["showDraw"], name: string, hint: string}[]} */
const SHOWING = [
  { value: "before_send", name: "Before it is sent", hint: "Workers see everything before it leaves the device." },
  { value: "after_send", name: "After it was sent", hint: "Workers cannot withhold a report because of its draw." },
];

/**
 * @param {Draft} draft
 * @param {() => void} keep
 * @returns {View}
 */
export function privacyStep(draft, keep) {
  if (!draft.answers) draft.answers = String(usualAnswers(draft));
  const take = (/** @type {number} */ crowd, /** @type {number} */ each) => {
    adopt(draft, crowd, each);
    [workers.input.value, answers.input.value] = [draft.workers, draft.answers];
    changed();
  };
  const slider = privacySlider(draft, keep, take);
  const most = Math.min(draft.tasks?.count ?? 1, MOST_ANSWERS);
  const answers = field("How many tasks does each worker get?", el("input", { value: draft.answers, inputmode: "numeric", autocomplete: "off" }), `There are ${whole(draft.tasks?.count ?? 0)}.`);
  const workers = field("How many workers do you expect?", el("input", { value: draft.workers, inputmode: "numeric", autocomplete: "off" }), "Only for the forecast.");
  const checks = {
    answers: () => said(answers, wholeNumber(draft.answers, 1, most)),
    workers: () => said(workers, wholeNumber(draft.workers, 1, MOST_WORKERS)),
  };
  const changed = () => {
    keep();
    if (checks.answers() && checks.workers()) slider.update();
  };
  answers.input.addEventListener("input", () => {
    draft.answers = answers.input.value.trim();
    changed();
  });
  workers.input.addEventListener("input", () => {
    draft.workers = workers.input.value.trim();
    changed();
  });
  const more = advanced(draft, changed);
  const hide = (/** @type {string} */ value) => {
    draft.hides = value === "yes";
    draft.mechanism = "";
    more.update();
    changed();
  };
  const sealing = sealingPart(draft, changed);
  sealing.element.hidden = !draft.sealed;
  const protection = protectionChoice(draft, () => {
    sealing.element.hidden = !draft.sealed;
    more.update();
    changed();
  });
  const element = el("div", {}, protection, sealing.element, el("div", { class: "with-assumptions" },
    slider.element,
    el("div", { class: "card" }, answers.element, workers.element,
      choosing("How good is the crowd?", ABILITIES, draft.ability, (value) => {
        draft.ability = value;
        changed();
      }),
      choosing("Hide which tasks a worker answered?", HIDING, draft.hides ? "yes" : "no", hide),
      more.element,
    ),
  ));
  slider.update();
  const fine = (/** @type {() => boolean} */ seals) => [!draft.sealed || seals(), checks.answers(), checks.workers()].every(Boolean);
  return { element, check: () => fine(sealing.check), mayLeave: () => fine(sealing.mayLeave), blame: sealing.blame, leave: slider.leave };
}

/** @param {{say: (words: string) => boolean}} one @param {number | string} found */
const said = (one, found) => one.say(typeof found === "string" ? found : "");

/** Settings that are seldom needed; some are for randomised answers only. @param {Draft} draft @param {() => void} changed */
function advanced(draft, changed) {
  const select = el("select", {});
  const mechanism = field("Mechanism", select, "How an answer is randomised. The default is a good choice.");
  const warning = el("p", { class: "notice bad", hidden: true, text: "This mechanism does not run in a browser: workers need a terminal." });
  const ofDevices = el("div");
  const update = () => {
    ofDevices.hidden = draft.sealed;
    const fit = fitting(draft);
    if (!fit.some(({ name }) => name === draft.mechanism)) draft.mechanism = "";
    const group = (/** @type {boolean} */ inBrowser) => fit.filter((each) => each.in_browser === inBrowser)
      .map(({ name, words }) => el("option", { value: name, selected: name === draft.mechanism, text: words }));
    const others = group(false);
    fill(select, el("option", { value: "", selected: !draft.mechanism, text: "Default" }), group(true),
      others.length > 0 && el("optgroup", { label: "Needs a terminal" }, others));
    warning.hidden = fit.find(({ name }) => name === draft.mechanism)?.in_browser ?? true;
  };
  select.addEventListener("change", () => {
    draft.mechanism = select.value;
    update();
    changed();
  });
  update();
  fill(ofDevices,
    choosing("When does a worker see the reports?", SHOWING, draft.showDraw, (value) => {
      draft.showDraw = value;
      changed();
    }),
    mechanism.element, warning);
  const isUsual = draft.unit === "answer" && draft.showDraw === "before_send" && !draft.mechanism;
  const element = el("details", { class: "more", open: !isUsual }, el("summary", { text: "More" }),
    choosing("What does the guarantee cover?", UNITS, draft.unit, (value) => {
      draft.unit = value;
      draft.epsilon = value === "answer" ? USUAL_EPSILON : USUAL_TOTAL;
      changed();
    }),
    ofDevices,
  );
  return { element, update };
}

// Protection: answers are randomised on each device, or sealed for keyholders who open one total.

const MOST_MINIMUM = 1_000_000;

const PROTECTIONS = [
  { value: "device", name: "Randomised on each device", hint: "Answers are changed at random before they are sent. This needs no trusted party, and truths improve while reports arrive." },
  { value: "sealed", name: "Sealed: shared among keyholders", hint: "Only one total over all workers is opened, once, after closing. With many answers per task this gives fewer errors at the same guarantee. It needs three organisations that would not all collude, and each must run one command." },
];
/** @type {{value: Draft["layout"], name: string, hint: string}[]} */
const LAYOUTS = [
  { value: "sum", name: "Their mean", hint: "The least noise. A few workers with extreme answers can move it." },
  { value: "histogram", name: "Their median (robust)", hint: "Answers are counted in 16 ranges. Extreme answers have little effect. The result is a little coarser." },
];

/**
 * The choice between the two.
 *
 * @param {Draft} draft
 * @param {() => void} changed
 */
function protectionChoice(draft, changed) {
  return choosing("Protection", PROTECTIONS, draft.sealed ? "sealed" : "device", (value) => {
    draft.sealed = value === "sealed";
    changed();
  });
}

/**
 * Settings of a sealed campaign: keyholders, how many may collude, the minimum number of workers, and
* the statistic of numbers that is opened.
 *
 * @param {Draft} draft
 * @param {() => void} changed
 */
function sealingPart(draft, changed) {
  const collusion = el("div");
  const editor = keyholdersEditor(draft, () => {
    draft.degree = Math.min(draft.degree, mostBad(draft));
    fill(collusion, bad(draft, changed));
    changed();
  });
  const minimum = field("Minimum number of workers", el("input", { value: draft.minimum, inputmode: "numeric", autocomplete: "off" }),
    "Keyholders never open a total of fewer workers than this.");
  minimum.input.addEventListener("input", () => {
    draft.minimum = minimum.input.value.trim();
    changed();
  });
  fill(collusion, bad(draft, changed));
  const element = el("section", { class: "card sealing", "aria-labelledby": "sealing" },
    el("div", {},
      el("h2", { id: "sealing", text: "Keyholders" }),
      el("p", { text: "Choose organisations that would not all collude: a university, a union, an archive. Each answer is split into shares, one sealed for each keyholder. The keyholders check the shares without reading them, add noise, and open the total after you have closed the campaign." }),
      el("p", {}, "Each keyholder runs ", el("code", { text: "sottovoce keyholder init --name …" }), " and sends you its card. Then call each keyholder: the fingerprint that they read out must match the one shown here. Someone who swapped a card on the way could read shares."),
      minimum.element, collusion,
      draft.kind === "numeric" && choosing("Statistic of numbers", LAYOUTS, draft.layout, (value) => {
        draft.layout = value;
        changed();
      }),
    ),
    editor.element,
  );
  const sayMinimum = () => said(minimum, wholeNumber(draft.minimum, 2, MOST_MINIMUM));
  const check = () => [editor.check(), sayMinimum()].every(Boolean);
  const mayLeave = () => [editor.mayLeave(), sayMinimum()].every(Boolean);
  const blame = (/** @type {Problem} */ problem) => {
    if (!problem.field?.startsWith("privacy.sealed")) return false;
    (problem.field.includes("minimum") ? minimum : editor).say(problem.message);
    return true;
  };
  return { element, check, mayLeave, blame };
}

/** How many of these keyholders may collude. @param {Draft} draft */
const mostBad = ({ cards }) => Math.max(1, Math.floor((cards.length - 1) / 2));

/** @param {Draft} draft @param {() => void} changed */
function bad(draft, changed) {
  const most = mostBad(draft);
  const seats = Math.max(FEWEST, draft.cards.length);
  const rule = el("p", { class: "hint", text: `Protection from one dishonest keyholder needs ${FEWEST} keyholders. Protection from two needs five: twice as many plus one. Add cards for more.` });
  if (most === 1) return [el("p", {}, el("strong", { text: `Safe from 1 of ${seats}. ` }), `Any two keyholders who combine their shares could read answers. One alone learns nothing.`), rule];
  const choices = Array.from({ length: most }, (_, at) => ({ value: String(at + 1), name: `${at + 1} of ${seats}`, hint: `${at + 2} can open the total after all have checked it.` }));
  return [choosing("How many keyholders may be dishonest", choices, String(draft.degree), (value) => {
    draft.degree = Number(value);
    changed();
  }), rule];
}

// The keyholders of a sealed campaign: their cards, pasted or from files, one seat each.

const MOST_KEYHOLDERS = 15;
const LARGEST_CARD = 10_000;

/**
 * @param {{cards: Card[]}} draft changed in place
 * @param {() => void} changed
 */
function keyholdersEditor(draft, changed) {
  const list = el("ol", { class: "seats", "aria-label": "Keyholders" });
  const status = el("p", { class: "hint", role: "status" });
  const pasted = field("Paste a card", el("textarea", { rows: 3, spellcheck: "false", autocomplete: "off" }),
    "One keyholder’s card, or several.");
  const file = el("input", { type: "file", class: "unseen", id: "cards", multiple: true, accept: ".json,.card,.txt", "aria-describedby": "cards-error" });
  const problem = el("p", { class: "error", id: "cards-error", role: "alert" });

  const draw = () => {
    const missing = Array.from({ length: Math.max(0, FEWEST - draft.cards.length) }, (_, at) => draft.cards.length + at + 1);
    fill(list, draft.cards.map(seat), missing.map(emptySeat));
  };
  const seat = (/** @type {Card} */ card, /** @type {number} */ at) => {
    const print = el("span", { class: "hint", text: "…" });
    fingerprint(card).then((text) => print.replaceWith(fingerprintElement(text)));
    return el("li", {},
      el("span", { class: "seat-name", text: card.name }), print,
      el("button", { type: "button", class: "tool", text: "×", "aria-label": `Remove ${card.name}`, onclick: () => remove(at) }));
  };
  const remove = (/** @type {number} */ at) => {
    const [gone] = draft.cards.splice(at, 1);
    told(`${gone?.name} has been removed.`);
    const buttons = list.querySelectorAll("button");
    (buttons[Math.min(at, buttons.length - 1)] ?? pasted.input).focus();
  };
  const told = (/** @type {string} */ words) => {
    draw();
    status.textContent = `${words} ${seatsWords(draft.cards.length)}`;
    changed();
  };
  /** Adds all cards or none. @param {Card[]} cards */
  const add = (cards) => {
    const all = cards.reduce(withCard, draft.cards);
    if (all.length > MOST_KEYHOLDERS) throw new Error(`At most ${MOST_KEYHOLDERS} keyholders are possible.`);
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
  const check = () => hasRead() && pasted.say(missing() > 0 ? `At least ${FEWEST} keyholders are needed: add ${counted(missing(), "more card")}.` : "");
  const mayLeave = () => hasRead() && pasted.say(missing() > 0 && draft.cards.length > 0 ? `A draft is saved with all its keyholders or none. Add ${counted(missing(), "more card")}, or remove the others.` : "");
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
    if (file.size > LARGEST_CARD * MOST_KEYHOLDERS) throw new Error("The file is too large for a keyholder card.");
    return cardsIn(await file.text());
  } catch (error) {
    throw new Error(`${file.name}: ${/** @type {Error} */ (error).message}`);
  }
}
