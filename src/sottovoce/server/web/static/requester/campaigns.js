// The list of campaigns, newest first.

import { at, el, fill, svg } from "./elements.js";
import { counted, whole, written } from "./formats.js";
import { isSealed, sealedWords } from "./policy.js";
import { ask, offerSample, place } from "./requests.js";

/** @import { Campaign } from "./types.js" */

const STATES = { draft: "Draft", open: "Open", closed: "Closed" };
const list = at("list");

show();

async function show() {
  try {
    /** @type {{campaigns: Campaign[]}} */
    const { campaigns } = await ask("campaigns");
    const said = at("problem");
    offerSample(at("sample"), said);
    at("ways").hidden = campaigns.length === 0;
    if (campaigns.length) fill(list, el("ul", { class: "rows" }, campaigns.map(row)));
    else nothing(said);
  } catch (error) {
    at("problem").textContent = /** @type {Error} */ (error).message;
    fill(list, el("p", {}, el("button", { type: "button", class: "quiet", text: "Try again", onclick: () => location.reload() })));
  }
  list.removeAttribute("aria-busy");
}

/** @param {Campaign} campaign */
function row(campaign) {
  const { id, state, title, simulated, guarantee, policy } = campaign;
  const isDraft = state === "draft";
  const address = isDraft ? `${place("campaigns", "new")}#${id}` : place("campaigns", id);
  return el("li", { class: "row" },
    el("h2", {}, el("a", { href: address, text: title })),
    el("p", { class: "marks" },
      simulated && el("span", { class: "stamp", text: "Simulated" }),
      el("span", { class: `chip ${state}`, text: STATES[state] }),
    ),
    el("p", { class: "promise-line", text: guarantee.odds ?? (isSealed(policy) ? sealedWords(policy) : "No odds are defined for this guarantee: see the policy.") }),
    el("dl", { class: "figures" },
      figure("Tasks", whole(campaign.tasks)),
      isDraft ? null : [figure("Workers", whole(campaign.workers)), figure("Reports", whole(campaign.reports))],
      ends(campaign),
    ),
    isDraft && el("p", { class: "promise-line", text: "Not open yet. You can continue the draft." }),
  );
}

/** @param {Campaign} campaign */
function ends({ state, closed_on, closes_on, quota }) {
  if (state === "closed") return closed_on && figure("Closed on", written(closed_on));
  if (closes_on) return figure("Closes on", written(closes_on));
  return quota ? figure("Ends", `after ${counted(quota, "worker")}`) : null;
}

/** @param {string} name @param {string} value */
function figure(name, value) {
  return el("div", {}, el("dt", { text: name }), el("dd", { text: value }));
}

/** Shown when there are no campaigns: buttons to create one. @param {HTMLElement} said */
function nothing(said) {
  const sample = el("button", { type: "button", class: "quiet", text: "Try a sample campaign" });
  offerSample(sample, said);
  fill(list, el("section", { class: "card nothing" },
    svg("svg", { viewBox: "0 0 64 32", width: 96, height: 48, fill: "none", stroke: "currentColor", "stroke-width": 3, "stroke-linecap": "round", "aria-hidden": "true" },
      [[8, 0], [20, 5], [32, 12], [44, 5], [56, 0]].map(([x = 0, half = 0]) => svg("path", { d: `M${x} ${16 - half}v${2 * half || 0.01}` })),
    ),
    el("h2", { text: "No campaigns yet" }),
    el("p", { class: "lead", text: "A campaign has tasks, a question and a privacy guarantee for workers." }),
    el("div", { class: "actions" }, el("a", { class: "button", href: place("campaigns", "new"), text: "New campaign" }), sample),
    el("p", { class: "hint", text: "Simulated workers answer the sample within seconds." }),
  ));
}
