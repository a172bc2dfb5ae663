/** The panel of the selected segment: everything that is known of it, times to the nanosecond. */

import { GROUP_OF_KIND, GROUPS, HAS_MICROBATCH, Kind, KIND_NAMES } from "./kinds.js";
import { segmentTitle, transferOf } from "./hit.js";
import { duration, grouped, instant } from "./units.js";

/**
 * @param {import("./hit.js").Segment} segment
 * @param {import("./live_source.js").Source} source
 * @returns {[string, string][]}
 */
export function segmentFacts(segment, source) {
  const { layout, iterationNs, numIterations } = source;
  const what = layout.describe(segment.row);
  const isTransfer = segment.kind === Kind.LOCAL_TRANSFER || segment.kind === Kind.WAN_TRANSFER;
  /** @type {[string, string][]} */
  const facts = [["Kind", `${KIND_NAMES[segment.kind]} (${GROUPS[GROUP_OF_KIND[segment.kind]].letter})`]];
  if (HAS_MICROBATCH.has(segment.kind)) facts.push(["Microbatch", String(segment.item)]);
  if (segment.kind === Kind.PREFILL) facts.push(["Request", String(segment.item)], ["Shard", String(segment.part)]);
  if (isTransfer) {
    const transfer = transferOf(segment, layout);
    const source = transfer.sourceStage;
    const numStages = layout.numStages;
    const target = source + (transfer.isGradient ? -1 : 1);
    facts.push(["Tensor", transfer.isGradient ? "gradient" : "activation"]);
    facts.push(["Pipeline", String(what.cell * layout.cellSize + transfer.pipelineInCell)]);
    facts.push(["Stages", `${source % numStages} → ${((target % numStages) + numStages) % numStages}`]);
    facts.push(["Channel", what.isWan ? `${what.datacenter} → ${what.target} (WAN)` : `inside ${what.datacenter}`]);
  } else {
    facts.push(["Pipeline", String(what.pipeline)], ["Stage", String(what.stage)], ["Datacenter", what.datacenter]);
    if (layout.numVirtualStages > layout.numStages && HAS_MICROBATCH.has(segment.kind)) {
      facts.push(["Chunk", String(segment.part)]);
    }
  }
  if (iterationNs && numIterations > 1) {
    facts.push(["Iteration", `${Math.floor(segment.start / iterationNs) + 1} of ${grouped(numIterations)}`]);
  }
  facts.push(["Start", instant(segment.start, 1e4)], ["Duration", duration(segment.duration)]);
  facts.push(["Exactly", `${segment.start} ns + ${segment.duration} ns`]);
  return facts;
}

/**
 * @param {HTMLElement} element
 * @param {import("./hit.js").Segment | null} segment
 * @param {import("./live_source.js").Source} source
 * @param {{close: () => void, fit: () => void}} actions
 */
export function drawDetails(element, segment, source, actions) {
  element.hidden = !segment;
  if (!segment) return;
  const head = document.createElement("div");
  head.className = "card-head";
  const title = document.createElement("h3");
  title.textContent = segmentTitle(segment, source.layout);
  title.style.setProperty("--fill", `var(--kind-${GROUPS[GROUP_OF_KIND[segment.kind]].token})`);
  const buttons = document.createElement("div");
  buttons.className = "button-row";
  buttons.append(button("Fit", actions.fit), button("Close", actions.close));
  head.append(title, buttons);
  const facts = document.createElement("dl");
  facts.className = "tl-facts";
  for (const [name, value] of segmentFacts(segment, source)) {
    const pair = document.createElement("div");
    const term = document.createElement("dt");
    term.textContent = name;
    const description = document.createElement("dd");
    description.textContent = value;
    pair.append(term, description);
    facts.append(pair);
  }
  element.replaceChildren(head, facts);
}

/** @param {string} text @param {() => void} press */
function button(text, press) {
  const node = document.createElement("button");
  node.type = "button";
  node.className = "button button-small button-ghost";
  node.textContent = text;
  node.addEventListener("click", press);
  return node;
}
