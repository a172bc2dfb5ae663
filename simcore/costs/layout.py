"""Who takes part: datacenters, stages, pipelines, cells and the channels between workers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Channel:
    """A serial sender of one cell."""

    source_datacenter: int
    target_datacenter: int
    """Index into `Layout.datacenters`; equal to the source for a channel inside a datacenter."""
    pipeline_in_cell: int
    """-1 when the cell's pipelines take turns on it."""
    source_stage: int
    """Sending stage; -1 on a shared channel."""
    target_stage: int

    @property
    def is_wan(self) -> bool:
        """Return whether the channel leaves its datacenter."""
        return self.source_datacenter != self.target_datacenter


@dataclass(frozen=True, slots=True)
class Layout:
    """The rows of a timeline, derived from a few numbers so that a million rows cost nothing.

    Row ids: worker rows `pipeline * num_stages + stage`, then channel rows
    `num_pipelines * num_stages + cell * len(channels) + channel`. Pipelines are numbered through
    the cells: `pipeline = cell * cell_size + pipeline_in_cell`.
    """

    datacenters: tuple[str, ...]
    stage_datacenter: tuple[int, ...]
    """Datacenter index of each stage, shape (num_stages,)."""
    num_virtual_stages: int
    """V * P."""
    num_pipelines: int
    cell_size: int
    channels: tuple[Channel, ...]
    """Channels of one cell."""

    @property
    def num_stages(self) -> int:
        """Return P."""
        return len(self.stage_datacenter)

    @property
    def num_cells(self) -> int:
        """Return D / K."""
        return self.num_pipelines // self.cell_size

    @property
    def num_workers(self) -> int:
        """Return D * P, workers of all cells."""
        return self.num_pipelines * self.num_stages

    @property
    def num_cell_workers(self) -> int:
        """Return K * P, workers of one cell."""
        return self.cell_size * self.num_stages

    @property
    def num_rows(self) -> int:
        """Return how many rows there are, workers and channels of all cells."""
        return self.num_workers + self.num_cells * len(self.channels)

    def rows_in_cell(self, cell_row: NDArray[np.uint32], cell: int) -> NDArray[np.uint32]:
        """Return row ids of `cell` for rows of the template (cell 0 numbered on its own).

        Template rows are `pipeline_in_cell * P + stage` for workers and
        `K * P + channel` for channels.
        """
        local = cell_row.astype(np.int64)
        is_worker = local < self.num_cell_workers
        worker = local + cell * self.num_cell_workers
        channel = local - self.num_cell_workers + self.num_workers + cell * len(self.channels)
        return np.where(is_worker, worker, channel).astype(np.uint32)
