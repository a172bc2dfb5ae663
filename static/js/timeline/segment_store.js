/**
 * What a live run has told so far: the template of one iteration of one cell, and prefill fills.
 *
 * The template is repeated by cell and by iteration when it is read, never written out.
 */

import { NUM_KINDS } from "./kinds.js";
import { RowColumns } from "./row_columns.js";

/**
 * @typedef {(row: number, kind: number, start: number, duration: number, item: number, part: number) => void} Visit
 */

export class SegmentStore {
  /** @param {import("./layout.js").Layout} layout */
  constructor(layout) {
    this.layout = layout;
    this.template = Array.from({ length: layout.numCellWorkers + layout.channels.length }, () => new RowColumns());
    /** By row id, made when the row gets its first fill. @type {Map<number, RowColumns>} */
    this.fills = new Map();
    this.numTemplate = 0;
    this.numFills = 0;
    this.templateEndNs = 0;
    this.iterationNs = 0;
    this.numIterations = 1;
    this.horizonNs = 0;
    this.simulatedNs = 0;
  }

  /** Take in one decoded frame of the run. @param {import("./frame.js").Frame} frame */
  take({ header, columns }) {
    if (header.kind === "segments") {
      if (header.scope === "iteration") this.#takeTemplate(columns);
      else this.#takeFills(columns);
    } else if (header.kind === "metric") {
      this.iterationNs = header.figures.iteration_time_ns ?? this.iterationNs;
      this.numIterations = header.figures.num_iterations ?? this.numIterations;
    }
    if (header.horizon_ns) this.horizonNs = header.horizon_ns;
    this.simulatedNs = Math.max(this.simulatedNs, header.simulated_ns ?? 0);
  }

  /** @param {Record<string, any>} columns */
  #takeTemplate({ row, kind, start_ns, duration_ns, item, part }) {
    for (let i = 0; i < row.length; i += 1) {
      this.template[row[i]].add(start_ns[i], duration_ns[i], kind[i], item[i], part[i]);
      this.templateEndNs = Math.max(this.templateEndNs, start_ns[i] + duration_ns[i]);
    }
    this.numTemplate += row.length;
  }

  /** @param {Record<string, any>} columns */
  #takeFills({ row, kind, start_ns, duration_ns, item, part }) {
    for (let i = 0; i < row.length; i += 1) {
      let columns = this.fills.get(row[i]);
      if (!columns) this.fills.set(row[i], (columns = new RowColumns()));
      columns.add(start_ns[i], duration_ns[i], kind[i], item[i], part[i]);
    }
    this.numFills += row.length;
  }

  /** Up to where the repeated template is told. */
  get toldNs() {
    return this.iterationNs ? Math.min(this.simulatedNs, this.#endNs) : Math.max(this.simulatedNs, this.templateEndNs);
  }

  get #endNs() {
    return this.horizonNs || this.iterationNs * this.numIterations;
  }

  /**
   * Iterations that overlap [t0, t1), as [first, last]; the first alone until its length is known.
   *
   * @param {number} t0
   * @param {number} t1
   */
  #iterations(t0, t1) {
    if (!this.iterationNs) return [0, 0];
    const last = Math.min(this.numIterations - 1, Math.ceil(Math.min(t1, this.toldNs) / this.iterationNs) - 1);
    return [Math.max(0, Math.floor(t0 / this.iterationNs)), last];
  }

  /**
   * How many segments of a row overlap [t0, t1).
   *
   * @param {number} row
   * @param {number} t0
   * @param {number} t1
   */
  count(row, t0, t1) {
    const columns = this.template[this.layout.templateRow(row).local];
    const end = Math.min(t1, this.toldNs || t1);
    const [first, last] = this.#iterations(t0, t1);
    let total = 0;
    for (const iteration of first === last ? [first] : first < last ? [first, last] : []) {
      const base = iteration * this.iterationNs;
      total += Math.max(0, columns.firstFrom(end - base) - columns.firstEndingAfter(t0 - base));
    }
    if (last - first > 1) total += (last - first - 1) * columns.length;
    const fills = this.fills.get(row);
    return fills ? total + Math.max(0, fills.firstFrom(t1) - fills.firstEndingAfter(t0)) : total;
  }

  /**
   * Visit the segments of a row that overlap [t0, t1): training first, then fills, each by start.
   *
   * @param {number} row
   * @param {number} t0
   * @param {number} t1
   * @param {Visit} visit
   */
  each(row, t0, t1, visit) {
    const columns = this.template[this.layout.templateRow(row).local];
    const end = Math.min(t1, this.toldNs || t1);
    const [first, last] = this.#iterations(t0, t1);
    for (let iteration = first; iteration <= last; iteration += 1) {
      const base = iteration * this.iterationNs;
      const stop = columns.firstFrom(end - base);
      for (let i = columns.firstEndingAfter(t0 - base); i < stop; i += 1) {
        visit(row, columns.kind[i], base + columns.start[i], columns.duration[i], columns.item[i], columns.part[i]);
      }
    }
    this.eachFill(row, t0, t1, visit);
  }

  /**
   * @param {number} row
   * @param {number} t0
   * @param {number} t1
   * @param {Visit} visit
   */
  eachFill(row, t0, t1, visit) {
    const fills = this.fills.get(row);
    if (!fills) return;
    const stop = fills.firstFrom(t1);
    for (let i = fills.firstEndingAfter(t0); i < stop; i += 1) {
      visit(row, fills.kind[i], fills.start[i], fills.duration[i], fills.item[i], fills.part[i]);
    }
  }

  /**
   * Time per kind in each bin of a template row, flat (bins * kinds), fills not counted.
   *
   * @param {number} local
   * @param {number} t0
   * @param {number} t1
   * @param {number} bins
   */
  templateTime(local, t0, t1, bins) {
    const columns = this.template[local];
    const time = new Float64Array(bins * NUM_KINDS);
    const whole = new Float64Array(NUM_KINDS);
    columns.addTimeBefore(Infinity, whole, 1);
    let before = this.#timeBefore(columns, whole, t0);
    for (let bin = 0; bin < bins; bin += 1) {
      const after = this.#timeBefore(columns, whole, t0 + ((t1 - t0) * (bin + 1)) / bins);
      for (let kind = 0; kind < NUM_KINDS; kind += 1) time[bin * NUM_KINDS + kind] = after[kind] - before[kind];
      before = after;
    }
    return time;
  }

  /**
   * @param {RowColumns} columns
   * @param {Float64Array} whole  time per kind of one iteration
   * @param {number} t
   */
  #timeBefore(columns, whole, t) {
    const sums = new Float64Array(NUM_KINDS);
    const told = Math.max(0, Math.min(t, this.toldNs));
    const iterations = this.iterationNs ? Math.floor(told / this.iterationNs) : 0;
    if (iterations) for (let kind = 0; kind < NUM_KINDS; kind += 1) sums[kind] = iterations * whole[kind];
    columns.addTimeBefore(told - iterations * this.iterationNs, sums, 1);
    return sums;
  }
}
