/** Colours of the current theme, read from the stylesheet's tokens, which stay their only source. */

import { GROUPS } from "./kinds.js";

/**
 * @typedef {object} Palette
 * @property {string} bg
 * @property {string} text
 * @property {string} muted
 * @property {string} line
 * @property {string} accent
 * @property {string[]} fill  by group of kinds
 * @property {string[]} ink   of letters on that fill
 */

/** @returns {Palette} */
export function readPalette() {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const resolved = (/** @type {string} */ token) => {
    probe.style.color = `var(${token})`;
    return getComputedStyle(probe).color;
  };
  const palette = {
    bg: resolved("--bg"),
    text: resolved("--text"),
    muted: resolved("--muted"),
    line: resolved("--line"),
    accent: resolved("--accent"),
    fill: GROUPS.map((group) => resolved(`--kind-${group.token}`)),
    ink: GROUPS.map((group) => resolved(`--on-kind-${group.token}`)),
  };
  probe.remove();
  return palette;
}

/**
 * @param {string} color  rgb(r, g, b)
 * @param {number} alpha
 */
export function withAlpha(color, alpha) {
  const parts = color.match(/[\d.]+/g) ?? ["0", "0", "0"];
  return `rgba(${parts[0]}, ${parts[1]}, ${parts[2]}, ${alpha})`;
}
