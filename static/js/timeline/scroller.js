/** The bar that scrolls the rows, and how high the plot is. */

import { READABLE_ROW_PX } from "./view.js";

const MAX_ROW_PX = 26;
const MAX_HEIGHT_PX = 760;
const MIN_HEIGHT_PX = 320;
const BELOW_PX = 64;

/**
 * Height of the plot for so many slots: all of them where they stay readable, else what the window has.
 *
 * @param {number} slots
 * @param {number} top  of the plot in the page, px
 */
export function plotHeight(slots, top) {
  const available = Math.round(Math.min(Math.max(innerHeight - top - BELOW_PX, MIN_HEIGHT_PX), MAX_HEIGHT_PX));
  const fits = available / slots >= READABLE_ROW_PX;
  return { fits, height: fits ? Math.round(slots * Math.min(MAX_ROW_PX, available / slots)) : available };
}

/**
 * Scroll rows by the thumb, and by the wheel over the labels.
 *
 * @param {{thumb: HTMLElement, gutter: HTMLElement}} elements
 * @param {{byShare: (share: number) => void, byRows: (rows: number) => boolean}} scroll  byRows tells whether it could
 */
export function listenToScroller({ thumb, gutter }, scroll) {
  let last = NaN;
  thumb.addEventListener("pointerdown", (event) => {
    last = event.clientY;
    thumb.setPointerCapture(event.pointerId);
  });
  thumb.addEventListener("pointermove", (event) => {
    if (Number.isNaN(last)) return;
    scroll.byShare((event.clientY - last) / /** @type {HTMLElement} */ (thumb.parentElement).clientHeight);
    last = event.clientY;
  });
  thumb.addEventListener("lostpointercapture", () => (last = NaN));
  gutter.addEventListener("wheel", (event) => scroll.byRows(event.deltaY / 40) && event.preventDefault(), {
    passive: false,
  });
}
