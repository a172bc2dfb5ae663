/** Hover, selection and stepping: everything that asks what a point of the timeline is. */

import { drawDetails } from "./details.js";
import { binAt, hit, lastStartingBy, rowRange, segmentAt, segmentTimes, segmentTitle, sharesText } from "./hit.js";
import { GROUP_OF_KIND, GROUPS, NUM_KINDS } from "./kinds.js";
import { Tooltip } from "./tooltip.js";
import { duration, instant } from "./units.js";

const REFINE_MS = 120;
const EXACT_LIMIT = 8000;
const MAX_NARROWINGS = 8;

/**
 * What the inspector needs of the timeline it belongs to.
 *
 * @typedef {object} Host
 * @property {import("./view.js").View} view
 * @property {import("./live_source.js").Source | null} source
 * @property {import("./plot.js").Plot} plot
 * @property {HTMLElement} surface
 * @property {() => {left: number, top: number, width: number, height: number}} plotBox
 * @property {() => void} changed
 * @property {() => void} stopFollowing
 * @property {() => void} fit
 * @property {(segment: import("./hit.js").Segment) => void} reveal
 */

export class Inspector {
  /**
   * @param {HTMLElement} root
   * @param {Host} timeline
   */
  constructor(root, timeline) {
    this.timeline = timeline;
    this.tooltip = new Tooltip(/** @type {HTMLElement} */ (root.querySelector('[data-part="tip"]')));
    this.details = /** @type {HTMLElement} */ (root.querySelector('[data-part="details"]'));
    this.live = /** @type {HTMLElement} */ (root.querySelector('[data-part="live"]'));
    /** @type {import("./hit.js").Segment | null} */
    this.selected = null;
    this.refineTimer = 0;
  }

  /** @param {string} text */
  announce(text) {
    this.live.textContent = text;
  }

