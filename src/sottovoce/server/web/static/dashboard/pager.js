// The pager of a table on the server. Its links keep their elements when the page changes, so they
// keep the focus. The arrow keys change the page too.

import { el } from "../requester/elements.js";
import { whole } from "../requester/formats.js";

/** Rows per page. */
export const ROWS = 50;

export class Pager {
  /** @param {string} what the rows are, in the plural @param {(page: number) => string} addressOf */
  constructor(what, addressOf) {
    this.addressOf = addressOf;
    this.what = what;
    this.page = 1;
    this.pages = 1;
    this.links = ["First", "Previous", "Next", "Last"].map((text) => el("a", { class: "button quiet", text }));
    this.where = el("span", { class: "where" });
    this.element = el(
      "nav",
      { class: "pager", "aria-label": `Pages of ${what}` },
      this.links.slice(0, 2),
      this.where,
      this.links.slice(2),
    );
    this.element.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {number} page from 1 on @param {number} total rows in all */
  update(page, total) {
    this.page = page;
    this.pages = pagesOf(total);
    const from = (page - 1) * ROWS + 1;
    this.where.textContent = total
      ? `${whole(from)}–${whole(Math.min(total, from + ROWS - 1))} of ${whole(total)}`
      : `No ${this.what} yet`;
    this.element.classList.toggle("single", this.pages === 1);
    this.targets().forEach((target, i) => this.point(/** @type {HTMLAnchorElement} */ (this.links[i]), target));
  }

  targets() {
    return [1, this.page - 1, this.page + 1, this.pages];
  }

  /** A disabled link keeps its place and the focus. @param {HTMLAnchorElement} link @param {number} page */
  point(link, page) {
    const leads = this.leads(page);
    link.href = this.addressOf(leads ? page : this.page);
    if (leads) link.removeAttribute("aria-disabled");
    else link.setAttribute("aria-disabled", "true");
  }

  /** @param {number} page */
  leads(page) {
    return page >= 1 && page <= this.pages && page !== this.page;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = this.targets()[["Home", "ArrowLeft", "ArrowRight", "End"].indexOf(event.key)];
    if (target === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (this.leads(target)) location.hash = this.addressOf(target);
  }
}

/** @param {number} total */
export const pagesOf = (total) => Math.max(1, Math.ceil(total / ROWS));

/** The page number in an address. @param {URLSearchParams} query */
export function pageOf(query) {
  const page = Number(query.get("page") ?? 1);
  return Number.isSafeInteger(page) && page >= 1 && page <= 1e6 ? page : 1;
}
