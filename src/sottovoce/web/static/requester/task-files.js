// Which format a file or a pasted text has. The server reads it; nothing is judged here.

/** @typedef {{content: Blob | string, type: string, from: string}} Table */

/** Bytes that the server takes. */
export const LARGEST = 64 * 1024 * 1024;

const ENDINGS = /** @type {Record<string, string>} */ ({
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  tab: "text/tab-separated-values",
  jsonl: "application/x-ndjson",
  ndjson: "application/x-ndjson",
  json: "application/json",
});

/** The content type of a file with this name, if it is one of ours. @param {string} name */
export function kindOfFile(name) {
  return ENDINGS[name.split(".").pop()?.toLowerCase() ?? ""] ?? null;
}

/**
 * A pasted text as a table: as it is where it has columns, else a task for each line, t1, t2 …
 *
 * @param {string} text
 * @param {string} from
 * @returns {Table}
 */
export function asTable(text, from = "pasted lines") {
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
