// A new campaign in four steps. Each step is written to the server, which validates it. The address
// holds the draft and the step, so that back and reload work.

import { at, confirmed, el, fill } from "../requester/elements.js";
import { ask, isSignedIn, leadToSignIn, place, Problem } from "../requester/requests.js";
import { answersStep } from "./answers.js";
import { fetched, forget, keep, kept, newDraft, STEPS, takenScenario, write } from "./draft.js";
import { privacyStep } from "./privacy.js";
import { reviewStep } from "./summary.js";
import { tasksStep } from "./tasks.js";

/** @import { Draft, Step } from "./draft.js" */

/**
 * The view of a step. `check` returns whether the step is complete, and shows errors next to their
* fields; `mayLeave` does so for a draft that is saved for later, which needs less; `blame` shows an
* error from the server, if it knows the field; `isCutShort` says that devices would not answer all
* tasks; `leave` cleans up.
 *
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {() => boolean | Promise<boolean>} check
 * @property {() => boolean} [mayLeave]
 * @property {(problem: Problem) => boolean} [blame]
 * @property {() => boolean} [isCutShort]
 * @property {() => void} [leave]
 */

const NAMES = { tasks: "Tasks", answers: "Answers", privacy: "Privacy", review: "Review" };
const HEADINGS = {
  tasks: "Tasks",
  answers: "Question and answers",
  privacy: "Privacy",
  review: "Review and open",
};
const VIEWS = { tasks: tasksStep, answers: answersStep, privacy: privacyStep, review: reviewStep };

/** @type {Draft} */
let draft = newDraft();
/** @type {View | null} */
let view = null;
const said = el("p", { class: "error", role: "alert" });

if (isSignedIn()) begin();
else leadToSignIn();

async function begin() {
  addEventListener("popstate", () => turn());
  try {
    draft = await wanted();
    turn(false);
  } catch (error) {
    fill(at("step"), said);
    said.textContent = /** @type {Error} */ (error).message;
  }
}

/** The draft in the address, or the one started in this tab. @returns {Promise<Draft>} */
async function wanted() {
  const { id } = named();
  if (!id) return kept(null) ?? { ...newDraft(), ...takenScenario() };
  const found = kept(id) ?? (await fetched(id));
  if (found) return found;
  location.replace(place("campaigns", id));
  return new Promise(() => {});
}

/** @returns {{id: string | null, step: Step | null}} */
function named() {
  const [, id = null, step = null] = location.hash.match(/^#([a-z0-9]{4,32})(?:\/(\w+))?$/) ?? [];
  return { id, step: STEPS.find((each) => each === step) ?? null };
}

/** Shows the step in the address, if the draft has reached it. */
function turn(hasFocus = true) {
  const { id, step } = named();
  if (id !== draft.id) return location.reload();
  const farthest = STEPS.indexOf(draft.reached);
  show(step && STEPS.indexOf(step) <= farthest ? step : draft.reached, hasFocus);
}

/** @param {Step} step @param {boolean} hasFocus */
function show(step, hasFocus) {
  view?.leave?.();
  said.textContent = "";
  view = VIEWS[step](draft, () => keep(draft), () => rest(step));
  const heading = el("h1", { tabindex: "-1", text: HEADINGS[step] });
  const form = el("form", { novalidate: true, class: `step-${step}` }, view.element, said, ways(step));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    advance(step, form);
  });
  fill(at("stepper"), STEPS.map((each) => stepLink(each, step)));
  fill(at("step"), el("p", { class: "kicker", text: `Step ${STEPS.indexOf(step) + 1} of ${STEPS.length}` }), heading, form);
  document.title = `${NAMES[step]} · New campaign · Sottovoce`;
  if (!hasFocus) return;
  scrollTo({ top: 0 });
  heading.focus({ preventScroll: true });
}

/** Updates the buttons that depend on the step being complete. @param {Step} step */
function rest(step) {
  keep(draft);
  document.querySelector(".ways")?.replaceWith(ways(step));
  fill(at("stepper"), STEPS.map((each) => stepLink(each, step)));
}

