"""The window of free time that the kernel searches: where it lies and how large it is.

Requests come in order of arrival and mostly find a place soon after, so only some rounds from the
current one on are held. When the queue reaches beyond them the window is opened anew, longer.
Results do not depend on it: the kernel trusts a place only if nothing beyond the window could be
earlier.
"""

import numpy as np
from numpy.typing import NDArray

from simcore.errors import InfeasibleError, Problem
from simcore.kernel.prefill_state import NEVER_NS, NONE, Free, Horizon, Replicas, RoundGaps, Window
from simcore.kernel.prefill_window import open_window

Ints = NDArray[np.int64]

FIRST_WINDOW_GAPS = 16_384
"""Gaps of all workers that the first window aims at: few enough to stay in the processor's cache."""
MAX_WINDOW_GAPS = 16_000_000
"""With about 40 bytes a gap, tree and slots included, some 650 MB."""
MAX_SLOTS = 2**20
MAX_WINDOW_SLOTS = 2**24
"""Of all workers, 20 bytes each."""
MIN_SPARE_FRAGMENTS = 1_024


class FreeTime:
    """Free time of all serving workers, from the current round on.

    Attributes
    ----------
    window : Window
        What is held now; nothing before the first `open`.
    free : Free
        The kernel's arrays for it.
    """

    def __init__(self, gaps: RoundGaps, replicas: Replicas, horizon: Horizon, num_classes: int, piece_ns: int) -> None:
        """Prepare for pieces of `piece_ns` on average, >= 0."""
        self._gaps, self._replicas, self._horizon = gaps, replicas, horizon
        self._num_classes, self._piece_ns = num_classes, max(piece_ns, 1)
        usable = gaps.end_ns - gaps.start_ns - horizon.guard_ns >= horizon.shortest_ns
        usable_before = np.concatenate([[0], np.cumsum(usable)])
        row_gaps = usable_before[gaps.first[1:]] - usable_before[gaps.first[:-1]]
        self._num_workers = len(replicas.row)
        self._gaps_per_round = int(row_gaps[replicas.template_row].sum())
        self._num_rounds = max(2, FIRST_WINDOW_GAPS // max(self._gaps_per_round, 1))
        self.window = Window(first_round=0, end_round=0, shift=0, base_ns=0, known_until_ns=0)
        self.free = _empty_free(self._num_workers, 0, 0, num_classes)

    def open(self, now_ns: int, *, longer: bool) -> None:
        """Open the window anew for requests that are ready at `now_ns` or later.

        Parameters
        ----------
        now_ns : int
            Not before that of the last time, and within the horizon.
        longer : bool
            Whether the window did not reach far enough.

        Raises
        ------
        InfeasibleError
            If too many gaps would have to be held at once.
        """
        horizon = self._horizon
        first_round = min(now_ns // horizon.round_ns, horizon.num_rounds - 1)
        if longer:
            self._num_rounds = max(self._num_rounds, 2 * (self.window.end_round - first_round))
        end_round = min(max(first_round + self._num_rounds, self.window.end_round), horizon.num_rounds)
        num_new = (end_round - max(self.window.end_round, first_round - 1)) * self._gaps_per_round
        num_fragments = len(self.free.following) - int(self.free.pool[1]) + max(num_new, 0) + self._num_workers
        if num_fragments > MAX_WINDOW_GAPS:
            raise InfeasibleError(
                [
                    Problem(
                        "inference.requests",
                        f"the requests queue up over {end_round - first_round:,} iterations, in which the workers have "
                        f"{num_fragments:,} gaps; at most {MAX_WINDOW_GAPS:,} are looked at together: "
                        "offer fewer requests, or use fewer pipelines or iterations",
                    )
                ]
            )
        spare = max(MIN_SPARE_FRAGMENTS, num_fragments // 2, 4 * self._replicas_shards())
        self._fill(now_ns, first_round, end_round, num_fragments + spare)

    def _replicas_shards(self) -> int:
        """Return the shards of a replica."""
        return self._num_workers // max(len(self._replicas.datacenter), 1)

    def _fill(self, now_ns: int, first_round: int, end_round: int, pool_size: int) -> None:
        horizon = self._horizon
        horizon_ns = horizon.round_ns * horizon.num_rounds
        known_until_ns = NEVER_NS if end_round == horizon.num_rounds else end_round * horizon.round_ns
        base_ns = first_round * horizon.round_ns
        span_ns = min(known_until_ns, horizon_ns) - base_ns
        num_slots = self._num_slots(span_ns, pool_size)
        shift = 0
        while span_ns >> shift >= num_slots:
            shift += 1
        window = Window(first_round, end_round, shift, base_ns, known_until_ns)
        free = _empty_free(self._num_workers, num_slots, pool_size, self._num_classes)
        open_window(self._gaps, self._replicas, horizon, now_ns, self.free, self.window, free, window)
        self.window, self.free = window, free

    def _num_slots(self, span_ns: int, pool_size: int) -> int:
        """Return a power of two: about one fragment a slot, be it of gaps or of what pieces leave of long ones."""
        per_worker = max(pool_size // self._num_workers, min(span_ns // self._piece_ns, 4_096))
        limit = min(MAX_SLOTS, max(MAX_WINDOW_SLOTS // self._num_workers, 2))
        return 1 << (min(max(per_worker, 16), limit).bit_length() - 1)


def _empty_free(num_workers: int, num_slots: int, pool_size: int, num_classes: int) -> Free:
    return Free(
        head=np.full((num_workers, num_slots), NONE, dtype=np.int32),
        longest_ns=np.full((num_workers, 2 * num_slots), NONE, dtype=np.int64),
        start_ns=np.zeros(pool_size, dtype=np.int64),
        end_ns=np.zeros(pool_size, dtype=np.int64),
        following=np.full(pool_size, NONE, dtype=np.int32),
        pool=np.array([NONE, pool_size], dtype=np.int64),
        first_slot=np.zeros((num_classes, num_workers), dtype=np.int32),
        bound_ns=np.zeros((num_classes, num_workers), dtype=np.int64),
    )
