// The paragraph for a paper.

import { ask, Problem } from "./asking.js";
import { el } from "./building.js";
import { copying } from "./copying.js";
import { renew } from "./renewing.js";
import { sectionElement } from "./sections.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Section} Section */
/** @typedef {{paragraph: string, citation: string, facts: {name: string, value: string}[]}} Methods */

/** @param {string} path @returns {Section} */
export function methodsSection(path) {
  const body = el("div");
  let seen = "";

  /** @param {State} state */
  async function update({ campaign, overview }) {
    const news = JSON.stringify([campaign.state, overview.summary]);
    if (news === seen) return;
    seen = news;
    try {
      const methods = await ask(`${path}/methods`);
      renew(body, methods, () => shown(methods));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      seen = "";
      renew(body, error.detail, () => [el("p", { class: "notice", text: error.detail })]);
    }
  }
  const element = sectionElement("methods", "Methods", body);
  const show = (/** @type {State} */ state) => void update(state);
  return { name: "methods", title: "Methods", element, show, update: show };
}

/** @param {Methods} methods */
function shown({ paragraph, citation, facts }) {
  return [
    el("p", { class: "measure", text: "What was done, in words you can put into a paper. It follows the campaign: take it once the campaign is closed." }),
    el(
      "div",
      { class: "card" },
      el("h3", { text: "Paragraph" }),
      el("blockquote", { class: "paragraph", text: paragraph }),
      el("p", { class: "actions" }, copying("Copy the paragraph", () => paragraph, "")),
    ),
    el(
      "div",
      { class: "card" },
      el("h3", { text: "BibTeX" }),
      el("pre", { tabindex: 0 }, el("code", { text: citation })),
      el("p", { class: "actions" }, copying("Copy the entry", () => citation)),
    ),
    el(
      "details",
      { class: "more" },
      el("summary", { text: "The facts in it" }),
      el("dl", {}, facts.map(({ name, value }) => el("div", {}, el("dt", { text: name }), el("dd", { text: value })))),
    ),
  ];
}
