/**
 * Rows: ids, order on screen, labels, and the slots they stand in.
 *
 * Row ids: worker `pipeline * P + stage`, then channel `D * P + cell * channels + channel`. On screen
 * workers come by datacenter, pipeline, stage; then the network group, WAN before local. A *slot* is a
 * position on the vertical axis: every row takes one, and so does the heading of each network group.
 * The local channels, which come last, can be folded away under their heading; their slots are then
 * beyond the end.
 *
 * @typedef {{index: number, row: number, datacenter: string, pipeline: number, stage: number}} WorkerRow
 */

export class Layout {
  /**
   * @param {{datacenters: string[], stage_datacenter: number[], num_virtual_stages: number,
   *   num_pipelines: number, cell_size: number, channels: number[][]}} data
   */
  constructor(data) {
    this.datacenters = data.datacenters;
    this.stageDatacenter = data.stage_datacenter;
    this.numStages = data.stage_datacenter.length;
    this.numVirtualStages = data.num_virtual_stages;
    this.numPipelines = data.num_pipelines;
    this.cellSize = data.cell_size;
    this.numCells = this.numPipelines / this.cellSize;
    this.channels = data.channels;
    this.numWorkers = this.numPipelines * this.numStages;
    this.numCellWorkers = this.cellSize * this.numStages;
    this.numRows = this.numWorkers + this.numCells * this.channels.length;
    this.numWan = this.channels.filter(isWan).length * this.numCells;
    this.numLocal = this.numRows - this.numWorkers - this.numWan;
    /** Row id by display index. */
    this.rowAt = this.#displayOrder();
    /** Display index by row id. */
    this.indexOf = new Uint32Array(this.numRows);
    this.rowAt.forEach((row, index) => (this.indexOf[row] = index));
    /** Display index that each heading stands above, ascending. @type {{index: number, text: string}[]} */
    this.headings = [];
    if (this.numWan) this.headings.push({ index: this.numWorkers, text: "WAN channels" });
    if (this.numLocal) this.headings.push({ index: this.numWorkers + this.numWan, text: "local channels" });
    /** Whether the local channels are folded away. */
    this.foldsLocal = false;
    this.separatorSlots = this.#separators();
  }

  #displayOrder() {
    const order = new Uint32Array(this.numRows);
    let next = 0;
    for (let datacenter = 0; datacenter < this.datacenters.length; datacenter += 1) {
      const stages = this.stageDatacenter.flatMap((owner, stage) => (owner === datacenter ? [stage] : []));
      for (let pipeline = 0; pipeline < this.numPipelines; pipeline += 1) {
        for (const stage of stages) order[next++] = pipeline * this.numStages + stage;
      }
    }
    for (const wan of [true, false]) {
      for (let cell = 0; cell < this.numCells; cell += 1) {
        this.channels.forEach((channel, number) => {
          if (isWan(channel) === wan) order[next++] = this.numWorkers + cell * this.channels.length + number;
        });
      }
    }
    return order;
  }

  /** Rows that are not folded away; the first so many display indices. */
  get numShownRows() {
    return this.foldsLocal ? this.numRows - this.numLocal : this.numRows;
  }

  get numSlots() {
    return this.numShownRows + this.headings.length;
  }

  /** Slot of a display index. @param {number} index */
  slotOf(index) {
    let slot = index;
    for (const heading of this.headings) if (heading.index <= index) slot += 1;
    return slot;
  }

  /** Display index in a slot, or -1 for a heading or outside. @param {number} slot */
  indexAt(slot) {
    let index = slot;
    for (const heading of this.headings) {
      if (index === heading.index) return -1;
      if (index > heading.index) index -= 1;
    }
    return index >= 0 && index < this.numShownRows ? index : -1;
  }

  /** First display index at or below a slot, or the last of all. @param {number} slot */
  indexFrom(slot) {
    const whole = Math.max(0, Math.min(this.numSlots - 1, Math.floor(slot)));
    const here = this.indexAt(whole);
    if (here >= 0) return here;
    const below = this.indexAt(whole + 1);
    return below >= 0 ? below : this.numShownRows - 1;
  }

  /** Last display index at or above a slot, or the first of all. @param {number} slot */
  indexUpTo(slot) {
    const whole = Math.max(0, Math.min(this.numSlots - 1, Math.floor(slot)));
    const here = this.indexAt(whole);
    return here >= 0 ? here : Math.max(0, this.indexAt(whole - 1));
  }

  /** @param {number} row */
  isWorker(row) {
    return row < this.numWorkers;
  }

  /** Cell and row of the template that a row repeats. @param {number} row */
  templateRow(row) {
    if (row < this.numWorkers) {
      return { cell: Math.floor(row / this.numCellWorkers), local: row % this.numCellWorkers };
    }
    const channel = row - this.numWorkers;
    const perCell = this.channels.length;
    return { cell: Math.floor(channel / perCell), local: this.numCellWorkers + (channel % perCell) };
  }

  /** What a row is, in parts. @param {number} row */
  describe(row) {
    if (row < this.numWorkers) {
      const stage = row % this.numStages;
      return {
        isWorker: true,
        isWan: false,
        cell: Math.floor(row / this.numCellWorkers),
        pipeline: Math.floor(row / this.numStages),
        stage,
        datacenter: this.datacenters[this.stageDatacenter[stage]],
        target: "",
        targetStage: -1,
      };
    }
    const { cell, local } = this.templateRow(row);
    const channel = this.channels[local - this.numCellWorkers];
    const [source, target, pipelineInCell, sourceStage, targetStage] = channel;
    return {
      isWorker: false,
      isWan: isWan(channel),
      cell,
      pipeline: pipelineInCell < 0 ? -1 : cell * this.cellSize + pipelineInCell,
      stage: sourceStage,
      datacenter: this.datacenters[source],
      target: this.datacenters[target],
      targetStage,
    };
  }

  /** "east · p0 · s3", "east → central · WAN". @param {number} row */
  label(row) {
    const what = this.describe(row);
    if (what.isWorker) return `${what.datacenter} · p${what.pipeline} · s${what.stage}`;
    const stages = what.stage < 0 ? "" : ` · s${what.stage}→s${what.targetStage}`;
    const owner = what.pipeline < 0 ? (this.numCells > 1 ? ` · cell ${what.cell}` : "") : ` · p${what.pipeline}`;
    if (!what.isWan) return `${what.datacenter}${owner}${stages}`;
    return `${what.datacenter} → ${what.target}${owner || stages ? owner + stages : " · WAN"}`;
  }

  /** Slots above which the datacenter changes, and above which only the pipeline does. */
  #separators() {
    const datacenter = [];
    const pipeline = [];
    for (let index = 1; index < this.numWorkers; index += 1) {
      const before = this.describe(this.rowAt[index - 1]);
      const here = this.describe(this.rowAt[index]);
      if (before.datacenter !== here.datacenter) datacenter.push(index);
      else if (before.pipeline !== here.pipeline) pipeline.push(index);
    }
    return { datacenter, pipeline };
  }
}

/** @param {number[]} channel */
function isWan(channel) {
  return channel[0] !== channel[1];
}
