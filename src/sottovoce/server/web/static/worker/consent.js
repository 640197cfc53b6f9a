// Screen: consent. It shows what leaves this device, what that reveals, and whom a worker has to trust.

import { sha256 } from "../randomize.js";
import { asked, guaranteeWith, howSealed, isSealed, offersSealing, remaining } from "./draw.js";
import { button, card, copyable, details, el, heading } from "./elements.js";
import { number, t, upwards } from "./language.js";
import { change, forget, kept as record, limit, raiseLimit, shown, spentElsewhere } from "./storage.js";

/** @import { Verified } from "../randomize.js" */
/** @import { App, DrawnApp } from "./types.js" */

/** From this epsilon per answer on, little is hidden; above this epsilon per worker, about the worker as a whole. */
const [LITTLE, LITTLE_IN_TOTAL] = [4, 10];

/** @param {App} app */
export function consent(app) {
  const { title, question } = app.offer;
  const [left, count] = [remaining(app).length, asked(app).length];
  return [
    el("p", { class: "kicker" }, t.invited),
    heading(title),
    question !== title && el("p", { class: "question" }, question),
    el("p", { class: "hint" }, t.howMany(number(left), number(app.tasks.length < app.offer.tasks ? app.offer.tasks : left), location.host)),
    promise(app),
    stored(app),
    trust(app),
    budget(app, count),
    count > 0 && el("p", { class: "hint ahead" }, t.noAccount),
    el("p", { class: "actions" },
      count > 0 && button(t.agree, () => change((now) => (now.agreed = true)).then(() => app.go("question", 0))),
      button(t.noThanks, () => forget().then(() => app.stop("declined")), "quiet")),
  ];
}

/** @param {App} app */
function promise(app) {
  const { verified } = app;
  const count = answering(app);
  const { perAnswer, perWorker } = verified.guarantee(count);
  const isLittle = perAnswer >= LITTLE, right = number(Math.ceil(100 / (1 + Math.exp(-perAnswer)) - 1e-9));
  return el("section", { class: "card promise" },
    el("h2", {}, t.whatHappens),
    ...(isSealed(app) ? howSealed(app) : howChanged(app, count, isLittle)),
    isSealed(app) && !isLittle && el("p", {}, t.totalHides),
    verified.hidesParticipation && el("p", {}, t.skippingHidden),
    count > 1 && el("p", {}, t.together(number(count), perWorker / perAnswer)),
    isLittle && el("p", { class: "notice bad" }, isSealed(app) ? t.totalHidesLittle : t.hidesLittle),
    count > 1 && perWorker > LITTLE_IN_TOTAL && el("p", { class: "notice bad" }, t.togetherLittle(number(count))),
    details(t.inNumbers,
      el("dl", {},
        row(t.forOneAnswer, t.epsilonPerAnswer(upwards(perAnswer))),
        row(t.forAll(number(count)), t.epsilonPerWorker(upwards(perWorker)))),
      el("p", { class: "hint" }, t.computedHere),
      el("p", { class: "hint" }, isSealed(app)
        ? t.totalExplained(right, number(app.verified.colluders)) : t.numbersExplained(right)),
      el("p", { class: "hint" }, t.policyIs, " ", el("code", { class: "hash" }, verified.hash))));
}

/** How many answers this device gives in all: those given before and those it may ask; all tasks where it may ask none. @param {App} app */
const answering = (app) => Math.min(record().answers + asked(app).length || app.tasks.length, app.verified.answers);

/** The odds of a report. @param {DrawnApp} app @param {number} count @param {boolean} isLittle */
function howChanged({ verified }, count, isLittle) {
  const [kept, other] = t.marks(verified.alphabet);
  const sent = verified.sample === null ? count : Math.min(count, verified.sample);
  return [
    el("p", {}, t.changedHere, !isLittle && t.nobodySure),
    el("figure", { class: "odds-figure" },
      hundred(verified.odds.of100),
      el("figcaption", {},
        el("p", { class: "odds" }, oddsSentence(verified)),
        el("p", { class: "hint key" }, el("span", { class: "mark-kept" }), kept, el("span", { class: "mark-other" }), other))),
    sent < count && el("p", {}, t.sampledOnly(number(sent), number(count))),
  ];
}

/** @param {string} name @param {string} value */
const row = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

/** @param {App} app */
const stored = (app) =>
  card(t.whatIsStored,
    el("ul", {}, ...(isSealed(app) ? t.storedSealed : t.storedLines)(app.verified.hidesParticipation).map((line) => el("li", {}, line))));

