// The marks of a chart: axes, lines and bands, bars, cells and dots. Places are in pixels.

import { svg } from "../requester/elements.js";
import { extent, isNumber, ticks } from "./scales.js";

/** @import { Format, Labelled, Series } from "./chart.js" */
/** @import { Across } from "./scales.js" */

/**
 * Positions: `x` and `y` map values to pixels, `at` maps the value with this index.
 *
 * @typedef {{
 *   drawing: SVGSVGElement, left: number, right: number, top: number, bottom: number, count: number,
 *   x: (value: number) => number, y: (value: number) => number, at: (index: number) => number,
 * }} Place
 */

const HEIGHT = 250;
const LINE = 15;
const LETTER = 7.4;
const DOT = 4;

/** @param {SVGSVGElement} drawing @param {number} width @param {number} height */
function sized(drawing, width, height) {
  drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
  drawing.setAttribute("width", String(width));
  drawing.setAttribute("height", String(height));
}

/** Shows that there is no data yet. @param {SVGSVGElement} drawing @param {number} width */
export function empty(drawing, width) {
  sized(drawing, width, 96);
  drawing.append(
    svg("line", { class: "axis", x1: 0, x2: width, y1: 80, y2: 80 }),
    svg("text", { x: width / 2, y: 48, "text-anchor": "middle", text: "Nothing to show yet" }),
  );
}

/**
 * Axes with round ticks, and the positions of values.
 *
 * @param {SVGSVGElement} drawing
 * @param {number} width
 * @param {{low: number, high: number, format: Format, label: string}} vertical
 * @param {(about: number) => Across} horizontal
 * @param {{label: string, values: number[]}} given
 * @returns {Place}
 */
export function frame(drawing, width, vertical, horizontal, { label, values }) {
  const { low, high, format } = vertical;
  const levels = ticks(low, high, 5);
  const left = Math.max(...levels.map((level) => format(level).length)) * LETTER + 12;
  const [top, right, bottom] = [vertical.label ? 30 : 18, width - 14, HEIGHT - 42];
  const y = (/** @type {number} */ value) => bottom - ((value - low) / (high - low)) * (bottom - top);
  const across = fitting(horizontal, right - left);
  const x = (/** @type {number} */ value) => left + across.share(value) * (right - left);
  const deep = Math.max(1, ...across.ticks.map(({ words }) => words.split("\n").length));
  const below = label ? broken(label, width) : [];
  sized(drawing, width, bottom + 8 + LINE * (deep + below.length + (below.length ? 0.3 : 0)));
  if (vertical.label) drawing.append(svg("text", { x: 0, y: 11, text: vertical.label }));
  for (const level of levels) {
    drawing.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y(level), y2: y(level) }),
      svg("text", { x: left - 8, y: y(level) + 4, "text-anchor": "end", text: format(level) }),
    );
  }
  for (const tick of across.ticks) {
    const at = left + tick.at * (right - left);
    const half = (long(tick.words) * LETTER) / 2;
    const middle = Math.min(Math.max(at, half), width - half);
    drawing.append(
      svg("line", { class: "axis", x1: px(at), x2: px(at), y1: bottom, y2: bottom + 4 }),
      ...tick.words.split("\n").map((words, row) =>
        svg("text", { class: row ? "strong" : null, x: px(middle), y: bottom + 18 + LINE * row, "text-anchor": "middle", text: words })),
    );
  }
  drawing.append(
    svg("line", { class: "axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    ...below.map((words, row) =>
      svg("text", { x: px(below.length > 1 ? width / 2 : (left + right) / 2), y: bottom + 22 + LINE * (deep + row), "text-anchor": "middle", text: words })),
  );
  const at = (/** @type {number} */ index) => x(values[index] ?? NaN);
  return { drawing, left, right, top, bottom, count: values.length, x, y, at };
}

/** Letters of the longest line. @param {string} words */
function long(words) {
  return Math.max(...words.split("\n").map((line) => line.length));
}

