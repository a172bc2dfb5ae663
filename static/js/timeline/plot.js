/** The main plot: Plotly draws axes, heatmap, shapes and letters; nothing else of it is used. */

import { exactFigure } from "./exact.js";
import { farFigure } from "./far.js";
import { withAlpha } from "./palette.js";
import { ticks } from "./units.js";

export const AXIS_PX = 24;
const MIN_ITERATION_PX = 28;

/** Plotly's own gestures and buttons are off: zoom, pan and hover are ours. */
export const PLOTLY_CONFIG = {
  displaylogo: false,
  showSendToCloud: false,
  displayModeBar: false,
  scrollZoom: false,
  responsive: true,
  doubleClick: false,
};

export class Plot {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.element = element;
    /** What is drawn: the window and the frame. @type {{t0: number, t1: number, y0: number, y1: number, frame: any} | null} */
    this.drawn = null;
  }

  /**
   * @param {import("./aggregate.js").WindowFrame} frame
   * @param {import("./exact.js").Scene} scene
   * @param {{iterationNs: number, headNs: number, range: {t0: number, t1: number} | null, selected: {row: number, start: number, duration: number} | null}} marks
   * @returns {Promise<number>}  how many segments are shown
   */
  async draw(frame, scene, marks) {
    const { view, width, height, palette, layout } = scene;
    const figure = frame.level === "L2" ? exactFigure(frame, scene) : farFigure(frame, scene);
    const axis = ticks(view.t0, view.t1, width);
    const shapes = [
      ...figure.shapes,
      ...iterationLines(scene, marks.iterationNs),
      ...separators(scene),
      ...liveHead(scene, marks.headNs),
      ...markedRange(scene, marks.range),
      ...selectionOutline(scene, marks.selected),
    ];
    await globalThis.Plotly.react(
      this.element,
      [figure.trace],
      {
        width,
        height: height + AXIS_PX,
        margin: { l: 0, r: 0, t: 0, b: AXIS_PX, pad: 0 },
        paper_bgcolor: "rgba(0,0,0,0)",
        plot_bgcolor: "rgba(0,0,0,0)",
        showlegend: false,
        hovermode: false,
        dragmode: false,
        font: { family: getComputedStyle(this.element).fontFamily, size: 11, color: palette.muted },
        xaxis: {
          range: [view.t0, view.t1],
          tickvals: axis.values,
          ticktext: axis.texts,
          ticks: "outside",
          ticklen: 4,
          tickcolor: palette.line,
          gridcolor: palette.line,
          zeroline: false,
          fixedrange: true,
          showline: false,
        },
        yaxis: { range: [view.y1, view.y0], visible: false, fixedrange: true },
        shapes,
        uirevision: layout,
      },
      PLOTLY_CONFIG,
    );
    this.drawn = { t0: view.t0, t1: view.t1, y0: view.y0, y1: view.y1, frame };
    this.element.style.transform = "";
    return figure.shown;
  }

  /** Move the drawn picture to where the view is now, until the next one is drawn. @param {import("./view.js").View} view @param {number} width */
  preview(view, width) {
    const drawn = this.drawn;
    if (!drawn) return;
    const scale = (drawn.t1 - drawn.t0) / view.span;
    const shift = ((drawn.t0 - view.t0) / view.span) * width;
    const still = Math.abs(scale - 1) < 1e-9 && Math.abs(shift) < 0.01;
    this.element.style.transform = still ? "" : `translateX(${shift}px) scaleX(${scale})`;
  }

  purge() {
    globalThis.Plotly?.purge(this.element);
    this.drawn = null;
  }
}

/**
 * @param {import("./exact.js").Scene} scene
 * @param {number} iterationNs
 */
function iterationLines({ view, width, palette }, iterationNs) {
  if (!iterationNs || (iterationNs / view.span) * width < MIN_ITERATION_PX) return [];
  let path = "";
  for (let t = Math.ceil(view.t0 / iterationNs) * iterationNs; t < view.t1; t += iterationNs) {
    if (t > 0) path += `M${t},${view.y0}V${view.y1}`;
  }
  return path ? [lineShape(path, { color: withAlpha(palette.muted, 0.75), width: 1 })] : [];
}

/** How far a live run has come. @param {import("./exact.js").Scene} scene @param {number} headNs */
function liveHead({ view, palette }, headNs) {
  if (headNs <= view.t0 || headNs >= view.t1) return [];
  return [lineShape(`M${headNs},${view.y0}V${view.y1}`, { color: palette.accent, width: 1.5 })];
}

/** @param {import("./exact.js").Scene} scene @param {{t0: number, t1: number} | null} range */
function markedRange({ view, palette }, range) {
  if (!range || range.t1 < view.t0 || range.t0 > view.t1) return [];
  const box = { type: "rect", xref: "x", yref: "y", layer: "above", y0: view.y0, y1: view.y1, line: { width: 0 } };
  const shade = { ...box, x0: range.t0, x1: range.t1, fillcolor: withAlpha(palette.accent, 0.1) };
  const edges = `M${range.t0},${view.y0}V${view.y1}M${range.t1},${view.y0}V${view.y1}`;
  return [shade, lineShape(edges, { color: palette.accent, width: 1.5, dash: "2px,3px" })];
}

/** @param {import("./exact.js").Scene} scene */
function separators({ view, layout, palette, height }) {
  const across = (/** @type {number[]} */ slots) =>
    slots
      .filter((slot) => slot > view.y0 && slot < view.y1)
      .map((slot) => `M${view.t0},${slot}H${view.t1}`)
      .join("");
  const lines = layout.separatorSlots;
  const rowPx = height / (view.y1 - view.y0);
  const pipelines = rowPx * layout.numStages >= 40 ? across(lines.pipeline) : "";
  const datacenters = across(lines.datacenter);
  const network = across(layout.headings.map((heading) => layout.slotOf(heading.index) - 1));
  return [
    ...(pipelines ? [lineShape(pipelines, { color: withAlpha(palette.muted, 0.35), width: 1 })] : []),
    ...(datacenters ? [lineShape(datacenters, { color: withAlpha(palette.muted, 0.9), width: 1, dash: "4px,3px" })] : []),
    ...(network ? [lineShape(network, { color: palette.line, width: 1 })] : []),
  ];
}

/**
 * @param {import("./exact.js").Scene} scene
 * @param {{row: number, start: number, duration: number} | null} selected
 */
function selectionOutline({ view, layout, palette, width }, selected) {
  if (!selected) return [];
  const slot = layout.slotOf(layout.indexOf[selected.row]);
  if (slot + 1 <= view.y0 || slot >= view.y1) return [];
  const end = selected.start + Math.max(selected.duration, (2 * view.span) / width);
  const box = { xref: "x", yref: "y", layer: "above", x0: selected.start, x1: end, y0: slot + 0.04, y1: slot + 0.96 };
  return [
    { type: "rect", ...box, fillcolor: "rgba(0,0,0,0)", line: { color: palette.bg, width: 4 } },
    { type: "rect", ...box, fillcolor: "rgba(0,0,0,0)", line: { color: palette.accent, width: 2 } },
  ];
}

/** @param {string} path @param {object} line */
function lineShape(path, line) {
  return { type: "path", path, xref: "x", yref: "y", layer: "above", fillcolor: "rgba(0,0,0,0)", line };
}
