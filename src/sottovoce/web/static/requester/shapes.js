// What the interface answers, as far as the dashboard reads it. Types only: no page loads this file.

export {};

/** @typedef {{epsilon: number | null, delta: number, exact: boolean, answers: number}} Held */

/**
 * @typedef {object} Campaign
 * @property {string} id
 * @property {"draft" | "open" | "closed"} state
 * @property {boolean} simulated
 * @property {string} title
 * @property {string} question
 * @property {string | null} unit
 * @property {{kind: "categorical" | "ordinal" | "numeric", labels?: (string | number)[], low?: number, high?: number}} domain
 * @property {{mechanism: Record<string, any>}} policy
 * @property {string} policy_hash
 * @property {{per_answer: Held, per_worker: Held, odds: string | null, warning: string | null}} guarantee
 * @property {number} answers
 * @property {number} block
 * @property {number} tasks
 * @property {number | null} quota
 * @property {string | null} closes_on
 * @property {string | null} opened_on
 * @property {string | null} closed_on
 * @property {number} workers
 * @property {number} reports
 * @property {boolean} published whether workers are shown the truths
 */

/**
 * @typedef {object} Summary
 * @property {string | null} method
 * @property {number} rounds
 * @property {boolean} converged
 * @property {boolean} settled
 * @property {number} reports
 * @property {number} left_out
 * @property {number} tasks
 * @property {string | null} problem
 */

/**
 * Nulls where it is hidden who answered what.
 *
 * @typedef {object} Coverage
 * @property {boolean} hidden
 * @property {number | null} untouched
 * @property {number | null} least
 * @property {number | null} median
 * @property {number | null} most
 * @property {{first: string, last: string, tasks: number, mean: number}[]} strip
 * @property {{answers: number, tasks: number}[]} histogram
 */

/**
 * @typedef {object} Certainty
 * @property {"confidence" | "standard_error"} kind
 * @property {number} threshold
 * @property {number} settled
 * @property {number} open
 * @property {{low: number, high: number, tasks: number}[]} histogram
 */

/**
 * @typedef {object} Overview
 * @property {number} tasks
 * @property {number} workers
 * @property {number} reports
 * @property {number} reports_waiting
 * @property {Summary | null} summary
 * @property {Coverage} coverage
 * @property {Certainty | null} certainty
 * @property {{words: string} | null} more
 * @property {{workers: number, why_none: string | null, histogram: {low: number, high: number, workers: number}[]}} weights
 * @property {{share: number, since: number} | null} changed
 */

/** @typedef {{reason: string, words: string, count: number}} Rejection */
/** @typedef {{rejections: Rejection[], total: number}} Rejections */
/** @typedef {{seat: number, name: string, fingerprint: string, seen_on: string | null, is_here: boolean, dealt: boolean, confirmed: number | null, opened: boolean}} Seat */

/**
 * How the protocol of a sealed campaign stands.
 *
 * @typedef {object} Rounds
 * @property {"dealing" | "collecting" | "checking" | "closing" | "opening" | "opened" | "dead"} phase
 * @property {Seat[]} keyholders
 * @property {number} uploads
 * @property {number} waiting not yet in a certified state
 * @property {number} checked
 * @property {{worker: string, reason: string, words: string}[]} dropped
 * @property {number} minimum
 * @property {{needed: number, opened: number}} quorum
 * @property {string | null} problem
 * @property {string | null} state
 */

/** `rounds` is null where answers are not sealed, and in a draft. @typedef {{campaign: Campaign, overview: Overview, rejections: Rejections, rounds: Rounds | null}} State */
/** @typedef {{task: string, truth: string | number, confidence?: number | null, standard_error?: number | null, answers: number}} Truth */
/** @typedef {{worker: string, weight: number | null, answers: number}} Worker */
/** @typedef {{open: number, single: number, used: number}} InviteCounts */
/** @typedef {{links: string[], codes: {size: number, path: string}[] | null}} Invites */

/**
 * One part of the dashboard. `show` is called when it comes into sight, with what its address says,
 * and `update` when there is news while it is in sight.
 *
 * @typedef {object} Section
 * @property {string} name its address
 * @property {string} title
 * @property {HTMLElement} element
 * @property {(state: State, query: URLSearchParams) => void} show
 * @property {(state: State) => void} update
 * @property {(state: State) => boolean} [isFor] whether a campaign has it; left out: all have
 */