/** A label in one line, or in two if there is no room. @param {string} words @param {number} width */
function broken(words, width) {
  if (words.length * LETTER <= width) return [words];
  const middle = words.indexOf(" ", words.length / 2);
  return middle < 0 ? [words] : [words.slice(0, middle), words.slice(middle + 1)];
}

/** As many ticks as there is room for their labels. @param {(about: number) => Across} horizontal @param {number} room */
function fitting(horizontal, room) {
  for (let about = 12; about > 1; about--) {
    const across = horizontal(about);
    const longest = Math.max(0, ...across.ticks.map((tick) => long(tick.words)));
    if ((longest * LETTER + 10) * across.ticks.length <= room) return across;
  }
  return horizontal(1);
}

/**
 * Reference lines.
 *
 * @param {Place} place
 * @param {{value: number}[]} given
 */
export function references(place, given) {
  for (const { value } of given) {
    const level = px(place.y(value));
    place.drawing.append(svg("line", { class: "reference", x1: place.left, x2: place.right, y1: level, y2: level }));
  }
}

/**
 * Labels of reference lines: on the side with fewer values nearby, without overlap.
 *
 * @param {Place} place
 * @param {{name: string, value: number}[]} given
 * @param {Series[]} series
 * @param {Format} format
 */
export function named(place, given, series, format) {
  const near = (/** @type {number} */ value, /** @type {boolean} */ atEnd) =>
    Math.min(...series.map(({ values }) => {
      const known = values.filter(isNumber);
      const side = known[atEnd ? known.length - 1 : 0] ?? Infinity;
      return Math.abs(place.y(side) - place.y(value));
    }));
  /** @type {Record<string, number>} */
  const lowest = { start: -Infinity, end: -Infinity };
  for (const { name, value } of [...given].sort((one, other) => other.value - one.value)) {
    const side = near(value, true) >= near(value, false) ? "end" : "start";
    const y = Math.max(place.y(value) - 6, (lowest[side] ?? 0) + 15);
    lowest[side] = y;
    const x = side === "end" ? place.right : place.left + 6;
    place.drawing.append(svg("text", { class: "halo", x, y: px(y), "text-anchor": side, text: `${name} ${format(value)}` }));
  }
}

/**
 * The band of a series, where both ends are known.
 *
 * @param {Place} place
 * @param {Series} series
 * @param {number} index
 */
export function bands(place, { low, high }, index) {
  if (!low || !high) return;
  const kind = `area series-${index}`;
  for (const run of runs(place.count, (at) => isNumber(low[at]) && isNumber(high[at]))) {
    const upper = run.map((at) => [place.at(at), place.y(Number(high[at]))]);
    const lower = run.map((at) => [place.at(at), place.y(Number(low[at]))]);
    const [[x = 0, from = 0] = [], [, to = 0] = []] = [upper[0], lower[0]];
    place.drawing.append(
      run.length === 1
        ? svg("rect", { class: kind, x: px(x - 5), width: 10, y: px(from), height: px(Math.max(1, to - from)) })
        : svg("polygon", { class: kind, points: joined([...upper, ...lower.reverse()]) }),
    );
  }
}

/**
 * The line of a series: broken where a value is missing, with points if there are few.
 *
 * @param {Place} place
 * @param {Series} series
 * @param {number} index
 */
export function lines(place, { values }, index) {
  const isFew = values.filter(isNumber).length <= 24;
  for (const run of runs(place.count, (at) => isNumber(values[at]))) {
    const points = run.map((at) => [place.at(at), place.y(Number(values[at]))]);
    if (run.length > 1) {
      place.drawing.append(svg("polyline", { class: `line series-${index}`, points: joined(points) }));
    }
    if (!isFew && run.length > 1) continue;
    for (const [x = 0, y = 0] of points) {
      place.drawing.append(svg("circle", { class: `point series-${index}`, cx: px(x), cy: px(y), r: 4 }));
    }
  }
}

/**
 * The highlighted position, with its values.
 *
 * @param {Place} place
 * @param {{x: number, label?: string}} marker
 * @param {number[]} values
 * @param {Series[]} series
 */
