/** Nanoseconds as people read them, and ticks at round numbers. */

const SPACE = "\u202f";
const UNITS = [
  { limit: 1e3, factor: 1, name: "ns" },
  { limit: 1e6, factor: 1e3, name: "µs" },
  { limit: 1e9, factor: 1e6, name: "ms" },
  { limit: Infinity, factor: 1e9, name: "s" },
];

/**
 * @param {number} value
 * @param {number} decimals
 */
export function grouped(value, decimals = 0) {
  const [whole, fraction] = Math.abs(value).toFixed(decimals).split(".");
  const text = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, SPACE) : whole;
  return (value < 0 ? "\u2212" : "") + text + (fraction ? `.${fraction}` : "");
}

/**
 * A duration with four significant digits: "14 ms", "1.495 s".
 *
 * @param {number} ns
 */
export function duration(ns) {
  const unit = UNITS.find((entry) => Math.abs(ns) < entry.limit) ?? UNITS[3];
  const value = ns / unit.factor;
  const decimals = Math.max(0, 3 - Math.floor(Math.log10(Math.max(Math.abs(value), 1))));
  const text = unit.factor === 1 ? value.toFixed(0) : value.toFixed(decimals).replace(/\.?0+$/, "");
  return `${value >= 1e4 ? grouped(value) : text}${SPACE}${unit.name}`;
}

/**
 * An instant, as finely as `step_ns` asks for: "1020 ms", "12.35 s".
 *
 * @param {number} ns
 * @param {number} stepNs
 */
export function instant(ns, stepNs) {
  const inSeconds = stepNs >= 1e9 || ns >= 1e10;
  const inMicros = !inSeconds && stepNs < 1e3 && ns < 1e7;
  const factor = inSeconds ? 1e9 : inMicros ? 1e3 : 1e6;
  const decimals = Math.min(9, Math.max(0, -Math.floor(Math.log10(stepNs / factor) + 1e-9)));
  return `${grouped(ns / factor, decimals)}${SPACE}${inSeconds ? "s" : inMicros ? "µs" : "ms"}`;
}

/** @param {number} fraction */
export function percent(fraction) {
  return `${(100 * fraction).toFixed(1)}${SPACE}%`;
}

/**
 * @param {number} t0
 * @param {number} t1
 * @param {number} widthPx
 * @returns {{values: number[], texts: string[], stepNs: number}}
 */
export function ticks(t0, t1, widthPx) {
  const rough = Math.max((t1 - t0) / Math.max(1, widthPx / (widthPx < 500 ? 80 : 130)), 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const stepNs = Math.max(1, (([1, 2, 5].find((factor) => factor * power >= rough) ?? 10) * power));
  const values = [];
  const edge = ((t1 - t0) / widthPx) * 26;
  for (let tick = Math.ceil((t0 + edge) / stepNs) * stepNs; tick <= t1 - edge; tick += stepNs) values.push(tick);
  return { values, texts: values.map((value) => instant(value, stepNs)), stepNs };
}

const FACTORS = /** @type {Record<string, number>} */ ({ ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 60e9, "": 1e9 });

/**
 * The instant that a text means: "12.5 s", "350 ms", "1.2" (seconds) or "#7", the start of iteration 7.
 *
 * @param {string} text
 * @param {number} iterationNs  0 while unknown
 * @returns {number}  NaN if it means none
 */
export function instantFrom(text, iterationNs) {
  const iteration = /^\s*#\s*(\d+)\s*$/.exec(text);
  if (iteration) return iterationNs ? (Number(iteration[1]) - 1) * iterationNs : NaN;
  const found = /^\s*(\d+(?:[.,]\d+)?)\s*(ns|us|µs|ms|s|min|)\s*$/.exec(text.replaceAll(SPACE, " ").toLowerCase());
  return found ? Math.round(Number(found[1].replace(",", ".")) * FACTORS[found[2]]) : NaN;
}
