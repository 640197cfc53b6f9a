// Links that were made in this tab. The server keeps hashes of them, so these are the only copies:
// they stay until the tab is closed, and go nowhere else.

/** @typedef {{size: number, path: string}} Code */
/** @typedef {{link: string, code: Code | null}} Card */
/** @typedef {import("./keyholder-links.js").SeatLink} SeatLink */
/** @typedef {{title: string, open: Card | null, single: Card[], keyholders: SeatLink[]}} Links */

/** How many cards fit into what a browser keeps for a tab. */
export const MOST_CARDS = 500;

/** For those that do not fit. @type {Map<string, Links>} */
const beyond = new Map();

/** @param {string} id of the campaign */
const place = (id) => `sottovoce:links:${id}`;

/** @param {string} id @returns {Links} */
export function kept(id) {
  const found = beyond.get(id) ?? JSON.parse(sessionStorage.getItem(place(id)) ?? "null");
  return { title: "", open: null, single: [], keyholders: [], ...found };
}

/** @param {string} id @param {Partial<Links>} more */
export function keep(id, more) {
  const links = { ...kept(id), ...more };
  try {
    sessionStorage.setItem(place(id), JSON.stringify(links));
    beyond.delete(id);
  } catch {
    beyond.set(id, links); // more than a browser keeps: they are lost when the page is left
  }
}

/** @param {string} id */
export function forget(id) {
  beyond.delete(id);
  sessionStorage.removeItem(place(id));
}

/** Links with their codes, if they were asked for. @param {import("./shapes.js").Invites} made @returns {Card[]} */
export function cards({ links, codes }) {
  return links.map((link, i) => ({ link, code: codes?.[i] ?? null }));
}

/** As a table: link, number. @param {Card[]} made */
export function linksTable(made) {
  return ["link,number", ...made.map(({ link }, i) => `${link},${i + 1}`), ""].join("\r\n");
}
