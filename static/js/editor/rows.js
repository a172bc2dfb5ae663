/**
 * The parts of the form that repeat: datacenters, links, prefill rows and the stages' places.
 */

import { pathFrom, valueAt } from "./paths.js";

/** @typedef {import("./sync.js").FormChange} FormChange */

const MAX_STAGES_SHOWN = 256;
const MAX_ROWS_SHOWN = 200;

/** @param {unknown} value */
function listOf(value) {
  return Array.isArray(value) ? value : [];
}

/** @param {any} document */
export function datacenterNames(document) {
  const names = listOf(document.datacenters).map((/** @type {any} */ item) => item?.name);
  return [...new Set(names.filter((name) => typeof name === "string" && name !== ""))];
}

export class Rows {
  /**
   * @param {HTMLElement} root
   * @param {(changes: FormChange[]) => void} onChange
   */
  constructor(root, onChange) {
    this.root = root;
    this.onChange = onChange;
    this.document = /** @type {any} */ ({});
    root.addEventListener("click", (event) => this.clicked(event));
  }

  /**
   * Make as many rows as the document has, with their paths; the form fills them afterwards.
   *
   * @param {any} document
   */
  arrange(document) {
    this.document = document;
    for (const body of this.root.querySelectorAll("[data-rows]")) {
      const list = listOf(valueAt(document, /** @type {HTMLElement} */ (body).dataset.rows ?? ""));
      this.resize(/** @type {HTMLElement} */ (body), Math.min(list.length, MAX_ROWS_SHOWN), list.length);
    }
    this.arrangePlacement();
    this.offerNames();
  }

