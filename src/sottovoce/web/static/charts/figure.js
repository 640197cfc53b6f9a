// What all charts have: a title, a drawing that follows the width, a legend, a table.

import { el, svg } from "../requester/building.js";

/** @typedef {(drawing: SVGSVGElement, width: number) => void} Draw */

const USUAL = 640;
const NARROWEST = 240;
const MOST_ROWS = 500;
let made = 0;

/**
 * @param {{
 *   title: string, description: string, legend: string[], head: string[], rows: string[][],
 *   after?: string[][], draw: Draw,
 * }} parts
 * @returns {HTMLElement}
 */
export function figure({ title, description, legend, head, rows, after = [], draw }) {
  const name = `chart-${++made}`;
  const drawing = svg("svg", { role: "img", "aria-labelledby": `${name}-title ${name}-desc` });
  const whole = el("figure", { class: "chart" },
    el("figcaption", { text: title }),
    drawing,
    legend.length > 0 && el("ul", { class: "legend" }, legend.map(legendItem)),
    rows.length > 0 && numbers(head, rows, after),
  );
  let drawn = 0;
  const redraw = (/** @type {number} */ width) => {
    if (Math.abs(width - drawn) < 1) return;
    drawn = width;
    drawing.replaceChildren(
      svg("title", { id: `${name}-title`, text: title }),
      svg("desc", { id: `${name}-desc`, text: description }),
    );
    draw(drawing, width);
  };
  redraw(USUAL);
  new ResizeObserver(([entry]) => {
    const width = entry?.contentRect.width ?? 0;
    if (width > 0) redraw(Math.max(NARROWEST, Math.round(width)));
  }).observe(whole);
  return whole;
}

/** @param {string} name @param {number} at */
function legendItem(name, at) {
  const sample = svg("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
    svg("line", { class: `line series-${at}`, x1: 2, x2: 26, y1: 6, y2: 6 }),
    svg("circle", { class: `point series-${at}`, cx: 14, cy: 6, r: 3.5 }),
  );
  return el("li", {}, sample, name);
}

/**
 * The same numbers to read. They are laid out when they are first looked at.
 *
 * @param {string[]} head
 * @param {string[][]} rows
 * @param {string[][]} after
 */
function numbers(head, rows, after) {
  const shown = el("details", {}, el("summary", { text: "Show the numbers" }));
  const lay = () => shown.append(table(head, rows, after));
  shown.addEventListener("toggle", lay, { once: true });
  return shown;
}

/** @param {string[]} head @param {string[][]} rows @param {string[][]} after */
function table(head, rows, after) {
  const left = rows.length - MOST_ROWS;
  const amounts = head.length - 1;
  const more = left > 0 ? [[`and ${left} more`, ...Array(amounts).fill("")]] : [];
  const padded = after.map((row) => [...row, ...Array(amounts + 1 - row.length).fill("")]);
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "The numbers of the chart" },
    el("table", { class: "numbers" },
      el("thead", {}, el("tr", {}, head.map((text, at) => (text ? el("th", { scope: "col", class: at && "amount", text }) : el("td"))))),
      el("tbody", {}, [...rows.slice(0, MOST_ROWS), ...more, ...padded].map(row)),
    ),
  );
}

/** @param {string[]} cells */
function row([first, ...others]) {
  return el("tr", {}, el("th", { scope: "row", text: first }), others.map((text) => el("td", { class: "amount", text })));
}
