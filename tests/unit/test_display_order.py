"""Rows on screen: by datacenter, pipeline, stage; then WAN channels; then local ones."""

import numpy as np

from simcore.results.order import display_order, one_cell, row_ids, template_rows
from simcore.results.timeline import Channel, Layout

LAYOUT = Layout(
    datacenters=("east", "west"),
    stage_datacenter=(0, 1, 0),
    num_virtual_stages=3,
    num_pipelines=4,
    cell_size=2,
    channels=(Channel(0, 0, 0, 0, 1), Channel(0, 1, -1, -1, -1), Channel(1, 0, -1, -1, -1)),
)
"""Workers are rows 0-11, three a pipeline; channels of cell 0 are 12-14, of cell 1 15-17."""


def test_workers_by_datacenter_then_wan_then_local_channels():
    east, west = [0, 2, 3, 5, 6, 8, 9, 11], [1, 4, 7, 10]
    wan, local = [13, 14, 16, 17], [12, 15]
    assert display_order(LAYOUT).tolist() == [*east, *west, *wan, *local]


def test_every_row_repeats_a_row_of_the_template():
    rows = display_order(LAYOUT)
    repeated = dict(zip(rows.tolist(), template_rows(LAYOUT, rows).tolist(), strict=True))
    assert [repeated[row] for row in range(18)] == [0, 1, 2, 3, 4, 5] * 2 + [6, 7, 8] * 2
    for cell in range(2):
        copies = row_ids(LAYOUT, np.arange(9), np.array(cell))
        assert copies.tolist() == LAYOUT.rows_in_cell(np.arange(9, dtype=np.uint32), cell).tolist()
        assert template_rows(LAYOUT, copies).tolist() == list(range(9))


def test_a_cell_alone_has_the_rows_of_the_template():
    assert sorted(display_order(one_cell(LAYOUT)).tolist()) == list(range(9))


def test_a_datacenter_without_stages_and_a_pipeline_without_channels():
    lonely = Layout(("empty", "full"), (1,), 1, 2, 1, ())
    assert display_order(lonely).tolist() == [0, 1]
    assert template_rows(lonely, display_order(lonely)).tolist() == [0, 0]
