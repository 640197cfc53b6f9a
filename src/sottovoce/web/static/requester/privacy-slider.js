// The slider: privacy in odds, and at once what it costs. Forecasts arrive one after another, the
// one that is looked at first, and fill in the line.

import { el, fill } from "./building.js";
import { domainOf, plannedOf, privacyOf } from "./draft.js";
import { hundred, stops } from "./odds.js";
import { isOutlook, Outlooks } from "./outlooks.js";
import { besides, drawn, frankly, keptAt, reading, sentence, totals } from "./privacy-reading.js";

/** @typedef {import("./draft.js").Draft} Draft */

const PAUSE = 200;

/**
 * @param {Draft} draft
 * @param {() => void} keep
 */
export function privacySlider(draft, keep) {
  const range = el("input", { type: "range", id: "privacy", min: 0, step: 1, "aria-describedby": "privacy-words" });
  const [grid, words] = [el("div", { class: "grid" }), el("p", { class: "odds", id: "privacy-words", "aria-live": "polite" })];
  const [expected, notes, total, chart] = [el("div", { class: "expected", "aria-live": "polite" }), el("div"), el("div", { class: "total" }), el("div")];
  const outlooks = new Outlooks(() => show());
  let values = stops(draft.unit, draft.epsilon);
  let later = 0;

  const show = () => {
    const found = values.map((epsilon) => outlooks.of(asked(draft, epsilon)));
    const beside = draft.sealed ? values.map((epsilon) => outlooks.of(asked(onDevices(draft), epsilon))) : null;
    const here = values.indexOf(draft.epsilon);
    const current = found[here] ?? null;
    const kept = keptAt(draft, draft.epsilon, current);
    const outlook = isOutlook(current) ? current : null;
    fill(grid, hundred(kept));
    fill(words, sentence(draft, outlook, kept));
    range.setAttribute("aria-valuetext", kept === null ? `epsilon ${draft.epsilon}` : `${kept} of 100`);
    fill(expected, isOutlook(current) ? [reading(current, draft), besides(beside?.[here] ?? null, draft)].flat() : current ? el("p", { class: "error", text: current.message }) : el("p", { class: "hint busy", text: "Simulating campaigns like yours" }));
    fill(notes, frankly(outlook));
    fill(total, totals(draft, outlook));
    swap(chart, drawn(draft, values, found, beside));
  };
  const want = () => {
    const at = values.indexOf(draft.epsilon);
    const near = values.map((_, index) => index).sort((one, other) => Math.abs(one - at) - Math.abs(other - at));
    const compared = draft.sealed ? [draft, onDevices(draft)] : [draft];
    outlooks.want(near.flatMap((index) => compared.map((each) => asked(each, values[index] ?? draft.epsilon))));
  };
  const update = () => {
    values = stops(draft.unit, draft.epsilon);
    range.max = String(values.length - 1);
    range.value = String(values.indexOf(draft.epsilon));
    show();
    clearTimeout(later);
    later = setTimeout(want, PAUSE);
  };
  range.addEventListener("input", () => {
    draft.epsilon = values[Number(range.value)] ?? draft.epsilon;
    keep();
    show();
    clearTimeout(later);
    later = setTimeout(want, PAUSE);
  });
  const element = el("section", { class: "card slider-card" },
    el("label", { for: "privacy", text: "Privacy" }),
    el("div", { class: "slider" }, range, el("p", { class: "ends fine", "aria-hidden": "true" }, el("span", { text: "Very private" }), el("span", { text: "Hardly private" }))),
    el("div", { class: "odds-row" }, grid, words, expected),
    notes, chart, total,
  );
  const leave = () => {
    clearTimeout(later);
    outlooks.stop();
  };
  return { element, update, leave };
}

/** @param {Draft} draft @param {number} epsilon */
function asked(draft, epsilon) {
  const tasks = draft.tasks?.count ?? 1;
  const privacy = { ...(draft.sealed ? plannedOf(draft) : privacyOf(draft)), epsilon };
  return { domain: domainOf(draft), privacy, tasks, workers: Number(draft.workers) || 1, ability: draft.ability };
}

/** The same campaign, its answers randomised on each device: what sealing is compared with. @param {Draft} draft @returns {Draft} */
const onDevices = (draft) => ({ ...draft, sealed: false, mechanism: "" });

/** A new chart where one was, its numbers as open as they were. @param {HTMLElement} room @param {HTMLElement} chart */
function swap(room, chart) {
  const isOpen = room.querySelector("details")?.open ?? false;
  const details = chart.querySelector("details");
  if (details) details.open = isOpen;
  fill(room, chart);
}
