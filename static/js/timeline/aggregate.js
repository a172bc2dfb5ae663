/**
 * From segments to the far level: per group of rows and bin of time, which kind takes most.
 *
 * @typedef {object} ExactColumns  sorted by row, then start
 * @property {Uint32Array} row
 * @property {Uint8Array} kind
 * @property {Float64Array} start
 * @property {Float64Array} duration
 * @property {Uint32Array} item
 * @property {Uint32Array} part
 *
 * @typedef {object} WindowFrame
 * @property {"L1" | "L2"} level
 * @property {number} t0
 * @property {number} t1
 * @property {number} firstRow   display index
 * @property {number} lastRow    display index, inclusive
 * @property {number} total      segments that overlap the window
 * @property {boolean} partial
 * @property {ExactColumns} [exact]       L2
 * @property {number} [bins]              L1
 * @property {Uint8Array} [dominant]      L1, groups * bins: kind or 255
 * @property {Uint8Array} [busy]          L1, groups * bins: 0..255
 * @property {Uint32Array} [groupFirst]   L1, display index where each group starts
 */

import { IDLE, NUM_KINDS } from "./kinds.js";

export const MAX_GROUPS = 256;

/**
 * Display indices at which the groups of rows start.
 *
 * @param {number} firstRow
 * @param {number} lastRow
 * @param {number} maxGroups
 */
export function groupStarts(firstRow, lastRow, maxGroups) {
  const rows = lastRow - firstRow + 1;
  const groups = Math.min(rows, Math.max(1, Math.min(MAX_GROUPS, maxGroups)));
  return Uint32Array.from({ length: groups }, (_, group) => firstRow + Math.floor((group * rows) / groups));
}

/**
 * Add a segment's time to the bins it overlaps.
 *
 * @param {Float64Array} time  bins * kinds
 * @param {number} t0
 * @param {number} binNs
 * @param {number} bins
 * @param {number} kind
 * @param {number} start
 * @param {number} duration
 */
export function addSpan(time, t0, binNs, bins, kind, start, duration) {
  const from = Math.max(start - t0, 0);
  const to = Math.min(start + duration - t0, binNs * bins);
  if (to <= from) return;
  const last = Math.min(bins - 1, Math.floor(to / binNs));
  for (let bin = Math.floor(from / binNs); bin <= last; bin += 1) {
    time[bin * NUM_KINDS + kind] += Math.min(to, (bin + 1) * binNs) - Math.max(from, bin * binNs);
  }
}

/**
 * Write the strongest kind and the busy share of every bin; idle wins like a kind does.
 *
 * @param {Float64Array} time  bins * kinds
 * @param {number} bins
 * @param {number} wholeNs     bin length times rows
 * @param {Uint8Array} dominant  of one group, written
 * @param {Uint8Array} busy      of one group, written
 */
export function strongest(time, bins, wholeNs, dominant, busy) {
  for (let bin = 0; bin < bins; bin += 1) {
    let most = 0;
    let winner = IDLE;
    let sum = 0;
    for (let kind = 0; kind < NUM_KINDS; kind += 1) {
      const value = time[bin * NUM_KINDS + kind];
      sum += value;
      if (value > most) {
        most = value;
        winner = kind;
      }
    }
    dominant[bin] = most > 0 && most >= wholeNs - sum ? winner : IDLE;
    busy[bin] = Math.round(255 * Math.min(1, sum / wholeNs));
  }
}

/**
 * The far level of an exact frame.
 *
 * @param {WindowFrame} frame
 * @param {import("./layout.js").Layout} layout
 * @param {{t0: number, t1: number, firstRow: number, lastRow: number, bins: number, groups: number}} query
 * @returns {WindowFrame}
 */
export function farFrom(frame, layout, query) {
  const { t0, t1, firstRow, lastRow, bins } = query;
  const exact = /** @type {ExactColumns} */ (frame.exact);
  const groupFirst = groupStarts(firstRow, lastRow, query.groups);
  const binNs = (t1 - t0) / bins;
  const times = Array.from(groupFirst, () => new Float64Array(bins * NUM_KINDS));
  const groupOf = new Int32Array(lastRow - firstRow + 1);
  groupFirst.forEach((first, group) => groupOf.fill(group, first - firstRow));
  for (let i = 0; i < exact.row.length; i += 1) {
    const index = layout.indexOf[exact.row[i]];
    if (index < firstRow || index > lastRow) continue;
    addSpan(times[groupOf[index - firstRow]], t0, binNs, bins, exact.kind[i], exact.start[i], exact.duration[i]);
  }
  return farFrame({ ...frame, t0, t1, firstRow, lastRow }, groupFirst, times, bins);
}

/**
 * @param {{t0: number, t1: number, firstRow: number, lastRow: number, total: number, partial: boolean}} head
 * @param {Uint32Array} groupFirst
 * @param {Float64Array[]} times  by group
 * @param {number} bins
 * @returns {WindowFrame}
 */
export function farFrame(head, groupFirst, times, bins) {
  const { t0, t1, firstRow, lastRow, total, partial } = head;
  const dominant = new Uint8Array(groupFirst.length * bins);
  const busy = new Uint8Array(groupFirst.length * bins);
  times.forEach((time, group) => {
    const rows = (group + 1 < groupFirst.length ? groupFirst[group + 1] : lastRow + 1) - groupFirst[group];
    const from = group * bins;
    const wholeNs = ((t1 - t0) / bins) * rows;
    strongest(time, bins, wholeNs, dominant.subarray(from, from + bins), busy.subarray(from, from + bins));
  });
  return { level: "L1", t0, t1, firstRow, lastRow, total, partial, bins, dominant, busy, groupFirst };
}
