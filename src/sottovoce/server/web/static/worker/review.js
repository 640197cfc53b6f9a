// Screens: the answers before the draw, then the reports next to them.

import { thresholdOf } from "../randomize.js";
import { asked, draw, isSealed, parts, reportable } from "./draw.js";
import { button, details, el, heading } from "./elements.js";
import { number, t } from "./language.js";
import { address, CUT_SHORT } from "./requests.js";
import { drewHere, waiting } from "./storage.js";

/** @import { Answers, App, DrawnApp, Label, Parcel } from "./types.js" */

/** The answers before the draw or the sealing. @param {App} app */
export function review(app) {
  const tasks = asked(app);
  const [next, goOn] = isSealed(app) ? [t.sealedOnce, t.sealAndGoOn] : [t.drawnOnce, t.drawAndGoOn];
  const count = reportable(app, tasks).length;
  const drawNow = async () => {
    await draw(app);
    app.go("leaving");
  };
  return [
    el("p", { class: "kicker" }, t.lastLook),
    heading(t.yourAnswers),
    el("p", { class: "lead" }, t.stillHere),
    el("ol", { class: "answers" }, ...tasks.map(({ task, text }, place) =>
      el("li", {},
        el("span", { class: "hint" }, text),
        el("strong", {}, chosen(app, app.answers.get(task) ?? null)),
        el("button", { type: "button", class: "quiet small", "aria-label": `${t.change}: ${text}`, click: () => app.go("question", place) }, t.change)))),
    el("p", { class: "notice" }, count ? next : t.nothingToSend),
    el("p", { class: "actions" }, count > 0 && button(goOn, drawNow), button(t.back, () => history.back(), "quiet")),
  ];
}

/** The reports next to the answers, or the sealed parts and their keyholders. @param {App} app */
export async function leaving(app) {
  const parcel = /** @type {Parcel} */ (waiting());
  const [kicker, hint] = isSealed(app) ? [t.sealedKicker, t.sealedForGood] : [t.drawn, t.noSecondDraw];
  const lead = isSealed(app) ? t.sealedLead : isShown(app) ? t.whatLeavesLead : t.shownAfter;
  return [
    el("p", { class: "kicker" }, kicker),
    heading(t.whatLeaves),
    el("p", { class: "lead" }, lead),
    isShown(app) && (isSealed(app) ? parts(app, parcel) : await comparison(app, parcel, t.willBeSent)),
    isShown(app) && exact(parcel),
    el("p", { class: "hint" }, hint),
    el("p", { class: "actions" }, button(t.send, () => app.go("sending"))),
  ];
}

/** Whether reports are shown before sending. @param {App} app */
export const isShown = (app) => isSealed(app) || app.verified.showDraw === "before_send";

/** Two columns for each question. @param {DrawnApp} app @param {Parcel} parcel @param {string} sent */
export async function comparison(app, parcel, sent) {
  /** @type {Answers} */
  const answers = drewHere(parcel.id) ? app.answers : new Map();
  const { tasks, reports } = JSON.parse(parcel.bytes);
  const rows = app.tasks.filter(({ task }) => parcel.tasks.includes(task)).map(async ({ task, text }) => {
    const place = tasks.indexOf(task);
    const report = place < 0 ? null : await described(app, task, reports[place], answers.get(task));
    const same = report?.same;
    return el("li", { class: same === false ? "differs" : "" },
      el("p", { class: "hint" }, text),
      el("div", { class: "pair" },
        half(t.youChose, chosen(app, answers.get(task)), t.staysHere),
        el("span", { class: "arrow", "aria-hidden": "true" }, "→"),
        half(sent, report?.words ?? t.notSent, report ? (report.note ?? verdict(same)) : t.notInSample, same === false ? t.differs : "")));
  });
  return el("ol", { class: "pairs" }, ...(await Promise.all(rows)));
}

/** @param {boolean | null | undefined} same */
const verdict = (same) => (same == null ? "" : same ? t.same : t.changed);

/** @param {string} title @param {string} words @param {string} note @param {string} [spoken] for screen readers */
const half = (title, words, note, spoken) =>
  el("div", { class: "half" },
    el("span", { class: "hint" }, title), el("strong", {}, words), note && el("span", { class: "note" }, note),
    spoken && el("span", { class: "spoken" }, spoken));

/** The request as it will be sent. @param {Parcel} parcel */
export const exact = (parcel) =>
  details(t.exactly(number(parcel.bytes.length)),
    el("p", { class: "hint" }, t.exactHeaders),
    el("pre", { tabindex: "0" },
      `PUT ${address(`reports/${parcel.id}`)}\nContent-Type: application/json\nAuthorization: ${t.theInvite}\nSottovoce-Receipt: ${t.theReceipt}\n${parcel.cutShort ? said(CUT_SHORT) : ""}\n${parcel.bytes}`));

