// The sheet to print: cards with QR codes, eight on an A4 page, for the links made in this tab.

import { at, el, fill } from "../requester/elements.js";
import { counted } from "../requester/formats.js";
import { place } from "../requester/requests.js";
import { kept, qr } from "./invitations.js";

/** @import { Card } from "./invitations.js" */

const CARDS_OF_A_SHEET = 8;

const id = location.pathname.slice(place("campaigns").length + 1).split("/")[0] ?? "";
const back = `${place("campaigns", id)}#invites`;
const { title, single } = kept(id);
const cards = single.filter(({ code }) => code !== null);

if (cards.length) show();
else {
  fill(
    at("sheet"),
    el("h1", { text: "No cards in this tab" }),
    el("p", { text: "The server stores only hashes of links. Make links with QR codes and print them from the same tab." }),
    el("p", {}, el("a", { class: "button", href: back, text: "Invites" })),
  );
}

function show() {
  const sheets = Math.ceil(cards.length / CARDS_OF_A_SHEET);
  document.title = `${title}: cards`;
  fill(
    at("sheet"),
    el(
      "div",
      { class: "page-head screen-only" },
      el("h1", { text: "Cards to print" }),
      el(
        "p",
        { class: "actions" },
        el("button", { type: "button", text: "Print", onclick: () => print() }),
        el("a", { class: "button quiet", href: back, text: "Back" }),
      ),
    ),
    el("p", { class: "screen-only measure", text: `${counted(cards.length, "card")} on ${counted(sheets, "sheet")} of A4. Each card is for one worker. Cut the cards apart and give one to each worker.` }),
    Array.from({ length: sheets }, (_, i) => sheet(i)),
  );
}

/** @param {number} number */
function sheet(number) {
  const from = number * CARDS_OF_A_SHEET;
  return el(
    "ol",
    { class: "cards-sheet", start: from + 1, "aria-label": `Sheet ${number + 1}` },
    cards.slice(from, from + CARDS_OF_A_SHEET).map((card, i) => cardOf(card, from + i + 1)),
  );
}

/** @param {Card} card @param {number} number */
function cardOf({ link, code }, number) {
  return el(
    "li",
    { class: "invite-card" },
    code ? qr(code, `QR code ${number}`) : null,
    el(
      "div",
      {},
      el("p", { class: "card-title", text: title }),
      el("p", { class: "card-words", text: "Answer in your browser. Your answers are randomised on your device before they are sent." }),
      el("p", { class: "card-link", text: short(link) }),
      el("p", { class: "card-number", text: `No. ${number}, for one person` }),
    ),
  );
}

/** The start of the link, to show where it leads; the QR code has the whole link. @param {string} link */
function short(link) {
  const { host, pathname } = new URL(link);
  return `${host}${pathname}`;
}
