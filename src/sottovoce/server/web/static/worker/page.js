// The worker page: the choice of screen, failures, and the copy for offline use.

import { consent } from "./consent.js";
import { asked, OverLimit } from "./draw.js";
import { button, el } from "./elements.js";
import { speak, switchTo, t } from "./language.js";
import { data } from "./my-data.js";
import { meet, problem, trouble } from "./offer.js";
import { chooseByKey, question } from "./question.js";
import { done, receipt, rest, sending } from "./receipt.js";
import { leaving, review } from "./review.js";
import { keepAnswers, kept, StorageFailed, waiting } from "./storage.js";

/** @import { App, Trouble } from "./types.js" */

// The offline copy: the page stores its own files and nothing else.

const FILES = "sottovoce-page";
const types = /** @type {any} */ (globalThis).trustedTypes;
const address = new URL("../service-worker.js", import.meta.url).href;

/** The only script that is loaded by its address. @type {any} */
const script = types ? types.createPolicy("sottovoce", { createScriptURL: () => address }).createScriptURL("") : address;

/** Stores the files of this page once all are loaded, for the service worker to serve. */
async function keepForOffline() {
  if (!("serviceWorker" in navigator) || !navigator.onLine) return;
  try {
    await navigator.serviceWorker.register(script, { scope: "./" });
    const replies = await Promise.all(ownFiles().map(fetched));
    const files = await caches.open(FILES);
    // The page itself comes last: it names the others.
    for (const [address, reply] of replies) await files.put(address, reply);
  } catch {
    // Without it the page needs a connection.
  }
}

/** The files named in the page's head, and the page itself under one address: it is the same for every campaign. */
const ownFiles = () => [
  ...new Set(Array.from(document.querySelectorAll("link:not([rel=alternate]), script"),
    (each) => /** @type {string} */ (each.getAttribute("href") ?? each.getAttribute("src")))),
  "./",
];

/** @param {string} address @returns {Promise<[string, Response]>} */
async function fetched(address) {
  const reply = await fetch(address === "./" ? location.pathname : address, { cache: "force-cache" });
  if (!reply.ok) throw new TypeError("not our file");
  return [address, reply];
}

// The page.

const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const foot = /** @type {HTMLElement} */ (document.querySelector("footer"));

/** @type {App | Trouble} */
let known;
/** If views follow each other quickly, only the last is shown. */
let turn = 0;

/** @type {Record<string, (app: App, place: number) => unknown>} */
const VIEWS = { consent, question, review, leaving, sending, receipt, done, data };

/** The screen that is allowed: nothing is drawn twice, and nobody answers without consent. @param {App} app @param {string} view @param {number} place */
function allowed(app, view, place) {
  const { agreed, parcels } = kept();
  const parcel = waiting();
  if (view === "data") return view;
  if (parcel) return parcel.stage === "drawn" && view !== "sending" ? "leaving" : "sending";
  const left = asked(app).length;
  if (agreed && ((view === "review" && left > 0) || (view === "question" && place < left))) return view;
  if (parcels.length === 0 || (view === "consent" && left > 0)) return "consent";
  if (parcels.some(({ stage }) => stage === "sent")) return view === "done" ? view : "receipt";
  return left > 0 ? "consent" : "data";
}

async function show(focus = true) {
  const mine = ++turn;
  rest();
  const { view = "", place = 0 } = history.state ?? {};
  const drawn = "kind" in known
    ? view === "data" ? data({ again }) : problem(known)
    : await VIEWS[settled(known, view, place)](known, place);
  if (mine !== turn) return;
  main.replaceChildren(.../** @type {Node[]} */ ([drawn].flat().filter(Boolean)));
  const heading = main.querySelector("h1");
  document.title = `${heading?.textContent?.slice(0, 60)} · Sottovoce`;
  scrollTo(0, 0);
  if (focus) heading?.focus({ preventScroll: true });
}

/** @param {App} app @param {string} view @param {number} place */
function settled(app, view, place) {
  const right = allowed(app, view, place);
  if (right !== view) history.replaceState({ view: right, place: 0 }, "");
  if (right === "receipt" || right === "done") keepAnswers(new Map());
  return right;
}

/** @param {string} view @param {number} [place] */
function go(view, place = 0) {
  history.pushState({ view, place }, "");
  show().catch(fail);
}

/** @param {string} kind */
function stop(kind) {
  known = trouble(kind);
  again();
}

const again = () => void show().catch(fail);

/** A failure in words. Its message could contain anything, so only its name and place are shown. @param {unknown} error */
function fail(error) {
  if (!t) return; // no language is loaded: the HTML says that the page is incomplete
  const kind = error instanceof StorageFailed ? "no_storage" : error instanceof OverLimit ? "over_limit" : "error";
  const name = error instanceof Error ? `${error.name} ${/[\w-]+\.js:\d+/.exec(error.stack ?? "")?.[0] ?? ""}` : "";
  main.replaceChildren(.../** @type {Node[]} */ (problem(trouble(kind, ...(kind === "error" ? [name] : []))).filter(Boolean)),
    el("p", { class: "actions" }, button(t.reload, () => location.reload())));
  main.querySelector("h1")?.focus();
}

function showFoot() {
  const other = document.documentElement.lang === "en" ? "ja" : "en";
  const turnTo = async () => {
    await switchTo(other);
    showFoot();
    await show();
    await keepForOffline();
  };
  // Without a connection the other language may be missing: keep this one.
  const change = button(t.otherLanguage, () => turnTo().catch(() => change.replaceWith(t.noConnection)), "plain");
  change.lang = other;
  foot.replaceChildren(el("span", {}, t.noCookies), button(t.myData, () => go("data"), "plain"), change);
}

async function start() {
  await speak();
  showFoot();
  const met = await meet();
  known = "kind" in met ? met : /** @type {App} */ ({ ...met, go, again, stop });
  await show(false);
  await keepForOffline();
}

addEventListener("error", (event) => (event.preventDefault(), fail(event.error)));
addEventListener("unhandledrejection", (event) => (event.preventDefault(), fail(event.reason)));
addEventListener("popstate", again);
addEventListener("hashchange", () => location.reload());
addEventListener("keydown", chooseByKey);
start().catch(fail);
