/**
 * Sealing: splits answers to a sealed campaign into shares that no keyholder can read alone.
 *
 *   const policy = await verifySealed(document);    // throws unless the policy keeps its promise
 *   const { submission } = await seal(policy, campaign, worker, answers, tasks);
 *
 * 1. An answer becomes bits, its ballot.
 * 2. Each bit is the value at 0 of a random polynomial of degree t over the integers modulo 2^61 - 1;
 *    keyholder i gets its value at i. Up to t of these values are uniformly random, independent of the bit.
 * 3. All values of a keyholder are sealed to its key: HPKE (RFC 9180), base mode.
 * 4. A text with the hashes of the sealed shares is signed (Ed25519) with a key used once.
 *
 * Randomness is always crypto.getRandomValues. Nothing here sends, stores or logs, and no error
* quotes an answer. The same in Python, with the keyholders' side:
 * sottovoce/securesum.
 *
 * @typedef {string | number} Label
 * @typedef {Record<string, unknown>} Fields
 * @typedef {Uint8Array<ArrayBuffer>} Bytes
 * @typedef {"format" | "calibration" | "mechanism" | "promise" | "delta" | "domain"} Wrong
 * @typedef {Wrong | "keyholders" | "browser" | "insecure"} Code
 * @typedef {{ kind: "categorical" | "ordinal", labels: Label[] } | { kind: "numeric", low: number, high: number }} Shown
 * @typedef {"votes" | "sum" | "histogram"} Layout
 *
 * @typedef {object} Sealed a policy for sealed answers that was checked
 * @property {Fields} document
 * @property {string} hash SHA-256 of the canonical document
 * @property {Shown} domain
 * @property {boolean} hidesParticipation every given task has a ballot, skipped or not
 * @property {false} separable all answers go out at once
 * @property {number} answers the most answers of a worker that the promise covers
 * @property {{ name: string, fingerprint: string }[]} keyholders in the order of their seats
 * @property {number} colluders this many keyholders together learn nothing; one more could read everything
 * @property {number} seats
 * @property {number} minimum the fewest contributions in an opened total
 * @property {Layout} layout
 * @property {(count: number) => { perAnswer: number, perWorker: number }} guarantee exact epsilon, delta 0
 *
 * @typedef {object} Plan what sealing needs of a policy
 * @property {(code: number) => number[]} ballot the bits of an answer's code, or of SKIPPED
 * @property {(answer: Label | null) => number} code
 * @property {Bytes[]} keys of the keyholders
 * @property {number} degree
 */

const P = (1n << 61n) - 1n;
const SKIPPED = -1;
const KEY = 32; // bytes
const CONTEXT = "sottovoce-sealed/1\0"; // prefix of everything that is signed or sealed
const MOST_AT_ONCE = 1 << 16; // bytes that crypto.getRandomValues gives at once

