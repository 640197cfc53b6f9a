// The draft of a campaign: stored in this tab, so that a reload loses nothing, and written to the
// server at each step.

import { isSealed, mechanismName, SEALED } from "../requester/policy.js";
import { ask } from "../requester/requests.js";

/** @import { Card } from "../requester/keyholder-cards.js" */
/** @import { Campaign, Overview } from "../requester/types.js" */

/** @typedef {{task: string, text?: string | null, image?: string | null, known?: string | number | boolean | null}} Task */
/** @typedef {"tasks" | "answers" | "privacy" | "review"} Step */
/** @typedef {{count: number, first: Task[], read: string[], ignored: string[], from: string}} Tasks */

/**
 * @typedef {object} Draft
 * @property {string | null} id its place on the server, once it has one
 * @property {Step} reached the farthest step
 * @property {Tasks | null} tasks
 * @property {string} pasted
 * @property {string} title
 * @property {string} question
 * @property {"categorical" | "ordinal" | "numeric"} kind
 * @property {string[]} labels
 * @property {{low: string, high: string, step: string, unit: string}} numbers
 * @property {string} answers the most answers of a worker
 * @property {string} workers how many are expected
 * @property {string} ability
 * @property {boolean} hides whether it is hidden which tasks a worker answered
 * @property {number} epsilon for one unit
 * @property {"answer" | "worker"} unit
 * @property {string} mechanism empty: the server chooses
 * @property {boolean} sealed for keyholders, instead of being randomised on each device
 * @property {Card[]} cards of the keyholders
 * @property {number} degree how many keyholders may collude
 * @property {string} minimum of workers in a total
 * @property {"sum" | "histogram"} layout what is opened of numbers
 * @property {"before_send" | "after_send"} showDraw
 * @property {string} closesOn
 * @property {string} quota
 * @property {"need" | "hash"} assignment how a worker's tasks are chosen, if the policy leaves a choice
 */

const BASE = document.documentElement.dataset.base ?? "";
const KEPT = `sottovoce:draft:${BASE}:`;

/** @type {Step[]} */
export const STEPS = ["tasks", "answers", "privacy", "review"];

/** The question of a draft that has none yet: the server requires one. */
const UNASKED = "…";

export const USUAL_EPSILON = 2;

/** Keyholders: twice the number that may collude, plus one. */
export const FEWEST = 3;

/** @returns {Draft} */
export function newDraft() {
  return {
    id: null, reached: "tasks", tasks: null, pasted: "", title: "", question: "",
    kind: "categorical", labels: ["Yes", "No"], numbers: { low: "0", high: "10", step: "", unit: "" },
    answers: "", workers: "40", ability: "mixed", hides: false,
    epsilon: USUAL_EPSILON, unit: "answer", mechanism: "", showDraw: "before_send", closesOn: "", quota: "", assignment: "need",
    sealed: false, cards: [], degree: 1, minimum: "10", layout: "sum",
  };
}

/** Stores a draft in this tab. @param {Draft} draft */
export function keep(draft) {
  sessionStorage.setItem(KEPT + (draft.id ?? "new"), JSON.stringify(draft));
  if (draft.id) sessionStorage.removeItem(`${KEPT}new`);
}

/** The draft stored in this tab. @param {string | null} id @returns {Draft | null} */
export function kept(id) {
  const text = sessionStorage.getItem(KEPT + (id ?? "new"));
  return text ? { ...newDraft(), ...JSON.parse(text) } : null;
}

/** @param {Draft} draft */
export function forget(draft) {
  sessionStorage.removeItem(KEPT + (draft.id ?? "new"));
}

/**
 * The draft on the server, to continue. The expected crowd is not stored there.
 *
 * @param {string} id
 * @returns {Promise<Draft | null>} null where it is no draft any more
 */
export async function fetched(id) {
  /** @type {Campaign & {policy: any}} */
  const found = await ask(`campaigns/${id}`);
  if (found.state !== "draft") return null;
  const { domain, policy } = found;
  const isAsked = found.question !== UNASKED;
  const start = newDraft();
  const draft = {
    ...start, id, title: found.title, question: isAsked ? found.question : "",
    kind: isAsked ? domain.kind : start.kind,
    labels: isAsked ? (domain.labels ?? start.labels).map(String) : start.labels,
    numbers: domain.kind === "numeric" ? numbersOf(found) : start.numbers,
    tasks: found.tasks ? await tasksOf(id, [], "before") : null,
    closesOn: found.closes_on ?? "", quota: found.quota ? String(found.quota) : "",
  };
  draft.reached = !draft.tasks ? "tasks" : isAsked ? "privacy" : "answers";
  if (!isAsked) return draft;
  /** @type {Overview} */
  const { coverage } = await ask(`campaigns/${id}/overview`);
  const hasChoice = !coverage.hidden && !isSealed(policy) && !policy.mechanism.of;
  return { ...draft, ...promiseOf(policy), hides: coverage.hidden, assignment: hasChoice ? found.assignment : start.assignment };
}

/**
 * The first tasks of a draft, as the server read them.
 *
 * @param {string} id
 * @param {string[]} ignored
 * @param {string} from
 * @returns {Promise<Tasks>}
 */