export function markers(place, marker, values, series) {
  const x = place.x(marker.x);
  if (!isNumber(x)) return;
  const index = values.indexOf(marker.x);
  place.drawing.append(svg("line", { class: "marker", x1: px(x), x2: px(x), y1: place.top, y2: place.bottom }));
  series.forEach((each, at) => {
    const value = each.values[index];
    if (!isNumber(value)) return;
    place.drawing.append(svg("circle", { class: `point series-${at}`, cx: px(x), cy: px(place.y(value)), r: 6.5 }));
  });
  if (!marker.label) return;
  const isLeft = x > (place.left + place.right) / 2;
  place.drawing.append(
    svg("text", { class: "strong halo", x: px(x + (isLeft ? -8 : 8)), y: place.bottom - 10, "text-anchor": isLeft ? "end" : "start", text: marker.label }),
  );
}

/**
 * Bars from zero up. Their labels are below if there is room.
 *
 * @param {SVGSVGElement} drawing
 * @param {number} width
 * @param {Labelled[]} bars
 * @param {Format} format
 */
export function uprights(drawing, width, bars, format) {
  const [low, high] = extent([0, ...bars.map((bar) => bar.value)]);
  const named = bars.map((bar, at) => ({ at: (at + 0.5) / bars.length, words: bar.label }));
  const across = (/** @type {number} */ about) => {
    const every = Math.max(1, Math.ceil(named.length / about));
    return { share: (/** @type {number} */ value) => value, ticks: named.filter((_, at) => at % every === 0) };
  };
  const values = named.map((bar) => bar.at);
  const place = frame(drawing, width, { low, high, format, label: "" }, across, { label: "", values });
  const wide = (place.right - place.left) / bars.length;
  const gap = wide > 6 ? Math.min(3, wide / 5) : 0;
  bars.forEach((bar, at) => {
    if (!isNumber(bar.value)) return;
    const [from, to] = [place.y(Math.max(bar.value, 0)), place.y(Math.min(bar.value, 0))];
    const size = { x: px(place.at(at) - wide / 2 + gap / 2), width: px(wide - gap), y: px(from), height: px(to - from) };
    drawing.append(svg("rect", { class: "bar", rx: Math.min(2, gap), ...size }, told(bar, format)));
  });
}

/**
 * A row of cells, darker for larger values.
 *
 * @param {SVGSVGElement} drawing
 * @param {number} width
 * @param {Labelled[]} cells
 * @param {Format} format
 */
export function strip(drawing, width, cells, format) {
  const known = cells.map((cell) => cell.value).filter(isNumber);
  const most = known.reduce((one, other) => Math.max(one, other), 0);
  const wide = width / cells.length;
  const gap = wide > 5 ? 1.5 : 0;
  sized(drawing, width, 62);
  cells.forEach((cell, at) => {
    const isSome = isNumber(cell.value) && cell.value > 0;
    const size = { x: px(at * wide + gap / 2), width: px(Math.max(0.5, wide - gap)), y: 1, height: 36, rx: gap };
    const shade = isSome ? (0.15 + (0.85 * Number(cell.value)) / most).toFixed(3) : null;
    drawing.append(svg("rect", { class: isSome ? "cell" : "cell none", "fill-opacity": shade, ...size }, told(cell, format)));
  });
  const [first, last] = [cells[0], cells[cells.length - 1]];
  const least = known.reduce((one, other) => Math.min(one, other), Infinity);
  drawing.append(
    svg("text", { x: 0, y: 54, text: first?.label ?? "" }),
    svg("text", { x: width / 2, y: 54, "text-anchor": "middle", text: least === most ? format(most) : `${format(least)} to ${format(most)}` }),
    svg("text", { x: width, y: 54, "text-anchor": "end", text: cells.length > 1 ? (last?.label ?? "") : "" }),
  );
}

/**
 * A dot for each value, stacked where values are close; high stacks are compressed.
 *
 * @param {SVGSVGElement} drawing
 * @param {number} width
 * @param {Labelled[]} points
 * @param {Format} format
 */
