/**
 * The timeline as a whole: brings source, view and drawings together, and draws no more often than
 * it pays. A change shows at once as the moved old picture, then as the new one.
 */

import { listenToGestures } from "./gestures.js";
import { drawGutter, gutterWidth } from "./gutter.js";
import { Inspector } from "./inspector.js";
import { keyListener } from "./keys.js";
import { GROUP_OF_KIND, GROUPS, Kind } from "./kinds.js";
import { Legend } from "./legend.js";
import { groupsIn, OverviewStrip } from "./overview.js";
import { readPalette } from "./palette.js";
import { Plot } from "./plot.js";
import { statusText } from "./status.js";
import { READABLE_ROW_PX, View } from "./view.js";

const FRAME_MS = 100;
const OVERVIEW_MS = 1000;
const MAX_BINS = 1000;
const ENTER_EXACT = 6000;
const LEAVE_EXACT = 8000;
const MAX_ROW_PX = 26;
const COMFORTABLE_ROW_PX = 18;
const GROUP_PX = 3;
const BELOW_PX = 64;
const MIN_HEIGHT_PX = 320;
const MIN_STRIP_ITERATION_PX = 12;

export class Timeline {
  /**
   * @param {HTMLElement} root
   * @param {{changed: () => void}} page  told when the view changes
   */
  constructor(root, page) {
    this.root = root;
    this.page = page;
    this.view = new View();
    /** @type {import("./live_source.js").Source | null} */
    this.source = null;
    const find = (/** @type {string} */ selector) => /** @type {HTMLElement} */ (root.querySelector(selector));
    this.surface = find(".tl-surface");
    this.gutter = find(".tl-gutter");
    this.range = find(".tl-range");
    this.thumb = find(".tl-thumb");
    this.status = find('[data-part="status"]');
    this.empty = find('[data-part="empty"]');
    this.plot = new Plot(find(".tl-plot"));
    this.overview = new OverviewStrip(find(".tl-strip"), { show: (t0, t1) => this.choose(() => this.view.show(t0, t1)), fit: () => this.fitAll() });
    this.legend = new Legend(find(".tl-legend"), (group) => this.toggle(group));
    this.inspector = new Inspector(root, this);
    /** Kinds that the run has. @type {Set<number>} */
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
    this.overviewAt = 0;
    this.isOverviewBusy = false;
    this.#listen();
  }

