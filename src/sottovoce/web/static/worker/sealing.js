// Sealed campaigns: the module that seals is loaded for them only.

import { PolicyError } from "../randomize.js";
import { CAMPAIGN } from "./asking.js";
import { load } from "./loading.js";

/** @import { Answers, App, Offer, SealedApp } from "./types.js" */
/** @import { Sealed } from "../seal.js" */

/** @type {typeof import("../seal.js")} */
let sealer;

/** @param {Offer | undefined} offer */
export const offersSealing = (offer) =>
  /** @type {{ mechanism?: { name?: unknown } } | undefined} */ (offer?.policy)?.mechanism?.name === "sealed-sum";

/** @param {App} app @returns {app is SealedApp} */
export const isSealed = (app) => "keyholders" in app.verified;

/** @param {object} policy @returns {Promise<Sealed>} */
export async function verifySealed(policy) {
  sealer = await load(/** @type {HTMLLinkElement} */ (document.querySelector("#sealer")));
  return sealer.verifySealed(policy);
}

/** Whether one of the two modules that verify policies has refused. @param {unknown} error @returns {error is { code: string }} */
export const isUnverifiable = (error) =>
  error instanceof PolicyError || (sealer !== undefined && error instanceof sealer.PolicyError);

/** @param {SealedApp} app @param {Answers} answers @param {string[]} tasks */
export const seal = (app, answers, tasks) => sealer.seal(app.verified, CAMPAIGN, app.worker, answers, tasks);
