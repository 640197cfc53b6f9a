// Keyholders' cards: a name and two public keys, as `sottovoce keyholder init` writes them. The keyholder
// reads the card's fingerprint out to detect a swapped card.

import { el } from "./elements.js";

/** @typedef {{name: string, sealing: string, signing: string}} Card */

const FORMAT = "sottovoce-keyholder/1";
const KEY_FILE = "sottovoce-keyholder-keys/1";
const FIELDS = ["format", "name", "sealing", "signing"];
/** 32 bytes in 43 characters; two bits of the last one are 0. */
const KEY = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const LONGEST_NAME = 200;
/** Bytes of the hash that people compare, and digits per group. */
const [COMPARED, AT_ONCE] = [16, 4];

/**
 * The cards in a text: one or several.
 *
 * @param {string} text
 * @returns {Card[]} never none
 */
export function cardsIn(text) {
  const found = parsed(text) ?? parsed(`[${text.trim().replace(/\}[\s,]*\{/g, "},{")}]`);
  const documents = Array.isArray(found) ? found : [found];
  if (documents.length === 0 || !documents.every(isDocument)) {
    throw new Error("This is not a keyholder card. A card is the line that “sottovoce keyholder init” writes: it starts with {\"format\":\"sottovoce-keyholder/1\".");
  }
  return documents.map(cardOf);
}

/**
 * Adds a card.
 *
 * @param {Card[]} cards
 * @param {Card} card
 * @returns {Card[]}
 */
export function withCard(cards, card) {
  const same = cards.find(({ sealing, signing }) => sealing === card.sealing || signing === card.signing);
  if (same) throw new Error(`The card of ${card.name} has already been added${same.name === card.name ? "" : `, as ${same.name}`}. Each keyholder needs its own keys.`);
  if (cards.some(({ name }) => name === card.name)) throw new Error(`Another keyholder already has the name ${card.name}. Names must differ: ask for a card with another name.`);
  return [...cards, card];
}

/**
 * The fingerprint that people compare: half of the SHA-256 of both keys, in groups. Browsers compute
* it over HTTPS and on localhost only.
 *
 * @param {Card} card
 * @returns {Promise<string | null>} null where this browser cannot compute it
 */
export async function fingerprint({ sealing, signing }) {
  if (!globalThis.crypto?.subtle) return null;
  const text = JSON.stringify({ sealing, signing }); // canonical: keys in order, plain characters
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  const digits = [...hash.slice(0, COMPARED)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return (digits.match(new RegExp(`.{${AT_ONCE}}`, "g")) ?? []).join(" ");
}

/** @param {Record<string, unknown>} document @returns {Card} */
function cardOf(document) {
  const { format, name, sealing, signing } = document;
  if (format === KEY_FILE) throw new Error("This is a keyholder’s secret key file. It must never leave the keyholder. Delete it here, and ask for the card.json of new keys.");
  if (format !== FORMAT) throw new Error(`This is not a keyholder card: its format is ${JSON.stringify(format) ?? "missing"}, not "${FORMAT}".`);
  const other = Object.keys(document).find((each) => !FIELDS.includes(each));
  if (other) throw new Error(`This card has an unknown field: “${other}”. Ask for the keyholder’s original card.json.`);
  if (typeof name !== "string" || !name.trim() || [...name].length > LONGEST_NAME) {
    throw new Error(`The name on this card must have 1 to ${LONGEST_NAME} characters. Ask for a new card.`);
  }
  for (const [what, key] of Object.entries({ sealing, signing })) {
    if (typeof key !== "string" || !KEY.test(key)) throw new Error(`The card of ${name} is damaged: “${what}” is not a valid key. Ask for the card again.`);
  }
  return { name, sealing: String(sealing), signing: String(signing) };
}

/** @param {string} text @returns {unknown} undefined where it is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @param {unknown} found @returns {found is Record<string, unknown>} */
const isDocument = (found) => typeof found === "object" && found !== null && !Array.isArray(found);

/** A fingerprint as people compare it: in groups, on two lines. @param {string | null} text */
export function fingerprintElement(text) {
  if (text === null) return el("span", { class: "hint", text: "Fingerprints need HTTPS. “sottovoce keyholder status” shows them too." });
  const groups = text.split(" ");
  const half = Math.ceil(groups.length / 2);
  return el("code", { class: "fingerprint" },
    el("span", { text: groups.slice(0, half).join(" ") }), " ", el("span", { text: groups.slice(half).join(" ") }));
}
