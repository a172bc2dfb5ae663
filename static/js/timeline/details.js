/** The panel of the selected segment: everything that is known of it, times to the nanosecond. */

import { element, quietButton } from "./elements.js";
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
 * @param {HTMLElement} panel
 * @param {import("./hit.js").Segment | null} segment
 * @param {import("./live_source.js").Source} source
 * @param {{close: () => void, fit: () => void}} actions
 */
export function drawDetails(panel, segment, source, actions) {
  panel.hidden = !segment;
  if (!segment) return;
  const title = element("h3", "", segmentTitle(segment, source.layout));
  title.style.setProperty("--fill", `var(--kind-${GROUPS[GROUP_OF_KIND[segment.kind]].token})`);
  const buttons = element("div", "button-row", quietButton("Fit", actions.fit), quietButton("Close", actions.close));
  const facts = segmentFacts(segment, source).map(([name, value]) =>
    element("div", "", element("dt", "", name), element("dd", "", value)),
  );
  panel.replaceChildren(element("div", "card-head", title, buttons), element("dl", "tl-facts", ...facts));
}
