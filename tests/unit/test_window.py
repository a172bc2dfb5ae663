"""Windows of a timeline against the timeline written out in full, and by hand."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simcore.reference import simulate
from simcore.results import window as window_module
from simcore.results.columnar import decode, segments_from
from simcore.results.order import display_order
from simcore.results.segments import Kind, empty_segments
from simcore.results.timeline import Channel, Layout, Timeline
from simcore.results.window import IDLE, overview, window
from tests.casts import GOLDEN_CASTS, scenario
from tests.twin_timeline import rows_of, segments_of, twin_timeline
from tests.written_out import all_rows, is_seen, one_row, time_by_kind

F, B, PREFILL, WAN = Kind.FORWARD, Kind.BACKWARD, Kind.PREFILL, Kind.WAN_TRANSFER
ONE_WORKER = Layout(("east",), (0,), 1, 1, 1, ())


def worker_timeline(*spans: tuple[Kind, int, int], iteration_time_ns: int, num_iterations: int = 1) -> Timeline:
    return Timeline(ONE_WORKER, iteration_time_ns, num_iterations, one_row(*spans), empty_segments())


def scattered_timeline(seed: int, *, cells: int, iterations: int, period_ns: int = 60) -> Timeline:
    """Return disjoint segments at random, empty ones among them, with fills anywhere."""
    random = np.random.default_rng(seed)
    channels = (Channel(0, 1, -1, -1, -1), Channel(0, 0, 0, 0, 1), Channel(0, 0, 1, 0, 1))
    layout = Layout(("east", "west"), (0, 0, 1), 3, cells * 2, 2, channels)
    rows = []
    for row in range(layout.num_cell_workers + len(channels)):
        cuts = np.sort(random.integers(0, period_ns + 1, 12)).tolist()
        kinds = [WAN] if row >= layout.num_cell_workers else [F, B, Kind.WEIGHT]
        spans = list(pairwise(cuts))[:: int(random.integers(1, 3))]
        rows += [
            (row, kinds[item % len(kinds)], start, end - start, item, 7) for item, (start, end) in enumerate(spans)
        ]
    fills = []
    for row in random.choice(layout.num_workers, layout.num_workers // 2, replace=False).tolist():
        cuts = np.sort(random.integers(0, period_ns * iterations + 1, 6)).tolist()
        fills += [(row, PREFILL, start, end - start, 3, 0) for start, end in zip(cuts[::2], cuts[1::2], strict=True)]
    return Timeline(layout, period_ns, iterations, segments_of(rows), segments_of(fills))


def cast_timeline(name: str) -> Timeline:
    valid = scenario(GOLDEN_CASTS[name])
    return twin_timeline(valid, simulate(valid))


def some_windows(timeline: Timeline) -> Iterator[tuple[int, int, int, int]]:
    """Yield the whole, and windows that cut rows and iterations anywhere."""
    random = np.random.default_rng(11)
    num_rows, horizon_ns = timeline.layout.num_rows, timeline.horizon_ns
    yield 0, horizon_ns, 0, num_rows - 1
    edges = [0, timeline.iteration_time_ns, horizon_ns]
    for _ in range(30):
        t0, t1 = sorted(random.choice([*edges, *random.integers(0, horizon_ns + 1, 6)], 2).tolist())
        first, last = sorted(random.integers(0, num_rows, 2).tolist())
        yield t0, t1, first, last


TIMELINES = [
    *(pytest.param(lambda name=name: cast_timeline(name), id=name) for name in GOLDEN_CASTS),
    pytest.param(lambda: scattered_timeline(1, cells=1, iterations=1), id="one cell, once"),
    pytest.param(lambda: scattered_timeline(2, cells=3, iterations=4), id="three cells, four times"),
]


@pytest.mark.parametrize("make", TIMELINES)
def test_an_exact_window_has_what_overlaps_it_in_display_order(make):
    timeline = make()
    order = display_order(timeline.layout).tolist()
    every = all_rows(timeline)
    for t0, t1, first, last in some_windows(timeline):
        header, columns = decode(window(timeline, t0, t1, first, last, 100))
        shown = order[first : last + 1]
        expected = [row for row in every if row[0] in shown and is_seen(row, t0, t1, timeline.horizon_ns)]
        found = rows_of(segments_from(columns))
        assert sorted(found) == sorted(expected)
        places = [(order.index(row[0]), row[2]) for row in found]
        assert places == sorted(places)
        assert header["level"] == "L2"
        assert header["total"] == header["shown"] == len(expected)


@pytest.mark.parametrize("make", TIMELINES)
@pytest.mark.parametrize("max_groups", [3, 256])
def test_a_binned_window_has_the_time_of_what_overlaps_it(make, max_groups, monkeypatch):
    monkeypatch.setattr(window_module, "EXACT_SEGMENTS", -1)
    monkeypatch.setattr(window_module, "MAX_GROUPS", max_groups)
    timeline = make()
    order = display_order(timeline.layout).tolist()
    every = all_rows(timeline)
    for t0, t1, first, last in some_windows(timeline):
        header, columns = decode(window(timeline, t0, t1, first, last, 7))
        bins, starts = header["bins"], columns["group_first"].tolist()
        assert bins == min(7, max(t1 - t0, 1))
        assert header["level"] == "L1"
        assert header["shown"] == 0
        assert header["total"] == sum(
            row[0] in order[first : last + 1] and is_seen(row, t0, t1, timeline.horizon_ns) for row in every
        )
        assert starts[0] == first
        assert len(starts) == min(last - first + 1, max_groups)
        for group, (start, end) in enumerate(zip(starts, [*starts[1:], last + 1], strict=True)):
            rows = [row for row in every if row[0] in order[start:end]]
            for bin_number in range(bins):
                edges = [t0 + (t1 - t0) * edge // bins for edge in (bin_number, bin_number + 1)]
                time_ns = time_by_kind(rows, *edges)
                whole_ns, most_ns = (edges[1] - edges[0]) * (end - start), max(time_ns)
                idle = most_ns == 0 or most_ns < whole_ns - sum(time_ns)
                assert columns["dominant"][group, bin_number] == (IDLE if idle else time_ns.index(most_ns))
                share = sum(time_ns) / whole_ns if whole_ns else 0
                assert columns["busy"][group, bin_number] == round(255 * min(1, share))


@pytest.mark.parametrize("make", TIMELINES)
def test_the_overview_shares_out_the_workers_time(make):
    timeline = make()
    header, columns = decode(overview(timeline, 9))
    assert header == {"level": "L0", "t0_ns": 0, "t1_ns": timeline.horizon_ns, "bins": 9}
    rows = [row for row in all_rows(timeline) if row[0] < timeline.layout.num_workers]
    for bin_number in range(9):
        t0, t1 = (timeline.horizon_ns * edge // 9 for edge in (bin_number, bin_number + 1))
        whole_ns = (t1 - t0) * timeline.layout.num_workers
        expected = np.array(time_by_kind(rows, t0, t1)) / whole_ns
        assert columns["share"][:, bin_number].tolist() == expected.astype("<f4").tolist()


def test_the_types_are_those_that_the_browser_reads(monkeypatch):
    timeline = scattered_timeline(3, cells=2, iterations=2)
    _, columns = decode(window(timeline, 0, 60, 0, 5, 10))
    assert [(name, column.dtype.str) for name, column in columns.items()] == [
        ("row", "<u4"),
        ("kind", "|u1"),
        ("start_ns", "<i8"),
        ("duration_ns", "<i8"),
        ("item", "<u4"),
        ("part", "<u4"),
    ]
    monkeypatch.setattr(window_module, "EXACT_SEGMENTS", 0)
    _, columns = decode(window(timeline, 0, 60, 0, 5, 10))
    assert [(name, column.dtype.str, column.shape) for name, column in columns.items()] == [
        ("dominant", "|u1", (6, 10)),
        ("busy", "|u1", (6, 10)),
        ("group_first", "<u4", (6,)),
    ]
    _, columns = decode(overview(timeline, 10))
    assert [(name, column.dtype.str, column.shape) for name, column in columns.items()] == [("share", "<f4", (10, 10))]


def test_many_iterations_are_binned_without_being_written_out():
    # F 0-30, B 30-90, idle 90-100, a million times over; 999 bins cut it wherever they fall.
    timeline = worker_timeline((F, 0, 30), (B, 30, 90), iteration_time_ns=100, num_iterations=1_000_000)
    header, columns = decode(window(timeline, 0, timeline.horizon_ns, 0, 0, 999))
    assert header["total"] == 2_000_000
    # A bin is 100,100 ns: 60 % B, which beats 30 % F and 10 % idle; 90 % of 255 is 229.5 and a little.
    assert set(columns["dominant"].ravel().tolist()) == {B}
    assert set(columns["busy"].ravel().tolist()) <= {229, 230}


def test_bins_stay_exact_when_nanoseconds_fill_their_64_bits():
    day = 86_400 * 10**9
    timeline = worker_timeline((F, 0, day // 2), iteration_time_ns=day, num_iterations=50_000)
    _, columns = decode(overview(timeline, 1000))
    # 50 days a bin, half of them F.
    assert columns["share"][F].tolist() == [0.5] * 1000


def test_idleness_wins_like_a_kind_and_ties_go_to_work():
    # By iteration 13 F, 4 B, 13 idle, and a thousand iterations a bin.
    timeline = worker_timeline(
        (F, 0, 5), (F, 10, 14), (B, 20, 24), (F, 24, 28), iteration_time_ns=30, num_iterations=3000
    )
    _, columns = decode(window(timeline, 0, timeline.horizon_ns, 0, 0, 3))
    assert columns["dominant"].tolist() == [[F, F, F]]
    # One F less an iteration: 12 F, 14 idle.
    shorter = replace(timeline, iteration=one_row((F, 0, 4), (F, 10, 14), (B, 20, 24), (F, 24, 28)))
    _, columns = decode(window(shorter, 0, timeline.horizon_ns, 0, 0, 3))
    assert columns["dominant"].tolist() == [[IDLE, IDLE, IDLE]]
    assert columns["busy"].tolist() == [[136, 136, 136]]  # 255 * 16/30


def test_an_empty_segment_is_seen_at_its_instant():
    timeline = worker_timeline((F, 10, 10), (B, 10, 20), (F, 20, 20), iteration_time_ns=20, num_iterations=2)
    counts = {
        (t0, t1): decode(window(timeline, t0, t1, 0, 0, 1))[0]["total"]
        for t0, t1 in [(0, 10), (10, 11), (11, 20), (20, 21), (0, 20), (0, 40), (40, 40)]
    }
    assert counts == {(0, 10): 0, (10, 11): 2, (11, 20): 1, (20, 21): 1, (0, 20): 2, (0, 40): 6, (40, 40): 1}


def test_an_empty_segment_behind_the_one_that_starts_with_it():
    timeline = worker_timeline((B, 10, 20), (F, 10, 10), iteration_time_ns=20)
    assert decode(window(timeline, 12, 15, 0, 0, 1))[0]["total"] == 1
    assert decode(window(timeline, 10, 15, 0, 0, 1))[0]["total"] == 2


def test_a_timeline_of_no_length_shows_everything_at_its_instant():
    timeline = worker_timeline((F, 0, 0), (B, 0, 0), iteration_time_ns=0, num_iterations=3)
    header, columns = decode(window(timeline, 0, 0, 0, 0, 1000))
    assert header["total"] == len(columns["row"]) == 6
    header, columns = decode(overview(timeline, 1000))
    assert header["bins"] == 1
    assert columns["share"].tolist() == [[0.0]] * 10


def test_a_window_past_the_horizon_is_empty():
    timeline = worker_timeline((F, 0, 20), iteration_time_ns=20, num_iterations=2)
    header, columns = decode(window(timeline, 41, 100, 0, 0, 5))
    assert header["total"] == len(columns["row"]) == 0


@pytest.mark.parametrize(
    ("t0", "t1", "first", "last", "bins", "sentence"),
    [
        (5, 4, 0, 0, 1, "0 <= t0_ns <= t1_ns; got 5 and 4"),
        (-1, 4, 0, 0, 1, "0 <= t0_ns <= t1_ns; got -1 and 4"),
        (0, 4, 0, 1, 1, "0 <= first_row <= last_row < 1; got 0 and 1"),
        (0, 4, 0, 0, 0, "at least one bin; got 0"),
    ],
)
def test_a_window_that_is_none_is_refused(t0, t1, first, last, bins, sentence):
    with pytest.raises(ValueError, match=sentence):
        window(worker_timeline((F, 0, 1), iteration_time_ns=4), t0, t1, first, last, bins)
