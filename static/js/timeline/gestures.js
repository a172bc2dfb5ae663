/** Mouse, touch and wheel over the plot, told as what they mean. */

const CLICK_PX = 4;

/**
 * @typedef {object} Meanings
 * @property {(fraction: number, factor: number) => void} zoom   at a fraction of the width
 * @property {(fraction: number) => void} pan                    by a fraction of the window
 * @property {(px: number) => void} scroll                       rows, by pixels
 * @property {(from: number, to: number, done: boolean) => void} range  fractions of the width
 * @property {(event: PointerEvent | MouseEvent) => void} hover
 * @property {() => void} leave
 * @property {(event: PointerEvent) => void} click
 */

/**
 * @param {HTMLElement} surface
 * @param {Meanings} meanings
 */
export function listenToGestures(surface, meanings) {
  /** @type {Map<number, PointerEvent>} */
  const pointers = new Map();
  let pressed = /** @type {PointerEvent | null} */ (null);
  let moved = false;
  const fraction = (/** @type {number} */ x) => {
    const box = surface.getBoundingClientRect();
    return Math.min(1, Math.max(0, (x - box.left) / box.width));
  };

  surface.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, event);
    pressed = event;
    moved = pointers.size > 1;
    surface.setPointerCapture(event.pointerId);
    surface.parentElement?.focus({ preventScroll: true });
  });

  surface.addEventListener("pointermove", (event) => {
    const before = pointers.get(event.pointerId);
    if (!before || !pressed) {
      meanings.hover(event);
      return;
    }
    moved ||= Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) > CLICK_PX;
    if (!moved) return;
    meanings.leave();
    const width = surface.clientWidth || 1;
    if (pointers.size === 2) {
      const other = [...pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
      if (other) {
        const apart = Math.max(20, Math.abs(event.clientX - other.clientX));
        const was = Math.max(20, Math.abs(before.clientX - other.clientX));
        meanings.zoom(fraction((event.clientX + other.clientX) / 2), was / apart);
      }
    } else if (pressed.shiftKey) {
      meanings.range(fraction(pressed.clientX), fraction(event.clientX), false);
    } else {
      meanings.pan((before.clientX - event.clientX) / width);
      meanings.scroll(before.clientY - event.clientY);
      surface.classList.add("is-panning");
    }
    pointers.set(event.pointerId, event);
  });

  const release = (/** @type {PointerEvent} */ event) => {
    surface.classList.remove("is-panning");
    if (!pointers.delete(event.pointerId)) return;
    const start = pressed;
    if (pointers.size === 0) pressed = null;
    if (event.type === "pointercancel" || !start) return;
    if (!moved) meanings.click(event);
    else if (start.shiftKey) meanings.range(fraction(start.clientX), fraction(event.clientX), true);
  };
  surface.addEventListener("pointerup", release);
  surface.addEventListener("pointercancel", release);
  surface.addEventListener("pointerleave", () => meanings.leave());

  surface.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const px = event.deltaMode === 1 ? 16 : 1;
      const sideways = event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX;
      if (Math.abs(sideways) > Math.abs(event.shiftKey ? 0 : event.deltaY)) {
        meanings.pan((sideways * px) / (surface.clientWidth || 1));
      } else {
        meanings.zoom(fraction(event.clientX), Math.exp(Math.max(-120, Math.min(120, event.deltaY * px)) * 0.0022));
      }
      meanings.leave();
    },
    { passive: false },
  );
}