export async function tasksOf(id, ignored, from) {
  /** @type {{tasks: Task[], total: number}} */
  const { tasks, total } = await ask(`campaigns/${id}/tasks?limit=200`);
  const read = ["task"];
  if (tasks.some(({ task, text }) => text && text !== task)) read.push("text");
  if (tasks.some(({ image }) => image)) read.push("image");
  if (tasks.some(({ known }) => known)) read.push("known");
  return { count: total, first: tasks.slice(0, 5), read, ignored, from };
}

/** Takes over a proposed crowd; a quota below it is raised. @param {Draft} draft @param {number} workers @param {number} answers of each */
export function adopt(draft, workers, answers) {
  draft.workers = String(workers);
  draft.answers = String(answers);
  if (draft.quota) draft.quota = String(Math.max(Number(draft.quota), workers));
}

/** Writes a draft to the server, which checks it. @param {Draft} draft @returns {Promise<Campaign>} */
export async function write(draft) {
  const body = bodyOf(draft);
  if (draft.id) return ask(`campaigns/${draft.id}`, { method: "PUT", body });
  const made = await ask("campaigns", { method: "POST", body });
  draft.id = made.id;
  return made;
}

/** The answers' domain in the API's format. @param {Draft} draft */
export function domainOf({ kind, labels, numbers }) {
  if (kind !== "numeric") return { kind, labels: labels.map((label) => label.trim()) };
  const step = numbers.step.trim() ? { step: numberOf(numbers.step) } : {};
  return { kind, low: numberOf(numbers.low), high: numberOf(numbers.high), ...step };
}

/** A number as people write it; NaN where it is none. @param {string} text */
export function numberOf(text) {
  return text.trim() ? Number(text.trim().replace("−", "-")) : NaN;
}

/** The privacy settings in the API's format. @param {Draft} draft */
export function privacyOf(draft) {
  return {
    epsilon: draft.epsilon,
    unit: draft.unit,
    answers: Number(draft.answers) || usualAnswers(draft),
    hide_participation: draft.hides,
    ...(draft.sealed ? sealedOf(draft) : draft.mechanism ? { mechanism: draft.mechanism } : {}),
  };
}

/** The privacy settings of sealed answers before there are keyholders, for forecasts. @param {Draft} draft */
export function plannedOf(draft) {
  const { degree, layout } = draft;
  const opened = draft.kind === "numeric" ? { layout } : {};
  const parameters = { seats: Math.max(FEWEST, draft.cards.length), degree, ...opened };
  return { ...privacyOf({ ...draft, sealed: false, mechanism: SEALED }), parameters };
}

/** The server accepts all keyholders, or none yet. @param {Draft} draft */
function sealedOf({ kind, cards, degree, minimum, layout }) {
  const keyholders = cards.length > 2 * degree ? cards : [];
  const opened = kind === "numeric" ? { layout } : {};
  return { mechanism: SEALED, sealed: { keyholders, degree, minimum: Number(minimum), ...opened } };
}

/** The default number of answers per worker. @param {Draft} draft */
export function usualAnswers(draft) {
  return Math.max(1, Math.min(20, draft.tasks?.count ?? 20));
}

/** @param {Draft} draft */
function bodyOf(draft) {
  const isAsked = draft.question.trim() !== "";
  const start = newDraft();
  const shown = draft.sealed ? start.showDraw : draft.showDraw; // nothing is drawn for sealed answers
  const asked = isAsked ? draft : { ...start, tasks: draft.tasks };
  return {
    title: draft.title.trim() || "Untitled campaign",
    question: draft.question.trim() || UNASKED,
    unit: (draft.kind === "numeric" && draft.numbers.unit.trim()) || null,
    quota: draft.quota ? Number(draft.quota) : null,
    closes_on: draft.closesOn || null,
    ...(draft.assignment === "hash" && { assignment: "hash" }),
    domain: domainOf(isAsked ? draft : start),
    privacy: { ...privacyOf(asked), show_draw: shown },
  };
}

/** @param {any} policy */
function promiseOf(policy) {
  const { mechanism, promise } = policy;
  const { keyholders: cards, degree, minimum, layout } = mechanism;
  return {
    epsilon: Number(promise.epsilon),
    unit: promise.unit,
    answers: String(promise.answers),
    showDraw: policy.show_draw ?? "before_send",
    ...(isSealed(policy)
      ? { sealed: true, cards, degree, minimum: String(minimum), layout: layout === "histogram" ? layout : /** @type {const} */ ("sum") }
      : { mechanism: mechanismName(policy) }),
  };
}

/** @param {Campaign} campaign */
function numbersOf({ domain, unit }) {
  const { low = 0, high = 10 } = domain;
  const step = /** @type {{step?: number}} */ (domain).step;
  return { low: String(low), high: String(high), step: step === undefined ? "" : String(step), unit: unit ?? "" };
}

// The lab hands a scenario over to a new campaign through this tab's storage.

const HANDED_OVER = `sottovoce:scenario:${BASE}`;

/** @typedef {Partial<Draft>} Scenario */

/** @param {Scenario} scenario */
export function handOver(scenario) {
  sessionStorage.setItem(HANDED_OVER, JSON.stringify(scenario));
}

/** The scenario from the lab, read once. @returns {Scenario} */
export function takenScenario() {
  const text = sessionStorage.getItem(HANDED_OVER);
  sessionStorage.removeItem(HANDED_OVER);
  return text ? JSON.parse(text) : {};
}
