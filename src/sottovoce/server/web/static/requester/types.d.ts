// The API's answers, as far as the requester's pages read them. Read by the type checker; no browser loads it.

export interface Held {
  epsilon: number | null;
  delta: number;
  exact: boolean;
  answers: number;
}

export interface Guarantee {
  per_answer: Held;
  per_worker: Held;
  odds: string | null;
  warning: string | null;
}

/** The behaviour of devices with their default budget; `most` tasks would all be answered. */
export interface Devices {
  budget: number | null;
  answered: number;
  most: number;
  workers: number | null;
  warning: string | null;
}

export interface Policy {
  mechanism: Record<string, any>;
}

export interface Campaign {
  id: string;
  state: "draft" | "open" | "closed";
  simulated: boolean;
  title: string;
  question: string;
  unit: string | null;
  domain: { kind: "categorical" | "ordinal" | "numeric"; labels?: (string | number)[]; low?: number; high?: number };
  policy: Policy;
  policy_hash: string;
  guarantee: Guarantee;
  /** Null without tasks, or where workers are simulated. */
  devices: Devices | null;
  answers: number;
  block: number;
  tasks: number;
  quota: number | null;
  closes_on: string | null;
  opened_on: string | null;
  closed_on: string | null;
  workers: number;
  reports: number;
  /** How many devices said that the worker's budget does not cover all tasks. */
  cut_short: number;
  assignment: "need" | "hash";
  /** Whether workers are shown the truths. */
  published: boolean;
}

export interface Summary {
  method: string | null;
  rounds: number;
  converged: boolean;
  settled: boolean;
  reports: number;
  left_out: number;
  alpha: [number, number, number] | null;
  tasks: number;
  warnings: string[];
  problem: string | null;
}

/** Nulls where the policy hides which tasks a worker answered. */
export interface Coverage {
  hidden: boolean;
  untouched: number | null;
  least: number | null;
  median: number | null;
  most: number | null;
  strip: { first: string; last: string; tasks: number; mean: number }[];
  histogram: { answers: number; tasks: number }[];
}

export interface Certainty {
  kind: "confidence" | "standard_error";
  threshold: number;
  settled: number;
  open: number;
  histogram: { low: number; high: number; tasks: number }[];
}

export interface Overview {
  tasks: number;
  workers: number;
  reports: number;
  reports_waiting: number;
  summary: Summary | null;
  coverage: Coverage;
  certainty: Certainty | null;
  more: { words: string } | null;
  weights: { workers: number; why_none: string | null; histogram: { low: number; high: number; workers: number }[] };
  changed: { share: number; since: number } | null;
}

export interface Rejections {
  rejections: { reason: string; words: string; count: number }[];
  total: number;
}

/** A keyholder's place in a sealed campaign. */
export interface Seat {
  seat: number;
  name: string;
  fingerprint: string;
  seen_on: string | null;
  is_here: boolean;
  dealt: boolean;
  confirmed: number | null;
  opened: boolean;
}

/** The state of a sealed campaign's protocol. */
export interface Rounds {
  phase: "dealing" | "collecting" | "checking" | "closing" | "opening" | "opened" | "dead";
  keyholders: Seat[];
  uploads: number;
  /** Not yet in a certified state. */
  waiting: number;
  checked: number;
  dropped: { worker: string; reason: string; words: string }[];
  minimum: number;
  quorum: { needed: number; opened: number };
  problem: string | null;
  state: string | null;
}

/** `rounds` is null where answers are not sealed, and in a draft. */
export interface State {
  campaign: Campaign;
  overview: Overview;
  rejections: Rejections;
  rounds: Rounds | null;
}

export interface Truth {
  task: string;
  truth: string | number;
  confidence?: number | null;
  standard_error?: number | null;
  answers: number;
  known?: boolean;
}

export interface Worker {
  worker: string;
  weight: number | null;
  answers: number;
}

export interface InviteCounts {
  open: number;
  single: number;
  used: number;
}

/** A QR code, as the server has computed it. */
export interface Code {
  size: number;
  path: string;
}

export interface Invites {
  links: string[];
  codes: Code[] | null;
}

/**
 * One part of the dashboard. `show` is called when it comes into sight, with what its address says,
 * and `update` when there is news while it is in sight.
 */
export interface Section {
  /** Its address. */
  name: string;
  title: string;
  element: HTMLElement;
  show: (state: State, query: URLSearchParams) => void;
  update: (state: State) => void;
  /** Whether a campaign has it; left out: all have. */
  isFor?: (state: State) => boolean;
}
