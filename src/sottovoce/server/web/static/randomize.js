/**
 * The randomiser: turns answers into reports on the worker's device.
 *
 *   const policy = await verify(document);    // throws unless the policy keeps its promise
 *   const { submission } = await randomize(policy, worker, answers, tasks);
 *
 * Every probability is an integer weight over 2^64, and every draw compares 64 bits of
* crypto.getRandomValues with these weights, so the guarantee is exact. Nothing here
* sends, stores or logs, and no error quotes an answer. The same laws in Python, with their proofs:
 * sottovoce/mechanisms.
 *
 * @typedef {string | number} Label
 * @typedef {Record<string, unknown>} Fields
 * @typedef {"format" | "calibration" | "mechanism" | "promise" | "delta" | "domain" | "insecure"} Code
 * @typedef {"labels" | "labels-or-null" | "subsets" | "points" | "sides" | "sides-or-null" | "ends"} Alphabet
 * @typedef {{ kind: Alphabet, of100: number, other: number | null, size: number | null }} Odds
 * @typedef {{ kind: "categorical" | "ordinal", labels: Label[] }} Choice
 * @typedef {{ kind: "numeric", low: number, high: number, step: number, steps: number }} Range
 *
 * @typedef {object} Verified a policy that was checked
 * @property {Fields} document
 * @property {string} hash SHA-256 of the canonical document
 * @property {string} mechanism
 * @property {number | null} sample how many of the answers are sent, if not all
 * @property {Choice | Range} domain
 * @property {boolean} hidesParticipation every given task is reported on, skipped or not
 * @property {boolean} separable answers may go out in several submissions
 * @property {number} answers the most answers of a worker that the promise covers
 * @property {"before_send" | "after_send"} showDraw
 * @property {Alphabet} alphabet
 * @property {Odds} odds the odds for 100 answers
 * @property {(count: number) => { perAnswer: number, perWorker: number }} guarantee exact epsilon, delta 0
 * @property {(answer: Label | null, threshold?: Label) => { report: Label, share: number }[] | null} rows
 *
 * @typedef {object} Law the distribution of reports; an answer is its code 0, 1, …, or SKIPPED
 * @property {Alphabet} alphabet
 * @property {boolean} hides SKIPPED is an answer like any other
 * @property {number} epsilon the largest ln P(report | answer) / P(report | another answer)
 * @property {Omit<Odds, "kind">} odds
 * @property {(answer: number, threshold: number) => Label} draw
 * @property {number} count how many reports there are
 * @property {(place: number) => Label} report the report at a place from 0 to count - 1
 * @property {(answer: number, place: number, threshold: number) => number} chance of the report there
 * @property {(worker: string, task: string) => Promise<number>} [threshold]
 *
 * @typedef {object} Grid the points low, low + step, … in units of 10^-power
 * @property {bigint} low
 * @property {bigint} step
 * @property {number} power
 * @property {number} steps
 */

const WORDS = 1n << 64n;
const SKIPPED = -1;
const NULL = "NULL"; // the report for no answer
const MOST_ROWS = 1000;
const FINEST = 1 << 16; // steps of a range

