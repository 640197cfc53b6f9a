// Step 1: the tasks, from a file or pasted. The server reads them and names the row and column of any
// error.

import { el, fill } from "../requester/elements.js";
import { field } from "../requester/fields.js";
import { whole } from "../requester/formats.js";
import { ask, Problem, save } from "../requester/requests.js";
import { tasksOf, write } from "./draft.js";

/** @import { Draft, Tasks } from "./draft.js" */
/** @import { View } from "./wizard.js" */

const EXAMPLE = `task,text,image
leaf-1,"A leaf with a wavy edge, as long as a hand",
leaf-2,A small leaf with teeth like a saw,
leaf-3,A leaf in the shape of a heart,
`;

/**
 * @param {Draft} draft
 * @param {() => void} changed
 * @param {() => void} taken called when tasks were accepted
 * @returns {View}
 */
export function tasksStep(draft, changed, taken) {
  const element = el("div");
  const chooser = choosing(draft, changed, async (table) => {
    await take(draft, table);
    taken();
    showTaken();
  });
  const showTaken = () => fill(element, summary(draft, () => fill(element, chooser.element)));
  if (draft.tasks) showTaken();
  else fill(element, chooser.element);
  const check = () => draft.tasks !== null || chooser.use();
  return { element, check };
}

/**
 * Sends a table to the server. A draft created for it is deleted if the table is refused.
 *
 * @param {Draft} draft
 * @param {Table} table
 */
async function take(draft, { content, type, from }) {
  const [isNew, title] = [draft.id === null, draft.title];
  draft.title ||= titled(from);
  if (isNew) await write(draft);
  try {
    const how = { method: "PUT", body: content, headers: { "content-type": type } };
    const { ignored } = await ask(`campaigns/${draft.id}/tasks`, how);
    draft.tasks = await tasksOf(String(draft.id), ignored, from);
    if (Number(draft.answers) > draft.tasks.count) draft.answers = String(draft.tasks.count);
    if (draft.reached === "tasks") draft.reached = "answers";
    draft.pasted = "";
    if (isNew) history.replaceState(null, "", `#${draft.id}`);
  } catch (error) {
    draft.title = title;
    if (isNew) {
      await ask(`campaigns/${draft.id}`, { method: "DELETE" }).catch(() => null);
      draft.id = null;
    }
    throw error;
  }
}

