// Section Invites: one open link or one link per worker, on screen, as CSV, or on cards with QR codes.

import { confirmed, copyButton, el, fill, once, renew, svg } from "../requester/elements.js";
import { counted, whole } from "../requester/formats.js";
import { ask, place, Problem, save } from "../requester/requests.js";
import { sectionElement } from "./sections.js";

/** @import { Campaign, Code, InviteCounts, Invites, Section, State } from "../requester/types.js" */
/** @import { SeatLink } from "./rounds.js" */

// Links made in this tab. The server stores only their hashes, so these are the only copies. They are
// kept until the tab is closed and are sent nowhere.

/** @typedef {{link: string, code: Code | null}} Card */
/** @typedef {{title: string, open: Card | null, single: Card[], keyholders: SeatLink[]}} Links */

/** How many cards fit into a tab's storage. */
const MOST_CARDS = 500;

/** For those that do not fit. @type {Map<string, Links>} */
const beyond = new Map();

/** @param {string} id of the campaign */
const keyOf = (id) => `sottovoce:links:${id}`;

/** @param {string} id @returns {Links} */
export function kept(id) {
  const found = beyond.get(id) ?? JSON.parse(sessionStorage.getItem(keyOf(id)) ?? "null");
  return { title: "", open: null, single: [], keyholders: [], ...found };
}

/** @param {string} id @param {Partial<Links>} more */
export function keep(id, more) {
  const links = { ...kept(id), ...more };
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(links));
    beyond.delete(id);
  } catch {
    beyond.set(id, links); // too large for the tab's storage: lost when the page is left
  }
}

/** @param {string} id */
function forget(id) {
  beyond.delete(id);
  sessionStorage.removeItem(keyOf(id));
}

/** Links with their codes, if they were asked for. @param {Invites} made @returns {Card[]} */
function cards({ links, codes }) {
  return links.map((link, i) => ({ link, code: codes?.[i] ?? null }));
}

/** As a table: link, number. @param {Card[]} made */
function linksTable(made) {
  return ["link,number", ...made.map(({ link }, i) => `${link},${i + 1}`), ""].join("\r\n");
}

// QR codes, which the server has computed.

/** The border of four modules that readers need. */
const QUIET = 4;

/** Always dark on white: many readers do not accept the inverse. @param {Code} code @param {string} label */
export function qr({ size, path }, label) {
  const side = size + 2 * QUIET;
  return svg(
    "svg",
    { class: "qr", viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { x: -QUIET, y: -QUIET, width: side, height: side, fill: "#fff" }),
    svg("path", { d: path, fill: "#000" }),
  );
}

// The section.

/** How many links are listed; the CSV file has all of them. */
const SHOWN = 8;

/** @param {string} path */
const idIn = (path) => path.split("/")[1] ?? "";

/**
 * Copies the open link that was made in this tab, or a new one. Returns a message.
 *
 * @param {string} path
 */
export async function copyOpenLink(path) {
  const id = idIn(path);
  if (!kept(id).open) await makeOpen(path);
  const link = kept(id).open?.link ?? "";
  try {
    await navigator.clipboard.writeText(link);
    return "Copied. Anyone with the link can answer.";
  } catch {
    return "The browser did not allow copying. The link is under Invites.";
  }
}

/** @param {string} path */
async function makeOpen(path) {
  const made = await ask(`${path}/invites`, { method: "POST", body: { kind: "open", codes: true } });
  const [open = null] = cards(made);
  keep(idIn(path), { open });
}

/** @param {string} path @returns {Section} */
export function invitesSection(path) {
  return new InvitesSection(path);
}

class InvitesSection {
  /** @param {string} path */
  constructor(path) {
    this.name = "invites";
    this.title = "Invites";
    this.path = path;
    this.id = idIn(path);
    this.counts = el("dl", { class: "large" });
    this.body = el("div");
    this.open = el("div", { class: "card" });
    this.single = el("div");
    this.problem = el("p", { class: "notice bad", role: "alert", hidden: true });
    this.done = el("p", { class: "hint", role: "status" });
    this.element = sectionElement("invites", "Invites", this.counts, this.problem, this.body, this.done);
  }

