// The third step: who answers, how much of it, and how private it shall be.

import { el, fill } from "./building.js";
import { usualAnswers, USUAL_EPSILON } from "./draft.js";
import { protectionChoice, sealingPart } from "./drafting-sealing.js";
import { choosing, field, wholeNumber } from "./fields.js";
import { fitting } from "./mechanisms.js";
import { privacySlider } from "./privacy-slider.js";
import { whole } from "./saying.js";

/** @typedef {import("./draft.js").Draft} Draft */
/** @typedef {import("./drafting.js").View} View */

const MOST_ANSWERS = 2 ** 24;
const MOST_WORKERS = 2 ** 31 - 1;
const USUAL_TOTAL = 8;

/** How able workers are, by the planner's names. */
const ABILITIES = [
  { value: "mixed", name: "A mixed crowd", hint: "Some are good at it, most are not much better than guessing." },
  { value: "able", name: "Fairly able", hint: "Everybody is right more often than not." },
  { value: "expert", name: "Experts", hint: "Everybody is nearly always right." },
];
const HIDING = [
  { value: "no", name: "No", hint: "Which tasks a worker skipped can be seen. Answers stay hidden." },
  { value: "yes", name: "Yes, hide that too", hint: "Everybody reports on every task they are given, skipped or not. It costs some accuracy." },
];
/** @type {{value: Draft["unit"], name: string, hint: string}[]} */
const UNITS = [
  { value: "answer", name: "For each answer", hint: "What reports of a worker betray adds up over its answers." },
  { value: "worker", name: "For all answers of a worker", hint: "One promise for everything a worker sends. Each answer gets more noise, or only some are sent." },
];
/** @type {{value: Draft["showDraw"], name: string, hint: string}[]} */
const SHOWING = [
  { value: "before_send", name: "Before it is sent", hint: "Nothing leaves the device unseen." },
  { value: "after_send", name: "After it was sent", hint: "Nobody can hold back a report because of what was drawn." },
];

/**
 * @param {Draft} draft
 * @param {() => void} keep
 * @returns {View}
 */
export function privacyStep(draft, keep) {
  if (!draft.answers) draft.answers = String(usualAnswers(draft));
  const slider = privacySlider(draft, keep);
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
      choosing("How able is the crowd?", ABILITIES, draft.ability, (value) => {
        draft.ability = value;
        changed();
      }),
      choosing("Shall it stay private which tasks a worker answered?", HIDING, draft.hides ? "yes" : "no", hide),
      more.element,
    ),
  ));
  slider.update();
  const fine = (/** @type {() => boolean} */ seals) => [!draft.sealed || seals(), checks.answers(), checks.workers()].every(Boolean);
  return { element, check: () => fine(sealing.check), mayLeave: () => fine(sealing.mayLeave), blame: sealing.blame, leave: slider.leave };
}

/** @param {{say: (words: string) => boolean}} one @param {number | string} found */
const said = (one, found) => one.say(typeof found === "string" ? found : "");

/** What seldom has to be chosen; some of it is only for what devices randomise. @param {Draft} draft @param {() => void} changed */
function advanced(draft, changed) {
  const select = el("select", {});
  const mechanism = field("Mechanism", select, "How an answer is randomised. Ours is a good choice.");
  const warning = el("p", { class: "notice bad", hidden: true, text: "Pages cannot do this one: workers will need the terminal." });
  const ofDevices = el("div");
  const update = () => {
    ofDevices.hidden = draft.sealed;
    const fit = fitting(draft);
    if (!fit.some(({ name }) => name === draft.mechanism)) draft.mechanism = "";
    const group = (/** @type {boolean} */ inBrowser) => fit.filter((each) => each.inBrowser === inBrowser)
      .map(({ name, words }) => el("option", { value: name, selected: name === draft.mechanism, text: words }));
    const others = group(false);
    fill(select, el("option", { value: "", selected: !draft.mechanism, text: "Chosen for you" }), group(true),
      others.length > 0 && el("optgroup", { label: "Workers need the terminal" }, others));
    warning.hidden = fit.find(({ name }) => name === draft.mechanism)?.inBrowser ?? true;
  };
  select.addEventListener("change", () => {
    draft.mechanism = select.value;
    update();
    changed();
  });
  update();
  fill(ofDevices,
    choosing("When does a worker see what was drawn?", SHOWING, draft.showDraw, (value) => {
      draft.showDraw = value;
      changed();
    }),
    mechanism.element, warning);
  const isUsual = draft.unit === "answer" && draft.showDraw === "before_send" && !draft.mechanism;
  const element = el("details", { class: "more", open: !isUsual }, el("summary", { text: "More" }),
    choosing("What is the promise for?", UNITS, draft.unit, (value) => {
      draft.unit = value;
      draft.epsilon = value === "answer" ? USUAL_EPSILON : USUAL_TOTAL;
      changed();
    }),
    ofDevices,
  );
  return { element, update };
}
