// Small charts: SVG drawn at the width there is, with a table of the same numbers beneath. Colours
// come from style sheets. What is no finite number leaves a gap.

import { bands, dotPlot, empty, frame, lines, markers, named, references, strip, uprights } from "./charts/marks.js";
import { evenly, extent, isNumber, plain, steady } from "./charts/scales.js";
import { figure } from "./charts/figure.js";

/** @typedef {(value: number) => string} Format */
/** @typedef {number | null | undefined} Value */
/** @typedef {{name: string, values: Value[], low?: Value[], high?: Value[]}} Series */
/** @typedef {{label: string, value: Value}} Labelled */

/**
 * Lines over numbers, with the band in which a value lies, lines to compare with, and a place that
 * is looked at. `x.even` spaces the values evenly, whatever they are.
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
    draw: (svg, width) => {
      if (!series.some((each) => each.values.some(isNumber))) return empty(svg, width);
      const vertical = { low, high, format: up, label: y.label ?? "" };
      const place = frame(svg, width, vertical, x.even ? evenly(x, across) : steady(x, across), x);
      references(place, known);
      series.forEach((each, at) => bands(place, each, at));
      series.forEach((each, at) => lines(place, each, at));
      named(place, known, series, up);
      if (marker) markers(place, marker, x.values, series);
    },
  });
}

/**
 * How often: a bar for each range of values.
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
    draw: (svg, width) => {
      if (!bars.some((bar) => isNumber(bar.value))) return empty(svg, width);
      uprights(svg, width, bars, format);
    },
  });
}

/**
 * Much and little along a row of cells: the darker, the more. A cell without anything is hollow.
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
    draw: (svg, width) => {
      if (!given.some((cell) => isNumber(cell.value))) return empty(svg, width);
      strip(svg, width, given, format);
    },
  });
}

/**
 * One dot for each, stacked where values are alike, and the median.
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
    draw: (svg, width) => {
      const known = points.filter((point) => isNumber(point.value));
      if (!known.length) return empty(svg, width);
      dotPlot(svg, width, known, format);
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
  const beside = reference.map((line) => `${line.name}: ${format(line.value)}`);
  return `${[...each, ...beside].join(". ")}. Over ${x.label}.`;
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
