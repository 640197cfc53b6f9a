// What the lab hands over to a new campaign, through this tab's storage.

const BASE = document.documentElement.dataset.base ?? "";
const KEPT = `sottovoce:scenario:${BASE}`;

/** @typedef {Partial<import("./draft.js").Draft>} Scenario */

/** @param {Scenario} scenario */
export function handOver(scenario) {
  sessionStorage.setItem(KEPT, JSON.stringify(scenario));
}

/** What was handed over, once. @returns {Scenario} */
export function takenScenario() {
  const text = sessionStorage.getItem(KEPT);
  sessionStorage.removeItem(KEPT);
  return text ? JSON.parse(text) : {};
}
