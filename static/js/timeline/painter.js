/**
 * Draws what the view shows, no more often than it pays: one drawing at a time, and between two of
 * them at least as long as one takes. Until the new picture is there the old one is moved to where
 * it belongs.
 */

import { drawGutter } from "./gutter.js";
import { GROUP_OF_KIND, Kind } from "./kinds.js";
import { Legend } from "./legend.js";
import { groupsIn, OverviewStrip } from "./overview.js";
import { readPalette } from "./palette.js";
import { Plot } from "./plot.js";
import { statusText } from "./status.js";

const LIVE_FRAME_MS = 100;
const MIN_FRAME_MS = 30;
const MAX_FRAME_MS = 250;
const OVERVIEW_MS = 1000;
const MIN_BINS = 500;
const MAX_BINS = 1000;
const GROUP_PX = 3;
const ENTER_EXACT = 6000;
const LEAVE_EXACT = 8000;
const MIN_STRIP_ITERATION_PX = 12;

/**
 * @typedef {object} Host
 * @property {import("./view.js").View} view
 * @property {import("./live_source.js").Source | null} source
 * @property {() => import("./hit.js").Segment | null} selected
 * @property {(t0: number, t1: number) => void} show
 * @property {() => void} fitAll
 * @property {(group: number) => void} toggle
 */

export class Painter {
  /**
   * @param {HTMLElement} root
   * @param {Host} host
   */
  constructor(root, host) {
    this.root = root;
    this.host = host;
    const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (root.querySelector(selector));
    this.gutter = find(".tl-gutter");
    this.thumb = find(".tl-thumb");
    this.status = find('[data-part="status"]');
    this.summary = find('[data-part="summary"]');
    this.empty = find('[data-part="empty"]');
    this.plot = new Plot(find(".tl-plot"));
    this.strip = new OverviewStrip(find(".tl-strip"), {
      show: (t0, t1) => host.show(t0, t1),
      fit: () => host.fitAll(),
    });
    this.legend = new Legend(find(".tl-legend"), (group) => host.toggle(group));
    /** Groups of kinds that the run has. @type {Set<number>} */
    this.present = new Set();
    this.palette = readPalette();
    this.width = 0;
    this.height = 0;
    this.level = "L2";
    this.isDirty = false;
    this.isBusy = false;
    this.timer = 0;
    this.drawnAt = 0;
    this.costMs = 0;
    this.stripAt = -Infinity;
    this.isStripBusy = false;
  }

  /** Draw the strip too next time, however recent it is. */
  renewStrip() {
    this.stripAt = -Infinity;
  }

  renewColors() {
    this.palette = readPalette();
    this.renewStrip();
    this.request();
  }

  /** Draw soon. */
  request() {
    this.isDirty = true;
    const { source, view } = this.host;
    if (!source || !this.width) return;
    this.plot.preview(view, this.width);
    this.strip.mark(view.t0, view.t1);
    if (this.isBusy || this.timer) return;
    const rest = Math.max(1.2 * this.costMs, view.follow ? LIVE_FRAME_MS : MIN_FRAME_MS);
    const wait = this.drawnAt + Math.min(rest, MAX_FRAME_MS) - performance.now();
    this.timer = setTimeout(() => this.#draw(), Math.max(0, wait));
  }

  async #draw() {
    this.timer = 0;
    const { source } = this.host;
    if (!source || this.isBusy) return;
    this.isBusy = true;
    this.isDirty = false;
    try {
      await this.#drawOnce(source);
    } catch (error) {
      this.root.dataset.state = "failed";
      this.status.textContent = `The timeline cannot be shown: ${error instanceof Error ? error.message : error}`;
    }
    this.isBusy = false;
    this.drawnAt = performance.now();
    if (this.isDirty) this.request();
    this.#drawStrip();
  }

