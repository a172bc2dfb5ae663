/**
 * What part of a timeline is on screen: the window of time, the rows, the kinds, the selection. All
 * of it fits in the address, so that a link shows the exact view.
 */

import { GROUPS } from "./kinds.js";

const MIN_SPAN_NS = 100;
export const READABLE_ROW_PX = 14;

export class View {
  constructor() {
    this.t0 = 0;
    this.t1 = 1;
    /** Visible slots, [y0, y1). */
    this.y0 = 0;
    this.y1 = 1;
    this.maxNs = 1;
    this.numSlots = 1;
    /** Groups of kinds that are switched off. @type {Set<number>} */
    this.hidden = new Set();
    this.follow = false;
    /** @type {{row: number, start: number} | null} */
    this.selected = null;
    /** Whether a person or a link chose the window. */
    this.chosen = false;
    /** A marked range of time. @type {{t0: number, t1: number} | null} */
    this.marked = null;
    /** What the far level shows: the dominant kind, or how busy rows are. @type {"kind" | "busy"} */
    this.shade = "kind";
    /** Whether the local channels are folded away; null while nobody chose. @type {boolean | null} */
    this.foldsLocal = null;
  }

  get span() {
    return this.t1 - this.t0;
  }

  /**
   * @param {number} t0
   * @param {number} t1
   */
  show(t0, t1) {
    const span = Math.min(Math.max(t1 - t0, MIN_SPAN_NS), Math.max(this.maxNs, MIN_SPAN_NS));
    const middle = (t0 + t1) / 2;
    const start = Math.max(0, Math.min(middle - span / 2, this.maxNs - span));
    this.t0 = Math.round(start);
    this.t1 = Math.round(start + span);
  }

  /**
   * @param {number} at      instant that stays where it is
   * @param {number} factor  above 1 shows more
   */
  zoom(at, factor) {
    const limited = Math.min(Math.max(factor, MIN_SPAN_NS / this.span), this.maxNs / this.span);
    this.show(at - (at - this.t0) * limited, at + (this.t1 - at) * limited);
  }

  /** @param {number} ns */
  pan(ns) {
    const shift = Math.max(-this.t0, Math.min(ns, Math.max(0, this.maxNs - this.t1)));
    this.t0 = Math.round(this.t0 + shift);
    this.t1 = Math.round(this.t1 + shift);
  }

  /**
   * @param {number} y0
   * @param {number} rows
   */
  showRows(y0, rows) {
    const visible = Math.min(rows, this.numSlots);
    this.y0 = Math.max(0, Math.min(y0, this.numSlots - visible));
    this.y1 = this.y0 + visible;
  }

  /** @param {number} rows */
  scrollRows(rows) {
    this.showRows(this.y0 + rows, this.y1 - this.y0);
  }

  get showsAllRows() {
    return this.y1 - this.y0 >= this.numSlots - 1e-6;
  }

  /** @param {number} group */
  toggle(group) {
    if (!this.hidden.delete(group)) this.hidden.add(group);
  }

  /** @param {import("./layout.js").Layout} layout */
  firstRow(layout) {
    return layout.indexFrom(this.y0);
  }

  /** @param {import("./layout.js").Layout} layout */
  lastRow(layout) {
    return Math.max(this.firstRow(layout), layout.indexUpTo(Math.ceil(this.y1) - 1));
  }

  /**
   * The query of this page's address with the view written into it.
   *
   * @param {string} search
   * @param {import("./layout.js").Layout} layout
   */
  toQuery(search, layout) {
    const query = new URLSearchParams(search);
    const put = (/** @type {string} */ name, /** @type {string} */ value) =>
      value ? query.set(name, value) : query.delete(name);
    put("t0", this.chosen ? String(this.t0) : "");
    put("t1", this.chosen ? String(this.t1) : "");
    put("rows", this.showsAllRows ? "" : `${this.firstRow(layout)}-${this.lastRow(layout)}`);
    const letters = GROUPS.filter((_, index) => !this.hidden.has(index)).map((group) => group.letter);
    put("kinds", this.hidden.size ? letters.join("") || "-" : "");
    put("follow", this.follow ? "1" : "");
    put("shade", this.shade === "kind" ? "" : this.shade);
    put("local", this.foldsLocal === null ? "" : this.foldsLocal ? "0" : "1");
    put("mark", this.marked ? `${this.marked.t0}-${this.marked.t1}` : "");
    put("sel", this.selected ? `${this.selected.row}@${this.selected.start}` : "");
    return query.toString();
  }

  /** Whether the address says to fold the local channels away; null where it says nothing. @param {string} search */
  static foldIn(search) {
    const local = new URLSearchParams(search).get("local");
    return local === null ? null : local === "0";
  }

  /**
   * Take over what the address says; what it does not say stays.
   *
   * @param {string} search
   * @param {import("./layout.js").Layout} layout
   */
  fromQuery(search, layout) {
    const query = new URLSearchParams(search);
    const t0 = Number(query.get("t0") ?? NaN);
    const t1 = Number(query.get("t1") ?? NaN);
    if (t0 >= 0 && t1 > t0 && Number.isFinite(t1)) {
      this.maxNs = Math.max(this.maxNs, t1);
      this.show(t0, t1);
      this.chosen = true;
    }
    const rows = /^(\d+)-(\d+)$/.exec(query.get("rows") ?? "");
    if (rows && Number(rows[1]) <= Number(rows[2]) && Number(rows[2]) < layout.numShownRows) {
      const first = layout.slotOf(Number(rows[1]));
      this.showRows(first, layout.slotOf(Number(rows[2])) + 1 - first);
    }
    const kinds = query.get("kinds");
    if (kinds) this.hidden = new Set(GROUPS.flatMap((group, index) => (kinds.includes(group.letter) ? [] : [index])));
    if (query.has("follow")) this.follow = query.get("follow") === "1";
    if (query.get("shade") === "busy") this.shade = "busy";
    const marked = /^(\d+)-(\d+)$/.exec(query.get("mark") ?? "");
    if (marked && Number(marked[1]) < Number(marked[2])) this.marked = { t0: Number(marked[1]), t1: Number(marked[2]) };
    const selected = /^(\d+)@(\d+)$/.exec(query.get("sel") ?? "");
    if (selected && Number(selected[1]) < layout.numRows) {
      this.selected = { row: Number(selected[1]), start: Number(selected[2]) };
    }
  }
}
