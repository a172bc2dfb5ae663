/**
 * Figures that follow from the document without simulating: GPUs in use, workers, requests.
 */

import { valueAt } from "./paths.js";

/**
 * @param {HTMLElement} root
 * @param {any} document
 * @param {any} requests  count and span of the inline requests, or null
 */
export function showSummary(root, document, requests) {
  const training = valueAt(document, "training") ?? {};
  const { pipeline_stages: stages, pipelines, tensor_parallel: tensorParallel = 1, cell_size: cellSize = 1 } = /** @type {any} */ (training);
  const datacenters = Array.isArray(document.datacenters) ? document.datacenters : [];
  const placed = valueAt(document, "placement.stages");
  const perStage = Number(pipelines) * Number(tensorParallel);
  for (const [index, datacenter] of datacenters.entries()) {
    const meter = root.querySelector(`[data-usage="datacenters[${index}]"]`);
    if (!meter) continue;
    const here = (Array.isArray(placed) ? placed : []).filter((name) => name === datacenter?.name).length;
    showUsage(meter, here * perStage, Number(datacenter?.gpus));
  }
  const gpus = datacenters.reduce((sum, item) => sum + (Number(item?.gpus) || 0), 0);
  const workers = Number(stages) * Number(pipelines);
  say(root, "gpus", `${number(gpus)} GPUs in ${datacenters.length} datacenter${datacenters.length === 1 ? "" : "s"}`);
  say(root, "workers", Number.isFinite(workers) ? `${number(workers)} workers: ${stages} stages × ${pipelines} pipelines` : "");
  say(root, "cells", Number.isInteger(pipelines / cellSize) ? `${number(pipelines / cellSize)} cell${pipelines === cellSize ? "" : "s"} of ${cellSize}` : "");
  say(root, "requests", requests ? `${number(requests.count)} requests from ${seconds(requests.first_s)} to ${seconds(requests.last_s)}` : "");
}

/**
 * @param {Element} element
 * @param {number} used
 * @param {number} total
 */
function showUsage(element, used, total) {
  const known = Number.isFinite(used) && Number.isFinite(total) && total > 0;
  const bar = /** @type {HTMLElement} */ (element.querySelector("i"));
  const text = /** @type {HTMLElement} */ (element.querySelector("span"));
  text.textContent = known ? `${number(used)} of ${number(total)}` : "–";
  bar.style.width = known ? `${Math.min(100, (100 * used) / total)}%` : "0";
  element.classList.toggle("is-over", known && used > total);
}

/**
 * @param {HTMLElement} root
 * @param {string} name
 * @param {string} text
 */
function say(root, name, text) {
  for (const element of root.querySelectorAll(`[data-summary="${name}"]`)) {
    element.textContent = text;
    /** @type {HTMLElement} */ (element).hidden = text === "";
  }
}

/** @param {number} value */
function number(value) {
  return value.toLocaleString("en");
}

/** @param {number} value */
function seconds(value) {
  return `${Number(value.toFixed(3))} s`;
}
