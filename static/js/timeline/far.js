/** The far level: a heatmap of the kind that takes most of each bin, or of how busy its rows are. */

import { GROUP_OF_KIND, GROUPS, IDLE } from "./kinds.js";

const IDLE_LEVEL = GROUPS.length;
const MIN_GAP_ROW_PX = 11;

/**
 * @param {import("./aggregate.js").WindowFrame} frame
 * @param {import("./exact.js").Scene} scene
 */
export function farFigure(frame, scene) {
  const { layout, view, palette } = scene;
  const { dominant, busy, groupFirst, bins } = /** @type {any} */ (frame);
  const isBusy = view.shade === "busy";
  const level = new Uint8Array(256).fill(IDLE_LEVEL);
  GROUP_OF_KIND.forEach((group, kind) => (level[kind] = view.hidden.has(group) ? IDLE_LEVEL : group));
  level[IDLE] = IDLE_LEVEL;
  const idle = new Uint8Array(bins).fill(isBusy ? 0 : IDLE_LEVEL);
  /** @type {Uint8Array[]} */
  const z = [];
  const edges = [];
  let uniform = true;
  for (let group = 0; group < groupFirst.length; group += 1) {
    const from = layout.slotOf(groupFirst[group]);
    const next = group + 1 < groupFirst.length ? groupFirst[group + 1] : frame.lastRow + 1;
    const to = layout.slotOf(next - 1) + 1;
    const at = [group * bins, (group + 1) * bins];
    if (edges.length && edges[edges.length - 1] < from) z.push(idle);
    if (!edges.length || edges[edges.length - 1] < from) edges.push(from);
    z.push(isBusy ? busy.subarray(...at) : dominant.subarray(...at).map((/** @type {number} */ kind) => level[kind]));
    edges.push(to);
  }
  for (let i = 1; i < edges.length; i += 1) uniform &&= edges[i] - edges[i - 1] === 1;
  const vertical = uniform ? { y0: edges[0] + 0.5, dy: 1 } : { y: edges };
  const dx = (frame.t1 - frame.t0) / bins;
  const trace = {
    type: "heatmap",
    z,
    x0: frame.t0 + dx / 2,
    dx,
    ...vertical,
    ...(isBusy
      ? { zmin: 0, zmax: 255, colorscale: "Cividis" }
      : { zmin: -0.5, zmax: IDLE_LEVEL + 0.5, colorscale: steps([...palette.fill, palette.bg]) }),
    showscale: false,
    hoverinfo: "skip",
  };
  return { shapes: rowGaps(scene), trace, shown: frame.total };
}

/** A scale without blends. @param {string[]} colors @returns {[number, string][]} */
function steps(colors) {
  return colors.flatMap((color, index) => [
    [index / colors.length, color],
    [(index + 1) / colors.length, color],
  ]);
}

/** Rows stand apart as they do at the exact level, where there is room. @param {import("./exact.js").Scene} scene */
function rowGaps({ view, height, palette }) {
  if (height / (view.y1 - view.y0) < MIN_GAP_ROW_PX) return [];
  let path = "";
  for (let slot = Math.floor(view.y0); slot <= Math.ceil(view.y1); slot += 1) {
    path += `M${view.t0},${(slot - 0.07).toFixed(2)}H${view.t1}V${(slot + 0.07).toFixed(2)}H${view.t0}Z`;
  }
  return [{ type: "path", path, xref: "x", yref: "y", layer: "above", fillcolor: palette.bg, line: { width: 0 } }];
}