/** A file's name as a first title. @param {string} from */
function titled(from) {
  const words = from.replace(/\.\w+$/, "").replace(/[-_]+/g, " ").trim();
  return words === "pasted lines" ? "" : words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * @param {Draft} draft
 * @param {() => void} changed
 * @param {(table: Table) => Promise<void>} give
 */
function choosing(draft, changed, give) {
  const file = el("input", { type: "file", class: "unseen", id: "file", accept: ".csv,.tsv,.jsonl,.ndjson,.json,.txt", "aria-describedby": "file-error file-hint" });
  const error = el("p", { class: "error", id: "file-error", role: "alert" });
  const pasted = field("Or paste them", el("textarea", { rows: 6, spellcheck: "false" }, draft.pasted),
    "One task per line, or a table with the header row task, text, image, known.");
  const use = el("button", { type: "button", class: "quiet", text: "Use these lines" });
  const working = async (/** @type {() => Promise<Table>} */ table, /** @type {(words: string) => void} */ say) => {
    if (drop.classList.contains("working")) return; // one table at a time
    say("");
    drop.classList.add("working");
    try {
      await give(await table());
    } catch (problem) {
      say(placed(/** @type {Error} */ (problem)));
    }
    drop.classList.remove("working");
  };
  const sayOfFile = (/** @type {string} */ words) => {
    error.textContent = words;
    drop.classList.toggle("bad", words !== "");
    file.value = "";
  };
  const readFile = (/** @type {File | undefined} */ chosen) => chosen && working(() => tableOf(chosen), sayOfFile);
  const drop = el("label", { class: "drop", for: "file" },
    file,
    el("span", { class: "drop-title" }, el("span", { class: "as-link", text: "Choose a file" }), el("span", { class: "only-fine", text: " or drop it here" })),
    el("span", { class: "hint", id: "file-hint", text: "CSV, TSV, JSON or JSON lines. Column “task” is the task’s name, “text” is what workers read, “image” is a web address, “known” is the truth if you know it (workers never see it)." }),
  );
  file.addEventListener("change", () => readFile(file.files?.[0]));
  for (const kind of ["dragenter", "dragover"]) drop.addEventListener(kind, (event) => over(event, drop, true));
  for (const kind of ["dragleave", "drop"]) drop.addEventListener(kind, (event) => over(event, drop, false));
  drop.addEventListener("drop", (event) => readFile(event.dataTransfer?.files[0]));
  pasted.input.addEventListener("input", () => {
    draft.pasted = pasted.input.value;
    changed();
  });
  const say = (/** @type {string} */ words) => void pasted.say(words);
  const usePasted = () => working(async () => asTable(pasted.input.value), say);
  /** Tasks are shown before the next step. @returns {false} */
  const useOrAsk = () => {
    if (pasted.input.value.trim()) usePasted();
    else pasted.say("Choose a file or paste some tasks.");
    return false;
  };
  use.addEventListener("click", useOrAsk);
  const element = el("div", { class: "choosing" },
    el("p", { class: "lead", text: "A task is one thing with one truth: a picture to name, a sentence to judge, a street to measure. Every task gets the same question." }),
    drop, error,
    el("p", {}, el("button", { type: "button", class: "plain", text: "Download an example", onclick: () => save(new Blob([EXAMPLE], { type: "text/csv" }), "tasks.csv") })),
    pasted.element, el("div", { class: "actions" }, use),
  );
  return { element, use: useOrAsk };
}

/** @param {Event} event @param {HTMLElement} drop @param {boolean} isOver */
function over(event, drop, isOver) {
  event.preventDefault();
  drop.classList.toggle("over", isOver);
}

/** @param {File} file @returns {Promise<Table>} */
async function tableOf(file) {
  if (file.size > LARGEST) throw new Error(`The file is larger than ${whole(LARGEST / 1e6)} MB. Split the campaign.`);
  if (/\.txt$/i.test(file.name)) return asTable(await file.text(), file.name);
  const type = kindOfFile(file.name);
  if (!type) throw new Error("Save the tasks as a .csv, .tsv, .jsonl or .json file.");
  return { content: file, type, from: file.name };
}

/** @param {Error} error */
function placed(error) {
  if (!(error instanceof Problem)) return error.message;
  if (error.row === null) return error.message.replace(/^Tasks: /, "The table ");
  const column = error.column === null ? "" : `, column ${error.column}`;
  const words = error.message.replace(/^\w+, (row [\d,]+)?(, )?(column [^:]+)?: /i, "");
  return `Row ${whole(error.row)}${column}: ${words}`;
}

/** @param {Draft} draft @param {() => void} other */
function summary(draft, other) {
  const { count, first, read, ignored, from } = /** @type {Tasks} */ (draft.tasks);
  return el("div", {},
    el("section", { class: "card" },
      el("p", { class: "big-number" }, el("strong", { text: whole(count) }), ` ${count === 1 ? "task" : "tasks"}`, from !== "before" && el("span", { class: "hint", text: ` from ${from}` })),
      el("p", { class: "hint", text: `Columns read: ${read.join(", ")}.${ignored.length ? ` Ignored: ${ignored.join(", ")}.` : ""}` }),
      el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The first tasks" },
        el("table", {},
          el("thead", {}, el("tr", {}, read.map((name) => el("th", { scope: "col", text: name })))),
          el("tbody", {}, first.map((task) => el("tr", {}, read.map((name) => el("td", { text: task[/** @type {"task"} */ (name)] ?? "" }))))),
        )),
      count > first.length && el("p", { class: "fine", text: `and ${whole(count - first.length)} more.` }),
      el("div", { class: "actions" }, el("button", { type: "button", class: "quiet", text: "Choose other tasks", onclick: other })),
    ));
}

// The format of a file or pasted text. The server does the reading and checking.

/** @typedef {{content: Blob | string, type: string, from: string}} Table */

/** The largest table that the server accepts, in bytes. */
const LARGEST = 64 * 1024 * 1024;

const ENDINGS = /** @type {Record<string, string>} */ ({
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  tab: "text/tab-separated-values",
  jsonl: "application/x-ndjson",
  ndjson: "application/x-ndjson",
  json: "application/json",
});

/** The content type of a file with this name, if it is supported. @param {string} name */
function kindOfFile(name) {
  return ENDINGS[name.split(".").pop()?.toLowerCase() ?? ""] ?? null;
}

/**
 * A pasted text as a table: unchanged if it has columns, otherwise one task per line, t1, t2 …
 *
 * @param {string} text
 * @param {string} from
 * @returns {Table}
 */
function asTable(text, from = "pasted lines") {
  const start = text.trimStart();
  if (start.startsWith("[")) return { content: text, type: "application/json", from };
  if (start.startsWith("{")) return { content: text, type: "application/x-ndjson", from };
  const head = start.split(/\r?\n/, 1)[0] ?? "";
  if (hasTask(head, "\t")) return { content: text, type: "text/tab-separated-values", from };
  if (hasTask(head, ",")) return { content: text, type: "text/csv", from };
  const lines = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
  const content = JSON.stringify(lines.map((line, at) => ({ task: `t${at + 1}`, text: line })));
  return { content, type: "application/json", from };
}

/** @param {string} head @param {string} mark */
function hasTask(head, mark) {
  return head.split(mark).some((name) => name.trim().replace(/^"|"$/g, "").toLowerCase() === "task");
}
