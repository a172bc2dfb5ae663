/**
 * Segments of one row, sorted by start and disjoint, as growing typed arrays.
 *
 * Sums of time per kind are kept at every 32nd segment, so that "how much of each kind before t"
 * costs one binary search, however many segments there are.
 */

import { NUM_KINDS } from "./kinds.js";

const STRIDE = 32;

export class RowColumns {
  constructor() {
    this.length = 0;
    this.start = new Float64Array(16);
    this.duration = new Float64Array(16);
    this.kind = new Uint8Array(16);
    this.item = new Uint32Array(16);
    this.part = new Uint32Array(16);
    /** Time per kind before segment `STRIDE * i`, flat. */
    this.sums = new Float64Array(NUM_KINDS);
    this.numSums = 1;
  }

  /**
   * @param {number} start
   * @param {number} duration
   * @param {number} kind
   * @param {number} item
   * @param {number} part
   */
  add(start, duration, kind, item, part) {
    if (this.length === this.start.length) this.#grow();
    let at = this.length;
    while (at > 0 && this.start[at - 1] > start) at -= 1;
    if (at < this.length) {
      for (const column of [this.start, this.duration, this.kind, this.item, this.part]) {
        column.copyWithin(at + 1, at, this.length);
      }
      this.numSums = Math.min(this.numSums, Math.floor(at / STRIDE) + 1);
    }
    this.start[at] = start;
    this.duration[at] = duration;
    this.kind[at] = kind;
    this.item[at] = item;
    this.part[at] = part;
    this.length += 1;
  }

  #grow() {
    const size = 2 * this.start.length;
    const grown = (/** @type {any} */ column) => {
      const larger = new column.constructor(size);
      larger.set(column);
      return larger;
    };
    this.start = grown(this.start);
    this.duration = grown(this.duration);
    this.kind = grown(this.kind);
    this.item = grown(this.item);
    this.part = grown(this.part);
  }

  /** First segment that starts at or after `t`. @param {number} t */
  firstFrom(t) {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.start[middle] < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** First segment that ends after `t`, or is empty and starts at or after it. @param {number} t */
  firstEndingAfter(t) {
    let at = this.firstFrom(t);
    while (at > 0 && this.start[at - 1] + this.duration[at - 1] > t) at -= 1;
    return at;
  }

  /**
   * Add to `sums` the time that each kind takes before `t`.
   *
   * @param {number} t
   * @param {Float64Array} sums
   * @param {number} factor
   */
  addTimeBefore(t, sums, factor) {
    const end = this.firstFrom(t);
    this.#sumUpTo(end);
    const checkpoint = Math.floor(end / STRIDE);
    for (let kind = 0; kind < NUM_KINDS; kind += 1) sums[kind] += factor * this.sums[checkpoint * NUM_KINDS + kind];
    for (let i = checkpoint * STRIDE; i < end; i += 1) sums[this.kind[i]] += factor * this.duration[i];
    if (end > 0) {
      const beyond = this.start[end - 1] + this.duration[end - 1] - t;
      if (beyond > 0) sums[this.kind[end - 1]] -= factor * beyond;
    }
  }

  /** @param {number} end */
  #sumUpTo(end) {
    const needed = Math.floor(end / STRIDE) + 1;
    if (needed * NUM_KINDS > this.sums.length) {
      const larger = new Float64Array(Math.max(2 * this.sums.length, needed * NUM_KINDS));
      larger.set(this.sums);
      this.sums = larger;
    }
    for (; this.numSums < needed; this.numSums += 1) {
      const to = this.numSums * NUM_KINDS;
      this.sums.copyWithin(to, to - NUM_KINDS, to);
      for (let i = (this.numSums - 1) * STRIDE; i < this.numSums * STRIDE; i += 1) {
        this.sums[to + this.kind[i]] += this.duration[i];
      }
    }
  }
}
