/** What is under the pointer: our own hit test, by binary search in the row's columns. */

import { GROUPS, GROUP_OF_KIND, HAS_MICROBATCH, IDLE, Kind, KIND_NAMES, NUM_KINDS } from "./kinds.js";
import { duration, grouped, instant, percent } from "./units.js";

/**
 * @typedef {{row: number, kind: number, start: number, duration: number, item: number, part: number}} Segment
 * @typedef {import("./aggregate.js").WindowFrame} WindowFrame
 */

/** First and last position of each row in a frame. @type {WeakMap<object, Map<number, [number, number]>>} */
const ranges = new WeakMap();

/** @param {WindowFrame} frame @param {number} row @returns {[number, number]} */
export function rowRange(frame, row) {
  const exact = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
  let byRow = ranges.get(exact);
  if (!byRow) {
    byRow = new Map();
    for (let i = 0; i < exact.row.length; i += 1) {
      const known = byRow.get(exact.row[i]);
      if (known) known[1] = i + 1;
      else byRow.set(exact.row[i], [i, i + 1]);
    }
    ranges.set(exact, byRow);
  }
  return byRow.get(row) ?? [0, 0];
}

/** @param {WindowFrame} frame @param {number} i @returns {Segment} */
export function segmentAt(frame, i) {
  const exact = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
  return {
    row: exact.row[i],
    kind: exact.kind[i],
    start: exact.start[i],
    duration: exact.duration[i],
    item: exact.item[i],
    part: exact.part[i],
  };
}

/** Last position of the row whose segment starts at or before t, or -1. @param {WindowFrame} frame @param {number} row @param {number} t */
export function lastStartingBy(frame, row, t) {
  const { start } = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
  const [from, to] = rowRange(frame, row);
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (start[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low > from ? low - 1 : -1;
}

/**
 * @param {WindowFrame} frame
 * @param {number} row
 * @param {number} t
 * @param {number} slackNs   how far beside a thin segment still counts
 * @param {Set<number>} hidden
 * @returns {Segment | null}
 */
export function hit(frame, row, t, slackNs, hidden) {
  const at = lastStartingBy(frame, row, t + slackNs);
  const [from] = rowRange(frame, row);
  for (let i = at; i >= from && i >= at - 3; i -= 1) {
    const segment = segmentAt(frame, i);
    if (hidden.has(GROUP_OF_KIND[segment.kind])) continue;
    if (segment.start + segment.duration + slackNs >= t) return segment;
  }
  return null;
}

/** @param {Segment} segment @param {import("./layout.js").Layout} layout */
export function segmentTitle(segment, layout) {
  const group = GROUPS[GROUP_OF_KIND[segment.kind]];
  const name = KIND_NAMES[segment.kind];
  if (segment.kind === Kind.PREFILL) return `${group.letter} · prefill of request ${segment.item}`;
  if (!HAS_MICROBATCH.has(segment.kind)) return `${group.letter} · ${name}`;
  if (segment.kind === Kind.LOCAL_TRANSFER || segment.kind === Kind.WAN_TRANSFER) {
    const tensor = transferOf(segment, layout).isGradient ? "gradient" : "activation";
    return `${group.letter}${segment.item} · ${tensor} of microbatch ${segment.item}`;
  }
  return `${group.letter}${segment.item} · ${name}, microbatch ${segment.item}`;
}

/** Which tensor a transfer carries. @param {Segment} segment @param {import("./layout.js").Layout} layout */
export function transferOf(segment, layout) {
  const sourceStage = segment.part % layout.numVirtualStages;
  const rest = Math.floor(segment.part / layout.numVirtualStages);
  return { sourceStage, isGradient: rest % 2 === 1, pipelineInCell: Math.floor(rest / 2) };
}

/** @param {Segment} segment @param {number} stepNs */
export function segmentTimes(segment, stepNs) {
  const end = segment.start + segment.duration;
  return `${instant(segment.start, stepNs)} – ${instant(end, stepNs)} · ${duration(segment.duration)}`;
}

/** Shares of time by kind, most first: "backward 61 %, idle 9 %". @param {Float64Array} time @param {number} wholeNs */
export function sharesText(time, wholeNs) {
  const shares = Array.from({ length: NUM_KINDS }, (_, kind) => ({ name: KIND_NAMES[kind], share: time[kind] / wholeNs }));
  const busy = shares.reduce((sum, { share }) => sum + share, 0);
  shares.push({ name: "idle", share: Math.max(0, 1 - busy) });
  return shares
    .filter(({ share }) => share > 0.0005)
    .sort((left, right) => right.share - left.share)
    .slice(0, 5)
    .map(({ name, share }) => `${name} ${percent(share)}`)
    .join(", ");
}

/**
 * The bin of a far frame at (index, t).
 *
 * @param {WindowFrame} frame
 * @param {number} index  display index
 * @param {number} t
 */
export function binAt(frame, index, t) {
  const { groupFirst, bins, dominant, busy } = /** @type {any} */ (frame);
  let group = groupFirst.length - 1;
  while (group > 0 && groupFirst[group] > index) group -= 1;
  const binNs = (frame.t1 - frame.t0) / bins;
  const bin = Math.max(0, Math.min(bins - 1, Math.floor((t - frame.t0) / binNs)));
  const kind = dominant[group * bins + bin];
  return {
    firstRow: groupFirst[group],
    lastRow: (group + 1 < groupFirst.length ? groupFirst[group + 1] : frame.lastRow + 1) - 1,
    t0: frame.t0 + bin * binNs,
    t1: frame.t0 + (bin + 1) * binNs,
    summary: `mostly ${kind === IDLE ? "idle" : KIND_NAMES[kind]}, ${grouped((100 * busy[group * bins + bin]) / 255)} % busy`,
  };
}