  /** @param {State} state */
  show(state) {
    this.problem.hidden = true;
    this.done.textContent = "";
    this.update(state);
  }

  /** @param {State} state */
  update({ campaign }) {
    renew(this.body, [campaign.state, campaign.simulated], () => this.build(campaign));
    void this.count();
  }

  async count() {
    try {
      const counts = await ask(`${this.path}/invites`);
      renew(this.counts, counts, () => countRows(counts));
    } catch {
      // The server does not respond: the next poll shows that.
    }
  }

  /** @param {Campaign} campaign */
  build(campaign) {
    if (campaign.simulated) {
      return [el("p", { text: "This campaign is simulated, so nobody can be invited to it." })];
    }
    if (campaign.state === "closed") {
      return [el("p", { text: "This campaign is closed, so nobody can be invited." })];
    }
    keep(this.id, { title: campaign.title });
    this.showOpen();
    this.showSingle();
    return [
      ...(campaign.state === "draft" ? [el("p", { class: "notice", text: "This campaign is a draft. Links work once you open it." })] : []),
      el(
        "p",
        { class: "measure", text: "The server stores only hashes of links, so each is shown once. This tab keeps its links until you close it." },
      ),
      el("div", { class: "pair" }, this.open, el("div", { class: "card" }, ...this.form(), this.single)),
      this.revoking(),
    ];
  }

  showOpen() {
    const made = kept(this.id).open;
    fill(
      this.open,
      el("h3", { tabindex: -1, text: "One link for everyone" }),
      el("p", { class: "hint", text: "Any number of workers can answer with it. A person who answers twice counts as two workers." }),
      made ? this.openLink(made) : this.button("Make an open link", "", () => this.makeOpen()),
    );
  }

  /** @param {Card} made */
  openLink({ link, code }) {
    return el(
      "div",
      { class: "open-link" },
      code ? qr(code, "QR code of the open link") : null,
      el("p", {}, el("code", { text: link })),
      el("p", { class: "actions" }, copyButton("Copy the link", () => link, "")),
    );
  }

