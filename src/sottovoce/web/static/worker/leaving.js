// What leaves the device: first the answers once more, then the draw beside them.

import { button, details, el, heading } from "./building.js";
import { address } from "./asking.js";
import { described, chosen } from "./describing.js";
import { asked, draw, reportable } from "./drawing.js";
import { drewHere, waiting } from "./keeping.js";
import { parts } from "./sealed.js";
import { isSealed } from "./sealing.js";
import { number, t } from "./wording.js";

/** @import { App, Answers, DrawnApp, Parcel } from "./types.js" */

/** The answers before they are drawn from, or sealed. @param {App} app */
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

/** What was drawn, beside what was chosen; or what was sealed, and for whom. @param {App} app */
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

/** Whether what leaves is shown before it does. @param {App} app */
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

/** @param {string} title @param {string} words @param {string} note @param {string} [spoken] for those who do not see that two columns differ */
const half = (title, words, note, spoken) =>
  el("div", { class: "half" },
    el("span", { class: "hint" }, title), el("strong", {}, words), note && el("span", { class: "note" }, note),
    spoken && el("span", { class: "spoken" }, spoken));

/** The request, as it will go out. @param {Parcel} parcel */
export const exact = (parcel) =>
  details(t.exactly(number(parcel.bytes.length)),
    el("p", { class: "hint" }, t.exactHeaders),
    el("pre", { tabindex: "0" },
      `PUT ${address(`reports/${parcel.id}`)}\nContent-Type: application/json\nAuthorization: ${t.theInvite}\nSottovoce-Receipt: ${t.theReceipt}\n\n${parcel.bytes}`));
