"""Where prefill goes: by hand, and against the twin on random scenarios."""

from typing import Any

import numpy as np
import pytest

from simcore.bubbletea import free_time
from simcore.bubbletea.controller import Slice, placements
from simcore.bubbletea.figures import exact_sum, nearest_rank
from simcore.costs.plan import cell_plan
from simcore.errors import InfeasibleError
from simcore.results.segments import Kind
from tests.casts import MS, Document, one_region, requests, scenario, two_regions
from tests.placement_cases import figures_of, random_document, rows_of_slices, slices_of, twin_answer
from tests.twin_timeline import Row, segments_of


def pieces_ms(slices: list[Slice]) -> list[tuple[int, int, float]]:
    """Return (request, row, start in ms) in booking order."""
    return [
        (item, row, start_ns / MS)
        for each in slices
        for item, row, start_ns in zip(
            each.segments.item.tolist(), each.segments.row.tolist(), each.segments.start_ns.tolist(), strict=True
        )
    ]


def test_the_earliest_finish_wins_and_the_guard_is_kept():
    # Two stages over one link: stage 0 is idle 20-66 and 126-172, stage 1 0-18, 78-124 and 184-212.
    # 45 ms and 1 ms of guard fill a gap of 46 exactly.
    rows = requests((0, 450), (0, 450), (0, 450), (0, 450), (0, 170))
    slices = slices_of(two_regions(inference={"iterations": 2, "guard_ms": 1, "requests": rows}))
    assert pieces_ms(slices) == [(0, 0, 20), (1, 1, 78), (2, 0, 126), (4, 1, 0)]
    figures = figures_of(slices)
    # Compute is 2 x 60 ms a round of 106; TTFT 65, 123, 171, 17.
    assert {key: value for key, value in figures.items() if key not in ("ttft_ns", "fill_fraction")} == {
        "groups": 2,
        "served": 4,
        "rejected": 0,
        "unplaceable": 1,
        "filled_ns": 152 * MS,
        "idle_ns": 184 * MS,
        "gpu_utilization_total": (240 + 152) / 424,
        "ttft_sum_ns": 376 * MS,
        "ttft_p50_ns": 65 * MS,
        "ttft_p95_ns": 171 * MS,
        "ttft_p99_ns": 171 * MS,
        "slo_attainment_fraction": None,
        "prefill_tokens_per_s": pytest.approx((3 * 450 + 170) / 0.212, rel=1e-15),
        "leftover_workers": 0,
        "kv_bytes_to_decode": 131_072 * (3 * 450 + 170),
        "training_delay_ns": 0,
        "requests_beyond_horizon": 0,
    }
    assert list(figures["ttft_ns"].items()) == [("0", 65 * MS), ("1", 123 * MS), ("2", 171 * MS), ("4", 17 * MS)]
    assert figures["fill_fraction"] == 152 / 184


def test_shards_follow_each_other_and_a_hop():
    # 200 tokens: 10 ms on each shard, 3 ms between; dispatch takes 2. Stage 0 is idle 20-52, stage 1
    # 0-11, 21-31 and 71-103 (that is 0-11 of the next round).
    document = one_region(
        2,
        activation_mb=0,
        datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
        inference={
            "shards": 2,
            "dispatch_ms": 2,
            "hop_bytes_per_token": 10_000,
            "requests": requests((19, 200)),
            "iterations": 3,
        },
    )
    slices = slices_of(document)
    assert pieces_ms(slices) == [(0, 0, 21), (0, 1, 71)]
    assert slices[0].segments.part.tolist() == [0, 1]
    assert slices[0].at_ns.tolist() == [19 * MS, 19 * MS]
    assert figures_of(slices)["ttft_ns"] == {"0": 62 * MS}


def test_a_later_request_may_use_the_time_before_a_booking():
    # Stage 1 takes no time and is always idle; 8 ms each way leave stage 0 idle 10-26 of 46. Request 0
    # has 10-20 and, a hop of 8 ms later, 28-38. Request 1 needs 10 ms as well, so it waits for 56.
    # Request 2 needs 5 ms, which are left of the first gap, and its stage 1 comes before request 1's.
    document = one_region(
        2,
        microbatches=1,
        activation_mb=0,
        compute={"forward_ms": [10, 0], "backward_ms": [20, 0]},
        datacenters={"intra_latency_us": 8000},
        inference={"shards": 2, "iterations": 2, "requests": requests((0, 200), (0, 200), (0, 100))},
    )
    assert pieces_ms(slices_of(document)) == [(0, 0, 10), (0, 1, 28), (1, 0, 56), (1, 1, 74), (2, 0, 20), (2, 1, 38)]


