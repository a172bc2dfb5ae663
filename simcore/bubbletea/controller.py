"""The controller: books every request into the idle time of the repeated iteration, slice by slice."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.bubbletea.figures import Tally
from simcore.bubbletea.free_time import FreeTime
from simcore.bubbletea.gaps import busy_round, longest_gap_ns, round_gaps
from simcore.bubbletea.replicas import replicas_of
from simcore.bubbletea.requests import Arrivals, arrivals_of, kernel_requests, length_classes
from simcore.costs.layout import Layout
from simcore.costs.plan import Plan
from simcore.kernel.placement import place
from simcore.kernel.prefill_state import Fate, Fates, Horizon, PlaceExit, Replicas, RoundGaps, Scratch
from simcore.results.segments import Kind, Segments, empty_segments
from simcore.scenario.document import Inference, Scenario
from simcore.units import S_PER_MS, ns_from_s

Ints = NDArray[np.int64]

BLOCK_REQUESTS = 65_536
"""Requests that the kernel's columns are made for at a time."""
SLICE_PIECES = 65_536
"""Pieces that a slice holds at most, unless one request has more."""
FIRST_SLICE_WORK = 2_000
"""Kernel work in the first slice, as `place` counts it; each slice does twice the work of the one before."""
SLICE_WORK = 400_000
"""Kernel work in a slice, at most: 20 to 50 ms."""


@dataclass(frozen=True, slots=True)
class Slice:
    """What became of the requests that a slice dealt with."""

    segments: Segments
    """Pieces of prefill, rows of the timeline, in booking order."""
    at_ns: Ints
    """Arrival of each piece's request, ascending, shape (num_pieces,)."""
    num_requests: int
    """Requests dealt with so far."""
    reached_ns: int
    """Arrival of the last of them."""
    figures: dict[str, Any] | None = None
    """With the last slice only: the figures of the whole placement."""


def placements(
    scenario: Scenario,
    plan: Plan,
    iteration: Segments,
    iteration_time_ns: int,
    *,
    first_slice_work: int = FIRST_SLICE_WORK,
    slice_work: int = SLICE_WORK,
) -> Iterator[Slice]:
    """Yield where the requests of a scenario go, in order of arrival; there is at least one slice.

    Same arguments, same slices: they are cut by the work done, not by the clock.

    Parameters
    ----------
    scenario : Scenario
        With inference: a prefill table and inline requests.
    plan : Plan
        Of the scenario.
    iteration : Segments
        Template of one iteration of one cell.
    iteration_time_ns : int
        >= 0.
    first_slice_work, slice_work : int
        How much the kernel does before a slice is handed out; > 0.

    Raises
    ------
    InfeasibleError
        If too many gaps would have to be looked at together.
    """
    inference = scenario.inference
    assert inference is not None
    layout = plan.layout
    busy = busy_round(
        iteration, layout.num_cell_workers, iteration_time_ns, all_reduce_blocks=inference.allreduce_blocks
    )
    gaps = round_gaps(busy, inference.iterations)
    replicas, num_left_over = replicas_of(layout, inference.shards)
    arrivals = arrivals_of(inference)
    tally = Tally(scenario, layout, iteration, busy, arrivals, len(replicas.datacenter), num_left_over)
    booking = _Booking(scenario, gaps, replicas, arrivals, iteration_time_ns)
    num_requests, work = 0, first_slice_work
    while num_requests < len(arrivals):
        index, worker, start_ns, num_requests = booking.next_slice(work)
        segments = _segments(layout, replicas, arrivals, inference.shards, index, worker, start_ns)
        tally.add(segments)
        done = num_requests == len(arrivals)
        yield Slice(
            segments=segments,
            at_ns=arrivals.arrival_ns[index],
            num_requests=num_requests,
            reached_ns=int(arrivals.arrival_ns[num_requests - 1]),
            figures=tally.figures(booking.finish_ns) if done else None,
        )
        work = min(2 * work, slice_work)
    if len(arrivals) == 0:
        none = np.empty(0, dtype=np.int64)
        yield Slice(empty_segments(), none, 0, 0, tally.figures(booking.finish_ns))


def _segments(
    layout: Layout,
    replicas: Replicas,
    arrivals: Arrivals,
    shards: int,
    index: Ints,
    worker: Ints,
    start_ns: Ints,
) -> Segments:
    return Segments(
        row=replicas.row[worker],
        kind=np.full(len(index), Kind.PREFILL, dtype=np.uint8),
        start_ns=start_ns,
        duration_ns=arrivals.piece_ns[index],
        item=arrivals.position[index].astype(np.uint32),
        part=(worker % shards).astype(np.uint32),
    )


