"""The order in which rows stand on screen and in exports."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simcore.costs.layout import Layout


def display_order(layout: Layout) -> NDArray[np.int64]:
    """Return the row ids in display order, shape (num_rows,).

    Workers by (datacenter, pipeline, stage), then WAN channels by (cell, channel), then the
    channels inside datacenters likewise.
    """
    stage_datacenter = np.array(layout.stage_datacenter)
    pipelines = np.arange(layout.num_pipelines, dtype=np.int64)[:, None]
    cells = np.arange(layout.num_cells, dtype=np.int64)[:, None]
    workers = [
        pipelines * layout.num_stages + np.flatnonzero(stage_datacenter == datacenter)
        for datacenter in range(len(layout.datacenters))
    ]
    is_wan = np.array([channel.is_wan for channel in layout.channels], dtype=bool)
    channels = [
        layout.num_workers + cells * len(layout.channels) + channel
        for channel in (np.flatnonzero(is_wan), np.flatnonzero(~is_wan))
    ]
    return np.concatenate([block.ravel() for block in (*workers, *channels)])


def template_rows(layout: Layout, row: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of the template that each row id repeats."""
    channel = row - layout.num_workers
    in_cell = layout.num_cell_workers + channel % max(len(layout.channels), 1)
    return np.where(channel < 0, row % layout.num_cell_workers, in_cell)


def row_ids(layout: Layout, template_row: NDArray[np.int64], cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row ids of template rows in cells; the two are broadcast against each other."""
    worker = template_row + cell * layout.num_cell_workers
    channel = template_row - layout.num_cell_workers + layout.num_workers + cell * len(layout.channels)
    return np.where(template_row < layout.num_cell_workers, worker, channel)


def one_cell(layout: Layout) -> Layout:
    """Return the layout of one cell alone; its row ids are the template's rows."""
    return replace(layout, num_pipelines=layout.cell_size)