/** Why a policy cannot be verified or an answer cannot be sealed. */
export class PolicyError extends Error {
  /** @param {Code} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** Only verified policies are in here. @type {WeakMap<Sealed, Plan>} */
const plans = new WeakMap();

/**
 * Checks a policy for sealed answers and computes its exact guarantee.
 * @param {unknown} document @returns {Promise<Sealed>}
 */
export async function verifySealed(document) {
  checkSecure();
  const policy = new Reader("format", document, "format domain mechanism calibration promise show_draw?").fields;
  need(policy.format === "sottovoce-policy/1", "format", "The policy's format is unknown.");
  need(policy.calibration === "sound", "calibration", "The policy is not calibrated to keep a promise.");
  need(!("show_draw" in policy) || policy.show_draw === "after_send", "format", "The policy's show_draw is unknown.");
  const promise = readPromise(policy.promise), domain = new Domain(policy.domain);
  const mechanism = readMechanism(policy.mechanism), { layout, seats, degree, minimum, hidden, epsilon } = mechanism;
  const kept = epsilon * (promise.unit === "worker" ? promise.answers : 1);
  // Quotients may differ in their last digit from one machine to another.
  need(kept <= promise.epsilon * (1 + 1e-12), "promise", "The policy promises more than its noise provides.");
  const code = coding(mechanism, domain);
  const text = canonical({ ...policy, domain: domain.written, promise: promise.written });
  const keyholders = await readKeyholders(mechanism.keyholders, seats, mechanism.coordinator);
  /** @type {Sealed} */
  const verified = Object.freeze({
    document: JSON.parse(text),
    hash: hex(await digest(utf8(text))),
    domain: domain.shown,
    hidesParticipation: hidden,
    separable: false,
    answers: promise.answers,
    keyholders: keyholders.map(({ name, fingerprint }) => ({ name, fingerprint })),
    colluders: degree,
    seats, minimum, layout,
    guarantee: (count) => ({ perAnswer: epsilon, perWorker: epsilon * count }),
  });
  plans.set(verified, { code, ballot: balloting(mechanism), keys: keyholders.map(({ key }) => key), degree });
  return verified;
}

/**
 * Seals the answers of one worker, once. `tasks` are all tasks the worker was given; a skipped one has
 * no answer, or null.
 * @param {Sealed} verified @param {string} campaign @param {string} worker
 * @param {Map<string, Label | null>} answers @param {string[]} tasks
 * @returns {Promise<{ submission: string }>}
 */
export async function seal(verified, campaign, worker, answers, tasks) {
  checkSecure();
  const plan = plans.get(verified), known = new Set(tasks);
  need(plan, "format", "This policy was not verified here.");
  need([campaign, worker, ...tasks].every(isText), "domain", "The campaign, the worker or a task has no name.");
  need(known.size === tasks.length, "domain", "A task is given twice.");
  need([...answers.keys()].every((task) => known.has(task)), "domain", "An answer is to a task that was not given.");
  const answer = (/** @type {string} */ task) => answers.get(task) ?? null;
  const given = tasks.filter((task) => verified.hidesParticipation || answer(task) !== null).sort(byCodePoint);
  need(given.length > 0, "domain", "There is nothing to seal: give at least one answer.");
  need(given.length <= verified.answers, "promise", `The policy promises for up to ${verified.answers} answers.`);
  const bits = given.flatMap((task) => plan.ballot(plan.code(answer(task))));

  // The draws have a fixed order: the signing key, the polynomials, a key for each sealed share.
  const signing = await keyPair("Ed25519", random(KEY), "sign");
  const polynomials = sharing(bits, plan.degree);
  const about = { campaign, key: signing.name, phase: "contribute", policy: verified.hash, round: 1, worker };
  const names = hex(await digest(utf8(canonical(given))));
  const shares = [];
  for (const [i, key] of plan.keys.entries()) {
    const info = utf8(CONTEXT + canonical({ ...about, keyholder: i + 1, tasks: names }));
    shares.push(await hpke(key, info, valuesAt(BigInt(i + 1), polynomials)));
  }
  const hashes = await Promise.all(shares.map(async (share) => hex(await digest(share))));
  const text = canonical({
    ...about, format: "sottovoce-contribution/1", shares: hashes, suite: "committee", tasks: given,
  });
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", signing.key, utf8(CONTEXT + text)));
  return { submission: canonical({ shares: shares.map(b64), signature: b64(signature), text }) };
}

// Ballots: answers as bits

/**
 * The bits of a task. Keyholders check, without seeing them, that each is 0 or 1 and that they are
* consistent. The last bit of a hidden ballot with two labels, or of a hidden number, is 1 if there is
* an answer.
 * @param {{ layout: Layout, size: number, hidden: boolean }} mechanism @returns {Plan["ballot"]}
 */
function balloting({ layout, size, hidden }) {
  const answered = (/** @type {number} */ code) => (hidden ? [Number(code !== SKIPPED)] : []);
  if (layout === "sum") {
    const bits = weighted(size);
    return (code) => [...bits(code === SKIPPED ? size / 2 : code), ...answered(code)];
  }
  if (layout === "votes" && size === 2) return (code) => [Number(code === 1), ...answered(code)];
  return (code) => Array.from({ length: size }, (_, label) => Number(label === code));
}

/**
 * A number from 0 to `most` as bits of weights 1, 2, 4, … and a last weight, which add up to `most`:
* no bits can encode more than that.
 * @param {number} most
 */
function weighted(most) {
  const low = 31 - Math.clz32(most), full = 2 ** low - 1;
  return (/** @type {number} */ code) => {
    const last = Number(code > full), rest = code - last * (most - full);
    return [...Array.from({ length: low }, (_, place) => (rest >> place) & 1), last];
  };
}

/**
 * The code of an answer: its label, or its number in `size` steps or bins.
 * @param {{ layout: Layout, size: number, hidden: boolean }} mechanism @param {Domain} domain
 * @returns {Plan["code"]}
 */
function coding({ layout, size, hidden }, domain) {
  const numbers = domain.kind === "numeric", [low, high] = domain.range;
  need(numbers !== (layout === "votes"), "mechanism", "The mechanism is made for another kind of answers.");
  need(numbers || domain.labels.length === size, "mechanism", "The mechanism is made for other labels.");
  return (answer) => {
    if (answer === null && hidden) return SKIPPED;
    need(domain.has(answer), "domain", "An answer is not in the policy's domain.");
    if (!numbers) return domain.labels.findIndex((label) => String(label) === String(answer));
    const place = ((Number(answer) - low) * size) / (high - low);
    return layout === "sum" ? halfToEven(place) : Math.min(size - 1, Math.floor(place));
  };
}

/** @param {number} value */
function halfToEven(value) {
  const floor = Math.floor(value), rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}

// Sharing: Shamir's scheme over the integers modulo P

/**
 * A polynomial for each bit, with the bit at 0; two of degree 2t that are 0 there, and two random ones of
* degree t. They mask the keyholders' checks of the bits.
 * @param {number[]} bits @param {number} t @returns {bigint[][]} coefficients, the constant first
 */
function sharing(bits, t) {
  const drawn = elements(bits.length * t), zeros = elements(4 * t), masks = elements(2 * (t + 1));
  return [
    ...bits.map((bit, i) => [BigInt(bit), ...drawn.slice(i * t, (i + 1) * t)]),
    [0n, ...zeros.slice(0, 2 * t)],
    [0n, ...zeros.slice(2 * t)],
    masks.slice(0, t + 1),
    masks.slice(t + 1),
  ];
}

/**
 * The polynomials' values at a keyholder's seat, 8 bytes each.
 * @param {bigint} seat @param {bigint[][]} polynomials
 */
function valuesAt(seat, polynomials) {
  const written = new DataView(new ArrayBuffer(8 * polynomials.length));
  polynomials.forEach((coefficients, i) => {
    const value = coefficients.reduceRight((sum, coefficient) => (sum * seat + coefficient) % P, 0n);
    written.setBigUint64(8 * i, value, true);
  });
  return new Uint8Array(written.buffer);
}

/**
 * Uniform elements of the field: 61 bits each; those equal to P are redrawn.
 * @param {number} count @returns {bigint[]}
 */
function elements(count) {
  const bytes = new DataView(random(8 * count).buffer);
  const words = Array.from({ length: count }, (_, i) => bytes.getBigUint64(8 * i, true) & P);
  const drawn = words.filter((word) => word < P);
  return drawn.length < count ? [...drawn, ...elements(count - drawn.length)] : drawn;
}

/** @param {number} count @returns {Bytes} */
function random(count) {
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += MOST_AT_ONCE) crypto.getRandomValues(bytes.subarray(at, at + MOST_AT_ONCE));
  return bytes;
}

