// Section Truths: the truth of every task, one page of rows at a time. The server sorts and pages;
// the browser holds only the visible rows.

import { el, fill, renew, svg } from "../requester/elements.js";
import { counted, measured, percent, whole } from "../requester/formats.js";
import { isSealed } from "../requester/policy.js";
import { ask } from "../requester/requests.js";
import { certaintyChart, settledWords, WHY_NO_COUNTS } from "./overview.js";
import { pageOf, Pager, pagesOf, ROWS } from "./pager.js";
import { address, sectionElement } from "./sections.js";

/** @import { Section, State, Truth } from "../requester/types.js" */

/** With more tasks than this, their texts are not fetched; only names are shown. */
const TEXTS = 1000;

/** @param {string} path @returns {Section} */
export function truthsSection(path) {
  return new Truths(path);
}

class Truths {
  /** @param {string} path */
  constructor(path) {
    this.name = "truths";
    this.title = "Truths";
    this.path = path;
    this.page = 1;
    this.order = "tasks";
    this.seen = "";
    /** @type {AbortController | null} */
    this.asking = null;
    /** @type {Promise<Map<string, string>> | null} */
    this.texts = null;
    this.pager = new Pager("truths", (page) => this.address({ page }));
    this.orders = [
      el("a", { text: "Task order" }),
      el("a", { text: "Least certain first" }),
    ];
    this.about = el("div", { class: "card about" });
    this.head = el("tr");
    this.rows = el("tbody");
    this.note = el("p", { class: "hint" });
    this.why = el("p", { class: "hint", text: WHY_NO_COUNTS, hidden: true });
    const table = el(
      "table",
      { class: "numbers" },
      el("caption", { class: "unseen", text: "Truths of the tasks" }),
      el("thead", {}, this.head),
      this.rows,
    );
    this.listed = el(
      "div",
      {},
      el("p", { class: "orders", role: "group", "aria-label": "Order" }, ...this.orders),
      el("div", { class: "scroll", role: "region", "aria-label": "Table of truths", tabindex: 0 }, table),
      this.pager.element,
      this.note,
      this.why,
    );
    this.sealed = sealedStill();
    this.element = sectionElement("truths", "Truths", this.sealed, this.about, this.listed);
  }