  /** @param {import("./live_source.js").Source} source */
  async #drawOnce(source) {
    const { view } = this.host;
    const { layout } = source;
    const rowPx = this.height / (view.y1 - view.y0);
    const frame = await source.window({
      t0: view.t0,
      t1: view.t1,
      firstRow: view.firstRow(layout),
      lastRow: view.lastRow(layout),
      bins: Math.min(MAX_BINS, Math.max(MIN_BINS, Math.round(this.width))),
      groups: Math.floor(this.height / GROUP_PX),
      exactLimit: rowPx < GROUP_PX - 0.5 ? 0 : this.level === "L2" ? LEAVE_EXACT : ENTER_EXACT,
    });
    await plotlyReady;
    if (source !== this.host.source) return;
    const from = performance.now();
    drawGutter(this.gutter, layout, view, this.height);
    this.#drawThumb();
    const scene = { layout, view, width: this.width, height: this.height, palette: this.palette };
    const headNs = source.live && source.iterationNs ? source.simulatedNs : 0;
    const marks = { iterationNs: source.iterationNs, headNs, range: view.marked, selected: this.host.selected() };
    const shown = await this.plot.draw(frame, scene, marks);
    this.costMs = performance.now() - from;
    this.level = frame.level;
    this.plot.preview(view, this.width);
    this.#report(frame, shown, rowPx, source);
  }

  /**
   * @param {import("./aggregate.js").WindowFrame} frame
   * @param {number} shown
   * @param {number} rowPx
   * @param {import("./live_source.js").Source} source
   */
  #report(frame, shown, rowPx, source) {
    const { root } = this;
    const { hidden, shade } = this.host.view;
    this.status.textContent = statusText(frame, shown, { rowPx, hidesKinds: hidden.size > 0, shade });
    this.empty.hidden = frame.total > 0;
    const isWaiting = source.live && !source.simulatedNs;
    this.empty.textContent = isWaiting ? "Waiting for the first segments" : "Nothing runs in this window: every row is idle";
    root.dataset.state = "ready";
    this.#drawTools(frame.level);
    root.dataset.level = frame.level;
    root.dataset.shown = String(shown);
    root.dataset.total = String(frame.total);
    root.dataset.drawMs = this.costMs.toFixed(1);
    if (frame.total > 0 && !root.dataset.firstSegmentMs) {
      root.dataset.firstSegmentMs = performance.now().toFixed(1);
      performance.mark("boba:first-segment");
    }
  }

  #drawThumb() {
    const { view } = this.host;
    const track = /** @type {HTMLElement} */ (this.thumb.parentElement);
    track.hidden = view.showsAllRows;
    this.thumb.style.top = `${(100 * view.y0) / view.numSlots}%`;
    this.thumb.style.height = `${(100 * (view.y1 - view.y0)) / view.numSlots}%`;
  }

  /** What the buttons beside the legend say. @param {string} level */
  #drawTools(level) {
    const { view, source } = this.host;
    const press = (/** @type {string} */ name, /** @type {string} */ value) => {
      for (const button of this.root.querySelectorAll(`[${name}]`)) {
        button.setAttribute("aria-pressed", String(button.getAttribute(name) === value));
      }
    };
    press("data-rows", view.showsAllRows ? "all" : "readable");
    press("data-shade", view.shade);
    const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (this.root.querySelector(selector));
    find('[data-part="shade"]').hidden = level !== "L1";
    const fold = find('[data-action="fold"]');
    fold.hidden = !source?.layout.numLocal;
    fold.setAttribute("aria-pressed", String(!source?.layout.foldsLocal));
  }

  async #drawStrip() {
    const { source, view } = this.host;
    if (!source || !globalThis.Plotly || this.isStripBusy || performance.now() - this.stripAt < OVERVIEW_MS) return;
    this.stripAt = performance.now();
    this.isStripBusy = true;
    try {
      const overview = await source.overview(stripBins(source, this.width));
      if (source !== this.host.source) return;
      this.present = groupsIn(overview);
      const { layout } = source;
      if (layout.numWan) this.present.add(GROUP_OF_KIND[Kind.WAN_TRANSFER]);
      if (layout.numLocal) this.present.add(GROUP_OF_KIND[Kind.LOCAL_TRANSFER]);
      this.legend.draw(this.present, view.hidden);
      const text = await this.strip.draw(overview, { hidden: view.hidden, palette: this.palette });
      this.summary.textContent = `${layout.numWorkers} workers in ${layout.datacenters.length} datacenters. ${text}`;
    } catch {
      // The strip is an extra: what fails is the main plot's to say, and the strip is tried again.
      this.stripAt = performance.now();
    } finally {
      this.isStripBusy = false;
    }
    if (source.live || source !== this.host.source) setTimeout(() => this.#drawStrip(), OVERVIEW_MS);
  }
}

/** Plotly's script comes last in the page; it has run once the document is parsed. */
const plotlyReady = new Promise((resolve) => {
  if (globalThis.Plotly || document.readyState === "complete") resolve(undefined);
  else addEventListener("DOMContentLoaded", resolve, { once: true });
});

/**
 * Bins of the strip: when iterations get narrow, whole iterations, so that the strip shows how the run
 * goes and not a beat between bins and iterations.
 *
 * @param {import("./live_source.js").Source} source
 * @param {number} width
 */
function stripBins({ numIterations }, width) {
  if (numIterations * MIN_STRIP_ITERATION_PX <= width) return Math.min(MAX_BINS, Math.round(width));
  return Math.floor(numIterations / Math.ceil(numIterations / Math.min(MAX_BINS, width)));
}