// Sealing: HPKE, RFC 9180, base mode, DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-256-GCM

const KEM = joined(utf8("KEM"), [0x00, 0x20]);
const SUITE = joined(utf8("HPKE"), [0x00, 0x20, 0x00, 0x01, 0x00, 0x02]);
const NOTHING = new Uint8Array(0);

/** A text that only the holder of `to` can open. @param {Bytes} to @param {Bytes} info @param {Bytes} plain */
async function hpke(to, info, plain) {
  const pair = await keyPair("X25519", random(KEY), "deriveBits");
  // Section 4.1: the shared secret of the two keys.
  const extracted = await extract(KEM, NOTHING, "eae_prk", await agreed(pair.key, to));
  const shared = await expand(KEM, extracted, "shared_secret", joined(pair.public, to), 32);
  // Section 5.1: the key and the nonce of this one text.
  const noPsk = await extract(SUITE, NOTHING, "psk_id_hash", NOTHING);
  const context = joined([0], noPsk, await extract(SUITE, NOTHING, "info_hash", info));
  const secret = await extract(SUITE, shared, "secret", NOTHING);
  const raw = await expand(SUITE, secret, "key", context, 32);
  const iv = await expand(SUITE, secret, "base_nonce", context, 12);
  const key = await crypto.subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, plain);
  return joined(pair.public, new Uint8Array(sealed));
}

/** LabeledExtract of section 4. @param {Bytes} suite @param {Bytes} salt @param {string} label @param {Bytes} input */
const extract = (suite, salt, label, input) =>
  // To HMAC a key of zeros equals the empty key, which this API rejects.
  hmac(salt.length ? salt : new Uint8Array(32), joined(utf8("HPKE-v1"), suite, utf8(label), input));

/**
 * LabeledExpand, for up to one block.
 * @param {Bytes} suite @param {Bytes} key @param {string} label @param {Bytes} info @param {number} size
 */
const expand = async (suite, key, label, info, size) =>
  (await hmac(key, joined([0, size], utf8("HPKE-v1"), suite, utf8(label), info, [1]))).slice(0, size);

