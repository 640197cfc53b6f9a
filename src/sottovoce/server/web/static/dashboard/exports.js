// Sections Exports and Methods: files to save, and a paragraph for a paper.

import { copyButton, el, once, renew } from "../requester/elements.js";
import { counted, size } from "../requester/formats.js";
import { isSealed } from "../requester/policy.js";
import { answer, ask, Problem, save } from "../requester/requests.js";
import { sectionElement } from "./sections.js";

/** @import { Campaign, Section, State } from "../requester/types.js" */

// Exports.

/** @typedef {{table: string, title: string, words: string, formats: string[]}} Table */

const THREE = ["csv", "jsonl", "parquet"];

/** @type {Table[]} */
const TABLES = [
  { table: "truths", title: "Truths", words: "The truth of every task that has reports, its certainty, and the number of reports.", formats: THREE },
  { table: "workers", title: "Workers", words: "Each worker’s pseudonym, weight and number of reports.", formats: THREE },
  { table: "reports", title: "Reports", words: "Every report as received, by pseudonym and task. Without times or order of arrival.", formats: THREE },
  { table: "crowdkit", title: "For crowd-kit", words: "The reports in crowd-kit’s format: task, worker, label.", formats: ["csv"] },
  { table: "tasks", title: "Tasks", words: "The tasks as uploaded: name, text and image.", formats: ["csv"] },
  { table: "policy", title: "Policy", words: "The privacy policy that workers’ software pins. Needed to infer truths with other software.", formats: ["json"] },
];

/** Tables that exist only if each worker's reports can be read. */
const OF_REPORTS = ["workers", "reports", "crowdkit"];

/** @param {string} path @returns {Section} */
export function exportsSection(path) {
  const rows = el("ul", { class: "exports" });
  const terminal = el("div", { class: "card" });
  const element = sectionElement(
    "exports",
    "Exports",
    el("p", { class: "measure", text: "Files contain the data at the time of the export. In CSV files, text that a spreadsheet would run as a formula starts with an apostrophe." }),
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
  const bar = el("progress", { max: 1, hidden: true, "aria-label": `Progress of ${table}` });
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
    status.textContent = error instanceof Problem ? error.detail : "The download was interrupted. Nothing was saved. Try again.";
  }
  bar.hidden = true;
}

/**
 * Reads a response to its end and shows the progress. The server gives the number of rows, and in
* text formats each row is a line.
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
    el("p", { class: "hint", text: "Nobody can read what workers of a sealed campaign send, so there is no table of reports or weights. Truths are available once the total is open." }),
  ];
}

/** @param {string} id */
function commandLine(id) {
  const line = `sottovoce campaign export ${id} reports.parquet`;
  return [
    el("h3", { text: "Large files" }),
    el("p", { class: "hint", text: "A browser holds a file in memory until it is complete. The command line writes it directly to disk, and keeps only complete files:" }),
    el("pre", { tabindex: 0 }, el("code", { text: line })),
    el("p", { class: "actions" }, copyButton("Copy", () => line)),
  ];
}

// Methods: the paragraph for a paper.

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
    el("p", { class: "measure", text: "A description for a paper. It changes with the campaign, so copy it after the campaign is closed." }),
    el(
      "div",
      { class: "card" },
      el("h3", { text: "Paragraph" }),
      el("blockquote", { class: "paragraph", text: paragraph }),
      el("p", { class: "actions" }, copyButton("Copy the paragraph", () => paragraph, "")),
    ),
    el(
      "div",
      { class: "card" },
      el("h3", { text: "BibTeX" }),
      el("pre", { tabindex: 0 }, el("code", { text: citation })),
      el("p", { class: "actions" }, copyButton("Copy the entry", () => citation)),
    ),
    el(
      "details",
      { class: "more" },
      el("summary", { text: "Facts" }),
      el("dl", {}, facts.map(({ name, value }) => el("div", {}, el("dt", { text: name }), el("dd", { text: value })))),
    ),
  ];
}
