"""What a placement amounts to: its figures."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.bubbletea.gaps import BusyRound
from simcore.bubbletea.prefill import kv_bytes_per_token
from simcore.bubbletea.requests import Arrivals
from simcore.costs.layout import Layout
from simcore.kernel.prefill_state import Fate
from simcore.results.segments import TRAINING_COMPUTE_KINDS, Segments
from simcore.scenario.document import Scenario
from simcore.units import NS_PER_S, S_PER_MS, ns_from_s

Ints = NDArray[np.int64]

PERCENTS = (50, 95, 99)


def exact_sum(values: Ints) -> int:
    """Return the sum of values >= 0, which may be beyond 64 bits."""
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def nearest_rank(ascending: Ints, percent: int) -> int | None:
    """Return the smallest value that at least `percent` of the values do not exceed; None without values.

    Examples
    --------
    >>> nearest_rank(np.array([10, 20, 30, 40]), 50)
    20
    """
    if len(ascending) == 0:
        return None
    return int(ascending[-(-len(ascending) * percent // 100) - 1])


class Tally:
    """Adds up the pieces of all slices."""

    def __init__(
        self,
        scenario: Scenario,
        layout: Layout,
        iteration: Segments,
        busy: BusyRound,
        arrivals: Arrivals,
        num_replicas: int,
        num_left_over: int,
    ) -> None:
        self._scenario, self._layout, self._busy, self._arrivals = scenario, layout, busy, arrivals
        self._num_replicas, self._num_left_over = num_replicas, num_left_over
        is_compute = np.isin(iteration.kind, np.array(TRAINING_COMPUTE_KINDS, dtype=np.uint8))
        is_compute &= iteration.row < layout.num_cell_workers
        self._computing_ns = exact_sum(iteration.duration_ns[is_compute])
        self._filled_ns = 0
        self._over_training_ns = 0

    def add(self, pieces: Segments) -> None:
        """Add a slice's pieces."""
        if len(pieces) == 0:
            return
        self._filled_ns += exact_sum(pieces.duration_ns)
        row = (pieces.row % self._layout.num_cell_workers).astype(np.int64)
        occupied_ns = self._busy.occupied_before_ns(row, pieces.end_ns)
        occupied_ns -= self._busy.occupied_before_ns(row, pieces.start_ns)
        self._over_training_ns += exact_sum(occupied_ns)

    def figures(self, finish_ns: Ints) -> dict[str, Any]:
        """Return the figures of the whole placement.

        Parameters
        ----------
        finish_ns : NDArray[int64]
            Finish of each request in order of arrival, or its `Fate`.

        Notes
        -----
        Percentiles of TTFT are of nearest rank, over the served. SLO attainment counts all
        requests, so whoever is not served misses it. `training_delay_ns` is the time in which pieces
        lie over what keeps them off a worker.
        """
        inference, arrivals = self._scenario.inference, self._arrivals
        assert inference is not None
        num_rounds = inference.iterations
        horizon_ns = self._busy.round_ns * num_rounds
        served = np.flatnonzero(finish_ns >= 0)
        served = served[np.argsort(arrivals.position[served])]
        ttft_ns = finish_ns[served] - arrivals.arrival_ns[served]
        served_tokens = exact_sum(arrivals.tokens[served])
        idle_ns = self._layout.num_cells * self._busy.idle_ns(num_rounds)
        all_time_ns = horizon_ns * self._layout.num_workers
        used_ns = self._computing_ns * self._layout.num_cells * num_rounds + self._filled_ns
        positions = arrivals.position[served].tolist()
        ascending = np.sort(ttft_ns)
        kv_bytes = kv_bytes_per_token(inference)
        return {
            "groups": self._num_replicas,
            "served": len(served),
            "rejected": int((finish_ns == Fate.REJECTED).sum()),
            "unplaceable": int((finish_ns == Fate.UNPLACEABLE).sum()),
            "filled_ns": self._filled_ns,
            "idle_ns": idle_ns,
            "gpu_utilization_total": used_ns / all_time_ns if all_time_ns else 0.0,
            "ttft_ns": {str(position): ttft for position, ttft in zip(positions, ttft_ns.tolist(), strict=True)},
            "ttft_sum_ns": exact_sum(ttft_ns),
            **{f"ttft_p{percent}_ns": nearest_rank(ascending, percent) for percent in PERCENTS},
            "slo_attainment_fraction": self._attainment(ttft_ns),
            "prefill_tokens_per_s": served_tokens * NS_PER_S / horizon_ns if horizon_ns else 0.0,
            "fill_fraction": self._filled_ns / idle_ns if idle_ns else 0.0,
            "leftover_workers": self._num_left_over,
            "kv_bytes_to_decode": None if kv_bytes is None else kv_bytes * served_tokens,
            "training_delay_ns": self._over_training_ns,
            "requests_beyond_horizon": int((arrivals.arrival_ns >= horizon_ns).sum()),
        }

    def _attainment(self, ttft_ns: Ints) -> float | None:
        """Return the share of all requests that are served within the SLO; None without one, or without requests."""
        inference = self._scenario.inference
        assert inference is not None
        if inference.slo_ttft_ms is None or len(self._arrivals) == 0:
            return None
        slo_ns = ns_from_s(inference.slo_ttft_ms * S_PER_MS)
        return int((ttft_ns <= slo_ns).sum()) / len(self._arrivals)
