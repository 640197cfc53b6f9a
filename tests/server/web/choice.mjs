// Runs the choice of tasks outside a browser: cases come in as JSON, orders and choices go out as JSON.

import { readFileSync } from "node:fs";

globalThis.isSecureContext = true;
const [randomizer, choice] = process.argv.slice(2).map((path) => readFileSync(path, "utf8"));
const address = (source) => `data:text/javascript,${encodeURIComponent(source)}`;
const { ownOrder, mostNeeded } = await import(address(choice.replace("../randomize.js", address(randomizer))));

const names = (tasks) => tasks.map(({ task }) => task);
const replies = JSON.parse(readFileSync(0, "utf8")).map(async ({ campaign, worker, tasks, count }) => {
  const order = await ownOrder(campaign, worker, tasks);
  return { order: names(order), chosen: names(mostNeeded(order.filter(({ need }) => need !== 0), count)) };
});
process.stdout.write(JSON.stringify(await Promise.all(replies)));
