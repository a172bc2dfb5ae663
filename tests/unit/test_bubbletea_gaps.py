"""Idle gaps of one round, by hand, and what they become over several."""

import numpy as np
import pytest

from simcore.bubbletea.gaps import BusyRound, busy_round, longest_gap_ns, round_gaps
from simcore.bubbletea.replicas import replicas_of
from simcore.costs.plan import cell_plan
from simcore.errors import SimulationError
from simcore.reference.prefill import idle_gaps
from simcore.results.segments import Kind
from tests.casts import one_region, scenario, two_regions
from tests.twin_timeline import segments_of

F, SEND, REDUCE, OPTIMIZER, WAN = (
    Kind.FORWARD,
    Kind.BLOCKED_SEND,
    Kind.ALL_REDUCE,
    Kind.OPTIMIZER,
    Kind.WAN_TRANSFER,
)


def busy_of(
    *rows: tuple[int, Kind, int, int], num_rows: int = 1, round_ns: int = 10, all_reduce_blocks: bool = True
) -> BusyRound:
    """Return a round of (row, kind, start, end)."""
    segments = segments_of([(row, kind, start, end - start, 0, 0) for row, kind, start, end in rows])
    return busy_round(segments, num_rows, round_ns, all_reduce_blocks=all_reduce_blocks)


def gaps_of(busy: BusyRound, row: int = 0, num_rounds: int = 3) -> tuple[int, list[tuple[int, int]]]:
    """Return a row's lead and its gaps."""
    gaps = round_gaps(busy, num_rounds)
    ours = slice(gaps.first[row], gaps.first[row + 1])
    return int(gaps.lead_ns[row]), list(zip(gaps.start_ns[ours].tolist(), gaps.end_ns[ours].tolist(), strict=True))


def test_gaps_lie_between_what_occupies_a_worker():
    assert gaps_of(busy_of((0, F, 0, 3), (0, F, 3, 4), (0, F, 6, 10))) == (0, [(4, 6)])


def test_a_gap_at_the_end_of_a_round_goes_on_in_the_next():
    assert gaps_of(busy_of((0, F, 2, 3), (0, F, 7, 8))) == (2, [(3, 7), (8, 12)])
    assert gaps_of(busy_of((0, F, 0, 3))) == (0, [(3, 10)])
    assert gaps_of(busy_of((0, F, 3, 10))) == (3, [(10, 13)])


def test_an_operation_of_no_length_cuts_nothing():
    assert gaps_of(busy_of((0, F, 0, 2), (0, F, 5, 5), (0, F, 8, 10))) == (0, [(2, 8)])


def test_a_worker_that_never_works_is_idle_all_the_time():
    busy = busy_of((1, F, 0, 10), num_rows=3)
    assert gaps_of(busy, 0) == gaps_of(busy, 2) == (30, [])
    assert gaps_of(busy, 1) == (0, [])
    assert busy.idle_ns(3) == 60
    assert longest_gap_ns(round_gaps(busy, 3)).tolist() == [30, 0, 30]


def test_blocked_sends_and_the_optimizer_are_not_idle_and_transfers_are_none_of_a_workers_business():
    busy = busy_of((0, F, 0, 2), (0, SEND, 2, 4), (0, OPTIMIZER, 6, 7), (1, WAN, 0, 9))
    assert gaps_of(busy) == (0, [(4, 6), (7, 10)])
    assert busy.idle_ns(1) == 5


@pytest.mark.parametrize(("blocks", "expected"), [(True, [(5, 7), (8, 10)]), (False, [(2, 7), (8, 10)])])
def test_an_all_reduce_is_idle_if_it_does_not_block(blocks: bool, expected: list[tuple[int, int]]):
    busy = busy_of((0, F, 0, 2), (0, REDUCE, 2, 5), (0, OPTIMIZER, 7, 8), all_reduce_blocks=blocks)
    assert gaps_of(busy)[1] == expected


def test_occupied_time_up_to_an_instant():
    busy = busy_of((0, F, 2, 4), (0, F, 7, 8), (2, F, 0, 10), num_rows=3)
    times = np.array([0, 2, 3, 4, 7, 8, 10, 13, 29])
    zeros = np.zeros(len(times), dtype=np.int64)
    assert busy.occupied_before_ns(zeros, times).tolist() == [0, 0, 1, 2, 2, 3, 3, 4, 9]
    assert busy.occupied_before_ns(zeros + 1, times).tolist() == [0] * len(times)
    assert busy.occupied_before_ns(zeros + 2, times).tolist() == times.tolist()


def test_two_operations_at_once_are_our_fault():
    with pytest.raises(SimulationError, match="two things at once"):
        busy_of((0, F, 0, 3), (0, F, 2, 4))


def test_gaps_over_rounds_are_the_twins():
    rng = np.random.default_rng(5)
    for _ in range(200):
        edges = np.sort(rng.choice(31, size=2 * rng.integers(0, 6), replace=False)).tolist()
        intervals = list(zip(edges[::2], edges[1::2], strict=True))
        busy = busy_of(*((0, F, start, end) for start, end in intervals), round_ns=30)
        lead_ns, gaps = gaps_of(busy, num_rounds=4)
        repeated = [(30 * at + start, min(30 * at + end, 120)) for at in range(4) for start, end in gaps]
        got = [(0, lead_ns)] * (lead_ns > 0) + [(start, end) for start, end in repeated if start < end]
        assert got == idle_gaps(intervals, 30, 4)
        assert busy.idle_ns(4) == sum(end - start for start, end in got)


def test_replicas_are_dealt_within_a_datacenter_and_the_rest_is_left_over():
    # Stages w e e over three pipelines: rows 0 3 6 in the west, 1 2 4 5 7 8 in the east, which comes first.
    document = two_regions("wee", pipelines=3, cell_size=1)
    replicas, num_left_over = replicas_of(cell_plan(scenario(document)).layout, 2)
    assert replicas.row.tolist() == [1, 2, 4, 5, 7, 8, 0, 3]
    assert replicas.template_row.tolist() == [1, 2, 1, 2, 1, 2, 0, 0]
    assert replicas.datacenter.tolist() == [0, 0, 0, 1]
    assert num_left_over == 1


def test_more_shards_than_workers_make_no_replica():
    replicas, num_left_over = replicas_of(cell_plan(scenario(one_region(2))).layout, 3)
    assert (len(replicas.row), len(replicas.datacenter), num_left_over) == (0, 0, 2)
