// The campaign's offer and tasks, checked here, with its policy pinned; or the reason why one cannot answer.

import { pseudonym, verify } from "../randomize.js";
import { ownOrder } from "./choice.js";
import { inTerminal } from "./consent.js";
import { isUnverifiable, offersSealing, verifySealed } from "./draw.js";
import { el, heading } from "./elements.js";
import { t } from "./language.js";
import { askBlock, askOffer, CAMPAIGN, Refused, Unreachable } from "./requests.js";
import { answersKept, canKeep, change, keepShown, kept, shown } from "./storage.js";

/** @import { App, Block, Kept, Offer, Shown, Trouble } from "./types.js" */

const INVITE = /^#svi_[A-Za-z0-9_-]{43}$/;

/** The campaign, or the obstacle. @returns {Promise<Omit<App, "go" | "again" | "stop"> | Trouble>} */
export async function meet() {
  if (!isSecureContext || !crypto.subtle || !navigator.locks) return trouble("insecure");
  if (!canKeep()) return trouble("no_storage");
  await takeInvite();
  const record = kept();
  if (!record.invite) return trouble("no_invite");
  try {
    return await checked(await seen(record), record);
  } catch (error) {
    if (error instanceof Refused && !error.passes) return trouble(error.reason);
    if (isUnverifiable(error)) return trouble("unverifiable", error.code);
    if (error instanceof Unreachable || error instanceof Refused) return trouble("unreachable");
    throw error;
  }
}

/** Removes the invite from the address bar, where others can see it and the browser history stores it. */
async function takeInvite() {
  const found = INVITE.test(location.hash) ? location.hash.slice(1) : null;
  if (location.hash) history.replaceState(history.state, "", location.pathname);
  if (!found) return;
  await change((record) => {
    record.invite = found;
    record.receipt ??= newReceipt();
  });
}

const newReceipt = () =>
  "svr_" + btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32)))).replaceAll("+", "-").replaceAll("/", "_").replace("=", "");

/**
 * The server's current offer and this worker's tasks; without a connection, the last ones. Once the worker has
 * agreed, the tasks stay the same until some are drawn.
 * @param {Kept} record @returns {Promise<Shown>}
 */
async function seen({ invite, receipt, agreed, parcels }) {
  const [known, after] = [shown(), parcels.length];
  const begun = agreed && known?.after === after ? known : null;
  try {
    const offer = await askOffer(invite ?? "");
    if (offer.state !== "open") throw new Refused("not_open", 0);
    const found = { offer, block: begun?.block ?? (await askBlock(invite ?? "", receipt ?? "")), after };
    keepShown(found);
    return found;
  } catch (error) {
    const isOffline = error instanceof Unreachable || (error instanceof Refused && error.passes);
    if (!known || !isOffline) throw error;
    const found = begun ?? { ...withoutNeeds(known), after };
    keepShown(found);
    return found;
  }
}

/** Old needs would send many devices to the same tasks. @param {Shown} known */
const withoutNeeds = ({ offer, block }) => ({ offer, block: { ...block, tasks: block.tasks.map((each) => ({ ...each, need: null })) } });

/** @param {Shown} seen @param {Kept} record */
async function checked({ offer, block }, record) {
  const verified = offersSealing(offer) ? await verifySealed(offer.policy) : await verify(offer.policy);
  if (record.policy && record.policy !== verified.hash) return trouble("policy_changed", record.policy, verified.hash);
  const worker = await pseudonym(CAMPAIGN, record.receipt ?? "");
  if (!makesSense(offer, block, worker, verified.answers)) return trouble("nonsense");
  if (offer.simulated) return trouble("simulated");
  if (offer.quota_left === 0 && !record.parcels.length) return trouble("quota_reached");
  if (block.tasks.every(({ need }) => need === 0) && !record.parcels.length) return trouble("settled");
  await change((now) => (now.policy ??= verified.hash));
  return { offer, tasks: await ownOrder(CAMPAIGN, worker, block.tasks), worker, verified, answers: answersKept() };
}

/** With fewer tasks than the policy covers, a server could single out workers by their tasks. @param {Offer} offer @param {Block} block @param {string} worker @param {number} answers */
const makesSense = (offer, block, worker, answers) =>
  offer.id === CAMPAIGN && block.worker === worker && block.tasks.length === Math.min(offer.tasks, answers) &&
  new Set(block.tasks.map(({ task }) => task)).size === block.tasks.length && block.tasks.length > 0;

// Reasons why a worker cannot answer, with a remedy.

/** Where the Python client can do what this page cannot. */
const TERMINAL = ["unverifiable", "no_storage"];

/** @param {Trouble} trouble */
export function problem({ kind, facts }) {
  const known = t.troubles[/** @type {keyof typeof t.troubles} */ (kind)];
  const [title, words] = known ?? t.troubles.error;
  if (!known) facts = [kind];
  return [
    el("p", { class: "kicker" }, t.halted),
    heading(title),
    el("p", { class: "lead" }, words),
    facts.length > 0 && el("ul", { class: "facts" }, ...facts.map((fact) =>
      el("li", {}, kind === "unverifiable" ? t.reasons[/** @type {keyof typeof t.reasons} */ (fact)] : el("code", {}, fact)))),
    TERMINAL.includes(kind) && el("section", { class: "card" }, ...inTerminal()),
  ];
}

/** @param {string} kind @param {...string} facts @returns {Trouble} */
export const trouble = (kind, ...facts) => ({ kind, facts });
