/** Row labels beside the plot, in step with its vertical axis; every n-th when rows are thin. */

const LABEL_PX = 14;
const STEPS = [1, 2, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256, 500, 1000];

/** @param {import("./layout.js").Layout} layout @param {number} widthPx  of the whole timeline */
export function gutterWidth(layout, widthPx) {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return 130;
  context.font = `11px ${getComputedStyle(document.body).fontFamily}`;
  const candidates = [layout.rowAt[0], layout.rowAt[layout.numWorkers - 1], ...layout.rowAt.slice(layout.numWorkers)];
  const longest = Math.max(...candidates.slice(0, 200).map((row) => context.measureText(layout.label(row)).width));
  return Math.round(Math.min(Math.max(longest + 22, 88), widthPx < 600 ? 104 : 210));
}

/**
 * @param {HTMLElement} element
 * @param {import("./layout.js").Layout} layout
 * @param {import("./view.js").View} view
 * @param {number} height
 */
export function drawGutter(element, layout, view, height) {
  const rowPx = height / (view.y1 - view.y0);
  const step = STEPS.find((candidate) => candidate * rowPx >= LABEL_PX) ?? 1000;
  const headings = new Map(layout.headings.map((heading) => [layout.slotOf(heading.index) - 1, headingOf(layout, heading)]));
  const nodes = [];
  let lastY = -Infinity;
  for (let slot = Math.floor(view.y0); slot < Math.ceil(view.y1); slot += 1) {
    const y = (slot + 0.5 - view.y0) * rowPx;
    if (y < 4 || y > height - 4) continue;
    const heading = headings.get(slot);
    if (heading !== undefined) {
      if (y - lastY < LABEL_PX) continue;
      nodes.push(label("tl-heading", heading.isFolded ? `▸ ${heading.count} ${heading.text}` : heading.text, y));
      lastY = y;
      continue;
    }
    const index = layout.indexAt(slot);
    if (index < 0 || (step > 1 && offsetInGroup(layout, index) % step) || y - lastY < LABEL_PX - 1.5) continue;
    nodes.push(label("tl-label", layout.label(layout.rowAt[index]), y));
    lastY = y;
  }
  element.replaceChildren(...nodes);
}

/** @param {import("./layout.js").Layout} layout @param {{index: number, text: string}} heading */
function headingOf(layout, { index, text }) {
  return { text, count: layout.numLocal, isFolded: layout.foldsLocal && index >= layout.numShownRows };
}

/** @param {import("./layout.js").Layout} layout @param {number} index */
function offsetInGroup(layout, index) {
  let start = 0;
  for (const heading of layout.headings) if (heading.index <= index) start = heading.index;
  return index - start;
}

/** @param {string} className @param {string} text @param {number} y */
function label(className, text, y) {
  const node = document.createElement("span");
  node.className = className;
  node.textContent = text;
  node.title = text;
  node.style.top = `${y}px`;
  return node;
}
