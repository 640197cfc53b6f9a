// A campaign's dashboard: asks how it is doing, and shows the section that the address names.

import { ask, place, Problem } from "./asking.js";
import { at, el, fill } from "./building.js";
import { CampaignHead } from "./campaign-head.js";
import { exportsSection } from "./exports.js";
import { invitesSection } from "./invites.js";
import { methodsSection } from "./methods.js";
import { overviewSection, sentence } from "./overview.js";
import { isSealed } from "./promises.js";
import { roundsSection } from "./rounds.js";
import { clock } from "./saying.js";
import { Sections } from "./sections.js";
import { settingsSection } from "./settings.js";
import { truthsSection } from "./truths.js";
import { watch } from "./watching.js";
import { weightsSection } from "./weights.js";

/** @typedef {import("./shapes.js").State} State */

/** Milliseconds between two sentences to whoever listens to the page. */
const TELL_EVERY = 10_000;

const id = location.pathname.slice(place("campaigns").length + 1).split("/")[0] ?? "";
const path = `campaigns/${id}`;
const head = new CampaignHead(at("head"), path, () => void look());
const sections = new Sections(at("sections"), at("shown"), [
  overviewSection(),
  roundsSection(path, () => void look()),
  truthsSection(path),
  weightsSection(path),
  invitesSection(path),
  exportsSection(path),
  methodsSection(path),
  settingsSection(path),
]);

/** @type {Date | null} */
let heardAt = null;
let toldAt = 0;

const look = watch(async () => {
  try {
    const [campaign, overview, rejections] = await Promise.all([
      ask(path),
      ask(`${path}/overview`),
      ask(`${path}/rejections`),
    ]);
    const rounds = isSealed(campaign.policy) && campaign.state !== "draft" ? await ask(`${path}/rounds`) : null;
    const state = { campaign, overview, rejections, rounds };
    show(state);
    return JSON.stringify(state);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return excuse(error);
  }
});

/** @param {State} state */
function show(state) {
  heardAt = new Date();
  at("trouble").hidden = true;
  at("sections").hidden = false;
  document.body.classList.toggle("simulated", state.campaign.simulated);
  document.title = `${state.campaign.title} · Sottovoce`;
  head.update(state);
  sections.update(state);
  tell(sentence(state));
}

/** Says the one sentence to whoever listens, not more often than one wants to hear it. @param {string} text */
function tell(text) {
  const told = at("told");
  if (told.textContent === text || Date.now() - toldAt < TELL_EVERY) return;
  toldAt = Date.now();
  told.textContent = text;
}

/**
 * What one has is kept, and it is said from when it is.
 *
 * @param {Problem} problem
 */
function excuse(problem) {
  const isGone = problem.reason === "not_found";
  if (heardAt === null && isGone) return nothingHere();
  if (isGone) head.end();
  at("trouble").hidden = false;
  at("trouble").textContent = words(problem, isGone);
  return isGone ? null : problem.reason;
}

/** @param {Problem} problem @param {boolean} isGone */
function words(problem, isGone) {
  if (heardAt === null) return `${problem.detail} This page tries again by itself.`;
  const kept = `What you see is from ${clock(heardAt)}.`;
  if (isGone) return `This campaign was deleted meanwhile. ${kept}`;
  return `The server has not answered since ${clock(heardAt)}. ${kept} This page tries again by itself.`;
}

/** There is no such campaign: nothing to keep, nothing to wait for. */
function nothingHere() {
  fill(
    at("head"),
    el("p", { class: "kicker", text: "Nothing here" }),
    el("h1", { text: "There is no such campaign" }),
    el("p", { text: "It may have been deleted, or its address is not complete." }),
    el("p", {}, el("a", { class: "button", href: place("campaigns"), text: "All campaigns" })),
  );
  return null;
}
