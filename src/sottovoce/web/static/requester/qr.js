// Draws a QR code that the server has computed.

import { svg } from "./building.js";

/** The border of four modules that readers need. */
const QUIET = 4;

/** Always dark on white: many readers do not take it the other way round. @param {import("./links.js").Code} code @param {string} label */
export function qr({ size, path }, label) {
  const side = size + 2 * QUIET;
  return svg(
    "svg",
    { class: "qr", viewBox: `${-QUIET} ${-QUIET} ${side} ${side}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    svg("rect", { x: -QUIET, y: -QUIET, width: side, height: side, fill: "#fff" }),
    svg("path", { d: path, fill: "#000" }),
  );
}