/** @param {Bytes} key @param {Bytes} text */
async function hmac(key, text) {
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", imported, text));
}

/** X25519; refuses public keys that give everyone the same secret. @param {CryptoKey} key @param {Bytes} other */
async function agreed(key, other) {
  const imported = await crypto.subtle.importKey("raw", other, "X25519", true, []);
  return new Uint8Array(await crypto.subtle.deriveBits({ name: "X25519", public: imported }, key, 256));
}

/**
 * The key pair of 32 secret bytes. They come in as PKCS #8, whose first 16 bytes name the curve.
 * @param {"Ed25519" | "X25519"} curve @param {Bytes} secret @param {"sign" | "deriveBits"} use
 */
async function keyPair(curve, secret, use) {
  const head = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, curve === "Ed25519" ? 0x70 : 0x6e, 4, 0x22, 4, 0x20];
  const key = await crypto.subtle.importKey("pkcs8", joined(head, secret), curve, true, [use]);
  const name = String((await crypto.subtle.exportKey("jwk", key)).x);
  return { key, name, public: unb64(name) ?? NOTHING };
}

// Answers

/** The domain of answers: labels, or a range of numbers. */
class Domain {
  /** @param {unknown} document */
  constructor(document) {
    const { kind } = objectOf("domain", document);
    need(kind === "numeric" || kind === "categorical" || kind === "ordinal", "domain",
      "The policy's domain has an unknown kind.");
    this.kind = kind;
    const read = new Reader("domain", document, kind === "numeric" ? "kind low high step?" : "kind labels");
    /** The range, and its step. @type {number[]} */
    this.range = ["low", "high", "step"].filter((name) => name in read.fields).map((name) => read.decimal(name));
    /** @type {Label[]} */
    this.labels = kind === "numeric" ? [] : labelsOf(read.fields.labels);
    const [low, high, step] = this.range, [lowText, highText, stepText] = this.range.map(floatText);
    need(kind !== "numeric" || (low < high && Number.isFinite(high - low) && !(step <= 0)), "domain",
      "The policy's range is empty.");
    /** As the canonical policy has it. */
    this.written = kind !== "numeric" ? read.fields
      : { kind, low: lowText, high: highText, ...(stepText && { step: stepText }) };
    /** @type {Shown} */
    this.shown = kind === "numeric" ? { kind, low, high } : { kind, labels: [...this.labels] };
  }

  /** @param {Label | null} answer @returns {answer is Label} */
  has(answer) {
    const [low, high] = this.range;
    if (this.kind === "numeric") return typeof answer === "number" && answer >= low && answer <= high;
    return answer !== null && this.labels.some((label) => String(label) === String(answer));
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
    const value = this.fields[name];
    const fits = typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
    need(fits, this.code, `The policy's ${name} must be an integer from ${low} to ${high}.`);
    return value;
  }

