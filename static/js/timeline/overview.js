/** The overview strip: share of GPU time per kind over the whole run, with a brush for the window. */

import { GROUP_OF_KIND, GROUPS, KIND_NAMES, STACK_ORDER } from "./kinds.js";
import { withAlpha } from "./palette.js";
import { AXIS_PX, PLOTLY_CONFIG } from "./plot.js";
import { ticks } from "./units.js";

const CLICK_PX = 4;

export class OverviewStrip {
  /**
   * @param {HTMLElement} root  .tl-strip
   * @param {{show: (t0: number, t1: number) => void, fit: () => void}} actions
   */
  constructor(root, actions) {
    this.plot = /** @type {HTMLElement} */ (root.querySelector(".tl-strip-plot"));
    this.surface = /** @type {HTMLElement} */ (root.querySelector(".tl-strip-surface"));
    this.brush = /** @type {HTMLElement} */ (root.querySelector(".tl-brush"));
    this.actions = actions;
    this.maxNs = 1;
    this.window = [0, 1];
    /** @type {{mode: string, x: number, t0: number, t1: number, moved: boolean} | null} */
    this.gesture = null;
    this.surface.addEventListener("pointerdown", (event) => this.#press(event));
    this.surface.addEventListener("pointermove", (event) => this.#move(event));
    this.surface.addEventListener("pointerup", (event) => this.#release(event));
    this.surface.addEventListener("pointercancel", () => (this.gesture = null));
    this.surface.addEventListener("dblclick", () => actions.fit());
  }

  /**
   * @param {import("./live_source.js").Overview} overview
   * @param {{hidden: Set<number>, palette: import("./palette.js").Palette}} scene
   */
  async draw(overview, { hidden, palette }) {
    const width = this.plot.clientWidth;
    const height = this.plot.clientHeight;
    this.maxNs = overview.t1;
    const { bins, share } = overview;
    const dx = (overview.t1 - overview.t0) / bins;
    const x = Float64Array.from({ length: bins }, (_, bin) => overview.t0 + (bin + 0.5) * dx);
    const traces = STACK_ORDER.filter((kind) => !hidden.has(GROUP_OF_KIND[kind])).flatMap((kind) => {
      const y = share.slice(kind * bins, (kind + 1) * bins);
      if (!y.some((value) => value > 0)) return [];
      const group = GROUP_OF_KIND[kind];
      const color = GROUPS[group].outlined ? withAlpha(palette.fill[5], 0.3) : palette.fill[group];
      const line = { width: 0, shape: "hv" };
      return [{ type: "scatter", mode: "lines", stackgroup: "kinds", hoverinfo: "skip", x, y, fillcolor: color, line }];
    });
    const axis = ticks(overview.t0, overview.t1, width);
    await globalThis.Plotly.react(
      this.plot,
      traces,
      {
        width,
        height,
        margin: { l: 0, r: 0, t: 0, b: AXIS_PX - 4, pad: 0 },
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        showlegend: false,
        hovermode: false,
        dragmode: false,
        font: { family: getComputedStyle(this.plot).fontFamily, size: 11, color: palette.muted },
        xaxis: {
          range: [overview.t0, overview.t1],
          tickvals: axis.values,
          ticktext: axis.texts,
          ticks: "outside",
          ticklen: 3,
          tickcolor: palette.line,
          showgrid: false,
          zeroline: false,
          fixedrange: true,
          showline: true,
          linecolor: palette.line,
        },
        yaxis: { range: [0, 1], visible: true, showticklabels: false, tickvals: [0.5], gridcolor: palette.line, zeroline: false, fixedrange: true },
      },
      PLOTLY_CONFIG,
    );
    this.mark(this.window[0], this.window[1]);
    return overviewText(overview);
  }

  /** Put the brush around the window. @param {number} t0 @param {number} t1 */
  mark(t0, t1) {
    this.window = [t0, t1];
    const left = Math.max(0, t0 / this.maxNs);
    const right = Math.min(1, t1 / this.maxNs);
    this.brush.style.left = `${100 * left}%`;
    this.brush.style.width = `${100 * Math.max(0, right - left)}%`;
    this.brush.classList.toggle("is-whole", left <= 0.001 && right >= 0.999);
  }

  /** @param {PointerEvent} event */
  #instant(event) {
    const box = this.surface.getBoundingClientRect();
    return (Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * this.maxNs);
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.button !== 0) return;
    const target = /** @type {HTMLElement} */ (event.target);
    const isWhole = this.brush.classList.contains("is-whole");
    const mode = target.dataset.edge ?? (target === this.brush && !isWhole ? "move" : "select");
    const [t0, t1] = this.window;
    this.gesture = { mode, x: this.#instant(event), t0, t1, moved: false };
    this.surface.setPointerCapture(event.pointerId);
    event.preventDefault();
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const gesture = this.gesture;
    if (!gesture) return;
    const t = this.#instant(event);
    const pxNs = this.maxNs / Math.max(1, this.surface.clientWidth);
    gesture.moved ||= Math.abs(t - gesture.x) > CLICK_PX * pxNs;
    if (!gesture.moved) return;
    if (gesture.mode === "move") this.actions.show(gesture.t0 + t - gesture.x, gesture.t1 + t - gesture.x);
    else if (gesture.mode === "left") this.actions.show(Math.min(t, gesture.t1 - pxNs), gesture.t1);
    else if (gesture.mode === "right") this.actions.show(gesture.t0, Math.max(t, gesture.t0 + pxNs));
    else this.actions.show(Math.min(t, gesture.x), Math.max(t, gesture.x));
  }

  /** @param {PointerEvent} event */
  #release(event) {
    const gesture = this.gesture;
    this.gesture = null;
    if (!gesture || gesture.moved || gesture.mode === "left" || gesture.mode === "right") return;
    const half = (gesture.t1 - gesture.t0) / 2;
    const t = this.#instant(event);
    this.actions.show(t - half, t + half);
  }
}

/** The strip in words. @param {import("./live_source.js").Overview} overview */
export function overviewText({ bins, share }) {
  const means = STACK_ORDER.map((kind) => {
    let sum = 0;
    for (let bin = 0; bin < bins; bin += 1) sum += share[kind * bins + bin];
    return { kind, mean: sum / bins };
  });
  const idle = Math.max(0, 1 - means.reduce((sum, { mean }) => sum + mean, 0));
  const parts = means
    .filter(({ mean }) => mean > 0.0005)
    .sort((left, right) => right.mean - left.mean)
    .map(({ kind, mean }) => `${KIND_NAMES[kind]} ${(100 * mean).toFixed(1)} %`);
  return `Share of GPU time over the run: ${[...parts, `idle ${(100 * idle).toFixed(1)} %`].join(", ")}.`;
}

/** Groups of kinds that occur in the strip. @param {import("./live_source.js").Overview} overview */
export function groupsIn({ bins, share }) {
  const groups = new Set();
  for (const kind of STACK_ORDER) {
    for (let bin = 0; bin < bins; bin += 1) {
      if (share[kind * bins + bin] > 0) {
        groups.add(GROUP_OF_KIND[kind]);
        break;
      }
    }
  }
  return groups;
}