/** Why a policy cannot be verified or an answer is invalid. */
export class PolicyError extends Error {
  /** @param {Code} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Only verified policies are in here. @type {WeakMap<Verified, { law: Law, domain: Domain }>} */
const laws = new WeakMap();

/**
 * Checks a policy and computes its exact guarantee from its integers.
 * @param {unknown} document @returns {Promise<Verified>}
 */
export async function verify(document) {
  checkSecure();
  const policy = new Reader("format", document, "format domain mechanism calibration promise show_draw?").fields;
  need(policy.format === "sottovoce-policy/1", "format", "The policy's format is unknown.");
  need(policy.calibration === "sound", "calibration", "The policy is not calibrated to keep a promise.");
  need(!("show_draw" in policy) || policy.show_draw === "after_send", "format", "The policy's show_draw is unknown.");
  const promise = readPromise(policy.promise);
  const domain = new Domain(policy.domain);
  const { mechanism, sample } = unsampled(policy.mechanism);
  const [name, law] = lawOf(mechanism, domain);
  const sent = (/** @type {number} */ count) => Math.min(count, sample ?? count);
  const kept = law.epsilon * (promise.unit === "worker" ? sent(promise.answers) : 1);
  // Logarithms may differ in their last digit from one machine to another.
  need(kept <= promise.epsilon * (1 + 1e-12), "promise", "The policy promises more than its mechanism provides.");

  const text = canonical({ ...policy, domain: domain.written, promise: promise.written });
  /** @type {Verified} */
  const verified = Object.freeze({
    document: JSON.parse(text),
    hash: await sha256(text),
    mechanism: name,
    sample,
    domain: domain.shown,
    hidesParticipation: law.hides,
    separable: !law.hides && sample === null,
    answers: promise.answers,
    showDraw: "show_draw" in policy ? "after_send" : "before_send",
    alphabet: law.alphabet,
    odds: { kind: law.alphabet, ...law.odds },
    guarantee: (count) => ({ perAnswer: law.epsilon, perWorker: law.epsilon * sent(count) }),
    rows: (answer, threshold) => {
      if (law.count > MOST_ROWS || (law.threshold && threshold === undefined)) return null;
      const code = domain.code(answer, law.hides), asked = threshold === undefined ? 0 : domain.code(threshold);
      const places = [...Array(law.count).keys()];
      return places.map((place) => ({ report: law.report(place), share: law.chance(code, place, asked) }));
    },
  });
  laws.set(verified, { law, domain });
  return verified;
}

/**
 * Draws the reports of one worker, once: redrawing until a report is liked breaks the guarantee.
 * `tasks` are all tasks the worker was given; a skipped one has no answer, or null.
 * @param {Verified} verified @param {string} worker
 * @param {Map<string, Label | null>} answers @param {string[]} tasks
 * @returns {Promise<{ submission: string, reports: { task: string, report: Label }[] }>}
 */
export async function randomize(verified, worker, answers, tasks) {
  checkSecure();
  const { law, domain } = verifiedLaw(verified), known = new Set(tasks);
  need([worker, ...tasks].every(isText), "domain", "The worker or a task has no name.");
  need(known.size === tasks.length, "domain", "A task is given twice.");
  need([...answers.keys()].every((task) => known.has(task)), "domain", "An answer is to a task that was not given.");
  const answer = (/** @type {string} */ task) => answers.get(task) ?? null;
  const given = tasks.filter((task) => law.hides || answer(task) !== null);
  need(given.length > 0, "domain", "There is nothing to report: give at least one answer.");
  need(given.length <= verified.answers, "promise", `The policy promises for up to ${verified.answers} answers.`);
  // Sorted by name, which hides the order of answering. Everything is checked before the first draw.
  const cells = given.sort(byCodePoint).map((task) => ({ task, code: domain.code(answer(task), law.hides) }));
  const sent = sampled(cells, verified.sample);
  const thresholds = await Promise.all(sent.map(({ task }) => law.threshold?.(worker, task) ?? 0));
  const reports = sent.map(({ task, code }, i) => ({ task, report: law.draw(code, thresholds[i]) }));
  return { submission: submissionText(verified, worker, reports), reports };
}

/**
 * A worker's name in a campaign, which no other campaign can link to it.
 * @param {string} campaign @param {string} receipt
 */
export async function pseudonym(campaign, receipt) {
  return (await sha256(`sottovoce-worker/1\0${campaign}\0${receipt}`)).slice(0, 32);
}

/**
 * The public threshold of a worker's task: a number or a label.
 * @param {Verified} verified @param {string} worker @param {string} task
 */
export async function thresholdOf(verified, worker, task) {
  const { law, domain } = verifiedLaw(verified);
  need(law.threshold, "mechanism", "The policy asks about no thresholds.");
  const code = await law.threshold(worker, task);
  return domain.labels[code] ?? valueOf(domain.grid, code);
}

/** The SHA-256 of a text's UTF-8 bytes, in hexadecimal. @param {string} text */
export async function sha256(text) {
  checkSecure();
  const bytes = await digest(new TextEncoder().encode(text));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Randomness

/** 64 random bits. */
const word = () => crypto.getRandomValues(new BigUint64Array(1))[0];

/** A uniform integer from 0 to bound - 1; words beyond the last whole run are redrawn. @param {bigint} bound */
function below(bound) {
  for (;;) {
    const drawn = word();
    if (drawn < WORDS - (WORDS % bound)) return drawn % bound;
  }
}

/**
 * A uniformly random set of `size` cells: those with the smallest random keys.
 * @template T @param {T[]} cells @param {number | null} size
 */
function sampled(cells, size) {
  if (size === null) return cells;
  let keys;
  do keys = cells.map(word); while (new Set(keys).size < keys.length);
  const last = [...keys].sort((a, b) => (a < b ? -1 : 1))[Math.min(size, keys.length) - 1];
  return cells.filter((_, row) => keys[row] <= last);
}

// The laws: each is built from the integers of a policy's mechanism

/** @type {Record<string, [fields: string, make: (read: Reader, domain: Domain) => Law]>} */
const MECHANISMS = {
  "randomized-response": ["labels other", (read, domain) => keeping("labels", read.labels(domain), read)],

  "null-randomized-response": ["labels other", (read, domain) => {
    const labels = read.labels(domain);
    need(!labels.map(String).includes(NULL), "domain", "A label is NULL, which means not answering here.");
    return keeping("labels-or-null", [...labels, NULL], read);
  }],

  // A set of `size` of the symbols, which has the answer with weight `include`.
  "subset-selection": ["labels size include null bins? steps?", (read, domain) => {
    const hides = read.flag("null"), numbers = domain.kind === "numeric";
    const fits = numbers ? read.fields.labels === 0 : !("bins" in read.fields || "steps" in read.fields);
    need(fits, "mechanism", "The mechanism is made for another kind of answers.");
    const steps = numbers ? read.grid(domain).steps : 0;
    const values = numbers ? read.integer("bins", 2, steps + 1) : read.labels(domain).length;
    const symbols = values + Number(hides), size = read.integer("size", 1, symbols - 1);
    const include = read.weight("include", WORDS - 1n);
    need(symbols <= 64, "mechanism", "A set has at most 64 symbols.");
    need(include * BigInt(symbols) >= WORDS * BigInt(size), "mechanism", "The mechanism's sets avoid the answer.");
    const having = choose(symbols - 1, size - 1), lacking = choose(symbols - 1, size);
    /** @type {(answer: number) => number} */
    const symbol = (answer) =>
      answer === SKIPPED ? values : numbers ? Math.floor((answer * values) / (steps + 1)) : answer;
    return {
      alphabet: "subsets", hides,
      epsilon: logRatio(include * BigInt(symbols - size), (WORDS - include) * BigInt(size)),
      odds: { of100: Math.round(100 * share(include)), other: null, size },
      draw(answer) {
        const place = symbol(answer), inside = word() < include;
        const others = subset(below(inside ? having : lacking), symbols - 1, inside ? size - 1 : size);
        // The others are numbered without the answer's symbol: those after it move up by one.
        const members = others.map((member) => member + Number(member >= place));
        return (inside ? [...members, place] : members).sort((a, b) => a - b).join(" ");
      },
      count: Number(choose(symbols, size)),
      report: (i) => subset(BigInt(i), symbols, size).join(" "),
      chance: (answer, i) => subset(BigInt(i), symbols, size).includes(symbol(answer))
        ? share(include) / Number(having) : share(WORDS - include) / Number(lacking),
    };
  }],

  // Noise whose weight falls by `ratio` with each step, and reports that end at `reach`.
  laplace: ["steps centre ratio reach null", (read, domain) => {
    const grid = read.grid(domain), { steps } = grid, reach = read.integer("reach", steps, 1 << 17);
    const noise = geometric(read.weight("centre", WORDS - 1n), read.weight("ratio", WORDS - 1n), reach);
    const ways = ["absent", "centre", "random"];
    const skipped = ways.find((way) => way === read.fields.null) ?? read.integer("null", 0, steps);
    const standIn = typeof skipped === "number" ? skipped : Math.floor(steps / 2);
    const first = steps - reach, last = reach;
    /** @type {(answer: number, report: number) => number} */
    const chance = (answer, report) => share(report === first ? noise.tails[answer - first]
      : report === last ? noise.tails[last - answer] : noise.weights[Math.abs(report - answer)]);
    return {
      hides: skipped !== "absent",
      epsilon: clampedEpsilon(noise, steps),
      draw(answer) {
        const moved = noise.draw();
        const point = answer !== SKIPPED ? answer : skipped === "random" ? Number(below(BigInt(steps + 1))) : standIn;
        return valueOf(grid, Math.min(Math.max(point + moved, first), last));
      },
      ...points(grid, first, (answer, report) => {
        if (answer !== SKIPPED) return chance(answer, report);
        if (skipped !== "random") return chance(standIn, report);
        return [...Array(steps + 1).keys()].reduce((sum, any) => sum + chance(any, report), 0) / (steps + 1);
      }),
    };
  }],

  // A point in a window around the answer or, less likely, one outside it.
  piecewise: ["steps beyond width outside", (read, domain) => {
    const grid = read.grid(domain), { steps } = grid;
    const beyond = read.integer("beyond", 0, Math.floor(((1 << 18) - steps - 1) / 2));
    const reports = steps + 1 + 2 * beyond, width = read.integer("width", 1, reports - 1);
    const outside = read.weight("outside", WORDS / BigInt(reports));
    const window = WORDS - BigInt(reports - width) * outside;
    const inside = window / BigInt(width), rest = window % BigInt(width); // the rest is the last point's
    /** @type {(answer: number) => number} */
    const left = (answer) => Math.floor((2 * answer * (reports - width) + steps) / (2 * steps)) - beyond;
    return {
      hides: false,
      epsilon: logRatio(inside + rest, outside),
      draw(answer) {
        const first = left(answer), drawn = word();
        if (drawn < window) return valueOf(grid, first + Math.min(Number(drawn / inside), width - 1));
        const other = Number((drawn - window) / outside) - beyond;
        return valueOf(grid, other < first ? other : other + width);
      },
      ...points(grid, -beyond, (answer, report) => {
        const place = report - left(answer);
        return share(place < 0 || place >= width ? outside : place < width - 1 ? inside : inside + rest);
      }),
    };
  }],

  // The larger the number, the more likely the high end.
  duchi: ["steps other", (read, domain) => {
    const { steps } = read.grid(domain), other = read.weight("other", WORDS / 2n - 1n);
    /** @type {(answer: number) => bigint} */
    const high = (answer) => other + ((WORDS - 2n * other) * BigInt(answer)) / BigInt(steps);
    return {
      alphabet: "ends", hides: false,
      epsilon: logRatio(WORDS - other, other),
      odds: { of100: Math.round(100 * share(WORDS - other)), other: null, size: null },
      draw: (answer) => (word() < high(answer) ? "high" : "low"),
      count: 2,
      report: (i) => ["low", "high"][i],
      chance: (answer, i) => share(i ? high(answer) : WORDS - high(answer)),
    };
  }],

  // The side of a public threshold that the answer is on, kept or not.
  threshold: ["steps other null coin salt windows", (read, domain) => {
    const { steps } = read.grid(domain), hides = read.flag("null"), coin = read.flag("coin");
    need(hides || !coin, "mechanism", "The mechanism has a coin for skipped tasks and does not hide them.");
    const sides = ["below", "not below"];
    const law = hides && !coin
      ? keeping("sides-or-null", [...sides, NULL], read, 1n) : keeping("sides", sides, read, 1n);
    /** @type {(answer: number, threshold: number) => number} */
    const side = (answer, threshold) => (answer === SKIPPED ? SKIPPED : Number(answer >= threshold));
    const tossed = (/** @type {number} */ answer) => coin && answer === SKIPPED;
    return {
      ...law, hides,
      threshold: thresholds(read, steps),
      draw: (answer, threshold) => law.draw(tossed(answer) ? Number(word() & 1n) : side(answer, threshold), 0),
      chance: (answer, i, threshold) => (tossed(answer) ? 0.5 : law.chance(side(answer, threshold), i, 0)),
    };
  }],
};

/** @param {Fields} mechanism @param {Domain} domain @returns {[string, Law]} */
function lawOf(mechanism, domain) {
  const name = String(mechanism.name);
  need(Object.hasOwn(MECHANISMS, name), "mechanism", "The policy's mechanism is not one that runs in a browser.");
  const [fields, make] = MECHANISMS[name];
  return [name, make(new Reader("mechanism", mechanism, `name ${fields}`), domain)];
}

/**
 * Keep a symbol, or send another: each other one has weight `other`. The last symbol may be NULL.
 * Below `keep` a word keeps the symbol; the rest is cut into equal runs, one for each shift.
 * @param {Alphabet} alphabet @param {Label[]} names @param {Reader} read @returns {Law}
 */
function keeping(alphabet, names, read, less = 0n) {
  const count = names.length, other = read.weight("other", WORDS / BigInt(count) - less);
  const last = count - 1, keep = WORDS - BigInt(last) * other;
  const symbol = (/** @type {number} */ answer) => (answer === SKIPPED ? last : answer);
  return {
    alphabet, count,
    hides: alphabet === "labels-or-null" || alphabet === "sides-or-null",
    epsilon: logRatio(keep, other),
    odds: { of100: Math.round(100 * share(keep)), other: count > 2 ? 100 * share(other) : null, size: null },
    draw(answer) {
      const drawn = word(), shift = drawn < keep ? 0n : (drawn - keep) / other + 1n;
      return names[(symbol(answer) + Number(shift)) % count];
    },
    report: (i) => names[i],
    chance: (answer, i) => share(i === symbol(answer) ? keep : other),
  };
}

/**
 * What laws on points share: reports from `first` on, and as many beyond the other end.
 * @param {Grid} grid @param {number} first @param {(answer: number, report: number) => number} chance
 */
function points(grid, first, chance) {
  const { steps } = grid, middle = Math.floor(steps / 2), tenth = Math.max(1, Math.floor(steps / 10));
  const low = Math.max(middle - tenth, first), high = Math.min(middle + tenth, steps - first);
  let near = 0;
  for (let report = low; report <= high; report++) near += chance(middle, report);
  return {
    alphabet: /** @type {const} */ ("points"),
    odds: { of100: Math.round(100 * Math.min(1, near)), other: null, size: null },
    count: steps + 1 - 2 * first,
    report: (/** @type {number} */ i) => valueOf(grid, first + i),
    chance: (/** @type {number} */ answer, /** @type {number} */ i) => chance(answer, first + i),
  };
}

/**
 * Noise z with P(z = d) = weights[|d|] / 2^64 and, for d >= 0, P(z >= d) = tails[d] / 2^64.
 * @param {bigint} centre @param {bigint} ratio @param {number} reach
 */
function geometric(centre, ratio, reach) {
  const weights = new BigUint64Array(reach + 1), tails = new BigUint64Array(reach + 1);
  let rest = (WORDS + centre) / 2n;
  for (let d = 0, fixed = centre << 64n; d < reach; d++) {
    rest -= weights[d] = fixed >> 64n;
    fixed = (fixed * ratio) >> 64n;
  }
  const fits = centre % 2n === 0n && weights[reach - 1] > 0n && rest > 0n;
  need(fits, "mechanism", "The mechanism's noise does not fit 64 bits.");
  weights[reach] = rest;
  for (let d = reach, tail = 0n; d >= 0; d--) tails[d] = tail += weights[d];
  const upTo = (/** @type {number} */ d) => (d < 0 ? tails[-d] : WORDS - tails[d + 1]);
  const draw = () => {
    const drawn = word();
    let low = -reach, high = reach; // between them is the first d with drawn < upTo(d)
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (drawn < upTo(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  return { weights, tails, draw };
}

/**
 * Weights fall with the distance, so the largest loss is one between the first and the last answer.
 * @param {{ weights: BigUint64Array, tails: BigUint64Array }} noise @param {number} steps
 */
function clampedEpsilon({ weights, tails }, steps) {
  const reach = weights.length - 1, beyond = reach - steps;
  let largest = logRatio(tails[beyond], tails[reach]);
  for (let d = 0; d < beyond; d++) largest = Math.max(largest, logRatio(weights[d], weights[d + steps]));
  return beyond || steps === 1 ? largest : Math.max(largest, logRatio(weights[0], weights[reach - 1]));
}

/**
 * Public thresholds: the first 48 bits of SHA-256(salt, worker, task), each of the three after its
 * length in 4 bytes, spread over the thresholds of the task's window.
 * @param {Reader} read @param {number} steps
 */
function thresholds(read, steps) {
  const { salt } = read.fields, windows = new Map(Object.entries(objectOf("mechanism", read.fields.windows)));
  need(typeof salt === "string", "mechanism", "The mechanism's salt must be a text.");
  for (const [task, window] of windows) {
    need(Array.isArray(window) && window.length === 2, "mechanism", "A window has a first and a last threshold.");
    const last = integer("mechanism", window[1], "last threshold", 1, steps);
    windows.set(task, [integer("mechanism", window[0], "first threshold", 1, last), last]);
  }
  return async (/** @type {string} */ worker, /** @type {string} */ task) => {
    const framed = [salt, worker, task].flatMap((text) => {
      const bytes = new TextEncoder().encode(text), size = bytes.length;
      return [size >>> 24, size >>> 16, size >>> 8, size, ...bytes]; // a byte keeps the last 8 bits
    });
    const drawn = new DataView((await digest(new Uint8Array(framed))).buffer).getBigUint64(0) >> 16n;
    const [first, last] = /** @type {[number, number]} */ (windows.get(task) ?? [1, steps]);
    return first + Number((drawn * BigInt(last - first + 1)) >> 48n);
  };
}

/** ln(a / b) from the exact difference. @param {bigint} a @param {bigint} b */
const logRatio = (a, b) => Math.log1p(Number(a - b) / Number(b));

/** @param {bigint} weight */
const share = (weight) => Number(weight) / 2 ** 64;

/** How many sets of k of n elements there are. @param {number} n @param {number} k */
function choose(n, k) {
  let number = k > n ? 0n : 1n;
  for (let i = 0; i < k; i++) number = (number * BigInt(n - i)) / BigInt(i + 1);
  return number;
}

/**
 * The rank-th set of `size` of the elements, by the combinatorial number system.
 * @param {bigint} rank @param {number} elements @param {number} size
 */
function subset(rank, elements, size) {
  const members = [];
  for (let element = elements - 1; size > 0; element--) {
    const before = choose(element, size);
    if (rank < before) continue;
    rank -= before;
    size -= 1;
    members.unshift(element);
  }
  return members;
}

// Answers

/** The domain of answers: labels, or a range of numbers divided into steps. */
class Domain {
  /** @param {unknown} document */
  constructor(document) {
    const { kind } = objectOf("domain", document);
    need(kind === "numeric" || kind === "categorical" || kind === "ordinal", "domain",
      "The policy's domain has an unknown kind.");
    this.kind = /** @type {Choice["kind"] | Range["kind"]} */ (kind);
    const read = new Reader("domain", document, kind === "numeric" ? "kind low high step?" : "kind labels");
    /** The range, and its step. @type {number[]} */
    this.range = ["low", "high", "step"].filter((name) => name in read.fields).map((name) => read.decimal(name));
    /** @type {Label[]} */
    this.labels = kind === "numeric" ? [] : labelsOf(read.fields.labels);
    const [low, high, step] = this.range.map(floatText);
    /** As the canonical policy has it. */
    this.written = kind !== "numeric" ? read.fields : step ? { kind, low, high, step } : { kind, low, high };
  }

  /** @type {Grid | undefined} */
  #grid;

  get grid() {
    return (this.#grid ??= gridOf(this.kind === "numeric" ? this.range : scaleOf(this.labels), this.kind));
  }

  /** @returns {Choice | Range} */
  get shown() {
    if (this.kind !== "numeric") return { kind: this.kind, labels: [...this.labels] };
    const [low, high] = this.range;
    return { kind: this.kind, low, high, step: valueOf({ ...this.grid, low: 0n }, 1), steps: this.grid.steps };
  }

  /** The code of an answer. @param {Label | null} answer @param {boolean} [hides] */
  code(answer, hides = false) {
    if (answer === null && hides) return SKIPPED;
    const code = this.kind === "numeric" ? this.#nearest(answer)
      : this.labels.findIndex((label) => String(label) === String(answer));
    need(answer !== null && code >= 0, "domain", "An answer is not in the policy's domain.");
    return code;
  }

  /** The nearest point; -1 outside the range. @param {Label | null} answer */
  #nearest(answer) {
    const [low, high] = this.range, inside = typeof answer === "number" && answer >= low && answer <= high;
    return inside ? Math.round((answer - low) / valueOf({ ...this.grid, low: 0n }, 1)) : -1;
  }
}

/** @param {unknown} labels @returns {Label[]} */
function labelsOf(labels) {
  need(Array.isArray(labels) && labels.length > 0, "domain", "The policy's domain has no labels.");
  const fine = labels.every((label) => Number.isSafeInteger(label)
    || (isText(label) && [...label].length <= 1000 && !label.includes("\0")));
  need(fine, "domain", "The policy's labels must be texts or integers.");
  need(new Set(labels.map(String)).size === labels.length, "domain", "The policy's labels must differ.");
  return [...labels];
}

/** The number each label stands for: itself if all are numbers, else its rank. @param {Label[]} labels */
function scaleOf(labels) {
  const texts = labels.map((label) => String(label).trim());
  // Texts that other parsers read as numbers, such as 1_000 or ٣, would give another grid.
  need(!texts.some((text) => /(?!\d)\p{Nd}|\d_\d/u.test(text)), "domain", "The policy's labels have unusual digits.");
  const numbers = texts.map((text) => (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN));
  return numbers.every(Number.isFinite) ? numbers : labels.map((_, rank) => rank);
}

/**
 * The exact points of a range (its low, high and perhaps its step), or of a scale.
 * @param {number[]} numbers @param {string} kind @returns {Grid}
 */
function gridOf(numbers, kind) {
  const fits = kind !== "categorical" && numbers.length > 1 && numbers.length <= FINEST + 1;
  need(fits, "mechanism", "The mechanism takes numbers, or labels in order.");
  const exact = numbers.map(fraction), power = Math.max(0, ...exact.map(([, places]) => places)) + 3;
  const at = exact.map(([digits, places]) => digits * 10n ** BigInt(power - places));
  const low = at[0], high = kind === "numeric" ? at[1] : at[at.length - 1];
  // A range without a step has a thousand.
  const step = kind === "ordinal" ? at[1] - low : at[2] ?? (high - low) / 1000n;
  const whole = step > 0n && high > low && (high - low) % step === 0n;
  need(whole, "domain", "The policy's range is not cut into equal steps.");
  const even = kind === "numeric" || at.every((point, i) => point === low + BigInt(i) * step);
  need(even, "mechanism", "The policy's labels are not evenly spaced.");
  const steps = Number((high - low) / step), largest = Math.max(...numbers.map(Math.abs));
  const fine = Number(`${step}e-${power}`) < largest * 2 ** -32; // floating point could not distinguish reports
  need(steps <= FINEST && largest <= 1e100 && !fine, "domain", "The policy's steps are too fine or too far from 0.");
  return { low, step, power, steps };
}

/** A number as digits over a power of ten: 0.1 is a tenth here. @param {number} number @returns {[bigint, number]} */
function fraction(number) {
  const [digits, exponent] = number.toExponential().split("e"), [whole, rest = ""] = digits.split(".");
  return [BigInt(whole + rest), rest.length - Number(exponent)];
}

/** The number at a point of the grid, rounded once. @param {Grid} grid @param {number} code */
function valueOf({ low, step, power }, code) {
  return Number(`${low + BigInt(code) * step}e-${power}`);
}

// Documents

/** Reads an object that has all of the named fields, those with a ? perhaps, and no other. */
class Reader {
  /** @param {Code} code @param {unknown} document @param {string} names */
  constructor(code, document, names) {
    this.code = code;
    this.fields = objectOf(code, document);
    const has = Object.keys(this.fields), listed = names.split(" ");
    need(listed.every((name) => name.endsWith("?") || has.includes(name)), code, `The policy lacks one of: ${names}.`);
    const known = has.every((name) => listed.includes(name) || listed.includes(`${name}?`));
    need(known, code, "The policy has an unknown field.");
  }

  /** @param {string} name @param {number} low @param {number} high */
  integer(name, low, high) {
    return integer(this.code, this.fields[name], name, low, high);
  }

  /** A weight over 2^64. None is 0: an impossible report would reveal the answer. @param {string} name @param {bigint} most */
  weight(name, most) {
    const text = this.fields[name], value = typeof text === "string" && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n;
    need(value >= 1n && value <= most, this.code, `The policy's ${name} must be a text from 1 to ${most}.`);
    return value;
  }

  /** @param {string} name */
  decimal(name) {
    const text = this.fields[name], form = /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,4})?$/;
    const value = typeof text === "string" && form.test(text) ? Number(text) : NaN;
    need(Number.isFinite(value), this.code, `The policy's ${name} must be a number, written as a text.`);
    return value;
  }

  /** @param {string} name */
  flag(name) {
    const value = this.fields[name];
    need(typeof value === "boolean", this.code, `The policy's ${name} must be true or false.`);
    return value;
  }

  /** The labels, if their number matches the mechanism. @param {Domain} domain */
  labels(domain) {
    const { labels } = domain;
    need(this.integer("labels", 2, 1 << 20) === labels.length, this.code, "The mechanism is made for other labels.");
    return labels;
  }

  /** The grid, if its number of steps matches the mechanism. @param {Domain} domain */
  grid(domain) {
    const { grid } = domain;
    need(this.integer("steps", 1, FINEST) === grid.steps, this.code, "The mechanism is made for other steps.");
    return grid;
  }
}

/** @param {unknown} document */
function readPromise(document) {
  need(document !== null, "promise", "The policy promises nothing.");
  const read = new Reader("promise", document, "unit epsilon delta answers"), { unit } = read.fields;
  const epsilon = read.decimal("epsilon"), delta = read.decimal("delta");
  const answers = read.integer("answers", 1, 1 << 24);
  need(delta === 0, "delta", "The policy's promise has a delta, which is not verified here.");
  const fits = epsilon > 0 && (unit === "answer" || unit === "worker");
  need(fits, "promise", "The policy's promise has no epsilon per answer or worker.");
  const written = { ...read.fields, epsilon: floatText(epsilon), delta: floatText(delta) };
  return { unit, epsilon, answers, written };
}

/** The mechanism, and how many of the answers are sent, if not all. @param {unknown} document */
function unsampled(document) {
  const mechanism = objectOf("mechanism", document);
  if (mechanism.name !== "sampled") return { mechanism, sample: null };
  const read = new Reader("mechanism", document, "name answers of");
  return { mechanism: objectOf("mechanism", read.fields.of), sample: read.integer("answers", 1, 2 ** 31) };
}

/** @param {Code} code @param {unknown} value @returns {Fields} */
function objectOf(code, value) {
  const is = typeof value === "object" && value !== null && !Array.isArray(value);
  need(is, code, "A part of the policy is not an object.");
  return /** @type {Fields} */ (value);
}

/** @param {Code} code @param {unknown} value @param {string} name @param {number} low @param {number} high */
function integer(code, value, name, low, high) {
  const fits = typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
  need(fits, code, `The policy's ${name} must be an integer from ${low} to ${high}.`);
  return value;
}

/** Sorted, compact, ASCII: the same bytes everywhere. @param {unknown} value @returns {string} */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([a], [b]) => byCodePoint(a, b));
    return `{${entries.map(([name, each]) => `${canonical(name)}:${canonical(each)}`)}}`;
  }
  const escaped = (/** @type {string} */ unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[\x7f-\uffff]/g, escaped);
}