  /** Row and instant under the pointer. @param {MouseEvent} event */
  #point(event) {
    const { view, source, plotBox } = this.timeline;
    const box = plotBox();
    const t = view.t0 + ((event.clientX - box.left) / box.width) * view.span;
    const slot = Math.floor(view.y0 + ((event.clientY - box.top) / box.height) * (view.y1 - view.y0));
    return { t, index: source ? source.layout.indexAt(slot) : -1, nsPerPx: view.span / box.width };
  }

  /** @param {MouseEvent} event */
  hover(event) {
    clearTimeout(this.refineTimer);
    const { source, view, plot } = this.timeline;
    const frame = plot.drawn?.frame;
    const { t, index, nsPerPx } = this.#point(event);
    if (!source || !frame || index < 0) return this.leave();
    const row = source.layout.rowAt[index];
    if (frame.level === "L2") {
      const segment = hit(frame, row, t, 2 * nsPerPx, view.hidden);
      this.timeline.surface.classList.toggle("is-over", Boolean(segment));
      if (!segment) return this.leave();
      const stepNs = Math.max(1, nsPerPx);
      this.tooltip.show(event.clientX, event.clientY, {
        title: segmentTitle(segment, source.layout),
        lines: [source.layout.label(row), segmentTimes(segment, 10 ** Math.floor(Math.log10(stepNs)))],
        color: `var(--kind-${GROUPS[GROUP_OF_KIND[segment.kind]].token})`,
      });
      return undefined;
    }
    const bin = binAt(frame, index, t);
    const stepNs = 10 ** Math.floor(Math.log10(Math.max(1, (bin.t1 - bin.t0) / 2)));
    const times = `${instant(bin.t0, stepNs)} – ${instant(bin.t1, stepNs)}`;
    const first = source.layout.label(source.layout.rowAt[bin.firstRow]);
    const title = bin.firstRow === bin.lastRow ? first : `${first} and ${bin.lastRow - bin.firstRow} rows below`;
    const show = (/** @type {string} */ text) =>
      this.tooltip.show(event.clientX, event.clientY, { title, lines: [times, text], color: "var(--line-strong)" });
    show(bin.summary);
    this.refineTimer = setTimeout(async () => {
      const text = await this.#shares(bin);
      if (text && !this.tooltip.element.hidden) show(text);
    }, REFINE_MS);
    return undefined;
  }

  /** @param {{t0: number, t1: number, firstRow: number, lastRow: number}} bin */
  async #shares(bin) {
    const source = this.timeline.source;
    if (!source) return "";
    const t0 = Math.floor(bin.t0);
    const t1 = Math.ceil(bin.t1);
    const frame = await source
      .window({ ...bin, t0, t1, bins: 1, groups: 1, exactLimit: EXACT_LIMIT })
      .catch(() => null);
    if (!frame?.exact) return "";
    const time = new Float64Array(NUM_KINDS);
    for (let row = bin.firstRow; row <= bin.lastRow; row += 1) {
      const [from, to] = rowRange(frame, source.layout.rowAt[row]);
      for (let i = from; i < to; i += 1) {
        const { kind, start, duration: length } = segmentAt(frame, i);
        time[kind] += Math.max(0, Math.min(start + length, t1) - Math.max(start, t0));
      }
    }
    return sharesText(time, (t1 - t0) * (bin.lastRow - bin.firstRow + 1));
  }

  leave() {
    clearTimeout(this.refineTimer);
    this.timeline.surface.classList.remove("is-over");
    this.tooltip.hide();
  }

  /** @param {MouseEvent} event */
  click(event) {
    const { source, view, plot } = this.timeline;
    const frame = plot.drawn?.frame;
    const { t, index, nsPerPx } = this.#point(event);
    if (!source || !frame || index < 0) return;
    if (frame.level !== "L2") {
      view.chosen = true;
      this.timeline.stopFollowing();
      view.zoom(t, 1 / 2.5);
      this.timeline.changed();
      return;
    }
    this.select(hit(frame, source.layout.rowAt[index], t, 2 * nsPerPx, view.hidden));
  }

  /** @param {import("./hit.js").Segment | null} segment */
  select(segment) {
    this.selected = segment;
    this.timeline.view.selected = segment && { row: segment.row, start: segment.start };
    this.redraw();
    this.timeline.changed();
    if (!segment || !this.timeline.source) return;
    const { layout } = this.timeline.source;
    this.announce(
      `${segmentTitle(segment, layout)}, ${layout.label(segment.row)}, starts at ${instant(segment.start, 1e4)}, lasts ${duration(segment.duration)}`,
    );
  }

  redraw() {
    const { source } = this.timeline;
    if (!source) return;
    drawDetails(this.details, this.selected, source, {
      close: () => this.select(null),
      fit: () => this.timeline.fit(),
    });
  }

  /** Find the segment that a link named. */
  async restore() {
    const { view, source } = this.timeline;
    if (!view.selected || !source || this.selected) return;
    const { row, start } = view.selected;
    const segment = await this.#onRow(row, start, start + 1, (frame) => {
      const at = lastStartingBy(frame, row, start);
      return at >= 0 && segmentAt(frame, at).start === start ? segmentAt(frame, at) : null;
    });
    if (segment) this.select(segment);
  }

  /** Select the next or previous segment of the row. @param {1 | -1} direction */
  async step(direction) {
    const { view, source } = this.timeline;
    if (!source) return;
    const selected = this.selected;
    const row = selected?.row ?? source.layout.rowAt[view.firstRow(source.layout)];
    const from = selected ? selected.start : direction > 0 ? view.t0 - 1 : view.t1;
    const t0 = direction > 0 ? from : from - view.span;
    const t1 = direction > 0 ? from + view.span : from + 1;
    const segment = await this.#onRow(row, t0, t1, (frame) => {
      const [first, end] = rowRange(frame, row);
      let at = lastStartingBy(frame, row, from);
      if (direction > 0) at = at < 0 ? first : at + 1;
      else while (at >= first && segmentAt(frame, at).start >= from) at -= 1;
      for (; at >= first && at < end; at += direction) {
        const found = segmentAt(frame, at);
        if (!view.hidden.has(GROUP_OF_KIND[found.kind])) return found;
      }
      return null;
    });
    if (!segment) {
      this.announce(direction > 0 ? "no further segment near here on this row" : "no earlier segment near here on this row");
      return;
    }
    this.timeline.reveal(segment);
    this.select(segment);
  }

  /**
   * Look for something on one row, near first, then wider.
   *
   * @param {number} row
   * @param {number} t0
   * @param {number} t1
   * @param {(frame: import("./aggregate.js").WindowFrame) => import("./hit.js").Segment | null} find
   */
  async #onRow(row, t0, t1, find) {
    const source = this.timeline.source;
    if (!source) return null;
    const index = source.layout.indexOf[row];
    const maxNs = this.timeline.view.maxNs;
    for (let tries = 0; tries < MAX_NARROWINGS; tries += 1) {
      const query = { t0: Math.max(0, Math.floor(t0)), t1: Math.min(maxNs, Math.ceil(t1)), firstRow: index, lastRow: index };
      if (query.t1 <= query.t0) return null;
      const frame = await source.window({ ...query, bins: 1, groups: 1, exactLimit: EXACT_LIMIT }).catch(() => null);
      if (!frame?.exact) return null;
      const found = find(frame);
      if (found || (query.t0 === 0 && query.t1 === maxNs)) return found;
      const wider = 2 * (t1 - t0);
      t0 -= wider;
      t1 += wider;
    }
    return null;
  }
}