  #listen() {
    const { view } = this;
    const at = (/** @type {number} */ fraction) => view.t0 + fraction * view.span;
    listenToGestures(this.surface, {
      zoom: (fraction, factor) => this.choose(() => view.zoom(at(fraction), factor), true),
      pan: (fraction) => this.choose(() => view.pan(fraction * view.span)),
      scroll: (px) => this.scroll((px / this.height) * (view.y1 - view.y0)),
      range: (from, to, done) => this.#selectRange(from, to, done),
      hover: (event) => this.inspector.hover(event),
      leave: () => this.inspector.leave(),
      click: (event) => this.inspector.click(event),
    });
    document.addEventListener("keydown", keyListener({
      zoom: (factor) => this.choose(() => view.zoom(at(0.5), factor), true),
      pan: (fraction) => this.choose(() => view.pan(fraction * view.span)),
      scroll: (rows) => this.scroll(rows),
      step: (direction) => this.inspector.step(direction),
      fit: () => this.fit(),
      follow: () => this.follow(!view.follow),
      toggle: (group) => this.toggle(group),
      escape: () => this.inspector.select(null),
      help: () => this.help(),
    }));
    this.gutter.addEventListener("wheel", (event) => {
      if (view.showsAllRows) return;
      event.preventDefault();
      this.scroll(event.deltaY / 40);
    }, { passive: false });
    this.root.addEventListener("click", (event) => {
      const button = /** @type {Element} */ (event.target).closest("[data-action], [data-rows]");
      if (button?.getAttribute("data-action") === "fit") this.fit();
      if (button?.getAttribute("data-action") === "help") this.help();
      if (button?.hasAttribute("data-rows")) this.showRows(button.getAttribute("data-rows") === "all", view.y0);
    });
    new ResizeObserver(() => this.#resize()).observe(/** @type {Element} */ (this.surface.parentElement));
    addEventListener("resize", () => this.#resize());
    // Plotly comes last; what was to be drawn before is drawn then.
    if (!globalThis.Plotly) addEventListener("DOMContentLoaded", () => this.changed(false), { once: true });
    document.documentElement.addEventListener("boba:theme", () => {
      this.palette = readPalette();
      this.overviewAt = 0;
      this.changed();
    });
  }

  /** Where the plot is in the window; the axis below it is not part of it. */
  plotBox = () => {
    const box = this.surface.getBoundingClientRect();
    return { left: box.left, top: box.top, width: box.width, height: this.height };
  };

  /**
   * Show a source; the view stays what it was if there was one.
   *
   * @param {import("./live_source.js").Source} source
   * @param {{search: string, follow: boolean}} start
   */
  open(source, start) {
    const isFirst = !this.source;
    this.source = source;
    const { layout } = source;
    this.view.numSlots = layout.numSlots;
    this.root.style.setProperty("--gutter", `${gutterWidth(layout, this.root.clientWidth)}px`);
    this.root.style.setProperty("--rows", String(layout.numSlots));
    if (isFirst) {
      this.view.showRows(0, layout.numSlots);
      this.#resize();
      this.#place();
      this.view.fromQuery(start.search, layout);
      if (!this.view.chosen && start.follow) this.view.follow = true;
    }
    if (!source.live) this.view.follow = false;
    this.overviewAt = 0;
    this.advance();
    this.inspector.restore();
  }

  /** The source has more to show. */
  advance() {
    if (!this.source) return;
    this.#place();
    this.changed(false);
  }

  /** Put the window where it belongs while nobody has chosen another. */
  #place() {
    const source = /** @type {import("./live_source.js").Source} */ (this.source);
    const { view } = this;
    view.maxNs = Math.max(source.horizonNs || roundAbove(source.simulatedNs), 1);
    if (view.chosen && !view.follow) return;
    const usual = source.iterationNs ? source.iterationNs * Math.min(2, source.numIterations) : view.maxNs;
    const span = view.chosen ? view.span : Math.min(usual, view.maxNs);
    if (view.follow && source.live && source.iterationNs) {
      const end = Math.max(source.simulatedNs + 0.06 * span, span);
      view.show(end - span, end);
    } else if (!view.chosen && (source.live || !this.plot.drawn || this.wasUnplaced)) {
      view.show(0, span);
    }
    this.wasUnplaced = !source.iterationNs;
  }

  /** A person changes the window. @param {() => void} change @param {boolean} [keepsFollowing] */
  choose(change, keepsFollowing = false) {
    if (!this.source) return;
    if (!keepsFollowing) this.stopFollowing();
    this.view.chosen = true;
    change();
    if (this.view.follow) this.#place();
    this.changed();
  }

  stopFollowing() {
    this.view.follow = false;
  }

  /** @param {boolean} follow */
  follow(follow) {
    if (!this.source?.live) return;
    this.view.follow = follow;
    this.#place();
    this.changed();
  }

  /** @param {number} group */
  toggle(group) {
    if (!this.present.has(group)) return;
    this.view.toggle(group);
    this.legend.draw(this.present, this.view.hidden);
    this.inspector.announce(`${GROUPS[group].name} ${this.view.hidden.has(group) ? "hidden" : "shown"}`);
    this.overviewAt = 0;
    this.changed();
  }

  /** The selected segment, or everything. */
  fit() {
    const selected = this.inspector.selected;
    if (!selected) return this.fitAll();
    const margin = Math.max(2 * selected.duration, 1000);
    this.choose(() => this.view.show(selected.start - margin, selected.start + selected.duration + margin));
    this.reveal(selected);
    return undefined;
  }

  fitAll() {
    this.choose(() => this.view.show(0, this.view.maxNs));
    this.showRows(true, 0);
  }