def test_what_a_booking_leaves_before_it_is_not_taken_for_more():
    # One replica, idle (in ms) 10-20, 30-50, 60-65 on its first worker and 12-24, 45-70, 80-100 on its
    # second. Request 0 has 30-50 and 50-70, of which 45-50 is left. Request 1, 10 ms a shard, has 10-20
    # and is ready at 20: 12-24 is too short from there, 45-50 in itself.
    idle_ms = [[(10, 20), (30, 50), (60, 65)], [(12, 24), (45, 70), (80, 100)]]
    rows: list[Row] = []
    for row, gaps in enumerate(idle_ms):
        edges = [0, *(edge for gap in gaps for edge in gap), 100]
        busy = zip(edges[::2], edges[1::2], strict=True)
        rows += [(row, Kind.FORWARD, start * MS, (end - start) * MS, 0, 0) for start, end in busy]
    case = scenario(one_region(2, inference={"shards": 2, "requests": requests((10, 400), (10, 200), (10, 100))}))
    slices = list(placements(case, cell_plan(case), segments_of(rows), 100 * MS))
    assert pieces_ms(slices) == [(0, 0, 30), (0, 1, 50), (1, 0, 10), (1, 1, 80), (2, 0, 60), (2, 1, 90)]


@pytest.mark.parametrize(("slo_ms", "served", "rejected"), [(50, 2, 0), (49, 1, 1)])
def test_what_is_rejected_books_nothing(slo_ms: int, served: int, rejected: int):
    # Stage 0 offers 20-66: 30 ms end at 50; 16 ms fit stage 1 at once.
    inference = {"admission": "slo", "slo_ttft_ms": slo_ms, "requests": requests((0, 300), (0, 160))}
    figures = figures_of(slices_of(two_regions(inference=inference)))
    assert (figures["served"], figures["rejected"], figures["unplaceable"]) == (served, rejected, 0)
    assert figures["slo_attainment_fraction"] == served / 2


def test_an_slo_without_admission_only_counts():
    inference = {"slo_ttft_ms": 49, "requests": requests((0, 300), (0, 160), (0, 10_000), (1_000, 100))}
    figures = figures_of(slices_of(two_regions(inference=inference)))
    assert (figures["served"], figures["rejected"], figures["unplaceable"]) == (2, 0, 2)
    assert figures["slo_attainment_fraction"] == 1 / 4
    assert figures["requests_beyond_horizon"] == 1


def test_ties_go_to_the_first_datacenter_and_requests_come_by_arrival_then_position():
    # The first stage is in the west, which the document names second; both are idle from 11 on.
    prefill = {"mode": "table", "table": [[100, 5]]}
    tie = two_regions("we", microbatches=1, inference={"prefill": prefill, "requests": requests((11, 100))})
    assert pieces_ms(slices_of(tie)) == [(0, 1, 11)]
    queue = two_regions(inference={"requests": requests((22, 200), (20, 200), (20, 200))})
    assert pieces_ms(slices_of(queue)) == [(1, 0, 20), (2, 0, 40), (0, 1, 78)]


def test_without_requests_there_is_one_slice_with_figures():
    (only,) = slices_of(two_regions(inference={"iterations": 2}))
    assert (only.num_requests, len(only.segments), len(only.at_ns)) == (0, 0, 0)
    assert only.figures is not None
    assert only.figures["idle_ns"] == 184 * MS
    assert only.figures["ttft_p50_ns"] is None
    assert only.figures["ttft_ns"] == {}


def test_no_replica_serves_nobody():
    figures = figures_of(slices_of(one_region(2, inference={"shards": 3, "requests": requests((0, 1), (0, 1))})))
    assert (figures["groups"], figures["unplaceable"], figures["leftover_workers"]) == (0, 2, 2)


@pytest.mark.parametrize("compute", [{"forward_ms": 0, "backward_ms": 0}, {}], ids=["no time at all", "some"])
def test_the_longest_times_that_a_document_can_give_overflow_nothing(compute: Document):
    inference: dict[str, Any] = {
        "shards": 2,
        "iterations": 1_000_000,
        "guard_ms": 1e9,
        "dispatch_ms": 1e9,
        "slo_ttft_ms": 1e9,
        "hop_bytes_per_token": 1e12,
        "prefill": {"mode": "table", "table": [[1, 1], [2, 1e9]]},
        "requests": {"mode": "inline", "inline": [[1e9, 1_000_000_000], [0.0, 1], [1e9, 1]]},
    }
    document = one_region(2, compute=compute, inference=inference, activation_mb=0, datacenters={"intra_gbps": 1e-9})
    figures = figures_of(slices_of(document))
    assert (figures["served"], figures["unplaceable"]) == (0, 3)


def test_times_near_the_limit_of_the_horizon_are_exact():
    # A thousand rounds of 2e15 ns: 2e18 ns, of at most 2**62 = 4.6e18. Stage 1 is always idle; pieces of
    # 1e15 ns follow each other there from the arrival at 1e18 and the dispatch 1e15 later on.
    inference = {
        "iterations": 1_000,
        "dispatch_ms": 1e9,
        "prefill": {"mode": "table", "table": [[1, 1e9]]},
        "requests": {"mode": "inline", "inline": [[1e9, 1], [1e9, 1], [0.0, 1]]},
    }
    compute = {"forward_ms": [1e9, 0], "backward_ms": [1e9, 0]}
    slices = slices_of(one_region(2, microbatches=1, activation_mb=0, compute=compute, inference=inference))
    assert [each.segments.row.tolist() for each in slices] == [[1, 1, 1]]
    assert slices[0].segments.start_ns.tolist() == [10**15, 10**18 + 10**15, 10**18 + 2 * 10**15]
    assert figures_of(slices)["idle_ns"] == 2 * 10**18


