// Section Workers: the weight of each worker, under pseudonyms that hold for this campaign only.

import { histogram } from "../charts/chart.js";
import { el, fill, renew } from "../requester/elements.js";
import { range, whole } from "../requester/formats.js";
import { isSealed } from "../requester/policy.js";
import { ask } from "../requester/requests.js";
import { WHY_NO_COUNTS } from "./overview.js";
import { pageOf, Pager, pagesOf, ROWS } from "./pager.js";
import { address, sectionElement } from "./sections.js";

/** @import { Section, State, Worker } from "../requester/types.js" */

const ACCURACY =
  "A weight is the worker’s expected accuracy: the probability that a true answer of theirs, before it was " +
"randomised, is the truth.";
const VARIANCE =
  "A weight compares the worker with the average: at 2, the worker’s answers have half the variance " +
"of an average worker’s. The noise that protects them is accounted for.";
const RELATIVE = "Higher means that the worker’s reports are closer to the truths.";

/** @type {Record<string, string>} */
const MEANINGS = {
  "aware-labels": ACCURACY,
  "aware-ordinal": VARIANCE,
  "aware-numbers": VARIANCE,
  "dawid-skene": ACCURACY,
  "one-coin": ACCURACY,
  "majority-vote": "A weight is the share of the worker’s reports that agree with the majority.",
};

/** @param {string} path @returns {Section} */
export function weightsSection(path) {
  return new Weights(path);
}

class Weights {
  /** @param {string} path */
  constructor(path) {
    this.name = "workers";
    this.title = "Workers";
    this.path = path;
    this.page = 1;
    this.seen = "";
    /** @type {AbortController | null} */
    this.asking = null;
    this.pager = new Pager("workers", (page) => address("workers", page > 1 ? { page: String(page) } : {}));
    this.about = el("div");
    this.head = el("tr");
    this.rows = el("tbody");
    this.table = el(
      "div",
      { class: "scroll", role: "region", "aria-label": "Table of weights", tabindex: 0 },
      el(
        "table",
        { class: "numbers narrow" },
        el("caption", { class: "unseen", text: "Weights of workers" }),
        el("thead", {}, this.head),
        this.rows,
      ),
    );
    this.element = sectionElement("workers", "Workers", this.about, this.table, this.pager.element);
  }

  /** @param {State} state @param {URLSearchParams} query */
  show(state, query) {
    this.page = pageOf(query);
    this.seen = "";
    this.update(state);
  }

  /** @param {State} state */
  update(state) {
    const { summary, weights } = state.overview;
    const { policy } = state.campaign;
    renew(this.about, [weights, summary?.method], () => (isSealed(policy) ? ownWeights() : aboutWeights(state)));
    const hasNone = isSealed(policy) || weights.why_none !== null || weights.workers === 0;
    this.table.hidden = this.pager.element.hidden = hasNone;
    const news = JSON.stringify([summary, weights]);
    if (!hasNone && news !== this.seen) void this.load(state, news);
  }

  /** @param {State} state @param {string} news */
  async load(state, news) {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const window = `offset=${(this.page - 1) * ROWS}&limit=${ROWS}`;
    try {
      const found = await ask(`${this.path}/results/workers?${window}`, { signal: asking.signal });
      if (asking.signal.aborted) return;
      this.seen = news;
      this.fill(state, found.workers, found.total);
    } catch {
      // Another page was requested, or the server does not respond: the next poll shows that.
    }
  }

  /** @param {State} state @param {Worker[]} workers @param {number} total */
  fill({ overview }, workers, total) {
    if (this.page > pagesOf(total)) {
      location.replace(this.pager.addressOf(pagesOf(total)));
      return;
    }
    const { hidden } = overview.coverage;
    const columns = ["Pseudonym", "Weight", ...(hidden ? [] : ["Reports"])];
    fill(this.head, columns.map((text, i) => el("th", { scope: "col", class: i ? "amount" : undefined, text })));
    fill(this.rows, workers.map((worker) => weightRow(worker, hidden)));
    this.pager.update(this.page, total);
  }
}

/** Shown for sealed campaigns, where only workers can compute their weights. */
function ownWeights() {
  return [
    el(
      "div",
      { class: "card" },
      el("h3", { text: "Workers compute their own weights" }),
      el("p", { text: "Only totals are opened, so nobody can see how well one worker did. After you have published the truths, workers can compare their own answers with them, on their own devices:" }),
      el("pre", { tabindex: 0 }, el("code", { text: "sottovoce weigh LINK --answers answers.csv" })),
      el("p", { class: "hint", text: "No weight is sent to anyone." }),
    ),
  ];
}

/** @param {State} state */
function aboutWeights({ overview }) {
  const { weights, summary, coverage } = overview;
  const why = coverage.hidden ? el("p", { class: "hint", text: WHY_NO_COUNTS }) : "";
  if (weights.why_none !== null) {
    return [el("div", { class: "card" }, el("h3", { text: "No weights" }), el("p", { text: weights.why_none })), why];
  }
  if (weights.workers === 0 || !summary) return [el("p", { text: "Nobody has taken part yet." }), why];
  const meaning = MEANINGS[summary.method ?? ""] ?? RELATIVE;
  return [
    el("p", { class: "measure", text: `${meaning} Weights are estimates from noisy reports: read them as a group, not as a judgement on one person.` }),
    el("p", { class: "hint measure", text: "Workers have pseudonyms for this campaign only. They are sorted by pseudonym, so the order reveals nothing." }),
    why,
    el(
      "div",
      { class: "card" },
      histogram({
        title: "Workers by weight",
        bars: weights.histogram.map(({ low, high, workers }) => ({ label: range(low, high), value: workers })),
        format: whole,
      }),
    ),
  ];
}

/** @param {Worker} worker @param {boolean} hidden */
function weightRow({ worker, weight, answers }, hidden) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, el("code", { text: worker })),
    el("td", { class: "amount", text: weight === null ? "none" : weight.toFixed(3) }),
    hidden ? null : el("td", { class: "amount", text: whole(answers) }),
  );
}
