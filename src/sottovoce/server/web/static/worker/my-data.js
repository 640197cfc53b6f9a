// Screen: the reports of a worker on the server, and their deletion.

import { offersSealing } from "./draw.js";
import { button, el, heading } from "./elements.js";
import { number, t } from "./language.js";
import { askOwn, erase, Refused } from "./requests.js";
import { described } from "./review.js";
import { change, kept, shown } from "./storage.js";

/** @import { App, DrawnApp } from "./types.js" */

const RECEIPT = /^svr_[A-Za-z0-9_-]{43}$/;

/** @param {Partial<App> & Pick<App, "again">} app what is known of the campaign, if anything */
export function data(app) {
  const found = el("div", { id: "found" });
  const field = el("input", { id: "code", autocomplete: "off", spellcheck: "false", value: kept().receipt ?? "", "aria-describedby": "wrong" });
  const wrong = el("p", { class: "notice bad", role: "alert", id: "wrong", hidden: true });
  const look = async () => {
    const code = field.value.trim();
    wrong.hidden = RECEIPT.test(code);
    wrong.replaceChildren(t.noReceipt);
    if (wrong.hidden) found.replaceChildren(...(await own(app, code, look)));
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    look();
  };
  if (field.value) look();
  return [
    el("p", { class: "kicker" }, t.myData),
    heading(t.whatServerHas),
    el("form", { class: "card", submit, novalidate: true },
      el("label", { for: "code" }, t.receiptLabel), field, wrong,
      el("p", {}, el("button", { class: "quiet" }, t.look))),
    found,
    el("p", { class: "hint" }, isSealing(app) ? t.takingBackSealed : t.deletingCannot),
    el("p", { class: "actions" }, button(t.back, () => history.back(), "quiet")),
  ];
}

/** @param {Partial<App>} app */
const isSealing = (app) => offersSealing(app.offer ?? shown()?.offer);

/** @param {Partial<App>} app @param {string} code @param {() => unknown} again */
async function own(app, code, again) {
  try {
    const { submissions, worker } = await askOwn(code);
    if (!submissions.length) return [el("p", { class: "notice", role: "status" }, t.hasNothing)];
    return Promise.all(submissions.map((each) => submission({ ...app, worker }, each, code, again)));
  } catch (error) {
    return [el("p", { class: "notice bad", role: "alert" }, said(error))];
  }
}

/** @param {unknown} error @returns {string} */
const said = (error) => (error instanceof Refused ? t.refusals(error.reason) : t.noConnection);

/** @param {Partial<App>} app @param {Awaited<ReturnType<typeof askOwn>>["submissions"][0]} sent @param {string} code @param {() => unknown} again */
async function submission(app, { report_id, received_on, reports }, code, again) {
  const status = el("p", { role: "status" });
  const remove = async () => {
    try {
      await erase(report_id, code);
      await change((record) => record.parcels.filter(({ id }) => id === report_id).forEach((parcel) => (parcel.stage = "erased")));
      await again();
    } catch (error) {
      const isCounted = isSealing(app) && error instanceof Refused && error.reason === "not_open";
      status.replaceChildren(isCounted ? t.countedAlready : said(error));
    }
  };
  /** @type {HTMLElement} */
  const sure = el("div", { class: "notice bad", hidden: true }, el("p", {}, t.sureToDelete),
    el("p", { class: "actions" }, button(t.deleteNow, remove), button(t.keepIt, () => (sure.hidden = true), "quiet")));
  const first = button(t.deleteThis, () => {
    sure.hidden = false;
    sure.querySelector("button")?.focus();
  }, "quiet");
  return el("section", { class: "card" }, el("h2", {}, t.receivedOn(received_on)),
    await content(app, reports), el("p", {}, first), sure, status);
}

/** The reports in words; for sealed answers, how many there are. @param {Partial<App>} app @param {Awaited<ReturnType<typeof askOwn>>["submissions"][0]["reports"]} reports */
async function content(app, reports) {
  if (isSealing(app)) return el("p", {}, t.sealedBack(number(reports.length)));
  const texts = new Map((app.tasks ?? shown()?.block.tasks ?? []).map(({ task, text }) => [task, text]));
  const rows = reports.map(async ({ task, report }) => {
    const words = app.verified ? (await described(/** @type {DrawnApp} */ (app), task, report)).words : String(report);
    return el("div", {}, el("dt", {}, texts.get(task) ?? task), el("dd", {}, words));
  });
  return el("dl", {}, ...(await Promise.all(rows)));
}
