// Links for keyholders: with its link a keyholder takes its seat. Made again, the old ones end.

import { ask } from "./asking.js";
import { el, fill } from "./building.js";
import { confirmed } from "./confirming.js";
import { copying } from "./copying.js";
import { keep, kept } from "./links.js";

/** @typedef {{seat: number, name: string, link: string}} SeatLink */

export class KeyholderLinks {
  /**
   * @param {string} path
   * @param {(text: string, look: string, act: () => Promise<void>) => HTMLElement} button
   */
  constructor(path, button) {
    this.path = path;
    this.id = path.split("/")[1] ?? "";
    this.button = button;
    this.element = el("div", { class: "card" });
    this.show();
  }

  show() {
    const links = kept(this.id).keyholders;
    fill(
      this.element,
      el("h3", { tabindex: -1, text: "Links for keyholders" }),
      el("p", { class: "hint" }, "Send each keyholder its own link. It runs ", el("code", { text: "sottovoce keyholder serve 'LINK'" }), " and leaves that running. A link alone opens nothing: it takes the keyholder’s keys too."),
      links.length ? this.list(links) : null,
      links.length ? this.button("Make new links", "quiet", () => this.again()) : this.button("Make the links", "", () => this.make()),
      el("p", { class: "fine", text: links.length ? "This tab remembers them until you close it. The server keeps only their hashes." : "Are there links already? New ones replace them." }),
    );
  }

  /** @param {SeatLink[]} links */
  list(links) {
    return el("ol", { class: "seat-links" }, links.map(({ name, link }) =>
      el("li", {}, el("span", { class: "seat-name", text: name }), el("code", { text: link }), copying("Copy", () => link, "quiet", `Copy the link of ${name}`))));
  }

  async again() {
    const sure = await confirmed({
      title: "Make new links for all keyholders?",
      words: ["The links that they have stop working at once: each keyholder must be given its new one. What they have done stays."],
      action: "Make new links",
    });
    if (sure) await this.make();
  }

  async make() {
    const { links } = await ask(`${this.path}/keyholders`, { method: "POST" });
    keep(this.id, { keyholders: links });
    this.show();
    this.element.querySelector("h3")?.focus();
  }
}
