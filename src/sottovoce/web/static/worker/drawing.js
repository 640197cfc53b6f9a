// The draw, or the sealing: once, alone, and kept before anybody has seen it.

import { randomize } from "../randomize.js";
import { alone, keep, keepAnswers, kept, limit, noteDrawn, spentElsewhere, waiting } from "./keeping.js";
import { isSealed, seal } from "./sealing.js";

/** @import { App, Given, Kept } from "./types.js" */

/** More than the worker allows: nothing is drawn. */
export class OverLimit extends Error {}

/** Tasks that nothing was drawn for. @param {App} app @param {Kept} [record] */
export function remaining(app, record = kept()) {
  if (!app.verified.separable) return record.parcels.length ? [] : app.tasks;
  const drawn = new Set(record.parcels.flatMap((parcel) => parcel.tasks));
  return app.tasks.filter(({ task }) => !drawn.has(task));
}

/** What all reports to this campaign betray with so many more. @param {App} app @param {number} more */
export const guaranteeWith = (app, more) => app.verified.guarantee(kept().answers + more);

/** The tasks that the limit on this device covers: all, some where they may go out bit by bit, or none. @param {App} app */
export function asked(app) {
  const tasks = remaining(app);
  if (tasks.length === 0 || fits(app, tasks.length)) return tasks;
  let [low, high] = [0, app.verified.separable ? tasks.length : 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(app, middle)) low = middle;
    else high = middle;
  }
  return tasks.slice(0, low);
}

/** @param {App} app @param {number} more */
const fits = (app, more) => spentElsewhere() + guaranteeWith(app, more).perWorker <= limit();

/** The tasks that would be reported on: all where skipping is hidden, else those with an answer. @param {App} app @param {Given[]} [tasks] */
export const reportable = (app, tasks = asked(app)) =>
  app.verified.hidesParticipation ? tasks : tasks.filter(({ task }) => app.answers.get(task) != null);

/**
 * Make what will be sent, unless that has been done. Drawing, or sealing, and booking are one write, so neither
 * can be there without the other; a second tab finds what the first has drawn.
 * @param {App} app
 */
export const draw = (app) =>
  alone(async () => {
    const record = kept();
    if (waiting(record)) return;
    const tasks = reportable(app).map(({ task }) => task);
    if (tasks.length === 0) return;
    if (!fits(app, tasks.length)) throw new OverLimit();
    const given = new Map(tasks.map((task) => [task, app.answers.get(task) ?? null]));
    const { submission } = isSealed(app)
      ? await seal(app, given, tasks)
      : await randomize(app.verified, app.worker, given, tasks);
    const id = newId();
    record.parcels.push({ id, bytes: submission, tasks, stage: "drawn" });
    record.answers += tasks.length;
    record.spent = app.verified.guarantee(record.answers).perWorker;
    keep(record);
    noteDrawn(id);
    // What is sealed is not shown beside what was answered: answers have done their part.
    if (isSealed(app)) forgetAnswers(app);
  });

/** @param {App} app */
function forgetAnswers(app) {
  app.answers.clear();
  keepAnswers(app.answers);
}

const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
