/**
 * The timeline as a whole: takes a source, keeps the view, and turns what people do into changes of
 * the view. The painter shows it, the inspector explains it.
 */

import { listenToGestures } from "./gestures.js";
import { gutterWidth } from "./gutter.js";
import { Inspector } from "./inspector.js";
import { keyListener } from "./keys.js";
import { GROUPS } from "./kinds.js";
import { Painter } from "./painter.js";
import { drawRange } from "./range.js";
import { listenToScroller, plotHeight } from "./scroller.js";
import { showTable } from "./table.js";
import { instantFrom } from "./units.js";
import { View } from "./view.js";

const COMFORTABLE_ROW_PX = 18;
const HEAD_ROOM = 0.06;
const USUAL_ITERATIONS = 2;

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
    this.surface = /** @type {HTMLElement} */ (root.querySelector(".tl-surface"));
    this.range = /** @type {HTMLElement} */ (root.querySelector(".tl-range"));
    this.painter = new Painter(root, this);
    this.inspector = new Inspector(root, this);
    this.#listenToPeople();
    this.#listenToWindow();
  }

  get plot() {
    return this.painter.plot;
  }

  #listenToPeople() {
    const { view } = this;
    const at = (/** @type {number} */ fraction) => view.t0 + fraction * view.span;
    listenToGestures(this.surface, {
      zoom: (fraction, factor) => this.choose(() => view.zoom(at(fraction), factor), true),
      pan: (fraction) => this.choose(() => view.pan(fraction * view.span)),
      scroll: (px) => this.scroll((px / this.painter.height) * (view.y1 - view.y0)),
      range: (from, to, done) => this.#selectRange(from, to, done),
      hover: (event) => this.inspector.hover(event),
      leave: () => this.inspector.leave(),
      click: (event) => this.inspector.click(event),
    });
    const listener = keyListener({
      zoom: (factor) => this.choose(() => view.zoom(at(0.5), factor), true),
      pan: (fraction) => this.choose(() => view.pan(fraction * view.span)),
      scroll: (rows) => this.scroll(rows),
      step: (direction) => this.inspector.step(direction),
      fit: () => this.fit(),
      mark: () => this.mark(),
      goTo: () => this.#dialog("goto").showModal(),
      follow: () => this.follow(!view.follow),
      toggle: (group) => this.toggle(group),
      escape: () => (view.marked ? this.clearMark() : this.inspector.select(null)),
      help: () => this.#dialog("help").showModal(),
    });
    document.addEventListener("keydown", listener);
    listenToScroller(this.painter, {
      byShare: (share) => this.scroll(share * view.numSlots),
      byRows: (rows) => this.scroll(rows),
    });
    this.root.addEventListener("click", (event) => this.#press(/** @type {Element} */ (event.target)));
    const form = /** @type {HTMLFormElement} */ (this.#dialog("goto").querySelector("form"));
    form.addEventListener("submit", (event) => this.#goTo(event, form));
  }

  /** @param {string} part @returns {HTMLDialogElement} */
  #dialog(part) {
    return /** @type {HTMLDialogElement} */ (this.root.querySelector(`dialog[data-part="${part}"]`));
  }

  /** A button of the timeline. @param {Element} target */
  #press(target) {
    const button = target.closest("[data-action], [data-rows], [data-shade]");
    const action = button?.getAttribute("data-action");
    if (action === "fit") this.fit();
    if (action === "help") this.#dialog("help").showModal();
    if (action === "table" && this.source) showTable(this.#dialog("table"), this.source, this.view);
    if (action === "fold") this.fold(!this.source?.layout.foldsLocal);
    if (button?.hasAttribute("data-rows")) this.showRows(button.getAttribute("data-rows") === "all", this.view.y0);
    if (button?.hasAttribute("data-shade")) {
      this.view.shade = button.getAttribute("data-shade") === "busy" ? "busy" : "kind";
      this.changed();
    }
  }

  /** @param {SubmitEvent} event @param {HTMLFormElement} form */
  #goTo(event, form) {
    const input = /** @type {HTMLInputElement} */ (form.elements.namedItem("at"));
    const submitter = /** @type {HTMLButtonElement | null} */ (event.submitter);
    if (submitter?.value === "close") return;
    event.preventDefault();
    const at = instantFrom(input.value, this.source?.iterationNs ?? 0);
    const isWrong = !(at >= 0 && at <= this.view.maxNs);
    input.setAttribute("aria-invalid", String(isWrong));
    /** @type {HTMLElement} */ (form.querySelector(".field-error")).hidden = !isWrong;
    if (isWrong) return;
    this.#dialog("goto").close();
    this.show(at - this.view.span / 2, at + this.view.span / 2);
    /** @type {HTMLElement} */ (this.surface.parentElement).focus({ preventScroll: true });
  }

  #listenToWindow() {
    new ResizeObserver(() => this.#resize()).observe(/** @type {Element} */ (this.surface.parentElement));
    addEventListener("resize", () => this.#resize());
    document.documentElement.addEventListener("boba:theme", () => this.painter.renewColors());
  }

  /** Where the rows are in the window. */
  plotBox = () => {
    const { left, top, width } = this.surface.getBoundingClientRect();
    return { left, top, width, height: this.painter.height };
  };

  selected = () => this.inspector.selected;

  /**
   * Show a source; the view stays what it was if there was one.
   *
   * @param {import("./live_source.js").Source} source
   * @param {{search: string, follow: boolean}} start
   */
  open(source, start) {
    const isFirst = !this.source;
    const { layout } = source;
    const folded = this.source?.layout.foldsLocal;
    this.source = source;
    this.root.style.setProperty("--gutter", `${gutterWidth(layout, this.root.clientWidth)}px`);
    if (isFirst) this.view.foldsLocal = View.foldIn(start.search);
    layout.foldsLocal = folded ?? this.view.foldsLocal ?? !plotHeight(layout.numSlots, this.#top()).fits;
    this.view.numSlots = layout.numSlots;
    if (isFirst) {
      this.view.showRows(0, layout.numSlots);
      this.#resize();
      this.#place();
      this.view.fromQuery(start.search, layout);
      if (!this.view.chosen && start.follow) this.view.follow = true;
    }
    if (!source.live && this.view.follow) {
      this.view.follow = false;
      this.view.chosen = true;
    }
    this.painter.renewStrip();
    this.advance();
    this.inspector.restore();
    if (isFirst && this.view.marked) this.#drawMark();
  }

  /** The source has more to show. */
  advance() {
    if (!this.source) return;
    this.#place();
    this.painter.request();
  }

  /** Put the window where it belongs while nobody has chosen another. */
  #place() {
    const source = /** @type {import("./live_source.js").Source} */ (this.source);
    const { view } = this;
    view.maxNs = Math.max(source.horizonNs || roundAbove(source.simulatedNs), 1);
    if (view.chosen && !view.follow) return;
    const usual = source.iterationNs ? source.iterationNs * USUAL_ITERATIONS : view.maxNs;
    const span = Math.min(view.chosen ? view.span : usual, view.maxNs);
    if (view.follow && source.iterationNs) {
      const end = Math.max(source.simulatedNs + HEAD_ROOM * span, span);
      view.show(end - span, end);
    } else if (!view.chosen) {
      view.show(0, span);
    }
  }

  changed() {
    this.page.changed();
    this.painter.request();
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

  /** @param {number} t0 @param {number} t1 */
  show(t0, t1) {
    this.choose(() => this.view.show(t0, t1));
  }

  stopFollowing() {
    this.view.follow = false;
  }

  /** @param {boolean} follow */
  follow(follow) {
    if (!this.source?.live) return;
    this.view.follow = follow;
    if (!follow) this.view.chosen = true;
    this.#place();
    this.changed();
  }

  /** @param {number} group */
  toggle(group) {
    const { view, painter } = this;
    if (!painter.present.has(group)) return;
    view.toggle(group);
    painter.legend.draw(painter.present, view.hidden);
    this.inspector.announce(`${GROUPS[group].name} ${view.hidden.has(group) ? "hidden" : "shown"}`);
    painter.renewStrip();
    this.changed();
  }

  /** The selected segment, or everything. */
  fit() {
    const selected = this.inspector.selected;
    if (!selected) {
      this.fitAll();
      return;
    }
    const margin = Math.max(2 * selected.duration, 1000);
    this.show(selected.start - margin, selected.start + selected.duration + margin);
    this.reveal(selected);
  }

  fitAll() {
    this.show(0, this.view.maxNs);
    this.showRows(true, 0);
  }

  /** Bring a segment into view. @param {import("./hit.js").Segment} segment */
  reveal({ row, start, duration }) {
    const { view, source } = this;
    if (!source) return;
    if (source.layout.indexOf[row] >= source.layout.numShownRows) this.fold(false);
    if (start + duration < view.t0 || start > view.t1) {
      const middle = start + duration / 2;
      this.show(middle - view.span / 2, middle + view.span / 2);
    }
    const slot = source.layout.slotOf(source.layout.indexOf[row]);
    if (slot < view.y0 || slot + 1 > view.y1) view.showRows(slot - (view.y1 - view.y0) / 2, view.y1 - view.y0);
  }

  /** Tells whether there was anything to scroll. @param {number} rows */
  scroll(rows) {
    if (this.view.showsAllRows) return false;
    this.view.scrollRows(rows);
    this.changed();
    return true;
  }

  /** Fold the local channels away, or show them. @param {boolean} folds */
  fold(folds) {
    const { view, source } = this;
    if (!source?.layout.numLocal) return;
    const wasAll = view.showsAllRows;
    const rows = view.y1 - view.y0;
    source.layout.foldsLocal = folds;
    view.foldsLocal = folds;
    view.numSlots = source.layout.numSlots;
    view.showRows(wasAll ? 0 : view.y0, wasAll ? view.numSlots : rows);
    this.#resize();
    this.inspector.announce(`local channels ${folds ? "folded away" : "shown"}`);
    this.changed();
  }

  /** Mark the range of the selected segment, or of the window; a second time drops the mark. */
  mark() {
    const { view, source } = this;
    const selected = this.inspector.selected;
    if (!source) return;
    const [t0, t1] = selected ? [selected.start, selected.start + Math.max(1, selected.duration)] : [view.t0, view.t1];
    if (view.marked?.t0 === t0 && view.marked.t1 === t1) {
      this.clearMark();
      return;
    }
    view.marked = { t0, t1 };
    this.#drawMark();
    this.changed();
  }

  clearMark() {
    this.view.marked = null;
    /** @type {HTMLElement} */ (this.root.querySelector('[data-part="range"]')).hidden = true;
    this.changed();
  }

  #drawMark() {
    const { view, source } = this;
    const marked = view.marked;
    if (!source || !marked) return;
    const panel = /** @type {HTMLElement} */ (this.root.querySelector('[data-part="range"]'));
    drawRange(panel, marked, source, view, {
      fit: () => this.show(marked.t0, marked.t1),
      clear: () => this.clearMark(),
    });
  }

  /** @param {boolean} all @param {number} from */
  showRows(all, from) {
    const { view, painter } = this;
    view.showRows(all ? 0 : from, all ? view.numSlots : Math.floor(painter.height / COMFORTABLE_ROW_PX));
    this.changed();
  }

  /** @param {number} from @param {number} to @param {boolean} done */
  #selectRange(from, to, done) {
    const [left, right] = [Math.min(from, to), Math.max(from, to)];
    this.range.hidden = done;
    this.range.style.left = `${100 * left}%`;
    this.range.style.width = `${100 * (right - left)}%`;
    const { t0, span } = this.view;
    if (done && right - left > 0.004) this.show(t0 + left * span, t0 + right * span);
  }

  /** Where the plot begins in the page, px. */
  #top() {
    return this.painter.gutter.getBoundingClientRect().top + scrollY;
  }

  #resize() {
    const { view, painter, source } = this;
    if (!source) return;
    const width = this.surface.clientWidth;
    const slots = view.numSlots;
    const { fits, height } = plotHeight(slots, this.#top());
    if (width === painter.width && height === painter.height) return;
    const rowPx = painter.height / (view.y1 - view.y0);
    const wasAll = view.showsAllRows;
    painter.width = width;
    painter.height = height;
    this.root.style.setProperty("--plot-height", `${height}px`);
    /** @type {HTMLElement} */ (this.root.querySelector('[data-part="rows"]')).hidden = fits;
    view.showRows(wasAll || fits ? 0 : view.y0, wasAll || fits ? slots : height / rowPx);
    painter.renewStrip();
    painter.request();
  }
}

/** The next of 1, 1.5, 2, 3, 5, 7.5 times a power of ten, so that a growing window rests between steps. @param {number} ns */
function roundAbove(ns) {
  const wanted = Math.max(1.05 * ns, 1);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return ([1, 1.5, 2, 3, 5, 7.5].find((factor) => factor * power >= wanted) ?? 10) * power;
}
