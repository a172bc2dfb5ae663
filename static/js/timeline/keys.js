/** Perfetto's keys, so that there is nothing to learn again. */

/**
 * @typedef {object} KeyActions
 * @property {(factor: number) => void} zoom
 * @property {(fraction: number) => void} pan
 * @property {(rows: number) => void} scroll
 * @property {(direction: 1 | -1) => void} step
 * @property {() => void} fit
 * @property {() => void} follow
 * @property {() => void} mark
 * @property {() => void} goTo
 * @property {(group: number) => void} toggle
 * @property {() => void} escape
 * @property {() => void} help
 */

const TYPING = "input, select, textarea, [contenteditable], dialog";

/**
 * @param {KeyActions} actions
 * @returns {(event: KeyboardEvent) => void}
 */
export function keyListener(actions) {
  /** @type {Record<string, () => void>} */
  const byKey = {
    w: () => actions.zoom(1 / 1.35),
    s: () => actions.zoom(1.35),
    a: () => actions.pan(-0.15),
    d: () => actions.pan(0.15),
    arrowup: () => actions.scroll(-1),
    arrowdown: () => actions.scroll(1),
    arrowleft: () => actions.pan(-0.15),
    arrowright: () => actions.pan(0.15),
    ",": () => actions.step(-1),
    ".": () => actions.step(1),
    f: () => actions.fit(),
    m: () => actions.mark(),
    g: () => actions.goTo(),
    l: () => actions.follow(),
    escape: () => actions.escape(),
    "?": () => actions.help(),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const target = /** @type {Element} */ (event.target);
    if (target.closest?.(TYPING)) return;
    const key = event.key.toLowerCase();
    if (document.querySelector("dialog[open]")) return;
    if (key.startsWith("arrow") && !target.closest?.(".tl-view")) return;
    if (/^[1-9]$/.test(key)) actions.toggle(Number(key) - 1);
    else if (byKey[key]) byKey[key]();
    else return;
    event.preventDefault();
  };
}