/** @param {Record<string, string>} headers */
const said = (headers) => Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`).join("");

// Answers and reports in words.

const NOTHING = "NULL";

/** An answer as given. @param {App} app @param {Label | null | undefined} answer */
function chosen(app, answer) {
  if (answer === undefined) return t.notKnownHere;
  return answer === null ? t.skipped : value(app, answer);
}

/**
 * A report in words; `same` is whether it equals the answer, or null if the answer is unknown.
 * @param {DrawnApp} app @param {string} task @param {Label} report @param {Label | null} [answer]
 * @returns {Promise<{words: string, same: boolean | null, note?: string}>}
 */
export async function described(app, task, report, answer) {
  const known = answer !== undefined;
  const { alphabet } = app.verified;
  if (report === NOTHING && alphabet.endsWith("-or-null")) {
    return { words: t.nothing, same: known ? answer === null : null };
  }
  switch (alphabet) {
    case "subsets":
      return subset(app, String(report), answer);
    case "points": {
      const { low, high } = ends(app);
      const out = Number(report) < low || Number(report) > high;
      return { words: point(app, Number(report)), same: null, note: out ? t.beyond : t.noisy };
    }
    case "ends": {
      const { low, high } = ends(app);
      return { words: t.end(report === "high", point(app, report === "high" ? high : low)), same: null, note: t.endNote };
    }
    case "sides":
    case "sides-or-null": {
      const at = await thresholdOf(app.verified, app.worker, task);
      const below = report === "below";
      const same = known && answer !== null ? rank(app, answer) < rank(app, at) === below : null;
      return { words: t.side(below, value(app, at)), same, note: same ? t.sideTrue : undefined };
    }
    default:
      return { words: value(app, report), same: known ? answer !== null && String(answer) === String(report) : null };
  }
}

/** @param {App} app @param {Label} given */
function value({ offer, verified }, given) {
  if (verified.domain.kind !== "numeric") return String(given);
  return number(Number(given)) + (offer.unit ? ` ${offer.unit}` : "");
}

/** The symbols of a set, and whether the answer's is among them. @param {DrawnApp} app @param {string} report @param {Label | null} [answer] */
function subset(app, report, answer) {
  const members = report.split(" ").map(Number);
  const names = members.map((member) => symbol(app, member));
  const own = answer === undefined ? -1 : place(app, answer);
  const same = answer === undefined ? null : members.includes(own);
  return { words: names.join(t.comma), same, note: t.setNote(same) };
}

/** @param {DrawnApp} app @param {number} member */
function symbol(app, member) {
  const { domain } = app.verified;
  if (domain.kind !== "numeric") return member < domain.labels.length ? String(domain.labels[member]) : t.nothing;
  const { bins, first } = binned(app);
  if (member === bins) return t.nothing;
  const at = (/** @type {number} */ code) => number(domain.low + code * domain.step);
  return `${at(first(member))}–${at(first(member + 1) - 1)}`;
}

/** The symbol of an answer: its label's, its bin's, or the last one for no answer. @param {DrawnApp} app @param {Label | null} answer */
function place(app, answer) {
  const { domain } = app.verified;
  if (domain.kind !== "numeric") {
    return answer === null ? domain.labels.length : domain.labels.findIndex((label) => String(label) === String(answer));
  }
  const { bins, steps } = binned(app);
  if (answer === null) return bins;
  return Math.floor((Math.round((Number(answer) - domain.low) / domain.step) * bins) / (steps + 1));
}

/** How the points of a range are divided into bins: point c is in bin ⌊c · bins / (steps + 1)⌋. @param {DrawnApp} app */
function binned({ verified }) {
  const outer = /** @type {any} */ (verified.document).mechanism;
  const { bins, steps } = outer.of ?? outer;
  return { bins, steps, first: (/** @type {number} */ bin) => Math.ceil((bin * (steps + 1)) / bins) };
}

/** The numbers of ordered labels: their own if all are numbers, otherwise their ranks. @param {DrawnApp} app @param {Label} answer */
function rank({ verified: { domain } }, answer) {
  if (domain.kind === "numeric" || areNumbers(domain.labels)) return Number(answer);
  return domain.labels.findIndex((label) => String(label) === String(answer));
}

/** @param {DrawnApp} app @param {number} at */
function point(app, at) {
  const { domain } = app.verified;
  if (domain.kind === "numeric" || areNumbers(domain.labels)) return value(app, domain.kind === "numeric" ? at : number(at));
  return String(domain.labels[at] ?? t.offScale(number(at + 1)));
}

/** @param {DrawnApp} app */
function ends({ verified: { domain } }) {
  if (domain.kind === "numeric") return domain;
  const numbers = areNumbers(domain.labels) ? domain.labels.map(Number) : [...domain.labels.keys()];
  return { low: Math.min(...numbers), high: Math.max(...numbers) };
}

/** @param {Label[]} labels */
const areNumbers = (labels) => labels.every((label) => label !== "" && Number.isFinite(Number(label)));
