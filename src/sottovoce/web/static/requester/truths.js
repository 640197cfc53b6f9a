// What inference says about every task, a page at a time: the server sorts and cuts, and the page
// never holds more than the rows it shows.

import { ask } from "./asking.js";
import { el, fill } from "./building.js";
import { certaintyChart, settledWords, WHY_NO_COUNTS } from "./overview.js";
import { pageOf, Pager, pagesOf, ROWS } from "./paging.js";
import { isSealed } from "./promises.js";
import { renew } from "./renewing.js";
import { counted } from "./saying.js";
import { address, sectionElement } from "./sections.js";
import { truthRow } from "./truth-row.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Truth} Truth */
/** @typedef {import("./shapes.js").Section} Section */

/** With more tasks than these their texts are not fetched: names are enough then. */
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
      el("a", { text: "In the tasks’ order" }),
      el("a", { text: "Least sure first" }),
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
      // Another page was asked for, or the server is away: then the next look says so.
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

  /** What workers read of each task, where there are not too many. @param {State} state */
  textsOf({ campaign }) {
    if (campaign.tasks > TEXTS) return Promise.resolve(new Map());
    this.texts ??= ask(`${this.path}/tasks?limit=${TEXTS}`).then(({ tasks }) => textByTask(tasks));
    return this.texts;
  }
}

/** Instead of an empty table. */
function sealedStill() {
  return el(
    "div",
    { class: "card" },
    el("h3", { text: "The truths are sealed still" }),
    el("p", { text: "They appear once, all together: after you have closed the campaign, when the keyholders have checked everything and opened the total. Until then nobody can know them, and neither can you." }),
    el("p", { class: "actions" }, el("a", { class: "button quiet", href: address("rounds"), text: "How the rounds stand" })),
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
