/** The window as a table: the first thousand segments in view, by start. */

import { element, table } from "./elements.js";
import { segmentAt } from "./hit.js";
import { GROUP_OF_KIND, HAS_MICROBATCH, Kind, KIND_NAMES } from "./kinds.js";
import { grouped } from "./units.js";

const MAX_ROWS = 1000;
const EXACT_LIMIT = 8000;
const TRIES = 12;

/**
 * @param {HTMLDialogElement} dialog
 * @param {import("./live_source.js").Source} source
 * @param {import("./view.js").View} view
 */
export async function showTable(dialog, source, view) {
  const body = /** @type {HTMLElement} */ (dialog.querySelector("[data-table]"));
  body.replaceChildren(element("p", "muted", "Reading the segments in view"));
  dialog.showModal();
  const found = await firstSegments(source, view);
  if (!found) {
    body.replaceChildren(element("p", "muted", "The segments could not be read; close this and try again."));
    return;
  }
  const { segments, total } = found;
  const rows = segments.map((segment) => [
    source.layout.label(segment.row),
    KIND_NAMES[segment.kind],
    HAS_MICROBATCH.has(segment.kind) || segment.kind === Kind.PREFILL ? String(segment.item) : "",
    String(segment.start),
    String(segment.duration),
  ]);
  const shown = segments.length < total ? `The first ${grouped(segments.length)} of ${grouped(total)}` : `All ${grouped(total)}`;
  const text = `${shown} segments in view, by start; hidden kinds are left out.`;
  const heads = ["Row", "Kind", "Microbatch or request", "Start, ns", "Duration, ns"];
  body.replaceChildren(element("p", "muted small", text), element("div", "table-wrap", table(text, heads, rows, 2)));
}

/**
 * The first segments of the window, read from a part of it that is small enough.
 *
 * @param {import("./live_source.js").Source} source
 * @param {import("./view.js").View} view
 */
async function firstSegments(source, view) {
  const rows = { firstRow: view.firstRow(source.layout), lastRow: view.lastRow(source.layout) };
  let total = -1;
  let span = view.span;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const t1 = Math.max(view.t0 + 1, Math.round(view.t0 + span));
    const query = { t0: view.t0, t1, ...rows, bins: 1, groups: 1, exactLimit: EXACT_LIMIT };
    const frame = await source.window(query).catch(() => null);
    if (!frame) return null;
    if (total < 0) total = frame.total;
    if (frame.exact) {
      const exact = frame.exact;
      const segments = Array.from(exact.row, (_, i) => segmentAt(frame, i)).filter(
        (segment) =>
          segment.start < t1 && segment.start + segment.duration >= view.t0 && !view.hidden.has(GROUP_OF_KIND[segment.kind]),
      );
      segments.sort((left, right) => left.start - right.start || left.row - right.row);
      return { segments: segments.slice(0, MAX_ROWS), total: span === view.span ? segments.length : total };
    }
    span *= Math.min(0.5, (0.5 * EXACT_LIMIT) / frame.total);
  }
  return null;
}
