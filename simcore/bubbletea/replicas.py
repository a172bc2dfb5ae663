"""Replicas: which workers serve a prompt together (MODEL section 8)."""

import numpy as np

from simcore.costs.layout import Layout
from simcore.kernel.prefill_state import Replicas


def replicas_of(layout: Layout, shards: int) -> tuple[Replicas, int]:
    """Return all replicas in the order in which they are asked, and how many workers are left over.

    In each datacenter, in document order, the workers by (cell, pipeline, stage), which is the
    order of their rows, are taken `shards` at a time.
    """
    datacenter_of_row = np.tile(np.array(layout.stage_datacenter), layout.num_pipelines)
    rows, datacenters = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for datacenter in range(len(layout.datacenters)):
        workers = np.flatnonzero(datacenter_of_row == datacenter)
        num_replicas = len(workers) // shards
        rows.append(workers[: num_replicas * shards])
        datacenters.append(np.full(num_replicas, datacenter))
    row = np.concatenate(rows)
    replicas = Replicas(
        datacenter=np.concatenate(datacenters).astype(np.int32),
        row=row.astype(np.uint32),
        template_row=(row % layout.num_cell_workers).astype(np.int32),
    )
    return replicas, layout.num_workers - len(row)
