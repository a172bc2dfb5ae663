/**
 * Windows of a stored run, answered by the server; same interface as LiveSource.
 *
 * An exact window is asked for with half a screen on either side while that stays exact, so that a
 * short pan needs no answer from the server; the last 32 answers are kept.
 */

import { farFrom } from "./aggregate.js";
import { decodeFrame } from "./frame.js";
import { Layout } from "./layout.js";

const KEPT = 32;
const EXACT = 8000;

/** @typedef {import("./aggregate.js").WindowFrame} WindowFrame */

export class ServerSource {
  /**
   * @param {string} url  of the timeline endpoint
   * @param {{layout: any, horizon_ns: number, iteration_time_ns: number, num_iterations: number}} extent
   */
  constructor(url, extent) {
    this.url = url;
    this.layout = new Layout(extent.layout);
    this.horizonNs = extent.horizon_ns;
    this.iterationNs = extent.iteration_time_ns;
    this.numIterations = extent.num_iterations;
    this.simulatedNs = extent.horizon_ns;
    this.live = false;
    /** Latest answers, oldest first. @type {Map<string, WindowFrame>} */
    this.kept = new Map();
    /** Segments per ns and row of the last answer. */
    this.density = Infinity;
  }

  /**
   * @param {string} layoutUrl
   * @param {string} timelineUrl
   */
  static async open(layoutUrl, timelineUrl) {
    const response = await fetch(layoutUrl, { headers: { Accept: "application/json" } });
    if (!response.ok) throw new Error(`the layout cannot be read (${response.status})`);
    return new ServerSource(timelineUrl, await response.json());
  }

  /** @param {import("./live_source.js").Query} query */
  async window(query) {
    const stored = this.#keptFor(query) ?? (await this.#fetched(query));
    if (stored.level === "L1") return stored;
    const total = this.#totalIn(stored, query);
    return total <= query.exactLimit ? { ...stored, total } : farFrom({ ...stored, total }, this.layout, query);
  }

  /** @param {import("./live_source.js").Query} query */
  #keptFor(query) {
    for (const [key, frame] of [...this.kept].reverse()) {
      const covers =
        frame.t0 <= query.t0 && frame.t1 >= query.t1 && frame.firstRow <= query.firstRow && frame.lastRow >= query.lastRow;
      const same = frame.t0 === query.t0 && frame.t1 === query.t1 && frame.firstRow === query.firstRow && frame.lastRow === query.lastRow;
      if ((frame.level === "L2" && covers) || (same && frame.bins === query.bins)) {
        this.kept.delete(key);
        this.kept.set(key, frame);
        return frame;
      }
    }
    return undefined;
  }

  /** @param {import("./live_source.js").Query} query */
  async #fetched(query) {
    const { firstRow, lastRow } = query;
    const span = query.t1 - query.t0;
    const rows = lastRow - firstRow + 1;
    const roomy = 2 * span * rows * this.density < 0.9 * EXACT;
    const t0 = Math.max(0, Math.floor(query.t0 - (roomy ? span / 2 : 0)));
    const t1 = Math.min(this.horizonNs, Math.ceil(query.t1 + (roomy ? span / 2 : 0)));
    const { header, columns } = await this.#frame(`t0=${t0}&t1=${t1}&rows=${firstRow}-${lastRow}&px=${query.bins}`);
    this.density = header.total / (Math.max(1, t1 - t0) * rows);
    const head = { t0, t1, firstRow, lastRow, total: header.total, partial: header.partial, level: header.level };
    /** @type {WindowFrame} */
    let frame;
    if (header.level === "L2") {
      const { row, kind, start_ns: start, duration_ns: duration, item, part } = columns;
      frame = /** @type {any} */ ({ ...head, exact: { row, kind, start, duration, item, part } });
    } else {
      const { dominant, busy, group_first: groupFirst } = columns;
      frame = /** @type {any} */ ({ ...head, bins: header.bins, dominant, busy, groupFirst });
    }
    this.kept.set(`${t0}-${t1}-${firstRow}-${lastRow}-${header.bins ?? ""}`, frame);
    if (this.kept.size > KEPT) this.kept.delete(/** @type {string} */ (this.kept.keys().next().value));
    return frame;
  }

  /**
   * @param {WindowFrame} frame
   * @param {import("./live_source.js").Query} query
   */
  #totalIn(frame, query) {
    const { row, start, duration } = /** @type {import("./aggregate.js").ExactColumns} */ (frame.exact);
    let total = 0;
    for (let i = 0; i < row.length; i += 1) {
      const index = this.layout.indexOf[row[i]];
      if (index < query.firstRow || index > query.lastRow) continue;
      if (start[i] < query.t1 && (start[i] + duration[i] > query.t0 || start[i] >= query.t0)) total += 1;
    }
    return total;
  }

  /** @param {number} bins */
  async overview(bins) {
    const { header, columns } = await this.#frame(`overview=1&t0=0&t1=${this.horizonNs}&px=${bins}`);
    const share = /** @type {Float32Array} */ (columns.share);
    return { t0: 0, t1: this.horizonNs, bins: header.bins ?? bins, share };
  }

  /** @param {string} query */
  async #frame(query) {
    const response = await fetch(`${this.url}?${query}`, { headers: { Accept: "application/octet-stream" } });
    if (!response.ok) throw new Error(`the timeline cannot be read (${response.status})`);
    return decodeFrame(await response.arrayBuffer());
  }
}