export function dotPlot(drawing, width, points, format) {
  const sorted = points.map((point) => Number(point.value)).sort((one, other) => one - other);
  const [low, high] = extent(sorted);
  const [left, right] = [DOT + 2, width - DOT - 2];
  const x = (/** @type {number} */ value) => left + ((value - low) / (high - low)) * (right - left);
  const stacks = stacked(points, x);
  const highest = Math.max(...stacks.map(([, stack]) => stack.length));
  const apart = Math.min(2 * DOT + 1, 130 / highest);
  const bottom = 20 + Math.max(24, highest * apart + DOT);
  sized(drawing, width, bottom + 26);
  for (const level of ticks(low, high, Math.max(2, Math.floor(width / 90)))) {
    const half = (format(level).length * LETTER) / 2;
    const middle = Math.min(Math.max(x(level), half), width - half);
    drawing.append(
      svg("line", { class: "axis", x1: px(x(level)), x2: px(x(level)), y1: bottom, y2: bottom + 4 }),
      svg("text", { x: px(middle), y: bottom + 18, "text-anchor": "middle", text: format(level) }),
    );
  }
  drawing.append(svg("line", { class: "axis", x1: 0, x2: width, y1: bottom, y2: bottom }));
  for (const [middle, stack] of stacks) {
    stack.forEach((point, at) => {
      const place = { cx: px(middle), cy: px(bottom - DOT - 1 - at * apart), r: DOT };
      drawing.append(svg("circle", { class: "dot", ...place }, told(point, format)));
    });
  }
  median(drawing, sorted, x, { width, bottom, format });
}

/**
 * Groups of points whose dots would overlap.
 *
 * @param {Labelled[]} points
 * @param {(value: number) => number} x
 * @returns {[number, Labelled[]][]}
 */
function stacked(points, x) {
  /** @type {Map<number, Labelled[]>} */
  const stacks = new Map();
  for (const point of points) {
    const middle = Math.round(x(Number(point.value)) / (2 * DOT)) * 2 * DOT;
    const stack = stacks.get(middle);
    if (stack) stack.push(point);
    else stacks.set(middle, [point]);
  }
  return [...stacks];
}

/**
 * @param {SVGSVGElement} drawing
 * @param {number[]} sorted
 * @param {(value: number) => number} x
 * @param {{width: number, bottom: number, format: Format}} room
 */
function median(drawing, sorted, x, { width, bottom, format }) {
  const half = sorted.length / 2;
  const middle = (Number(sorted[Math.ceil(half) - 1]) + Number(sorted[Math.floor(half)])) / 2;
  const isRight = x(middle) > width / 2;
  drawing.append(
    svg("line", { class: "marker", x1: px(x(middle)), x2: px(x(middle)), y1: 4, y2: bottom }),
    svg("text", { class: "strong halo", x: px(x(middle) + (isRight ? -6 : 6)), y: 13, "text-anchor": isRight ? "end" : "start", text: `median ${format(middle)}` }),
  );
}

/**
 * Runs of consecutive indices for which a condition holds.
 *
 * @param {number} count
 * @param {(index: number) => boolean} holds
 * @returns {number[][]}
 */
function runs(count, holds) {
  /** @type {number[][]} */
  const found = [];
  for (let at = 0; at < count; at++) {
    if (!holds(at)) continue;
    if (at > 0 && holds(at - 1)) found[found.length - 1]?.push(at);
    else found.push([at]);
  }
  return found;
}

/** The tooltip of a mark. @param {Labelled} mark @param {Format} format */
function told({ label, value }, format) {
  return svg("title", { text: `${label}: ${isNumber(value) ? format(value) : "unknown"}` });
}

/** @param {number[][]} points */
function joined(points) {
  return points.map((pair) => pair.map(px).join(",")).join(" ");
}

/** A coordinate, rounded to a hundredth of a pixel. @param {number} value */
function px(value) {
  return Math.round(value * 100) / 100;
}
