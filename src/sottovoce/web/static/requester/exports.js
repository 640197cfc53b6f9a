// Everything a requester may take away.

import { answer, Problem, save } from "./asking.js";
import { el } from "./building.js";
import { copying } from "./copying.js";
import { once } from "./pressing.js";
import { isSealed } from "./promises.js";
import { renew } from "./renewing.js";
import { counted, size } from "./saying.js";
import { sectionElement } from "./sections.js";

/** @typedef {import("./shapes.js").State} State */
/** @typedef {import("./shapes.js").Campaign} Campaign */
/** @typedef {import("./shapes.js").Section} Section */
/** @typedef {{table: string, title: string, words: string, formats: string[]}} Table */

const THREE = ["csv", "jsonl", "parquet"];

/** @type {Table[]} */
const TABLES = [
  { table: "truths", title: "Truths", words: "The truth of every task that has reports, how sure it is, and from how many reports.", formats: THREE },
  { table: "workers", title: "Workers", words: "Each worker’s pseudonym, weight and number of reports.", formats: THREE },
  { table: "reports", title: "Reports", words: "Every report as it was received, by pseudonym and task. No times, no order of arrival.", formats: THREE },
  { table: "crowdkit", title: "For crowd-kit", words: "The same reports as crowd-kit reads them: task, worker, label.", formats: ["csv"] },
  { table: "tasks", title: "Tasks", words: "The tasks as you gave them: name, text and image.", formats: ["csv"] },
  { table: "policy", title: "Policy", words: "What was promised, as workers’ software pins it. Needed to infer truths elsewhere.", formats: ["json"] },
];

/** What there is only where each worker's reports can be read. */
const OF_REPORTS = ["workers", "reports", "crowdkit"];

/** @param {string} path @returns {Section} */
export function exportsSection(path) {
  const rows = el("ul", { class: "exports" });
  const terminal = el("div", { class: "card" });
  const element = sectionElement(
    "exports",
    "Exports",
    el("p", { class: "measure", text: "Files hold what there is at the moment you ask. In CSV, text that a spreadsheet would run as a formula has an apostrophe in front." }),
    rows,
    terminal,
  );
  /** @param {State} state */
  function update({ campaign }) {
    const isNumeric = campaign.domain.kind === "numeric";
    const sealed = isSealed(campaign.policy);
    const left = sealed ? OF_REPORTS : isNumeric ? ["crowdkit"] : [];
    renew(rows, [left, campaign.simulated], () => TABLES.filter(({ table }) => !left.includes(table)).map((table) => row(table, path, campaign)));
    renew(terminal, campaign.id, () => (sealed ? noReports() : commandLine(campaign.id)));
  }
  return { name: "exports", title: "Exports", element, show: update, update };
}

/** @param {Table} table @param {string} path @param {Campaign} campaign */
function row({ table, title, words, formats }, path, { id, simulated }) {
  const status = el("p", { class: "hint", role: "status" });
  const bar = el("progress", { max: 1, hidden: true, "aria-label": `How much of ${table} has come` });
  const buttons = formats.map((format) => {
    const name = `${table}.${format}`;
    const button = el("button", { type: "button", class: "quiet", text: format.toUpperCase(), "aria-label": `Save ${name}` });
    const file = `${simulated ? "SIMULATED-" : ""}${id}-${name}`;
    const take = () => fetched(bar, status, `${path}/exports/${name}`, file);
    button.addEventListener("click", () => void once(button, take));
    return button;
  });
  return el(
    "li",
    {},
    el("div", {}, el("h3", { text: title }), el("p", { class: "hint", text: words })),
    el("p", { class: "actions" }, ...buttons),
    bar,
    status,
  );
}

/**
 * @param {HTMLProgressElement} bar
 * @param {HTMLElement} status
 * @param {string} path
 * @param {string} file
 */
async function fetched(bar, status, path, file) {
  bar.hidden = false;
  bar.removeAttribute("value");
  status.textContent = "Asking …";
  try {
    const { blob, rows } = await read(await answer(path, {}), file, bar, status);
    save(blob, file);
    status.textContent = `Saved ${file}: ${rows === null ? "" : `${counted(rows, "row")}, `}${size(blob.size)}.`;
  } catch (error) {
    status.textContent = error instanceof Problem ? error.detail : "The file did not come to its end. Nothing was saved: try again.";
  }
  bar.hidden = true;
}

/**
 * Reads an answer to its end and says how far it is: the server tells how many rows there are, and
 * in text each ends with a line.
 *
 * @param {Response} response
 * @param {string} file
 * @param {HTMLProgressElement} bar
 * @param {HTMLElement} status
 */
async function read(response, file, bar, status) {
  const told = response.headers.get("sottovoce-rows");
  const rows = told === null ? null : Number(told);
  const isText = !file.endsWith(".parquet");
  const reader = /** @type {ReadableStream<Uint8Array<ArrayBuffer>>} */ (response.body).getReader();
  const pieces = [];
  let bytes = 0;
  let lines = 0;
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    pieces.push(next.value);
    bytes += next.value.length;
    if (rows && isText) bar.value = Math.min(1, (lines += linesIn(next.value)) / rows);
    const text = `${size(bytes)} so far …`;
    if (status.textContent !== text) status.textContent = text;
  }
  const type = response.headers.get("content-type") ?? "";
  return { blob: new Blob(pieces, { type }), rows };
}

/** @param {Uint8Array} piece */
function linesIn(piece) {
  let lines = 0;
  for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1;
  return lines;
}

function noReports() {
  return [
    el("h3", { text: "No reports to export" }),
    el("p", { class: "hint", text: "What workers of a sealed campaign send is readable by nobody, so there is no table of it, and none of weights. Truths are there once the total is open." }),
  ];
}

/** @param {string} id */
function commandLine(id) {
  const line = `sottovoce campaign export ${id} reports.parquet`;
  return [
    el("h3", { text: "Very large ones" }),
    el("p", { class: "hint", text: "A browser holds a file in memory until it is whole. The command line writes it straight to the disk, and takes it whole or not at all:" }),
    el("pre", { tabindex: 0 }, el("code", { text: line })),
    el("p", { class: "actions" }, copying("Copy", () => line)),
  ];
}