class _Booking:
    """The kernel's arrays, and the request that is next."""

    def __init__(
        self, scenario: Scenario, gaps: RoundGaps, replicas: Replicas, arrivals: Arrivals, round_ns: int
    ) -> None:
        inference = scenario.inference
        assert inference is not None
        self._scenario, self._replicas, self._arrivals = scenario, replicas, arrivals
        self._shards = inference.shards
        self._next = 0
        self.finish_ns = np.full(len(arrivals), Fate.UNPLACEABLE, dtype=np.int64)
        """Of each request in order of arrival, or its `Fate`."""
        guard_ns = ns_from_s(inference.guard_ms * S_PER_MS)
        self._longest_piece_ns = _longest_piece_ns(gaps, replicas, inference, guard_ns)
        placeable_ns = arrivals.piece_ns[arrivals.piece_ns <= self._longest_piece_ns]
        self._is_hopeless = len(placeable_ns) == 0
        if self._is_hopeless:
            return
        self._horizon = Horizon(round_ns, inference.iterations, guard_ns, int(placeable_ns.min()))
        self._classes = length_classes(placeable_ns)
        self._free_time = FreeTime(
            gaps, replicas, self._horizon, len(self._classes), int(placeable_ns.astype(np.float64).mean())
        )
        slice_pieces = max(SLICE_PIECES, self._shards)
        self._pieces = tuple(np.empty(slice_pieces, dtype=np.int64) for _ in range(3))
        self._scratch = Scratch(
            bound_ns=np.empty(len(replicas.datacenter), dtype=np.int64),
            start_ns=np.empty(self._shards, dtype=np.int64),
            fragment=np.empty(self._shards, dtype=np.int32),
            best_start_ns=np.empty(self._shards, dtype=np.int64),
            best_fragment=np.empty(self._shards, dtype=np.int32),
        )
        self._open_block(0)

    def _open_block(self, first: int) -> None:
        """Make the kernel's columns for the requests from number `first` on."""
        self._block = slice(first, min(first + BLOCK_REQUESTS, len(self._arrivals)))
        self._requests = kernel_requests(
            self._scenario, self._arrivals, self._block, self._classes, self._longest_piece_ns
        )

    def next_slice(self, work: int) -> tuple[Ints, Ints, Ints, int]:
        """Return each piece's request, serving worker and start, and how many requests are dealt with."""
        num_requests = len(self._arrivals)
        if self._is_hopeless:
            self._next = num_requests
            none = np.empty(0, dtype=np.int64)
            return none, none, none, num_requests
        horizon_ns = self._horizon.round_ns * self._horizon.num_rounds
        num_pieces, code = 0, int(PlaceExit.ALL_PLACED)
        while code != PlaceExit.SLICE_FULL and self._next < num_requests and work > 0:
            if self._next == self._block.stop:
                self._open_block(self._next)
            first = self._block.start
            if code in (PlaceExit.WINDOW_SHORT, PlaceExit.POOL_EMPTY) or self._free_time.window.end_round == 0:
                now_ns = min(int(self._requests.ready_ns[self._next - first]), horizon_ns)
                self._free_time.open(now_ns, longer=code == PlaceExit.WINDOW_SHORT)
            before = num_pieces
            code, following, num_pieces, done = place(
                self._requests,
                self._replicas,
                self._free_time.window,
                horizon_ns,
                self._horizon.shortest_ns,
                self._free_time.free,
                Fates(self.finish_ns[self._block], *self._pieces),
                self._scratch,
                self._next - first,
                num_pieces,
                work,
            )
            self._pieces[0][before:num_pieces] += first
            self._next = first + following
            work -= done
        index, worker, start_ns = (column[:num_pieces].copy() for column in self._pieces)
        return index, worker, start_ns, self._next


def _longest_piece_ns(gaps: RoundGaps, replicas: Replicas, inference: Inference, guard_ns: int) -> int:
    """Return the longest piece for which some replica has a gap on each of its workers; -1 if none has."""
    usable_ns = longest_gap_ns(gaps) - guard_ns
    usable_ns[longest_gap_ns(gaps) == 0] = -1
    of_replica_ns = usable_ns[replicas.template_row].reshape(-1, inference.shards).min(axis=1)
    return int(of_replica_ns.max(initial=-1))
