/**
 * Windows of a live run, answered in the browser from what the socket has told.
 *
 * Same interface as ServerSource:
 *
 * @typedef {{t0: number, t1: number, firstRow: number, lastRow: number, bins: number, groups: number, exactLimit: number}} Query
 * @typedef {{t0: number, t1: number, bins: number, share: Float32Array}} Overview  share is kinds * bins
 * @typedef {object} Source
 * @property {import("./layout.js").Layout} layout
 * @property {boolean} live
 * @property {number} horizonNs     0 while unknown
 * @property {number} iterationNs   0 while unknown
 * @property {number} numIterations
 * @property {number} simulatedNs
 * @property {(bins: number) => Promise<Overview>} overview
 * @property {(query: Query) => Promise<import("./aggregate.js").WindowFrame>} window
 */

import { addSpan, farFrame, groupStarts } from "./aggregate.js";
import { NUM_KINDS } from "./kinds.js";

const MANY_ROWS = 128;

/** @implements {Source} */
export class LiveSource {
  /** @param {import("./segment_store.js").SegmentStore} store */
  constructor(store) {
    this.store = store;
    this.layout = store.layout;
    this.live = true;
  }

  get horizonNs() {
    return this.store.horizonNs;
  }

  get iterationNs() {
    return this.store.iterationNs;
  }

  get numIterations() {
    return this.store.numIterations;
  }

  get simulatedNs() {
    return Math.max(this.store.simulatedNs, this.store.iterationNs ? 0 : this.store.templateEndNs);
  }

  /** @param {Query} query */
  async window(query) {
    const { t0, t1, firstRow, lastRow } = query;
    let total = 0;
    for (let index = firstRow; index <= lastRow; index += 1) {
      total += this.store.count(this.layout.rowAt[index], t0, t1);
    }
    const head = { t0, t1, firstRow, lastRow, total, partial: true };
    return total <= query.exactLimit ? this.#exact(head) : this.#far(head, query);
  }

  /** @param {any} head */
  #exact(head) {
    const size = head.total;
    const exact = {
      row: new Uint32Array(size),
      kind: new Uint8Array(size),
      start: new Float64Array(size),
      duration: new Float64Array(size),
      item: new Uint32Array(size),
      part: new Uint32Array(size),
    };
    let at = 0;
    const pending = /** @type {number[][]} */ ([]);
    for (let index = head.firstRow; index <= head.lastRow; index += 1) {
      const row = this.layout.rowAt[index];
      pending.length = 0;
      this.store.each(row, head.t0, head.t1, (...segment) => pending.push(segment));
      if (this.store.fills.has(row)) pending.sort((left, right) => left[2] - right[2]);
      for (const [owner, kind, start, duration, item, part] of pending) {
        exact.row[at] = owner;
        exact.kind[at] = kind;
        exact.start[at] = start;
        exact.duration[at] = duration;
        exact.item[at] = item;
        exact.part[at] = part;
        at += 1;
      }
    }
    return { ...head, level: "L2", exact };
  }

  /**
   * @param {any} head
   * @param {Query} query
   */
  #far(head, query) {
    const { t0, t1, firstRow, lastRow, bins } = query;
    const groupFirst = groupStarts(firstRow, lastRow, query.groups);
    const binNs = (t1 - t0) / bins;
    const shared = new Map();
    const times = Array.from(groupFirst, (first, group) => {
      const end = group + 1 < groupFirst.length ? groupFirst[group + 1] : lastRow + 1;
      const time = new Float64Array(bins * NUM_KINDS);
      for (let index = first; index < end; index += 1) {
        const row = this.layout.rowAt[index];
        const { local } = this.layout.templateRow(row);
        let training = shared.get(local);
        if (!training) training = this.store.templateTime(local, t0, t1, bins);
        if (this.layout.numCells > 1) shared.set(local, training);
        for (let i = 0; i < time.length; i += 1) time[i] += training[i];
        this.store.eachFill(row, t0, t1, (_, kind, start, duration) =>
          addSpan(time, t0, binNs, bins, kind, start, duration),
        );
      }
      return time;
    });
    return farFrame(head, groupFirst, times, bins);
  }

  /** @param {number} wanted */
  async overview(wanted) {
    const { numCellWorkers, numCells, numWorkers } = this.layout;
    const bins = numCellWorkers > MANY_ROWS ? Math.min(wanted, 300) : wanted;
    const t1 = Math.max(this.horizonNs, this.simulatedNs, 1);
    const time = new Float64Array(bins * NUM_KINDS);
    for (let local = 0; local < numCellWorkers; local += 1) {
      const training = this.store.templateTime(local, 0, t1, bins);
      for (let i = 0; i < time.length; i += 1) time[i] += numCells * training[i];
    }
    for (const row of this.store.fills.keys()) {
      this.store.eachFill(row, 0, t1, (_, kind, start, duration) =>
        addSpan(time, 0, t1 / bins, bins, kind, start, duration),
      );
    }
    const share = new Float32Array(NUM_KINDS * bins);
    const whole = (t1 / bins) * numWorkers;
    for (let bin = 0; bin < bins; bin += 1) {
      for (let kind = 0; kind < NUM_KINDS; kind += 1) share[kind * bins + bin] = time[bin * NUM_KINDS + kind] / whole;
    }
    return { t0: 0, t1, bins, share };
  }
}
