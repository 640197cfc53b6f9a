// API calls with the requester's token. There is no cookie: this tab keeps the token (or this device, on
// request), and it is sent in a header only.

import { sentence } from "./formats.js";

const BASE = document.documentElement.dataset.base ?? "";
const KEPT = `sottovoce:token:${BASE}`;
const WAS_AT = `sottovoce:was-at:${BASE}`;
const TOKEN = /^svk_[A-Za-z0-9_-]{43}$/;

/**
 * `stay` is for the sign-in page: it gets an error for a bad token instead of a redirect.
 *
 * @typedef {{method?: string, body?: any, headers?: Record<string, string>, signal?: AbortSignal, stay?: boolean}} Asking
 */

/** Why the server refused. `detail` is for people, `reason` for programs. */
export class Problem extends Error {
  /**
   * @param {number} status 0 where there was no answer
   * @param {{reason?: string, detail?: string, field?: string, row?: number, column?: string}} said
   * @param {number} wait seconds to wait before a retry; 0 if not given
   */
  constructor(status, said, wait = 0) {
    super(sentence(said.detail ?? `the server answered with status ${status}`));
    this.status = status;
    this.reason = said.reason ?? "unknown";
    this.detail = this.message;
    this.field = said.field ?? null;
    this.row = said.row ?? null;
    this.column = said.column ?? null;
    this.wait = wait;
  }
}

/**
 * Calls the API: sends JSON (or a string or Blob with its content type) and returns JSON.
* Without a valid token it redirects to the sign-in.
 *
 * @param {string} path below /api/v1
 * @param {Asking} [how]
 * @returns {Promise<any>} null where the answer has no body
 */
export async function ask(path, how = {}) {
  const response = await answer(path, how);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

/**
 * Saves data as a file.
 *
 * @param {Blob} blob
 * @param {string} filename
 */
export function save(blob, filename) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = filename;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * An address of this server, under the path at which people reach it.
 *
 * @param {...string} parts
 */
export function place(...parts) {
  return [BASE, ...parts.map(encodeURIComponent)].join("/");
}

/** Whether a text has the form of a token. @param {string} text */
export function isToken(text) {
  return TOKEN.test(text);
}

/** Whether this tab has a token; the server may still refuse it. */
export function isSignedIn() {
  return token() !== null;
}

/**
 * Stores a token in this tab, or on this device until sign-out.
 *
 * @param {string} given
 * @param {boolean} stay
 */
export function signIn(given, stay = false) {
  signOut();
  (stay ? localStorage : sessionStorage).setItem(KEPT, given);
}

/** Deletes the stored token. It stays valid until it is revoked. */
export function signOut() {
  sessionStorage.removeItem(KEPT);
  localStorage.removeItem(KEPT);
}

/** Goes to the sign-in, which returns to this page. */
export function leadToSignIn() {
  sessionStorage.setItem(WAS_AT, location.pathname + location.search + location.hash);
  location.replace(`${place("")}#sign-in`);
}

/** Whether another page redirected to the sign-in. */
export function wasSentAway() {
  return sessionStorage.getItem(WAS_AT) !== null;
}

/** Returns to the page that asked for the sign-in, once; otherwise to the list of campaigns. */
export function backToWhereOneWas() {
  const was = sessionStorage.getItem(WAS_AT);
  sessionStorage.removeItem(WAS_AT);
  location.assign(was?.startsWith(`${BASE}/`) ? was : place("campaigns"));
}

/** @returns {string | null} */
function token() {
  return sessionStorage.getItem(KEPT) ?? localStorage.getItem(KEPT);
}

/**
 * The API's response, before its body is read.
 *
 * @param {string} path
 * @param {Asking} how
 * @returns {Promise<Response>}
 */
export async function answer(path, { method = "GET", body, headers = {}, signal, stay = false }) {
  const kept = token();
  if (kept === null) return leaving();
  const isPlain = body === undefined || typeof body === "string" || body instanceof Blob;
  const response = await fetch(`${BASE}/api/v1/${path.replace(/^\//, "")}`, {
    method,
    body: isPlain ? body : JSON.stringify(body),
    headers: {
      authorization: `Bearer ${kept}`,
      ...(isPlain ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    signal: signal ?? null,
    credentials: "omit",
    cache: "no-store",
  }).catch(unanswered);
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (!stay && (problem.status === 401 || problem.reason === "bad_credential")) {
    signOut();
    return leaving();
  }
  throw problem;
}

/** A promise that never resolves: the page is being left. @returns {Promise<never>} */
function leaving() {
  leadToSignIn();
  return new Promise(() => {});
}

/** @param {unknown} error @returns {never} */
function unanswered(error) {
  if (error instanceof DOMException && error.name === "AbortError") throw error;
  const detail = "the server does not respond; check your connection and try again";
  throw new Problem(0, { reason: "no_answer", detail });
}

/** @param {Response} response */
async function problemOf(response) {
  const said = await response.json().catch(() => ({}));
  return new Problem(response.status, said, Number(response.headers.get("retry-after")) || 0);
}

// The sample campaign, answered by simulated workers.

/**
 * Makes a sample campaign when a button is pressed, and goes to its dashboard.
 *
 * @param {HTMLElement} button
 * @param {HTMLElement} said shows an error
 */
export function offerSample(button, said) {
  button.addEventListener("click", async () => {
    button.setAttribute("disabled", "");
    button.classList.add("busy");
    said.textContent = "";
    try {
      const made = await ask("sample", { method: "POST" });
      location.assign(place("campaigns", made.id));
    } catch (error) {
      said.textContent = /** @type {Error} */ (error).message;
      button.removeAttribute("disabled");
      button.classList.remove("busy");
    }
  });
}
