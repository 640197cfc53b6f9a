// The nouns of the worker page. Read by the type checker; no browser loads it.

import type { Verified } from "../randomize.js";
import type { Sealed } from "../seal.js";

export interface Offer {
  id: string;
  state: "open" | "closed";
  title: string;
  question: string;
  unit: string | null;
  policy: object;
  policy_hash: string;
  tasks: number;
  quota_left: number | null;
  simulated?: boolean;
  assignment?: "need" | "hash";
}

export interface Given {
  task: string;
  text: string;
  image: string | null;
  /** How much reports on it are wanted: the largest first, and none at 0. */
  need?: number | null;
}

export interface Block {
  worker: string;
  tasks: Given[];
}

/** One submission: its bytes never change once they are here. */
export interface Parcel {
  id: string;
  bytes: string;
  tasks: string[];
  stage: "drawn" | "sending" | "sent" | "refused" | "erased";
  /** Sent with the statement that the limit does not cover all questions. */
  cutShort?: boolean;
  why?: string;
}

/** The last offer and tasks. They are kept until something is drawn: `after` is the number of parcels. */
export interface Shown {
  offer: Offer;
  block: Block;
  after?: number;
}

/** What this device keeps of one campaign. `spent` is the epsilon per worker of all its parcels. */
export interface Kept {
  invite: string | null;
  receipt: string | null;
  policy: string | null;
  agreed: boolean;
  answers: number;
  spent: number;
  parcels: Parcel[];
}

export type Label = string | number;
export type Answers = Map<string, Label | null>;

interface Visit {
  offer: Offer;
  tasks: Given[];
  worker: string;
  /** The answers of this tab. They are in its memory and its sessionStorage, nowhere else. */
  answers: Answers;
  go(view: string, place?: number): void;
  again(): void;
  /** Nothing more can be done here. */
  stop(kind: string): void;
}

/** A campaign whose reports are drawn here at random. */
export interface DrawnApp extends Visit {
  verified: Verified;
}

/** A campaign whose answers are sealed here. */
export interface SealedApp extends Visit {
  verified: Sealed;
}

export type App = DrawnApp | SealedApp;

/** A problem with its own view. */
export interface Trouble {
  kind: string;
  facts: string[];
}
