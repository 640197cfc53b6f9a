// The worker's tasks: in an order of its own, and the ones to answer if the limit does not cover all. Answers are not read here.

import { sha256 } from "../randomize.js";

/** @import { Given } from "./types.js" */

/** The tasks by SHA-256 of campaign, worker and task: the same after a reload, another order for each worker. @param {string} campaign @param {string} worker @param {Given[]} tasks */
export async function ownOrder(campaign, worker, tasks) {
  const turns = await Promise.all(tasks.map(({ task }) => sha256(`sottovoce-order/1\0${campaign}\0${worker}\0${task}`)));
  return [...tasks.keys()].sort((a, b) => (turns[a] < turns[b] ? -1 : 1)).map((place) => tasks[place]);
}

/** The most needed tasks, by what the server lists; the first of them if it lists nothing. In the order given. @param {Given[]} tasks @param {number} count */
export function mostNeeded(tasks, count) {
  const chosen = new Set([...tasks].sort((a, b) => (b.need ?? 0) - (a.need ?? 0)).slice(0, count));
  return tasks.filter((each) => chosen.has(each));
}
