/**
 * Paths into a scenario document, as text: `wan.links[2].rtt_ms`. The server speaks the same form.
 */

/**
 * @param {string} text
 * @returns {(string | number)[]}
 */
export function pathFrom(text) {
  return (text.match(/[^.[\]]+/g) ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
}

/**
 * @param {(string | number)[]} path
 * @returns {string}
 */
export function pathText(path) {
  return path.reduce((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? part : `${text}.${part}`;
  }, "");
}

/**
 * @param {unknown} document
 * @param {string} path
 * @returns {unknown} the value there, or undefined
 */
export function valueAt(document, path) {
  let value = /** @type {any} */ (document);
  for (const part of pathFrom(path)) {
    if (value === null || typeof value !== "object") return undefined;
    value = value[part];
  }
  return value;
}

/**
 * The path and its parents, nearest first: a problem is shown at the first of them that has a field.
 *
 * @param {string} path
 * @returns {string[]}
 */
export function pathAndParents(path) {
  const parts = pathFrom(path);
  return parts.map((_, index) => pathText(parts.slice(0, parts.length - index)));
}