@pytest.mark.parametrize("seed", range(120))
def test_every_piece_is_where_the_twin_puts_it(seed: int):
    document = random_document(seed)
    rows, expected = twin_answer(document)
    slices = slices_of(document)
    figures = figures_of(slices)
    assert sorted(rows_of_slices(slices)) == sorted(rows)
    assert {key: figures[key] for key in expected} == expected
    assert figures["training_delay_ns"] == 0


@pytest.fixture
def shortest_windows(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Let windows begin with two rounds; return of each that was opened whether it had to be longer."""
    monkeypatch.setattr(free_time, "FIRST_WINDOW_GAPS", 1)
    monkeypatch.setattr(free_time, "MIN_SPARE_FRAGMENTS", 1)
    opened: list[bool] = []
    open_window = free_time.FreeTime.open

    def noted(self: free_time.FreeTime, now_ns: int, *, longer: bool) -> None:
        opened.append(longer)
        open_window(self, now_ns, longer=longer)

    monkeypatch.setattr(free_time.FreeTime, "open", noted)
    return opened


@pytest.mark.parametrize("seed", range(120, 160))
@pytest.mark.usefixtures("shortest_windows")
def test_a_short_window_changes_nothing(seed: int):
    document = random_document(seed)
    rows, _ = twin_answer(document)
    assert sorted(rows_of_slices(slices_of(document))) == sorted(rows)


@pytest.mark.parametrize("shards", [1, 2])
def test_a_window_grows_with_the_queue_and_moves_on_with_the_arrivals(shards: int, shortest_windows: list[bool]):
    # A queue of 150 requests over dozens of rounds of 106 ms; then calm for 300 rounds, and a few more.
    rows = requests(*((at, 100 + at) for at in range(150)), *((40_000 + 500 * at, 150) for at in range(20)))
    document = two_regions("eeww", inference={"iterations": 500, "shards": shards, "requests": rows})
    expected, _ = twin_answer(document)
    assert sorted(rows_of_slices(slices_of(document))) == sorted(expected)
    assert shortest_windows.count(True) > 3
    assert len(expected) > 100


def test_slices_are_cut_by_work_and_add_up_to_the_same():
    rows = requests(*((at, 10 + at % 50) for at in range(300)))
    document = two_regions("eeww", pipelines=4, cell_size=2, inference={"iterations": 9, "shards": 2, "requests": rows})
    whole = slices_of(document)
    small = slices_of(document, first_slice_work=1, slice_work=8)
    assert len(small) > 20
    assert pieces_ms(small) == pieces_ms(whole)
    assert figures_of(small) == figures_of(whole)
    handled = [each.num_requests for each in small]
    assert handled == sorted(set(handled))
    assert handled[-1] == 300
    assert all(each.figures is None for each in small[:-1])
    at_ns = np.concatenate([each.at_ns for each in small])
    assert (np.diff(at_ns) >= 0).all()
    again = slices_of(document, first_slice_work=1, slice_work=8)
    assert [len(each.segments) for each in again] == [len(each.segments) for each in small]


def test_a_queue_over_more_gaps_than_fit_in_memory_is_refused(monkeypatch: pytest.MonkeyPatch):
    rows = requests(*((0, 400) for _ in range(200)))
    document = two_regions(inference={"iterations": 100_000, "requests": rows})
    served = figures_of(slices_of(document))["served"]
    assert served == 200
    monkeypatch.setattr(free_time, "MAX_WINDOW_GAPS", 50)
    monkeypatch.setattr(free_time, "FIRST_WINDOW_GAPS", 20)
    with pytest.raises(InfeasibleError, match=r"inference\.requests: .* at most 50 are looked at together"):
        slices_of(document)


def test_a_long_horizon_is_not_laid_out_as_a_whole(monkeypatch: pytest.MonkeyPatch):
    # A million rounds of three gaps, of which the requests reach few.
    monkeypatch.setattr(free_time, "MAX_WINDOW_GAPS", 30_000)
    rows = requests(*((100 * at, 100) for at in range(100)))
    document = two_regions(inference={"iterations": 1_000_000, "requests": rows})
    assert figures_of(slices_of(document))["served"] == 100


def test_percentiles_are_of_nearest_rank():
    values = np.arange(10, 210, 10)
    # 20 values: rank ceil(0.5 x 20) = 10, ceil(0.95 x 20) = 19, ceil(0.99 x 20) = 20.
    assert [nearest_rank(values, percent) for percent in (50, 95, 99)] == [100, 190, 200]
    assert nearest_rank(values[:1], 50) == 10
    assert nearest_rank(values[:0], 50) is None


def test_sums_beyond_64_bits_are_exact():
    assert exact_sum(np.array([2**62 + 1, 2**62 + 3, 2**62 + 5])) == 3 * 2**62 + 9
