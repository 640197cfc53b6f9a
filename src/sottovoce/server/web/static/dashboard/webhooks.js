// Section Settings: the webhooks that tell other services about the campaign.

import { confirmed, copyButton, el, fill } from "../requester/elements.js";
import { counted } from "../requester/formats.js";
import { ask, place, Problem } from "../requester/requests.js";
import { sectionElement } from "./sections.js";

/** @import { Section } from "../requester/types.js" */

/** @typedef {{event: string, state: string, attempts: number}} Delivery */
/** @typedef {{id: string, address: string, deliveries: Delivery[]}} Webhook */

/** @param {string} path @returns {Section} */
export function settingsSection(path) {
  const settings = new Settings(path);
  const show = () => void settings.list();
  return { name: "settings", title: "Settings", element: settings.element, show, update: () => {} };
}

class Settings {
  /** @param {string} path */
  constructor(path) {
    this.path = path;
    this.hooks = el("ul", { class: "hooks" });
    this.made = el("div", { role: "status" });
    this.problem = el("p", { class: "notice bad", role: "alert", hidden: true });
    this.element = sectionElement(
      "settings",
      "Settings",
      el(
        "div",
        { class: "card" },
        el("h3", { text: "Webhooks" }),
        el("p", { class: "hint", text: "Notify another program when the campaign closes and when its truths no longer change. Messages are signed." }),
        this.hooks,
        this.form(),
        this.problem,
        this.made,
      ),
      el(
        "div",
        { class: "card" },
        el("h3", { text: "For programs" }),
        el("p", { class: "hint", text: "These pages use only the documented API." }),
        el("p", { class: "actions" }, el("a", { class: "button quiet", href: place("api"), text: "API reference" })),
      ),
    );
  }

  form() {
    const address = el("input", { type: "url", id: "hook", required: true, maxlength: 2000, placeholder: "https://example.org/hooks/sottovoce" });
    const button = el("button", { type: "submit", text: "Add" });
    const form = el(
      "form",
      {},
      el("div", { class: "field" }, el("label", { for: "hook", text: "Address" }), address),
      el("p", { class: "actions" }, button),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.attempt(() => this.add(address));
    });
    return form;
  }

  /** @param {HTMLInputElement} address */
  async add(address) {
    const { secret } = await ask(`${this.path}/webhooks`, { method: "POST", body: { address: address.value } });
    address.value = "";
    fill(
      this.made,
      el("p", { class: "notice" }, "Its secret, shown once: ", el("code", { text: secret })),
      el("p", {}, copyButton("Copy the secret", () => secret)),
    );
    await this.list();
  }

  async list() {
    await this.attempt(async () => {
      const { webhooks } = await ask(`${this.path}/webhooks`);
      fill(this.hooks, webhooks.map((/** @type {Webhook} */ hook) => this.hook(hook)));
    });
  }

  /** @param {Webhook} hook */
  hook({ id, address, deliveries }) {
    const last = deliveries[0];
    const told = last ? `${last.event}: ${last.state.replace("_", " ")} after ${counted(last.attempts, "attempt")}` : "nothing sent yet";
    return el(
      "li",
      {},
      el("div", {}, el("code", { text: address }), el("p", { class: "hint", text: told })),
      el("button", { type: "button", class: "quiet", text: "Remove", "aria-label": `Remove ${address}`, onclick: () => void this.attempt(() => this.remove(id, address)) }),
    );
  }

  /** @param {string} id @param {string} address */
  async remove(id, address) {
    const sure = await confirmed({ title: "Remove this webhook?", words: [`Nothing more is sent to ${address}, including waiting messages.`], action: "Remove it" });
    if (!sure) return;
    await ask(`${this.path}/webhooks/${id}`, { method: "DELETE" });
    await this.list();
  }

  /** @param {() => Promise<void>} act */
  async attempt(act) {
    this.problem.hidden = true;
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem.textContent = error.detail;
      this.problem.hidden = false;
    }
  }
}
