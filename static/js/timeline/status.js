/** The line under the plot: which level is shown, and how much of what is there. */

import { grouped } from "./units.js";
import { READABLE_ROW_PX } from "./view.js";

const EXACT = 8000;

/**
 * @param {import("./aggregate.js").WindowFrame} frame
 * @param {number} shown
 * @param {{rowPx: number, hidesKinds: boolean, shade: "kind" | "busy"}} look
 */
export function statusText(frame, shown, { rowPx, hidesKinds, shade }) {
  const total = grouped(frame.total);
  if (frame.level === "L2") {
    if (!hidesKinds || shown === frame.total) return `Exact: all ${total} segments in view`;
    return `Exact: ${grouped(shown)} of ${total} segments in view, the others are of hidden kinds`;
  }
  const groups = /** @type {Uint32Array} */ (frame.groupFirst).length;
  const rows = frame.lastRow - frame.firstRow + 1;
  const unit = groups === rows ? "row" : `group of rows (${grouped(groups)} groups of ${grouped(rows)} rows)`;
  const what = shade === "busy" ? "utilisation, from 0 % (dark blue) to 100 % (yellow)," : "dominant kind";
  const hint = rowPx < READABLE_ROW_PX && frame.total <= EXACT ? "choose readable rows" : "zoom in";
  const bins = grouped(/** @type {number} */ (frame.bins));
  return `Overview: ${total} segments shown as ${what} per ${unit} × ${bins} bins — ${hint} for exact segments`;
}