  form() {
    const count = el("input", { type: "number", id: "count", name: "count", min: 1, max: 100_000, value: 20, required: true });
    const day = el("input", { type: "date", id: "expires", name: "expires", "aria-describedby": "expires-hint" });
    const sheet = el("input", { type: "checkbox", name: "codes", checked: true });
    const submit = el("button", { type: "submit", text: "Make the links" });
    const form = el(
      "form",
      { class: "making" },
      el("h3", { text: "One link per worker" }),
      el("p", { class: "hint", text: "Each link works for one worker, so nobody answers twice." }),
      el(
        "div",
        { class: "side-by-side" },
        el("div", { class: "field" }, el("label", { for: "count", text: "How many" }), count),
        el("div", { class: "field" }, el("label", { for: "expires", text: "Last day" }), day),
      ),
      el("p", { class: "hint", id: "expires-hint", text: "The last day is in UTC. If it is empty, links work until the campaign closes." }),
      el("label", { class: "tick" }, sheet, el("span", {}, "With QR codes to print", el("span", { class: "hint", text: `For up to ${whole(MOST_CARDS)} links at once.` }))),
      el("p", { class: "actions" }, submit),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const make = () => this.makeSingle(Number(count.value), day.value, sheet.checked);
      void once(submit, () => this.attempt(make));
    });
    return [form];
  }

  /** @param {number} count @param {string} day the last one @param {boolean} codes */
  async makeSingle(count, day, codes) {
    if (codes && count > MOST_CARDS) {
      throw new Problem(422, { detail: `cards can be made for at most ${whole(MOST_CARDS)} links at once; make fewer links, or links without QR codes` });
    }
    const expires = day ? { expires_on: dayAfter(day) } : {};
    const made = await ask(`${this.path}/invites`, { method: "POST", body: { kind: "single", count, codes, ...expires } });
    keep(this.id, { single: cards(made) });
    this.showSingle();
    this.single.querySelector("h3")?.focus();
    void this.count();
  }

  showSingle() {
    const made = kept(this.id).single;
    if (made.length === 0) {
      fill(this.single);
      return;
    }
    const more = made.length - SHOWN;
    fill(
      this.single,
      el("h3", { tabindex: -1, text: `${counted(made.length, "link")}, made in this tab` }),
      el("p", { class: "notice", text: "Copy or save them now. They cannot be shown again after you close this tab." }),
      el("ol", { class: "links" }, made.slice(0, SHOWN).map(({ link }) => el("li", {}, el("code", { text: link })))),
      more > 0 ? el("p", { class: "hint", text: `And ${whole(more)} more.` }) : null,
      el(
        "p",
        { class: "actions" },
        copyButton("Copy all", () => made.map(({ link }) => link).join("\n"), ""),
        el("button", { type: "button", class: "quiet", text: "Save as CSV", onclick: () => this.saveTable() }),
        made[0]?.code ? el("a", { class: "button quiet", href: place("campaigns", this.id, "sheet"), text: "Cards to print" }) : null,
      ),
    );
  }

  saveTable() {
    const table = linksTable(kept(this.id).single);
    save(new Blob([table], { type: "text/csv" }), `${this.id}-links.csv`);
  }

  async makeOpen() {
    await makeOpen(this.path);
    this.showOpen();
    this.open.querySelector("h3")?.focus();
    void this.count();
  }

  revoking() {
    return el(
      "div",
      { class: "card" },
      el("h3", { text: "Revoke links" }),
      el("p", { class: "hint", text: "Use this if a link was leaked. Reports already received are kept." }),
      this.button("Revoke all links", "danger", () => this.revoke()),
    );
  }

  async revoke() {
    const sure = await confirmed({
      title: "Revoke all links to this campaign?",
      words: [
        "Every link stops working at once, including used ones. Workers who have not sent everything yet " +
"cannot continue. Reports already received are kept. You can make new links afterwards.",
      ],
      action: "Revoke all links",
    });
    if (!sure) return;
    const { revoked } = await ask(`${this.path}/invites`, { method: "DELETE" });
    const { title, keyholders } = kept(this.id);
    forget(this.id);
    keep(this.id, { title, keyholders });
    this.showOpen();
    this.showSingle();
    this.done.textContent = `${counted(revoked, "link")} no longer ${revoked === 1 ? "works" : "work"}.`;
    void this.count();
  }

  /** @param {string} text @param {string} look @param {() => Promise<void>} act */
  button(text, look, act) {
    const button = el("button", { type: "button", class: look, text });
    button.addEventListener("click", () => void once(button, () => this.attempt(act)));
    return el("p", { class: "actions" }, button);
  }

  /** @param {() => Promise<void>} act */
  async attempt(act) {
    this.problem.hidden = true;
    this.done.textContent = "";
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.problem.textContent = error.detail;
      this.problem.hidden = false;
    }
  }
}

/** @param {InviteCounts} counts */
function countRows({ open, single, used }) {
  const rows = [
    ["Open links", open],
    ["Links for one worker", single],
    ["Used", used],
    ["Unused", single - used],
  ];
  return rows.map(([name, count]) =>
    el("div", {}, el("dt", { text: String(name) }), el("dd", { text: whole(Number(count)) })),
  );
}

/** The API takes the first day on which a link no longer works. @param {string} day */
function dayAfter(day) {
  const next = new Date(`${day}T00:00:00Z`);
  next.setUTCDate(next.getUTCDate() + 1);
  return next.toISOString().slice(0, 10);
}