  /** @param {State} state @param {URLSearchParams} query */
  show(state, query) {
    this.page = pageOf(query);
    this.order = query.get("order") === "least-sure" ? "least-sure" : "tasks";
    this.orders.forEach((link, i) => {
      const order = i ? "least-sure" : "tasks";
      link.href = this.address({ page: 1, order });
      if (order === this.order) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
    this.seen = "";
    this.update(state);
  }

  /** @param {State} state */
  update(state) {
    const { certainty, summary } = state.overview;
    const { unit, policy } = state.campaign;
    const isShut = isSealed(policy) && summary === null;
    this.sealed.hidden = !isShut;
    this.listed.hidden = isShut;
    this.about.hidden = certainty === null;
    if (certainty) {
      const words = settledWords(certainty, unit);
      renew(this.about, certainty, () => [el("p", { class: "hint", text: words }), certaintyChart(certainty)]);
    }
    this.why.hidden = !state.overview.coverage.hidden;
    const news = JSON.stringify([summary, certainty]);
    if (news !== this.seen) void this.load(state, news);
  }

  /** @param {State} state @param {string} news */
  async load(state, news) {
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    const sort = this.order === "tasks" ? "place" : "confidence";
    const window = `offset=${(this.page - 1) * ROWS}&limit=${ROWS}&sort=${sort}`;
    try {
      const [found, texts] = await Promise.all([
        ask(`${this.path}/results?${window}`, { signal: asking.signal }),
        this.textsOf(state),
      ]);
      if (asking.signal.aborted) return;
      this.seen = news;
      this.fill(state, found.truths, found.total, texts);
    } catch {
      // Another page was requested, or the server does not respond: the next poll shows that.
    }
  }

  /** @param {State} state @param {Truth[]} truths @param {number} total @param {Map<string, string>} texts */
  fill(state, truths, total, texts) {
    if (this.page > pagesOf(total)) {
      location.replace(this.address({ page: pagesOf(total) }));
      return;
    }
    const { hidden } = state.overview.coverage;
    const isNumeric = state.campaign.domain.kind === "numeric";
    const sure = isNumeric ? ["Standard error", "95 % interval"] : ["Confidence"];
    fill(
      this.head,
      ["Task", "Truth", ...sure].map((text) => heading(text)),
      hidden ? null : heading("Reports", "amount"),
      heading("State"),
    );
    fill(this.rows, truths.map((truth) => truthRow(truth, state, texts.get(truth.task), hidden)));
    this.pager.update(this.page, total);
    const missing = state.campaign.tasks - total;
    this.note.textContent = missing ? `${counted(missing, "task")} without a truth yet: not listed.` : "";
  }

  /** @param {{page?: number, order?: string}} other */
  address({ page = this.page, order = this.order }) {
    return address("truths", {
      ...(page > 1 ? { page: String(page) } : {}),
      ...(order === "tasks" ? {} : { order }),
    });
  }

  /** The texts of the tasks, unless there are too many. @param {State} state */
  textsOf({ campaign }) {
    if (campaign.tasks > TEXTS) return Promise.resolve(new Map());
    this.texts ??= ask(`${this.path}/tasks?limit=${TEXTS}`).then(({ tasks }) => textByTask(tasks));
    return this.texts;
  }
}

/** Shown instead of an empty table. */
function sealedStill() {
  return el(
    "div",
    { class: "card" },
    el("h3", { text: "The truths are still sealed" }),
    el("p", { text: "They appear once, all together: after you have closed the campaign and the keyholders have checked everything and opened the total. Until then nobody can know them, not even you." }),
    el("p", { class: "actions" }, el("a", { class: "button quiet", href: address("rounds"), text: "See the progress" })),
  );
}

/** @param {{task: string, text: string}[]} tasks @returns {Map<string, string>} */
function textByTask(tasks) {
  return new Map(tasks.filter(({ task, text }) => task !== text).map(({ task, text }) => [task, text]));
}

/** @param {string} text @param {string} [look] */
function heading(text, look) {
  return el("th", { scope: "col", class: look, text });
}

// One row: the truth, its certainty in figures and as a gauge, and whether the task is settled.

/** Standard errors on either side of a 95% interval, if errors are normal. */
const NORMAL_95 = 1.959964;

/** @param {Truth} truth @param {State} state @param {string | undefined} text @param {boolean} hidden */
function truthRow(truth, state, text, hidden) {
  const isOpen = !isSettled(truth, state);
  return el(
    "tr",
    { class: isOpen ? "open" : "" },
    el("th", { scope: "row" }, truth.task, text ? el("span", { class: "task-text", text }) : null),
    el("td", { class: "truth", text: truthText(truth, state) }),
    state.campaign.domain.kind === "numeric" ? spread(truth, state) : el("td", {}, confidence(truth, state)),
    hidden ? null : el("td", { class: "amount", text: whole(truth.answers) }),
    el("td", {}, el("span", { class: isOpen ? "tag open" : "tag", text: truth.known ? "Known" : isOpen ? "Open" : "Settled" })),
  );
}

/** Labels can be numbers too; they are shown unchanged. @param {Truth} truth @param {State} state */
function truthText({ truth, standard_error: error }, { campaign }) {
  if (campaign.domain.kind !== "numeric") return String(truth);
  const number = measured(Number(truth), error ?? 0);
  return campaign.unit ? `${number}\u00a0${campaign.unit}` : number;
}

/** @param {Truth} truth @param {State} state */
function isSettled({ confidence: share, standard_error: error }, { overview }) {
  const certainty = overview.certainty;
  if (!certainty) return false;
  if (certainty.kind === "confidence") return (share ?? 0) >= certainty.threshold;
  return typeof error === "number" && error <= certainty.threshold;
}

/** @param {Truth} truth @param {State} state */
function confidence({ confidence: share }, { overview }) {
  if (typeof share !== "number") return "unknown";
  const threshold = overview.certainty?.threshold ?? 1;
  return el("span", { class: "sure" }, bar(share, threshold), el("span", { text: percent(share).replace("over ", "> ") }));
}

/** @param {number} share @param {number} threshold */
function bar(share, threshold) {
  return svg(
    "svg",
    { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", y: 3, width: 100, height: 4 }),
    svg("rect", { class: "value", y: 3, width: 100 * share, height: 4 }),
    svg("rect", { class: "limit", x: 100 * threshold - 0.5, width: 1, height: 10 }),
  );
}

/** Two cells: the margin of error of a number, and its interval. @param {Truth} truth @param {State} state */
function spread({ truth, standard_error: error }, { campaign }) {
  const { low = 0, high = 1 } = campaign.domain;
  const value = Number(truth);
  if (typeof error !== "number") return [el("td", { text: "unknown" }), el("td", { text: "unknown" })];
  const from = Math.max(low, value - NORMAL_95 * error);
  const to = Math.min(high, value + NORMAL_95 * error);
  const words = `${measured(from, error)} to ${measured(to, error)}`;
  return [
    el("td", { class: "error-figure", text: `± ${measured(error, error)}` }),
    el("td", {}, el("span", { class: "sure" }, whiskers([from, value, to], low, high), el("span", { text: words }))),
  ];
}

/** @param {[number, number, number]} values from, truth and to @param {number} low @param {number} high */
function whiskers(values, low, high) {
  const [from, middle, to] = /** @type {[number, number, number]} */ (
    values.map((value) => (100 * (value - low)) / (high - low))
  );
  return svg(
    "svg",
    { class: "gauge", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    svg("rect", { class: "track", y: 4.5, width: 100, height: 1 }),
    svg("rect", { class: "value", x: from, y: 3.5, width: Math.max(to - from, 0.5), height: 3 }),
    svg("rect", { class: "limit", x: middle - 0.75, width: 1.5, height: 10 }),
  );
}
