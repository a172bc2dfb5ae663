/** The marked range: what happens in it, kind by kind. */

import { element, quietButton, table } from "./elements.js";
import { kindSums } from "./kind_sums.js";
import { duration, grouped, instant, percent } from "./units.js";

const EXACT_LIMIT = 8000;

/**
 * @param {HTMLElement} panel
 * @param {{t0: number, t1: number}} range
 * @param {import("./live_source.js").Source} source
 * @param {import("./view.js").View} view
 * @param {{fit: () => void, clear: () => void}} actions
 */
export async function drawRange(panel, range, source, view, actions) {
  const { layout } = source;
  const rows = { firstRow: view.firstRow(layout), lastRow: view.lastRow(layout) };
  const frame = await source.window({ ...range, ...rows, bins: 1, groups: 1, exactLimit: EXACT_LIMIT }).catch(() => null);
  const stepNs = 10 ** Math.floor(Math.log10(Math.max(1, (range.t1 - range.t0) / 1000)));
  const title = `${instant(range.t0, stepNs)} – ${instant(range.t1, stepNs)} · ${duration(range.t1 - range.t0)}`;
  const head = element(
    "div",
    "card-head",
    element("h3", "", title),
    element("div", "button-row", quietButton("Zoom to it", actions.fit), quietButton("Close", actions.clear)),
  );
  panel.hidden = false;
  panel.replaceChildren(head, content(frame, range, rows.lastRow - rows.firstRow + 1));
}

/**
 * @param {import("./aggregate.js").WindowFrame | null} frame
 * @param {{t0: number, t1: number}} range
 * @param {number} numRows
 */
function content(frame, range, numRows) {
  if (!frame) return element("p", "muted", "The range could not be read; mark it again.");
  if (!frame.exact) {
    const text = `${grouped(frame.total)} segments of the rows in view. Sums by kind need at most 8000: mark a shorter range.`;
    return element("p", "muted", text);
  }
  const wholeNs = (range.t1 - range.t0) * numRows;
  const lines = kindSums(frame, range).map((sum) => [
    sum.name,
    grouped(sum.count),
    duration(sum.totalNs),
    percent(sum.totalNs / wholeNs),
    duration(sum.meanNs),
    duration(sum.minNs),
    duration(sum.maxNs),
  ]);
  const caption = `Segments of the ${numRows} rows in view between the marks, by kind`;
  const heads = ["Kind", "Segments", "Time in range", "of the rows' time", "Mean", "Shortest", "Longest"];
  return element("div", "table-wrap", table(caption, heads, lines, 1));
}
