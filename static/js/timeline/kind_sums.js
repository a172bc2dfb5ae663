/** Numbers of a set of segments by kind: how many, how long. */

import { segmentAt } from "./hit.js";
import { KIND_NAMES, NUM_KINDS } from "./kinds.js";

/**
 * @typedef {{kind: number, name: string, count: number, totalNs: number, meanNs: number, minNs: number, maxNs: number}} KindSum
 * @param {import("./aggregate.js").WindowFrame} frame  exact
 * @param {{t0: number, t1: number}} range  time outside it does not count towards the total
 * @returns {KindSum[]}  kinds that occur
 */
export function kindSums(frame, { t0, t1 }) {
  const sums = Array.from({ length: NUM_KINDS }, (_, kind) => {
    return { kind, name: KIND_NAMES[kind], count: 0, totalNs: 0, meanNs: 0, minNs: Infinity, maxNs: 0 };
  });
  const { row } = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
  const lengths = new Float64Array(NUM_KINDS);
  for (let i = 0; i < row.length; i += 1) {
    const { kind, start, duration } = segmentAt(frame, i);
    if (start >= t1 || start + duration < t0) continue;
    const sum = sums[kind];
    sum.count += 1;
    sum.totalNs += Math.max(0, Math.min(start + duration, t1) - Math.max(start, t0));
    sum.minNs = Math.min(sum.minNs, duration);
    sum.maxNs = Math.max(sum.maxNs, duration);
    lengths[kind] += duration;
  }
  for (const sum of sums) sum.meanNs = sum.count ? lengths[sum.kind] / sum.count : 0;
  return sums.filter((sum) => sum.count > 0);
}
