// A queue and cache of forecasts: the current one first, then its neighbours. A request that is no longer
// wanted is cancelled, and no forecast is requested twice.

import { ask, Problem } from "./requests.js";

/** @import { Devices, Guarantee } from "./types.js" */

/**
 * The result of simulated campaigns.
 *
 * @typedef {object} Forecast
 * @property {"accuracy" | "mean error"} score
 * @property {number} expected
 * @property {[number, number]} band
 * @property {number} clean
 * @property {number} constant
 * @property {number} trials
 * @property {string} mechanism
 * @property {Guarantee} guarantee
 * @property {Devices} devices
 * @property {boolean} in_browser
 * @property {string[]} notes
 */

/** A planned campaign in the API's format. @typedef {{privacy: {epsilon: number}}} Asked */

const USUAL_WAIT = 2;

/** @type {Map<string, Forecast | Problem>} */
const known = new Map();

export class Forecasts {
  /** @param {() => void} changed called whenever something has arrived */
  constructor(changed) {
    this.changed = changed;
    /** @type {Asked[]} */
    this.wanted = [];
    this.stopping = new AbortController();
    this.asking = "";
    this.isBusy = false;
  }

  /** Requests these forecasts, in this order. @param {Asked[]} wanted */
  want(wanted) {
    this.wanted = wanted;
    const isWanted = wanted.some((each) => JSON.stringify(each) === this.asking);
    if (this.asking && !isWanted) this.stopping.abort();
    if (!this.isBusy) this.work();
  }

  /** Cancels all requests. */
  stop() {
    this.want([]);
  }

  /** The forecast, the error, or null while it is pending. @param {Asked} asked */
  of(asked) {
    return known.get(JSON.stringify(asked)) ?? null;
  }

  async work() {
    this.isBusy = true;
    for (let next = this.next(); next; next = this.next()) {
      this.stopping = new AbortController();
      this.asking = JSON.stringify(next);
      try {
        known.set(this.asking, await ask("forecasts", { method: "POST", body: next, signal: this.stopping.signal }));
        this.changed();
      } catch (error) {
        await this.failed(error);
      }
    }
    this.asking = "";
    this.isBusy = false;
  }

  next() {
    return this.wanted.find((each) => !known.has(JSON.stringify(each)));
  }

  /** Stores a refusal as the result; retries when the server is busy or unreachable. @param {unknown} error */
  async failed(error) {
    if (!(error instanceof Problem)) return;
    if (error.status >= 400 && error.status < 500 && error.status !== 429) {
      known.set(this.asking, error);
      this.changed();
      return;
    }
    await new Promise((resolve) => {
      const soon = setTimeout(resolve, 1000 * (error.wait || USUAL_WAIT));
      this.stopping.signal.addEventListener("abort", () => {
        clearTimeout(soon);
        resolve(null);
      });
    });
  }
}

/** Whether a forecast has arrived. @param {Forecast | Problem | null} found @returns {found is Forecast} */
export function isForecast(found) {
  return found !== null && !(found instanceof Problem);
}