/** A fraction as canonical texts have it: 3.0, 0.5, 1e-05. @param {number} number */
function floatText(number) {
  const [digits, exponent] = number.toExponential().split("e"), size = Number(exponent);
  if (size < -4 || size >= 16) return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, "0")}`;
  return `${Object.is(number, -0) ? "-" : ""}${number}${Number.isInteger(number) ? ".0" : ""}`;
}

/** @param {Verified} verified @param {string} worker @param {{ task: string, report: Label }[]} reports */
function submissionText(verified, worker, reports) {
  const written = reports.map(({ report }) =>
    verified.alphabet === "points" ? floatText(Number(report)) : canonical(report));
  const tasks = canonical(reports.map(({ task }) => task));
  return `{"format":"sottovoce-submission/1","policy":"${verified.hash}","reports":[${written}],`
    + `"tasks":${tasks},"worker":${canonical(worker)}}`;
}

/** JavaScript's own order differs beyond U+FFFF. @param {string} a @param {string} b */
function byCodePoint(a, b) {
  let same = 0;
  while (same < a.length && a[same] === b[same]) same++;
  return (a.codePointAt(same) ?? -1) - (b.codePointAt(same) ?? -1);
}

/** @param {unknown} text @returns {text is string} */
function isText(text) {
  return typeof text === "string" && text !== "" && !/\p{Surrogate}/u.test(text);
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** @param {Verified} verified */
function verifiedLaw(verified) {
  const found = laws.get(verified);
  need(found, "format", "This policy was not verified here.");
  return found;
}

function checkSecure() {
  const secure = globalThis.isSecureContext !== false && globalThis.crypto?.subtle;
  need(secure, "insecure", "This page did not come over a secure connection (https).");
}

/** @param {unknown} holds @param {Code} code @param {string} message @returns {asserts holds} */
function need(holds, code, message) {
  if (!holds) throw new PolicyError(code, message);
}
