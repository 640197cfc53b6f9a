// Small charts: SVG drawn to fit the width, above a table of the same numbers. Style sheets set the
// colours. A value that is not a finite number leaves a gap.

import { el, svg } from "../requester/elements.js";
import { bands, dotPlot, empty, frame, lines, markers, named, references, strip, uprights } from "./marks.js";
import { evenly, extent, isNumber, plain, steady } from "./scales.js";

/** @typedef {(value: number) => string} Format */
/** @typedef {number | null | undefined} Value */
/** @typedef {{name: string, values: Value[], low?: Value[], high?: Value[]}} Series */
/** @typedef {{label: string, value: Value}} Labelled */

/**
 * A line chart with uncertainty bands, reference lines and a highlighted position. `x.even` spaces the
* values evenly, whatever their distance.
 *
 * @param {{
 *   title: string,
 *   x: {label: string, values: number[], format?: Format, even?: boolean},
 *   y?: {label?: string, format?: Format, low?: number, high?: number},
 *   series: Series[],
 *   reference?: {name: string, value: number}[],
 *   marker?: {x: number, label?: string},
 * }} chart
 * @returns {HTMLElement}
 */
export function lineChart({ title, x, y = {}, series, reference = [], marker }) {
  const [across, up] = [x.format ?? plain, y.format ?? plain];
  const known = reference.filter((line) => isNumber(line.value));
  const all = [...series.flatMap(seen), ...known.map((line) => line.value)];
  const [low, high] = extent(all, y.low, y.high);
  return figure({
    title,
    description: describedLines(series, x, up, known),
    legend: series.length > 1 ? series.map((each) => each.name) : [],
    head: [x.label, ...series.flatMap(columns)],
    rows: x.values.map((value, at) => [across(value), ...series.flatMap((each) => cells(each, at, up))]),
    after: known.map((line) => [line.name, up(line.value)]),
    draw: (drawing, width) => {
      if (!series.some((each) => each.values.some(isNumber))) return empty(drawing, width);
      const vertical = { low, high, format: up, label: y.label ?? "" };
      const place = frame(drawing, width, vertical, x.even ? evenly(x, across) : steady(x, across), x);
      references(place, known);
      series.forEach((each, at) => bands(place, each, at));
      series.forEach((each, at) => lines(place, each, at));
      named(place, known, series, up);
      if (marker) markers(place, marker, x.values, series);
    },
  });
}

/**
 * A histogram: one bar per range of values.
 *
 * @param {{title: string, bars: Labelled[], format?: Format}} chart
 * @returns {HTMLElement}
 */
export function histogram({ title, bars, format = plain }) {
  return figure({
    title,
    description: describedAll(bars, format),
    legend: [],
    head: ["", "how many"],
    rows: bars.map((bar) => [bar.label, shown(bar.value, format)]),
    draw: (drawing, width) => {
      if (!bars.some((bar) => isNumber(bar.value))) return empty(drawing, width);
      uprights(drawing, width, bars, format);
    },
  });
}

/**
 * A row of cells, darker for larger values. An empty cell is hollow.
 *
 * @param {{title: string, cells: Labelled[], format?: Format}} chart
 * @returns {HTMLElement}
 */
export function heatStrip({ title, cells: given, format = plain }) {
  return figure({
    title,
    description: describedAll(given, format),
    legend: [],
    head: ["", "value"],
    rows: given.map((cell) => [cell.label, shown(cell.value, format)]),
    draw: (drawing, width) => {
      if (!given.some((cell) => isNumber(cell.value))) return empty(drawing, width);
      strip(drawing, width, given, format);
    },
  });
}

/**
 * A dot plot: one dot per value, stacked where values are close, with the median.
 *
 * @param {{title: string, points: Labelled[], format?: Format}} chart
 * @returns {HTMLElement}
 */
export function dots({ title, points, format = plain }) {
  return figure({
    title,
    description: describedAll(points, format),
    legend: [],
    head: ["", "value"],
    rows: points.map((point) => [point.label, shown(point.value, format)]),
    draw: (drawing, width) => {
      const known = points.filter((point) => isNumber(point.value));
      if (!known.length) return empty(drawing, width);
      dotPlot(drawing, width, known, format);
    },
  });
}

/** @param {Series} series */
function seen({ values, low = [], high = [] }) {
  return [...values, ...low, ...high];
}

/** @param {Series} series */
function columns({ name, low, high }) {
  return low && high ? [name, "from", "to"] : [name];
}

/** @param {Series} series @param {number} at @param {Format} format */
function cells({ values, low, high }, at, format) {
  const known = low && high ? [values[at], low[at], high[at]] : [values[at]];
  return known.map((value) => shown(value, format));
}

/** @param {Value} value @param {Format} format */
function shown(value, format) {
  return isNumber(value) ? format(value) : "–";
}

/**
 * @param {Series[]} series
 * @param {{label: string, values: number[]}} x
 * @param {Format} format
 * @param {{name: string, value: number}[]} reference
 */
function describedLines(series, x, format, reference) {
  const each = series.map(({ name, values }) => `${name}: ${range(values, format)}`);
  const compared = reference.map((line) => `${line.name}: ${format(line.value)}`);
  return `${[...each, ...compared].join(". ")}. Over ${x.label}.`;
}

/** @param {Labelled[]} given @param {Format} format */
function describedAll(given, format) {
  return `${given.length} values: ${range(given.map((each) => each.value), format)}.`;
}

/** @param {Value[]} values @param {Format} format */
function range(values, format) {
  const known = values.filter(isNumber);
  if (!known.length) return "nothing yet";
  let [low, high] = [Infinity, -Infinity];
  for (const value of known) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return low === high ? format(low) : `from ${format(low)} to ${format(high)}`;
}

// The frame of every chart: title, drawing, legend, table.

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
function figure({ title, description, legend, head, rows, after = [], draw }) {
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
 * The chart's numbers as a table, built when it is first opened.
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
