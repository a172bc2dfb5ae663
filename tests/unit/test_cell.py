"""The event loop: slices, order of what comes out, and a heap that sorts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.api import simulate, stream
from simcore.costs.plan import cell_plan
from simcore.errors import SimulationError
from simcore.kernel.cell import CellRun
from simcore.kernel.heap import NEVER_NS, heap_drop, heap_push
from simcore.reference import simulate as twin_simulate
from simcore.results.batch import Stage
from simcore.results.segments import concatenated
from tests.casts import GOLDEN_CASTS, scenario
from tests.twin_timeline import rows_of, twin_timeline

CASTS = pytest.mark.parametrize("name", GOLDEN_CASTS)


@CASTS
def test_the_twin_sees_the_same(name: str):
    cast = scenario(GOLDEN_CASTS[name])
    twin = twin_simulate(cast)
    result, expected = simulate(cast), twin_timeline(cast, twin)
    assert sorted(rows_of(result.timeline.iteration)) == sorted(rows_of(expected.iteration))
    assert sorted(rows_of(result.timeline.fills)) == sorted(rows_of(expected.fills))


@CASTS
def test_slices_do_not_change_what_comes_out_nor_its_order(name: str):
    plan = cell_plan(scenario(GOLDEN_CASTS[name]))
    told = []
    for max_events in (1, 7, 10**9):
        cell = CellRun(plan)
        parts, instants_ns = [], []
        while not cell.is_done:
            cell.advance(max_events)
            segments, at_ns = cell.new_segments()
            parts.append(segments)
            instants_ns.extend(at_ns.tolist())
        assert rows_of(concatenated(parts).sorted_by_row()) == rows_of(cell.segments())
        assert instants_ns == sorted(instants_ns)
        told.append(rows_of(concatenated(parts)))
    assert told[0] == told[1] == told[2]


@CASTS
def test_rows_come_sorted_by_start(name: str):
    iteration = simulate(scenario(GOLDEN_CASTS[name])).timeline.iteration
    order = np.lexsort((iteration.start_ns, iteration.row))
    assert (order == np.arange(len(iteration))).all()


@CASTS
def test_a_stream_adds_up_to_the_whole(name: str):
    cast = scenario(GOLDEN_CASTS[name])
    whole, batches = simulate(cast), list(stream(cast))
    assert batches[0].stage == Stage.LAYOUT
    assert batches[-1].stage == Stage.RESULT
    assert batches[-1].figures == whole.figures
    assert [b.simulated_ns for b in batches] == sorted(b.simulated_ns for b in batches)
    iteration = concatenated([b.segments for b in batches if b.stage == Stage.ITERATION and b.segments is not None])
    fills = concatenated([b.segments for b in batches if b.stage == Stage.FILLS and b.segments is not None])
    assert rows_of(iteration.sorted_by_row()) == rows_of(whole.timeline.iteration)
    assert rows_of(fills.sorted_by_row()) == rows_of(whole.timeline.fills)


def test_an_order_that_waits_for_itself_is_our_fault():
    plan = cell_plan(scenario(GOLDEN_CASTS["gpipe-two-regions"]))
    cell = CellRun(plan)
    tables = cell._tables
    cell._tables = tables._replace(order=np.ascontiguousarray(tables.order[:, ::-1]))
    with pytest.raises(SimulationError, match="12 operations wait for each other"):
        cell.advance()


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 50)), max_size=200))
def test_the_heap_gives_the_soonest_first(steps):
    instants, codes, size = np.full(len(steps) + 1, NEVER_NS), np.zeros(len(steps) + 1, np.int64), np.zeros(1, np.int64)
    held: list[int] = []
    for push, instant_ns in steps:
        if push or not held:
            heap_push(instants, codes, size, instant_ns, 3 * instant_ns)
            held.append(instant_ns)
        else:
            assert instants[0] == min(held)
            assert codes[0] == 3 * instants[0]
            held.remove(int(instants[0]))
            heap_drop(instants, codes, size)
        assert size[0] == len(held)
