// All requests to the server. Raw answers never pass through here.

/** @import { Block, Offer, Parcel } from "./types.js" */

export const CAMPAIGN = location.pathname.split("/").pop() ?? "";
const PATIENCE = 20_000;

/** The header that says that the limit does not cover all questions. */
export const CUT_SHORT = { "Sottovoce-Cut-Short": "yes" };

/** The server refused: `reason` is one of the API's codes. */
export class Refused extends Error {
  /** @param {string} reason @param {number} pause seconds to wait, as the server asked */
  constructor(reason, pause) {
    super(reason);
    this.reason = reason;
    this.pause = pause;
  }

  /** Whether the failure is temporary, so that a retry makes sense. */
  get passes() {
    return ["busy", "unavailable", "unknown"].includes(this.reason);
  }
}

/** The server did not respond. */
export class Unreachable extends Error {}

/** @param {string} path */
export const address = (path) => new URL(`../api/v1/campaigns/${CAMPAIGN}/${path}`, location.href).href;

/** @param {string} invite @returns {Promise<Offer>} */
export const askOffer = (invite) => ask("offer", invite);

/** @param {string} invite @param {string} receipt @returns {Promise<Block>} */
export const askBlock = (invite, receipt) => ask("block", invite, { "Sottovoce-Receipt": receipt });

/** Sends bytes as they were drawn. @param {Parcel} parcel @param {string} invite @param {string} receipt */
export async function put(parcel, invite, receipt) {
  const headers = { "Sottovoce-Receipt": receipt, "Content-Type": "application/json", ...(parcel.cutShort && CUT_SHORT) };
  const reply = await ask(`reports/${parcel.id}`, invite, headers, "PUT", parcel.bytes);
  if (reply?.report_id !== parcel.id) throw new Unreachable();
}

/** @param {string} receipt @returns {Promise<{worker: string, submissions: {report_id: string, received_on: string, reports: {task: string, report: string | number}[]}[]}>} */
export const askOwn = (receipt) => ask("reports", receipt);

/** @param {string} id @param {string} receipt */
export const erase = (id, receipt) => ask(`reports/${id}`, receipt, {}, "DELETE");

/** @param {string} path @param {string} credential @param {Record<string, string>} [headers] @param {string} [method] @param {string} [body] */
async function ask(path, credential, headers = {}, method = "GET", body) {
  let reply;
  try {
    reply = await fetch(address(path), {
      method,
      body,
      headers: { Authorization: `Bearer ${credential}`, ...headers },
      credentials: "omit",
      signal: AbortSignal.timeout(PATIENCE),
    });
    if (reply.status === 204) return null;
    const said = await reply.json();
    if (reply.ok) return said;
    throw new Refused(said.reason ?? "unknown", Number(reply.headers.get("Retry-After")) || 0);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw reply && !reply.ok ? new Refused("unknown", 0) : new Unreachable();
  }
}

// Modules loaded on demand: the page's head lists them with their hashes.

/** Loads a module; its file is checked like every other. @param {HTMLLinkElement} known its link in the page's head */
export function load(known) {
  const checked = document.createElement("link");
  Object.assign(checked, { rel: "modulepreload", href: known.href, integrity: known.integrity });
  document.head.append(checked);
  return import(known.href);
}