  /** Bring a segment into view. @param {import("./hit.js").Segment} segment */
  reveal({ row, start, duration }) {
    const { view, source } = this;
    if (!source) return;
    if (start + duration < view.t0 || start > view.t1) {
      this.choose(() => view.show(start + duration / 2 - view.span / 2, start + duration / 2 + view.span / 2));
    }
    const slot = source.layout.slotOf(source.layout.indexOf[row]);
    if (slot < view.y0 || slot + 1 > view.y1) view.showRows(slot - (view.y1 - view.y0) / 2, view.y1 - view.y0);
  }

  /** @param {number} rows */
  scroll(rows) {
    if (this.view.showsAllRows) return;
    this.view.scrollRows(rows);
    this.changed();
  }

  /** @param {boolean} all @param {number} from */
  showRows(all, from) {
    this.view.showRows(all ? 0 : from, all ? this.view.numSlots : Math.floor(this.height / COMFORTABLE_ROW_PX));
    this.changed();
  }

  help() {
    /** @type {HTMLDialogElement} */ (this.root.querySelector('[data-part="help"]')).showModal();
  }

  /** @param {number} from @param {number} to @param {boolean} done */
  #selectRange(from, to, done) {
    const [left, right] = [Math.min(from, to), Math.max(from, to)];
    this.range.hidden = done;
    this.range.style.left = `${100 * left}%`;
    this.range.style.width = `${100 * (right - left)}%`;
    const { t0, span } = this.view;
    if (done && right - left > 0.004) this.choose(() => this.view.show(t0 + left * span, t0 + right * span));
  }

  #resize() {
    const width = this.surface.clientWidth;
    const top = this.gutter.getBoundingClientRect().top + scrollY;
    const available = Math.round(Math.min(Math.max(innerHeight - top - BELOW_PX, MIN_HEIGHT_PX), 760));
    const slots = this.view.numSlots;
    const fits = available / slots >= READABLE_ROW_PX;
    const height = fits ? Math.round(slots * Math.min(MAX_ROW_PX, available / slots)) : available;
    if (width === this.width && height === this.height) return;
    const rowPx = this.height / (this.view.y1 - this.view.y0);
    const wasAll = this.view.showsAllRows;
    this.width = width;
    this.height = height;
    this.root.style.setProperty("--plot-height", `${height}px`);
    /** @type {HTMLElement} */ (this.root.querySelector('[data-part="rows"]')).hidden = fits;
    if (fits || wasAll) this.view.showRows(0, slots);
    else this.view.showRows(this.view.y0, height / rowPx);
    this.overviewAt = 0;
    this.changed(false);
  }

  /** Draw soon. @param {boolean} [tell]  whether the page should write the view into its address */
  changed(tell = true) {
    this.isDirty = true;
    if (tell) this.page.changed();
    if (!this.source || !this.width) return;
    this.plot.preview(this.view, this.width);
    this.overview.mark(this.view.t0, this.view.t1);
    if (this.isBusy || this.timer) return;
    const wait = this.drawnAt + Math.min(Math.max(1.2 * this.costMs, this.view.follow ? FRAME_MS : 30), 250) - performance.now();
    this.timer = setTimeout(() => this.#draw(), Math.max(0, wait));
  }

  async #draw() {
    this.timer = 0;
    if (!this.source || !globalThis.Plotly || this.isBusy) return;
    this.isBusy = true;
    this.isDirty = false;
    try {
      await this.#drawOnce(this.source);
    } catch (error) {
      this.root.dataset.state = "failed";
      this.status.textContent = `The timeline cannot be shown: ${error instanceof Error ? error.message : error}`;
    }
    this.isBusy = false;
    this.drawnAt = performance.now();
    if (this.isDirty) this.changed(false);
    this.#drawOverview();
  }

  /** @param {import("./live_source.js").Source} source */
  async #drawOnce(source) {
    const { view, width, height } = this;
    const { layout } = source;
    const rowPx = height / (view.y1 - view.y0);
    const exactLimit = rowPx < READABLE_ROW_PX - 0.5 ? 0 : this.level === "L2" ? LEAVE_EXACT : ENTER_EXACT;
    const query = {
      t0: view.t0,
      t1: view.t1,
      firstRow: view.firstRow(layout),
      lastRow: view.lastRow(layout),
      bins: Math.min(MAX_BINS, Math.round(width)),
      groups: Math.floor(height / GROUP_PX),
      exactLimit,
    };
    const frame = await source.window(query);
    if (source !== this.source) return;
    if (exactLimit === 0 && frame.total > 0 && frame.total <= ENTER_EXACT) {
      this.showRows(false, view.y0);
      return;
    }
    const from = performance.now();
    drawGutter(this.gutter, layout, view, height);
    this.#drawThumb();
    const scene = { layout, view, width, height, palette: this.palette };
    const shown = await this.plot.draw(frame, scene, { iterationNs: source.iterationNs, selected: this.inspector.selected });
    this.costMs = performance.now() - from;
    this.level = frame.level;
    this.plot.preview(view, this.width);
    this.#report(frame, shown, rowPx);
  }

  /**
   * @param {import("./aggregate.js").WindowFrame} frame
   * @param {number} shown
   * @param {number} rowPx
   */
  #report(frame, shown, rowPx) {
    const { root } = this;
    this.status.textContent = statusText(frame, shown, rowPx, this.view.hidden.size > 0);
    this.empty.hidden = frame.total > 0;
    this.empty.textContent = this.source?.live && !this.source.simulatedNs ? "Waiting for the first segments" : "Nothing runs in this window; every row is idle here";
    Object.assign(root.dataset, { state: "ready", level: frame.level, shown: String(shown), total: String(frame.total), drawMs: this.costMs.toFixed(1) });
    if (frame.total > 0 && !root.dataset.firstSegmentMs) {
      root.dataset.firstSegmentMs = performance.now().toFixed(1);
      performance.mark("boba:first-segment");
    }
  }

  #drawThumb() {
    const { view, thumb, root } = this;
    const track = /** @type {HTMLElement} */ (thumb.parentElement);
    track.hidden = view.showsAllRows;
    thumb.style.top = `${(100 * view.y0) / view.numSlots}%`;
    thumb.style.height = `${(100 * (view.y1 - view.y0)) / view.numSlots}%`;
    for (const button of root.querySelectorAll("[data-rows]")) {
      button.setAttribute("aria-pressed", String((button.getAttribute("data-rows") === "all") === view.showsAllRows));
    }
  }

  async #drawOverview() {
    const { source } = this;
    if (!source || this.isOverviewBusy || performance.now() - this.overviewAt < OVERVIEW_MS) return;
    this.overviewAt = performance.now();
    this.isOverviewBusy = true;
    try {
      const overview = await source.overview(overviewBins(source, this.width));
      if (source !== this.source) return;
      this.present = groupsIn(overview);
      if (source.layout.numWan) this.present.add(GROUP_OF_KIND[Kind.WAN_TRANSFER]);
      if (source.layout.headings.length > (source.layout.numWan ? 1 : 0)) this.present.add(GROUP_OF_KIND[Kind.LOCAL_TRANSFER]);
      this.legend.draw(this.present, this.view.hidden);
      const summary = await this.overview.draw(overview, { hidden: this.view.hidden, palette: this.palette });
      const node = /** @type {HTMLElement} */ (this.root.querySelector('[data-part="summary"]'));
      node.textContent = `${source.layout.numWorkers} workers in ${source.layout.datacenters.length} datacenters. ${summary}`;
    } finally {
      this.isOverviewBusy = false;
    }
    if (source.live) setTimeout(() => this.#drawOverview(), OVERVIEW_MS);
  }
}

/** The next of 1, 1.5, 2, 3, 5, 7.5 times a power of ten, so that a growing window rests between steps. @param {number} ns */
function roundAbove(ns) {
  const wanted = Math.max(1.05 * ns, 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return (([1, 1.5, 2, 3, 5, 7.5].find((factor) => factor * power >= wanted) ?? 10) * power);
}

/**
 * Bins of the strip: when iterations get narrow, whole iterations, so that the strip shows how the run
 * goes and not a beat between bins and iterations.
 *
 * @param {import("./live_source.js").Source} source
 * @param {number} width
 */
function overviewBins({ numIterations }, width) {
  if (numIterations * MIN_STRIP_ITERATION_PX <= width) return Math.min(MAX_BINS, Math.round(width));
  return Math.floor(numIterations / Math.ceil(numIterations / Math.min(MAX_BINS, width)));
}
