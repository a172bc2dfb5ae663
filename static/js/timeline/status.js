/** The line under the plot: which level is shown, and how much of what is there. */

import { grouped } from "./units.js";
import { READABLE_ROW_PX } from "./view.js";

/**
 * @param {import("./aggregate.js").WindowFrame} frame
 * @param {number} shown
 * @param {number} rowPx
 * @param {boolean} hidesKinds
 */
export function statusText(frame, shown, rowPx, hidesKinds) {
  const total = grouped(frame.total);
  if (frame.level === "L2") {
    const why = hidesKinds && shown < frame.total ? ", the others are of hidden kinds" : "";
    return `Exact: shown ${grouped(shown)} of ${total} segments in view${why}`;
  }
  const groups = /** @type {Uint32Array} */ (frame.groupFirst).length;
  const rows = frame.lastRow - frame.firstRow + 1;
  const unit = groups === rows ? "row" : `group of rows (${grouped(groups)} of ${grouped(rows)} rows)`;
  const hint = rowPx < READABLE_ROW_PX && frame.total <= 8000 ? "choose readable rows" : "zoom in";
  return `Overview: shown ${total} of ${total} segments as dominant kind per ${unit} × ${grouped(/** @type {number} */ (frame.bins))} bins — ${hint} for exact segments`;
}