  /** @param {string} name */
  decimal(name) {
    const text = this.fields[name], form = /^-?\d{1,400}(\.\d{1,400})?(e[+-]?\d{1,4})?$/;
    const value = typeof text === "string" && form.test(text) ? Number(text) : NaN;
    need(Number.isFinite(value), this.code, `The policy's ${name} must be a number, written as a text.`);
    return value;
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

/** @param {unknown} document */
function readMechanism(document) {
  const named = objectOf("mechanism", document);
  need(named.name === "sealed-sum", "mechanism", "The policy's answers are not sealed.");
  const read = new Reader("mechanism", document,
    "name suite layout size hidden epsilon seats degree minimum keyholders coordinator");
  const { suite, hidden, keyholders, coordinator } = read.fields;
  const layout = LAYOUTS.find((each) => each === read.fields.layout);
  need(suite === "committee", "mechanism", "The policy seals in a way that does not run in a browser.");
  need(layout, "mechanism", "The policy's layout is unknown.");
  need(typeof hidden === "boolean", "mechanism", "The policy's hidden must be true or false.");
  const [least, most] = SIZES[layout], size = read.integer("size", least, most);
  need(layout !== "sum" || size % 2 === 0, "mechanism", "The policy's size must be even.");
  const epsilon = fractionOf(read.fields.epsilon), flattest = epsilon / (layout === "sum" ? size : 2);
  need(flattest >= 2 ** -17, "mechanism", "The policy's noise is too wide to open.");
  const seats = read.integer("seats", 3, MOST_SEATS), degree = read.integer("degree", 1, MOST_SEATS);
  need(seats >= 2 * degree + 1, "keyholders", "The policy has too few keyholders for the number that may collude.");
  const minimum = read.integer("minimum", 2, 1e6);
  return { layout, size, hidden, epsilon, seats, degree, minimum, keyholders, coordinator };
}

/** How many labels, steps of a range, or bins there may be. @type {Record<Layout, [number, number]>} */
const SIZES = { votes: [2, 256], sum: [2, 4096], histogram: [3, 64] };
const LAYOUTS = /** @type {Layout[]} */ (Object.keys(SIZES));
const MOST_SEATS = 15;

/** A numerator and a denominator, in lowest terms. @param {unknown} parts */
function fractionOf(parts) {
  const isWhole = (/** @type {unknown} */ part) => typeof part === "string" && /^[1-9]\d{0,6}$/.test(part);
  const [a, b] = Array.isArray(parts) && parts.length === 2 && parts.every(isWhole) ? parts.map(Number) : [0, 0];
  need(a > 0 && a <= 1e6 && b <= 1e6 && commonFactor(a, b) === 1, "mechanism",
    "The policy's epsilon must be a fraction of integers up to 1000000 in lowest terms.");
  return a / b;
}

/** @param {number} a @param {number} b @returns {number} */
const commonFactor = (a, b) => (b ? commonFactor(b, a % b) : a);

/** @param {unknown} documents @param {number} seats @param {unknown} coordinator */
async function readKeyholders(documents, seats, coordinator) {
  need(Array.isArray(documents) && documents.length === seats, "keyholders",
    "The policy does not name a keyholder for each seat.");
  const read = documents.map((document) => new Reader("keyholders", document, "name sealing signing").fields);
  const names = read.map(({ name }) => name), control = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
  const fine = names.every((name) => isText(name) && name.trim() && [...name].length <= 200 && !control.test(name));
  need(fine && new Set(names).size === seats, "keyholders", "Keyholders must have different names.");
  const keys = [coordinator, ...read.flatMap(({ sealing, signing }) => [sealing, signing])];
  need(keys.every((key) => unb64(key)?.length === KEY), "keyholders", "A key of a keyholder or of the server is invalid.");
  need(new Set(keys).size === keys.length, "keyholders", "A key appears twice in the policy.");
  const sealing = read.map((each) => /** @type {Bytes} */ (unb64(each.sealing)));
  await checkCurves(sealing);
  return Promise.all(read.map(async ({ name, sealing: written, signing }, i) => {
    const digits = hex(await digest(utf8(canonical({ sealing: written, signing })))).slice(0, 32);
    return { name: String(name), fingerprint: (digits.match(/.{4}/g) ?? []).join(" "), key: sealing[i] };
  }));
}

/** Whether this browser has the curves, and every key can be sealed to. @param {Bytes[]} keys */
async function checkCurves(keys) {
  const trial = new Uint8Array(KEY).fill(9);
  const made = Promise.all([keyPair("X25519", trial, "deriveBits"), keyPair("Ed25519", trial, "sign")]);
  const pairs = await made.catch(() => null);
  need(pairs, "browser", "This browser is too old to seal answers: use a newer one, or the terminal.");
  const usable = Promise.all(keys.map((key) => agreed(pairs[0].key, key)));
  need(await usable.then(() => true, () => false), "keyholders", "A keyholder's key is weak: anyone could open what is sealed to it.");
}

/** @param {Code} code @param {unknown} value @returns {Fields} */
function objectOf(code, value) {
  const is = typeof value === "object" && value !== null && !Array.isArray(value);
  need(is, code, "A part of the policy is not an object.");
  return /** @type {Fields} */ (value);
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

// Bytes

/** @param {string} text @returns {Bytes} */
function utf8(text) {
  return new TextEncoder().encode(text);
}

/** @param {...ArrayLike<number>} parts @returns {Bytes} */
function joined(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** URL-safe base64 without padding. @param {Bytes} bytes */
function b64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Null for texts that `b64` does not write. @param {unknown} text @returns {Bytes | null} */
function unb64(text) {
  if (typeof text !== "string" || !/^[\w-]*$/.test(text) || text.length % 4 === 1) return null;
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
  return b64(bytes) === text ? bytes : null;
}

/** @param {Bytes} bytes */
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Bytes} bytes */
async function digest(bytes) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function checkSecure() {
  const secure = globalThis.isSecureContext !== false && globalThis.crypto?.subtle;
  need(secure, "insecure", "This page did not come over a secure connection (https).");
}

/** @param {unknown} holds @param {Code} code @param {string} message @returns {asserts holds} */
function need(holds, code, message) {
  if (!holds) throw new PolicyError(code, message);
}