  /**
   * @param {HTMLElement} body
   * @param {number} count
   * @param {number} total
   */
  resize(body, count, total) {
    const prefix = body.dataset.rows ?? "";
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById(body.dataset.template ?? ""));
    const rows = [...body.querySelectorAll(":scope > [data-row]")];
    for (const row of rows.slice(count)) {
      if (row.nextElementSibling?.classList.contains("row-errors")) row.nextElementSibling.remove();
      row.remove();
    }
    for (let index = rows.length; index < count; index += 1) body.append(instance(template, `${prefix}[${index}]`, index));
    const section = body.closest("[data-section]");
    const more = section?.querySelector(`[data-more="${prefix}"]`);
    if (more) {
      more.textContent = total > count ? `${(total - count).toLocaleString("en")} more rows: edit them in the YAML` : "";
    }
    const none = section?.querySelector(`[data-none="${prefix}"]`);
    if (none) /** @type {HTMLElement} */ (none).hidden = total > 0;
  }

  arrangePlacement() {
    const body = /** @type {HTMLElement} */ (this.root.querySelector("[data-stages]"));
    const stages = Number(valueAt(this.document, "training.pipeline_stages"));
    const placed = listOf(valueAt(this.document, "placement.stages")).length;
    const wanted = Number.isInteger(stages) && stages > 0 ? stages : placed;
    const count = Math.min(Math.max(wanted, placed), MAX_STAGES_SHOWN);
    const template = /** @type {HTMLTemplateElement} */ (document.getElementById("stage-template"));
    while (body.children.length > count) body.lastElementChild?.remove();
    while (body.children.length < count) {
      body.append(instance(template, `placement.stages[${body.children.length}]`, body.children.length));
    }
    for (const [index, cell] of [...body.children].entries()) cell.classList.toggle("is-surplus", index >= wanted);
  }

  /** Give every datacenter select the names there are. */
  offerNames() {
    const names = datacenterNames(this.document);
    for (const element of this.root.querySelectorAll("select[data-names]")) {
      const select = /** @type {HTMLSelectElement} */ (element);
      const offered = [...select.options].filter((option) => !option.dataset.stray).map((option) => option.value);
      if (offered.length === names.length && offered.every((name, index) => name === names[index])) continue;
      const chosen = select.value;
      select.replaceChildren(...names.map((name) => new Option(name, name)));
      if (names.includes(chosen)) select.value = chosen;
    }
  }

  /** @param {Event} event */
  clicked(event) {
    const button = /** @type {HTMLElement} */ (event.target).closest("button[data-action]");
    if (!(button instanceof HTMLButtonElement)) return;
    const action = button.dataset.action;
    if (action === "remove-row") this.removeRow(button);
    if (action === "add-datacenter") this.onChange([this.newDatacenter()]);
    if (action === "add-link") this.onChange([this.newLink()]);
    if (action === "add-prefill") this.onChange([this.newPrefillRow()]);
    if (action === "spread-stages") this.onChange([this.spreadStages()]);
  }

  /** @param {HTMLButtonElement} button */
  removeRow(button) {
    const row = /** @type {HTMLElement} */ (button.closest("[data-row]"));
    const path = row.dataset.row ?? "";
    /** @type {HTMLElement | null} */ (row.closest("[data-section]")?.querySelector("button[data-action^=add]"))?.focus();
    this.onChange([{ path: pathFrom(path), remove: true }]);
  }

  /** @returns {FormChange} */
  newDatacenter() {
    const list = listOf(this.document.datacenters);
    const names = new Set(datacenterNames(this.document));
    let number = list.length + 1;
    while (names.has(`dc-${number}`)) number += 1;
    const last = list.at(-1);
    const value = { gpu: "a100-80gb", gpus: 8, ...(last !== null && typeof last === "object" ? last : {}), name: `dc-${number}` };
    delete value.latitude_deg;
    delete value.longitude_deg;
    const { name, ...rest } = value;
    return { path: ["datacenters", list.length], kind: "json", value: { name, ...rest } };
  }

  /** @returns {FormChange} */
  newLink() {
    const links = listOf(valueAt(this.document, "wan.links"));
    const names = datacenterNames(this.document);
    const taken = new Set(links.map((/** @type {any} */ link) => [...listOf(link?.between)].sort().join("\n")));
    const pairs = names.flatMap((left, index) => names.slice(index + 1).map((right) => [left, right]));
    const free = pairs.find((pair) => !taken.has([...pair].sort().join("\n"))) ?? pairs[0] ?? ["", ""];
    return { path: ["wan", "links", links.length], kind: "json", value: { between: free, rtt_ms: 40 } };
  }

  /** @returns {FormChange} */
  newPrefillRow() {
    const table = listOf(valueAt(this.document, "inference.prefill.table"));
    const [tokens, ms] = table.length ? table[table.length - 1] : [64, 5];
    const path = ["inference", "prefill", "table", table.length];
    return { path, kind: "json", value: [Number(tokens) * 2 || 128, Number(ms) * 2 || 10] };
  }

  /** Neighbouring stages stay together; the first datacenters get one more when it does not come out even. @returns {FormChange} */
  spreadStages() {
    const names = datacenterNames(this.document);
    const stages = Math.max(1, Number(valueAt(this.document, "training.pipeline_stages")) || 1);
    const value = Array.from({ length: stages }, (_, index) => names[Math.floor((index * names.length) / stages)]);
    return { path: ["placement"], kind: "json", value: { mode: "fixed", stages: value } };
  }
}

/**
 * @param {HTMLTemplateElement} template
 * @param {string} path
 * @param {number} index
 * @returns {Element}
 */
function instance(template, path, index) {
  const fragment = /** @type {DocumentFragment} */ (template.content.cloneNode(true));
  const element = /** @type {Element} */ (fragment.firstElementChild);
  for (const part of [element, ...element.querySelectorAll("*")]) {
    for (const attribute of [...part.attributes]) {
      if (attribute.value.includes("{path}") || attribute.value.includes("{n}")) {
        attribute.value = attribute.value.replaceAll("{path}", path).replaceAll("{n}", String(index));
      }
    }
    if (part.children.length === 0 && part.textContent?.includes("{n}")) {
      part.textContent = part.textContent.replaceAll("{n}", String(index));
    }
  }
  return element;
}
