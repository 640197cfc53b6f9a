// Sending, and what one has in hand afterwards.

import { button, card, copyable, el, heading } from "./building.js";
import { CAMPAIGN } from "./asking.js";
import { remaining } from "./drawing.js";
import { kept, parcelOf, waiting } from "./keeping.js";
import { comparison, exact, isShown } from "./leaving.js";
import { isSealed } from "./sealing.js";
import { deliver } from "./sending.js";
import { number, t } from "./wording.js";

/** @import { App } from "./types.js" */

/** Under way, waiting for a connection, or refused. @param {App} app */
export function sending(app) {
  const parcel = waiting();
  if (!parcel) return receipt(app);
  const status = el("p", { role: "status", class: "notice" }, t.sendingNow);
  const retry = button(t.tryNow, () => deliver(parcel.id, tell), "quiet");
  retry.hidden = true;
  const tell = (/** @type {number | null} */ next) => {
    if (next === null && parcelOf(parcel.id)?.stage === "sent") return app.go("receipt");
    const why = parcelOf(parcel.id)?.why;
    status.replaceChildren(next === null ? t.refusals(why ?? "") : t.waits(number(next)));
    retry.hidden = false;
  };
  if (parcel.stage === "refused") tell(null);
  else deliver(parcel.id, tell);
  return [
    el("p", { class: "kicker" }, t.sendingKicker),
    heading(t.sendingTitle),
    status,
    el("p", {}, t.keptHere),
    el("p", { class: "actions" }, retry),
    isShown(app) && exact(parcel),
  ];
}

/** The server has it. @param {App} app */
export async function receipt(app) {
  const record = kept();
  const parcel = record.parcels.findLast(({ stage }) => stage === "sent");
  const code = record.receipt ?? "";
  const copied = copyable(code, t);
  copied.append(button(t.saveFile, () => save(code), "quiet"));
  const more = remaining(app).length;
  const goOn = () => {
    app.answers.clear();
    app.go("question", 0);
  };
  return [
    el("p", { class: "kicker" }, t.sentKicker),
    heading(t.thanks),
    el("p", { class: "lead" }, isSealed(app)
      ? t.serverHasSealed(number(parcel?.tasks.length ?? 0))
      : t.serverHas(number(parcel ? JSON.parse(parcel.bytes).tasks.length : 0))),
    parcel && !isSealed(app) && (!isShown(app) || app.answers.size > 0) &&
      (await comparison(app, parcel, t.wasSent)),
    card(t.yourReceipt, el("p", {}, t.receiptFor), copied),
    more > 0 && card(t.moreQuestions(number(more)), el("p", {}, t.moreLater), button(t.goOn, goOn, "quiet")),
    el("p", { class: "actions" }, button(t.done, () => app.go("done")), button(t.myData, () => app.go("data"), "quiet")),
  ];
}

/** The end: what this tab still knew is forgotten. @param {App} app */
export function done(app) {
  app.answers.clear();
  return [
    el("p", { class: "kicker" }, t.sentKicker),
    heading(t.allDone),
    el("p", { class: "lead" }, t.mayClose),
    el("p", { class: "actions" }, button(t.myData, () => app.go("data"), "quiet")),
  ];
}

/** @param {string} code */
function save(code) {
  const href = URL.createObjectURL(new Blob([`${location.origin}${location.pathname}\n${code}\n`], { type: "text/plain" }));
  el("a", { href, download: `sottovoce-${CAMPAIGN}.txt` }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