/** @param {App} app */
function trust(app) {
  const file = isSealed(app) ? "seal.js" : "randomize.js";
  const hash = el("code", { class: "hash" });
  const check = details(t.howToCheck,
    el("p", {}, t.checkHash(file)), el("p", {}, hash),
    el("p", {}, t.checkCommand), copyable(`sottovoce verify-page ${location.origin}${location.pathname}`, t));
  check.addEventListener("toggle", () => hashed(file).then((digest) => hash.replaceChildren(digest)));
  return card(t.whatToTrust,
    isSealed(app) && el("p", {}, t.trustKeyholders(number(app.verified.colluders + 1))),
    el("p", {}, t.trustServer),
    check,
    details(t.strongerOption, ...inTerminal()));
}

/** How to answer with the Python client, by this worker's own link. */
export function inTerminal() {
  const { invite, extras } = known();
  const line = `sottovoce answer '${location.origin}${location.pathname}#${invite ?? "svi_…"}'`;
  return [el("p", {}, t.inTerminal(extras)), copyable(line, t)];
}

function known() {
  try {
    return { invite: record().invite, extras: offersSealing(shown()?.offer) ? "client,secure" : "client" };
  } catch {
    return { invite: null, extras: "client" }; // a browser without storage
  }
}

/** The SHA-256 of a file of the page, as this browser loaded it. @param {string} file */
const hashed = async (file) =>
  sha256(await (await fetch(new URL(`../${file}`, import.meta.url), { cache: "force-cache" })).text());

/** @param {App} app @param {number} count how many answers the limit covers */
function budget(app, count) {
  const [elsewhere, most] = [spentElsewhere(), limit()];
  const wanted = remaining(app).length;
  const needed = guaranteeWith(app, wanted).perWorker;
  const asks = count ? guaranteeWith(app, count).perWorker : needed;
  const share = (/** @type {number} */ epsilon) => Math.ceil((100 * epsilon) / most - 1e-9);
  return card(t.onThisDevice,
    el("p", {}, t.spentSoFar(Math.min(100, share(elsewhere)), share(asks))),
    el("p", { class: "hint" }, t.spentInNumbers(upwards(elsewhere), upwards(asks), number(most))),
    count < wanted && raising(app, count, wanted, elsewhere + needed));
}

/** @param {App} app @param {number} count @param {number} wanted @param {number} needed */
function raising(app, count, wanted, needed) {
  const field = el("input", { id: "limit", inputmode: "decimal", value: String(Math.ceil(needed - 1e-9)) });
  const raise = (/** @type {Event} */ event) => {
    event.preventDefault();
    const epsilon = Number(field.value.normalize("NFKC"));
    if (epsilon > limit()) raiseLimit(epsilon);
    app.again();
  };
  return el("div", {},
    el("p", { class: "notice bad" }, count ? t.limitCovers(number(count), number(wanted)) : t.limitRefuses),
    details(t.raiseLimit,
      el("form", { submit: raise },
        el("p", {}, t.raiseMeans), el("label", { for: "limit" }, t.newLimit), field,
        el("p", {}, el("button", { class: "quiet" }, t.raiseNow)))));
}

// The odds of a report: a hundred marks and the same in a sentence.

const SVG = "http://www.w3.org/2000/svg";

/** @param {Verified} verified */
function oddsSentence({ alphabet, odds }) {
  const kept = odds.of100 > 99 ? t.moreThan99 : String(odds.of100);
  const others = odds.of100 > 99 ? t.fewerThan1 : String(100 - odds.of100);
  switch (alphabet) {
    case "subsets":
      return t.oddsOfSets(kept, others, odds.size ?? 0);
    case "points":
      return t.oddsOfPoints(kept, others);
    case "sides":
    case "sides-or-null":
      return t.oddsOfSides(kept, others);
    case "ends":
      return t.oddsOfEnds(kept, others);
    default:
      return t.oddsOfLabels(kept, others, alphabet === "labels-or-null");
  }
}

/** Ten rows of ten marks, the first of them filled. The sentence next to it says the same. @param {number} filled */
function hundred(filled) {
  const grid = document.createElementNS(SVG, "svg");
  grid.setAttribute("viewBox", "0 0 100 100");
  grid.setAttribute("class", "hundred");
  grid.setAttribute("aria-hidden", "true");
  for (let i = 0; i < 100; i++) {
    const mark = document.createElementNS(SVG, "circle");
    mark.setAttribute("cx", String((i % 10) * 10 + 5));
    mark.setAttribute("cy", String(Math.floor(i / 10) * 10 + 5));
    mark.setAttribute("r", i < filled ? "3.6" : "2.9");
    if (i >= filled) mark.setAttribute("class", "other");
    grid.append(mark);
  }
  return grid;
}
