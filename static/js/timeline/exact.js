/** The exact level: one path for each kind, and letters where they fit. */

import { GROUP_OF_KIND, GROUPS, HAS_MICROBATCH } from "./kinds.js";
import { withAlpha } from "./palette.js";

const MAX_LABELS = 300;
const MIN_LABEL_PX = 26;
const MIN_LABEL_ROW_PX = 12;
const ROW_PADDING = 0.07;

/**
 * @typedef {object} Scene
 * @property {import("./layout.js").Layout} layout
 * @property {import("./view.js").View} view
 * @property {number} width   of the plot, px
 * @property {number} height
 * @property {import("./palette.js").Palette} palette
 */

/** "F12", "P". @param {number} kind @param {number} item */
export function segmentLabel(kind, item) {
  const letter = GROUPS[GROUP_OF_KIND[kind]].letter;
  return HAS_MICROBATCH.has(kind) ? letter + item : letter;
}

/**
 * Shapes and label trace of an exact frame.
 *
 * Neighbours are set apart by giving up one pixel at the end of each segment that has three; none
 * gets thinner than a pixel, so that nothing that is there goes unseen.
 *
 * @param {import("./aggregate.js").WindowFrame} frame
 * @param {Scene} scene
 */
export function exactFigure(frame, scene) {
  const { layout, view, width, height, palette } = scene;
  const exact = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
  const nsPerPx = view.span / width;
  const rowPx = height / (view.y1 - view.y0);
  const digits = nsPerPx > 20 ? 0 : 2;
  const paths = GROUPS.map(() => /** @type {string[]} */ ([]));
  /** @type {{x: number, y: number, px: number, text: string, color: string}[]} */
  const labels = [];
  let shown = 0;
  let row = -1;
  let slot = 0;
  let top = "";
  let bottom = "";
  for (let i = 0; i < exact.row.length; i += 1) {
    const group = GROUP_OF_KIND[exact.kind[i]];
    if (view.hidden.has(group)) continue;
    if (exact.row[i] !== row) {
      row = exact.row[i];
      slot = layout.slotOf(layout.indexOf[row]);
      top = (slot + ROW_PADDING).toFixed(2);
      bottom = (slot + 1 - ROW_PADDING).toFixed(2);
    }
    if (slot + 1 <= view.y0 || slot >= view.y1) continue;
    const start = exact.start[i];
    const px = exact.duration[i] / nsPerPx;
    const end = start + (px >= 3 ? exact.duration[i] - nsPerPx : Math.max(exact.duration[i], nsPerPx));
    paths[group].push(`M${start.toFixed(digits)},${top}H${end.toFixed(digits)}V${bottom}H${start.toFixed(digits)}Z`);
    // A frame may reach beyond the window, so that a short pan needs no other.
    if (start >= view.t1 || (start + exact.duration[i] <= view.t0 && start < view.t0)) continue;
    shown += 1;
    if (px < MIN_LABEL_PX || rowPx < MIN_LABEL_ROW_PX) continue;
    const from = Math.max(start, view.t0);
    const to = Math.min(end, view.t1);
    const visiblePx = (to - from) / nsPerPx;
    if (visiblePx < MIN_LABEL_PX) continue;
    labels.push({
      x: (from + to) / 2,
      y: slot + 0.5,
      px: visiblePx,
      text: segmentLabel(exact.kind[i], exact.item[i]),
      color: palette.ink[group],
    });
  }
  if (labels.length > MAX_LABELS) {
    labels.sort((left, right) => right.px - left.px);
    labels.length = MAX_LABELS;
  }
  const shapes = GROUPS.flatMap((group, index) =>
    paths[index].length ? [pathShape(paths[index].join(""), group, palette.fill[index], palette)] : [],
  );
  return { shapes, trace: labelTrace(labels, rowPx), shown };
}

/**
 * @param {string} path
 * @param {import("./kinds.js").KindGroup} group
 * @param {string} fill
 * @param {import("./palette.js").Palette} palette
 */
function pathShape(path, group, fill, palette) {
  const outline = group.outlined ? { color: palette.fill[5], width: 1 } : { width: 0 };
  const fillcolor = group.outlined ? withAlpha(palette.fill[5], 0.16) : fill;
  return { type: "path", path, xref: "x", yref: "y", layer: "between", fillcolor, line: outline };
}

/**
 * @param {{x: number, y: number, text: string, color: string}[]} labels
 * @param {number} rowPx
 */
function labelTrace(labels, rowPx) {
  return {
    type: "scatter",
    mode: "text",
    hoverinfo: "skip",
    x: labels.map((label) => label.x),
    y: labels.map((label) => label.y),
    text: labels.map((label) => label.text),
    textfont: { size: rowPx >= 18 ? 11 : 9.5, color: labels.map((label) => label.color) },
  };
}
