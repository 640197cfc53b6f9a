// The dashboard's sections: one is visible, and each has its address. They are links, so that the
// keyboard, new tabs and the browser's history work.

import { el } from "../requester/elements.js";

/** @import { Section, State } from "../requester/types.js" */

/** A section's address, with its selection. @param {string} name @param {Record<string, string>} [query] */
export function address(name, query = {}) {
  const text = new URLSearchParams(query).toString();
  return `#${name}${text ? `?${text}` : ""}`;
}

export class Sections {
  /** @param {HTMLElement} nav @param {HTMLElement} room @param {Section[]} sections */
  constructor(nav, room, sections) {
    this.sections = sections;
    this.links = sections.map(({ name, title }) => el("a", { href: address(name), text: title }));
    /** @type {Section} */
    this.current = /** @type {Section} */ (sections[0]);
    /** @type {State | null} */
    this.state = null;
    this.current = this.named().section;
    this.nav = nav;
    nav.append(...this.links);
    room.append(...sections.map((section) => section.element));
    addEventListener("hashchange", () => this.turn());
  }

  /** Updates the visible section. @param {State} state */
  update(state) {
    const isFirst = this.state === null;
    this.state = state;
    this.sections.forEach((section, i) => {
      const link = this.links[i];
      if (link) link.hidden = !this.has(section);
    });
    if (isFirst) this.begin();
    else this.current.update(state);
  }

  /** The section in the address, if the campaign has it. */
  begin() {
    const { section, query } = this.named();
    this.current = this.has(section) ? section : /** @type {Section} */ (this.sections[0]);
    this.show(query);
  }

  /** @param {Section} section */
  has({ isFor }) {
    return this.state === null || isFor === undefined || isFor(this.state);
  }

  /** The address has changed: another section, or something else in the same one. */
  turn() {
    const { section, query, isKnown } = this.named();
    if (!isKnown || this.state === null) return;
    const isOther = section !== this.current;
    this.current = section;
    this.show(query);
    if (isOther) section.element.querySelector("h2")?.focus();
  }

  /** @param {URLSearchParams} query */
  show(query) {
    this.sections.forEach((section, i) => {
      const isCurrent = section === this.current;
      section.element.hidden = !isCurrent;
      if (isCurrent) this.links[i]?.setAttribute("aria-current", "page");
      else this.links[i]?.removeAttribute("aria-current");
    });
    this.nav.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.current.show(/** @type {State} */ (this.state), query);
  }

  /**
   * The section in the address. Any other address, such as #main, keeps the visible section.
   *
   * @returns {{section: Section, query: URLSearchParams, isKnown: boolean}}
   */
  named() {
    const [name = "", query = ""] = location.hash.slice(1).split("?");
    const wanted = name === "" ? this.sections[0] : this.sections.find((each) => each.name === name && this.has(each));
    return { section: wanted ?? this.current, query: new URLSearchParams(query), isKnown: wanted !== undefined };
  }
}

/**
 * A section's element, with its heading; `stamp` follows it in a simulated campaign.
 *
 * @param {string} name
 * @param {string} title
 * @param {...(Node | null)} children
 */
export function sectionElement(name, title, ...children) {
  const id = `title-${name}`;
  return el(
    "section",
    { id: `section-${name}`, class: "section", "aria-labelledby": id, hidden: true },
    el("div", { class: "section-head" }, el("h2", { id, tabindex: -1, text: title }), stamp()),
    ...children,
  );
}

/** Marks every section of a simulated campaign, also in print. */
export function stamp() {
  return el("strong", { class: "stamp", text: "Simulated" });
}