/** @param {Step} each @param {Step} current */
function stepLink(each, current) {
  const isReached = STEPS.indexOf(each) <= STEPS.indexOf(draft.reached);
  const words = el("span", { text: NAMES[each] });
  const isCurrent = each === current;
  return el("li", { class: isReached ? "reached" : null },
    isReached && !isCurrent && draft.id
      ? el("a", { href: `#${draft.id}/${each}`, onclick: (/** @type {Event} */ event) => jump(event, each) }, words)
      : el("span", { class: "here", "aria-current": isCurrent ? "step" : null }, words),
  );
}

/** @param {Event} event @param {Step} step */
function jump(event, step) {
  event.preventDefault();
  history.pushState(null, "", `#${draft.id}/${step}`);
  show(step, true);
}

/** @param {Step} step */
function ways(step) {
  const isFirst = step === "tasks";
  return el("div", { class: "actions ways" },
    !isFirst && el("button", { type: "button", class: "quiet", text: "Back", onclick: (/** @type {Event} */ event) => jump(event, before(step)) }),
    el("button", { type: "submit", text: step === "review" ? (view?.isCutShort?.() ? "Open anyway" : "Open the campaign") : "Continue" }),
    draft.id && el("span", { class: "away" },
      el("button", { type: "button", class: "plain", text: "Save and leave", onclick: () => leave() }),
      el("button", { type: "button", class: "plain", text: "Delete", "aria-label": "Delete this draft", onclick: () => remove() }),
    ),
  );
}

/** @param {Step} step @returns {Step} */
function before(step) {
  return STEPS[STEPS.indexOf(step) - 1] ?? "tasks";
}

/** @param {Step} step @param {HTMLElement} form */
async function advance(step, form) {
  said.textContent = "";
  keep(draft);
  if (!(await view?.check())) return pointOut(form);
  await working(form, async () => {
    if (step === "review") return openIt();
    await write(draft);
    const next = STEPS[STEPS.indexOf(step) + 1] ?? "review";
    if (STEPS.indexOf(next) > STEPS.indexOf(draft.reached)) draft.reached = next;
    keep(draft);
    history.pushState(null, "", `#${draft.id}/${next}`);
    show(next, true);
  });
}

/** Focuses the first invalid field. @param {HTMLElement} form */
function pointOut(form) {
  /** @type {HTMLElement | null} */ (form.querySelector("[aria-invalid='true']"))?.focus();
}

async function openIt() {
  const anyway = view?.isCutShort?.() ? "?over_budget=true" : "";
  await ask(`campaigns/${draft.id}/open${anyway}`, { method: "POST" });
  forget(draft);
  location.assign(`${place("campaigns", String(draft.id))}${draft.sealed ? "#rounds" : "#invites"}`);
}

/** Saves the draft and leaves. Invalid input stays in this tab. */
async function leave() {
  const form = /** @type {HTMLElement} */ (document.querySelector("#step form"));
  keep(draft);
  if (!(await (view?.mayLeave ?? view?.check)?.())) return pointOut(form);
  await working(form, async () => {
    await write(draft);
    location.assign(place("campaigns"));
  });
}

async function remove() {
  const words = ["Its tasks and everything you entered are deleted. No worker has been asked yet."];
  if (!(await confirmed({ title: "Delete this draft?", words, action: "Delete the draft" }))) return;
  try {
    await ask(`campaigns/${draft.id}`, { method: "DELETE" });
    forget(draft);
    location.assign(place("campaigns"));
  } catch (error) {
    said.textContent = /** @type {Error} */ (error).message;
  }
}

/**
 * Runs a slow action, one at a time, and shows its error.
 *
 * @param {HTMLElement} form
 * @param {() => Promise<void>} work
 */
async function working(form, work) {
  const buttons = [...form.querySelectorAll(".ways button")];
  const submit = form.querySelector("[type=submit]");
  buttons.forEach((button) => button.setAttribute("disabled", ""));
  submit?.classList.add("busy");
  try {
    await work();
  } catch (error) {
    const problem = /** @type {Problem} */ (error);
    if (!(problem instanceof Problem && view?.blame?.(problem))) said.textContent = problem.message;
  }
  buttons.forEach((button) => button.removeAttribute("disabled"));
  submit?.classList.remove("busy");
}
