"""When training leaves a worker idle: one round, and what repeats of it (MODEL section 8)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.errors import SimulationError
from simcore.kernel.prefill_state import RoundGaps
from simcore.results.segments import TRAINING_COMPUTE_KINDS, Kind, Segments

Ints = NDArray[np.int64]

OCCUPYING_KINDS = (*TRAINING_COMPUTE_KINDS, Kind.BLOCKED_SEND, Kind.OPTIMIZER)
"""What keeps prefill off a worker, always; an all-reduce does unless the scenario says otherwise."""


@dataclass(frozen=True, slots=True)
class BusyRound:
    """What occupies each worker of one cell in one round, sorted by (row, start); none has no length."""

    num_rows: int
    round_ns: int
    first: Ints
    """Index of each row's first interval, shape (num_rows + 1,)."""
    row: Ints
    """Shape (num_intervals,), like the next two."""
    start_ns: Ints
    end_ns: Ints

    def _running_total_ns(self) -> Ints:
        """Return the summed length of all intervals before each one, shape (num_intervals + 1,).

        Over very many rows of very long rounds the sums may wrap around 64 bits. Their differences
        within a row, all that is used, are below the length of a round and right nevertheless.
        """
        return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self.end_ns - self.start_ns)])

    @property
    def row_busy_ns(self) -> Ints:
        """Return how long each row is occupied in a round, shape (num_rows,)."""
        total_ns = self._running_total_ns()
        row_ns: Ints = total_ns[self.first[1:]] - total_ns[self.first[:-1]]
        return row_ns

    def idle_ns(self, num_rounds: int) -> int:
        """Return the idle time of all rows over `num_rounds` rounds."""
        busy_ns: list[int] = self.row_busy_ns.tolist()
        return num_rounds * (self.round_ns * self.num_rows - sum(busy_ns))

    def occupied_before_ns(self, row: Ints, time_ns: Ints) -> Ints:
        """Return how long rows have been occupied from 0 up to instants of the horizon, shape (num_instants,)."""
        round_index, phase_ns = np.divmod(time_ns, self.round_ns)
        total_ns = self._running_total_ns()
        low, high = self.first[row], self.first[row + 1]
        while (low < high).any():
            middle = (low + high) // 2
            inside = low < high
            begun = inside & (self.start_ns[np.where(inside, middle, 0)] <= phase_ns)
            low = np.where(begun, middle + 1, low)
            high = np.where(inside & ~begun, middle, high)
        # `low` is the first interval that has not begun; the one before it may not have ended.
        has_begun = low > self.first[row]
        running = np.where(has_begun, low - 1, 0)
        this_round_ns = total_ns[low] - total_ns[self.first[row]]
        if len(self.end_ns):
            this_round_ns -= np.where(has_begun, np.maximum(self.end_ns[running] - phase_ns, 0), 0)
        occupied_ns: Ints = round_index * self.row_busy_ns[row] + this_round_ns
        return occupied_ns


def busy_round(iteration: Segments, num_rows: int, round_ns: int, *, all_reduce_blocks: bool) -> BusyRound:
    """Return what occupies the workers of a cell.

    Parameters
    ----------
    iteration : Segments
        Template of one iteration; rows below `num_rows` are workers.
    num_rows : int
        Workers of the cell.
    round_ns : int
        Length of the iteration. >= 0.
    all_reduce_blocks : bool
        Whether prefill keeps out of all-reduces.
    """
    kinds = (*OCCUPYING_KINDS, Kind.ALL_REDUCE) if all_reduce_blocks else OCCUPYING_KINDS
    is_busy = (iteration.row < num_rows) & (iteration.duration_ns > 0)
    is_busy &= np.isin(iteration.kind, np.array([int(kind) for kind in kinds], dtype=np.uint8))
    busy = iteration.take(np.flatnonzero(is_busy)).sorted_by_row()
    row, start_ns, end_ns = busy.row.astype(np.int64), busy.start_ns.astype(np.int64), busy.end_ns.astype(np.int64)
    overlaps = (row[1:] == row[:-1]) & (start_ns[1:] < end_ns[:-1])
    if overlaps.any() or (len(end_ns) and (start_ns.min() < 0 or end_ns.max() > round_ns)):
        raise SimulationError("an iteration in which a worker does two things at once, or something outside of it")
    return BusyRound(num_rows, round_ns, np.searchsorted(row, np.arange(num_rows + 1)), row, start_ns, end_ns)


def round_gaps(busy: BusyRound, num_rounds: int) -> RoundGaps:
    """Return the gaps that begin in each round, those that reach into the next round in one piece.

    A row that is never occupied has one gap, the whole horizon.
    """
    row, start_ns, end_ns, first = busy.row, busy.start_ns, busy.end_ns, busy.first
    is_last = np.ones(len(row), dtype=np.bool_)
    is_last[:-1] = row[1:] != row[:-1]
    following_ns = np.empty_like(start_ns)
    following_ns[:-1] = start_ns[1:]
    following_ns[is_last] = busy.round_ns + start_ns[first[row[is_last]]]
    is_gap = following_ns > end_ns
    has_work = first[1:] > first[:-1]
    lead_ns = np.full(busy.num_rows, busy.round_ns * num_rounds, dtype=np.int64)
    lead_ns[has_work] = start_ns[first[:-1][has_work]]
    return RoundGaps(
        first=np.searchsorted(row[is_gap], np.arange(busy.num_rows + 1)),
        start_ns=end_ns[is_gap],
        end_ns=following_ns[is_gap],
        lead_ns=lead_ns,
    )


def longest_gap_ns(gaps: RoundGaps) -> Ints:
    """Return each row's longest gap, guard included, shape (num_rows,)."""
    longest_ns = gaps.lead_ns.copy()
    row = np.repeat(np.arange(len(gaps.lead_ns)), np.diff(gaps.first))
    np.maximum.at(longest_ns, row, gaps.end_ns - gaps.start_ns)
    return longest_ns
