/**
 * The form beside the YAML: fills its fields from the document, and turns what is typed into changes.
 *
 * A field says where it lives with `data-path`, what it holds with `data-kind`
 * (text, number, numbers, bool), and `data-when="commit"` if half-typed values must not be sent.
 */

import { pathFrom, valueAt } from "./paths.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */
/** @typedef {import("./sync.js").FormChange} FormChange */

export class Form {
  /**
   * @param {HTMLElement} root
   * @param {(changes: FormChange[]) => void} onChange
   */
  constructor(root, onChange) {
    this.root = root;
    this.onChange = onChange;
    this.document = /** @type {any} */ ({});
    this.typing = /** @type {Field | null} */ (null);
    root.addEventListener("input", (event) => this.typed(event, false));
    root.addEventListener("change", (event) => this.typed(event, true));
    root.addEventListener("focusout", () => {
      this.typing = null;
    });
  }

  /** @returns {Field[]} */
  fields() {
    return [...this.root.querySelectorAll("[data-path]")].map((field) => /** @type {Field} */ (field));
  }

  /**
   * Show the document; the field being typed in is left alone.
   *
   * @param {any} document
   */
  fill(document) {
    this.document = document;
    for (const field of this.fields()) {
      if (field === this.typing && field === globalThis.document.activeElement) continue;
      show(field, valueAt(document, field.dataset.path ?? ""));
    }
  }

  /**
   * @param {Event} event
   * @param {boolean} isCommit
   */
  typed(event, isCommit) {
    const field = /** @type {Field} */ (event.target);
    const path = field.dataset?.path;
    if (!path) return;
    const isTyped = field instanceof HTMLTextAreaElement || (field instanceof HTMLInputElement && field.type === "text");
    const waits = field.dataset.when === "commit";
    if (isTyped && !waits && isCommit) {
      this.typing = null;
      return;
    }
    if (isCommit === false && (waits || !isTyped)) {
      this.typing = field;
      return;
    }
    this.typing = isTyped && !isCommit ? field : null;
    this.onChange(changesOf(field, path, this.document));
  }
}

/**
 * @param {Field} field
 * @param {unknown} value
 */
function show(field, value) {
  if (field instanceof HTMLInputElement && field.type === "checkbox") {
    field.checked = value === undefined ? field.dataset.default === "true" : value === true;
    return;
  }
  const text = shown(value);
  if (field instanceof HTMLSelectElement && ![...field.options].some((option) => option.value === text)) {
    const option = new Option(text === "" ? "choose" : `${text} (unknown)`, text);
    option.dataset.stray = "true";
    field.add(option);
  }
  if (field.value !== text) field.value = text;
  if (field instanceof HTMLSelectElement) {
    for (const option of [...field.options]) {
      if (option.dataset.stray && option.value !== text) option.remove();
    }
  }
}

/** @param {unknown} value */
function shown(value) {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return value.map(shown).join(", ");
  if (typeof value === "object") return "id" in value ? String(value.id) : "";
  return String(value);
}

/**
 * @param {Field} field
 * @param {string} path
 * @param {any} document
 * @returns {FormChange[]}
 */
function changesOf(field, path, document) {
  const kind = field.dataset.kind ?? "text";
  if (field instanceof HTMLInputElement && field.type === "checkbox") {
    return [{ path: pathFrom(path), kind: "bool", value: field.checked }];
  }
  const value = field.value;
  if (value.trim() === "" && !("required" in field.dataset)) return [{ path: pathFrom(path), remove: true }];
  const change = { path: pathFrom(path), kind, value };
  return [...companions(path, value, document), change];
}

/**
 * What one field changes along with itself: a datacenter's new name follows it to links and stages, a
 * preset takes back what it fills, explicit durations make the mode explicit.
 *
 * @param {string} path
 * @param {string} value
 * @param {any} document
 * @returns {FormChange[]}
 */
function companions(path, value, document) {
  if (path === "training.system") {
    return ["training.schedule", "training.recompute", "training.transport.connections", "training.transport.sharing"].map(
      (filled) => ({ path: pathFrom(filled), remove: true }),
    );
  }
  if (path.startsWith("training.compute.") && valueAt(document, "training.compute.mode") !== "explicit") {
    return [{ path: pathFrom("training.compute.mode"), kind: "text", value: "explicit" }];
  }
  if (/^datacenters\[\d+\]\.name$/.test(path)) return renamed(valueAt(document, path), value, document);
  return [];
}

/**
 * @param {unknown} before
 * @param {string} after
 * @param {any} document
 * @returns {FormChange[]}
 */
function renamed(before, after, document) {
  const others = (document.datacenters ?? []).filter((/** @type {any} */ item) => item?.name === before);
  if (typeof before !== "string" || others.length !== 1) return [];
  const uses = [];
  const links = valueAt(document, "wan.links");
  for (const [index, link] of (Array.isArray(links) ? links : []).entries()) {
    for (const side of [0, 1]) {
      if (link?.between?.[side] === before) uses.push(["wan", "links", index, "between", side]);
    }
  }
  const stages = valueAt(document, "placement.stages");
  for (const [index, name] of (Array.isArray(stages) ? stages : []).entries()) {
    if (name === before) uses.push(["placement", "stages", index]);
  }
  return uses.map((path) => ({ path, kind: "text", value: after }));
}
