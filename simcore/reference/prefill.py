"""BubbleTea: requests booked into the idle time of the repeated iteration (MODEL section 8)."""

import bisect
from dataclasses import dataclass
from typing import NamedTuple

from simcore.reference.durations import whole_ns
from simcore.reference.records import PrefillPiece
from simcore.scenario.catalogue import MODELS
from simcore.scenario.document import (
    Datacenter,
    FixedPlacement,
    Inference,
    InlineRequests,
    PresetModel,
    Scenario,
    TablePrefill,
)

Interval = tuple[int, int]


class Request(NamedTuple):
    """One prompt, as it comes in."""

    arrival_ns: int
    position: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Replica:
    """Workers of one datacenter that serve a request together, first shard first."""

    datacenter: Datacenter
    workers: list[tuple[int, int]]
    """(pipeline among all D, stage)."""


@dataclass(frozen=True, slots=True)
class PrefillOutcome:
    """What became of the requests."""

    num_replicas: int
    ttft_ns: dict[int, int]
    """By the request's position; the served ones, in order of arrival."""
    rejected: int
    unplaceable: int
    pieces: list[PrefillPiece]


def idle_gaps(busy: list[Interval], iteration_time_ns: int, num_iterations: int) -> list[Interval]:
    """Return a worker's gaps over the horizon, from its busy intervals in one iteration.

    Intervals of no length do not cut a gap, and the end of a round does not either.
    """
    gaps = []
    gap_start = 0
    for iteration in range(num_iterations):
        offset = iteration * iteration_time_ns
        for start, end in sorted(busy):
            if start == end:
                continue
            if offset + start > gap_start:
                gaps.append((gap_start, offset + start))
            gap_start = offset + end
    horizon = iteration_time_ns * num_iterations
    if horizon > gap_start:
        gaps.append((gap_start, horizon))
    return gaps


def prefill_ns(table: tuple[tuple[int, float], ...], tokens: int) -> int:
    """Return what a whole prompt takes, by the table."""
    if len(table) == 1 or tokens <= table[0][0]:
        return whole_ns(table[0][1] * 1e-3)
    above = bisect.bisect_right([row[0] for row in table], tokens)
    above = min(above, len(table) - 1)
    (x0, y0), (x1, y1) = table[above - 1], table[above]
    return whole_ns((y0 + (y1 - y0) * (tokens - x0) / (x1 - x0)) * 1e-3)


def replicas_of(scenario: Scenario) -> list[Replica]:
    """Return all replicas, in the order in which they are asked."""
    assert scenario.inference is not None
    assert isinstance(scenario.placement, FixedPlacement)
    shards = scenario.inference.shards
    replicas = []
    for datacenter in scenario.datacenters:
        workers = [
            (pipeline, stage)
            for pipeline in range(scenario.training.pipelines)
            for stage, name in enumerate(scenario.placement.stages)
            if name == datacenter.name
        ]
        firsts = range(0, len(workers) - shards + 1, shards)
        replicas += [Replica(datacenter, workers[first : first + shards]) for first in firsts]
    return replicas


def hop_ns(inference: Inference, datacenter: Datacenter, tokens: int) -> int:
    """Return what handing a prompt from one shard to the next takes, bytes and latency together."""
    bytes_per_token = inference.hop_bytes_per_token
    if bytes_per_token is None:
        model = inference.model
        hidden = MODELS[model.preset].hidden_size if isinstance(model, PresetModel) else model.hidden_size
        bytes_per_token = 2 * hidden
    intra_rate = datacenter.intra_gbps * 125e6
    return whole_ns(tokens * bytes_per_token / intra_rate + datacenter.intra_latency_us * 1e-6)


class Holes:
    """Where one worker can still take pieces.

    A hole is (first start, latest end). A gap's guard is taken off its end once and for all; a
    hole that ends at a booking needs none.
    """

    def __init__(self, gaps: list[Interval], guard_ns: int) -> None:
        self._holes = [(start, end - guard_ns) for start, end in gaps if end - guard_ns >= start]

    def earliest(self, ready_ns: int, duration_ns: int) -> int | None:
        """Return the earliest start of a piece from `ready_ns` on, or None."""
        index = max(bisect.bisect_right(self._holes, ready_ns, key=lambda hole: hole[0]) - 1, 0)
        for start, end in self._holes[index:]:
            begin = max(start, ready_ns)
            if begin + duration_ns <= end:
                return begin
        return None

    def book(self, start_ns: int, duration_ns: int) -> None:
        """Take a piece's time out of the hole it fits in."""
        index = bisect.bisect_right(self._holes, start_ns, key=lambda hole: hole[0]) - 1
        while start_ns + duration_ns > self._holes[index][1]:
            index -= 1
        start, end = self._holes[index]
        left = [(start, start_ns)] if start_ns > start else []
        right = [(start_ns + duration_ns, end)] if end > start_ns + duration_ns else []
        self._holes[index : index + 1] = left + right


def place_requests(
    scenario: Scenario, busy: dict[tuple[int, int], list[Interval]], iteration_time_ns: int
) -> PrefillOutcome:
    """Return where every request of the document goes.

    Parameters
    ----------
    scenario : Scenario
        With inference.
    busy : dict
        (pipeline in cell, stage) to what occupies that worker in one iteration.
    iteration_time_ns : int
        Length of the training iteration. >= 0.
    """
    inference = scenario.inference
    assert inference is not None
    assert isinstance(inference.prefill, TablePrefill)
    assert isinstance(inference.requests, InlineRequests)
    cell_size = scenario.training.cell_size
    guard_ns = whole_ns(inference.guard_ms * 1e-3)
    dispatch_ns = whole_ns(inference.dispatch_ms * 1e-3)
    slo_ns = None
    if inference.admission == "slo":
        assert inference.slo_ttft_ms is not None
        slo_ns = whole_ns(inference.slo_ttft_ms * 1e-3)
    replicas = replicas_of(scenario)
    gaps = {worker: idle_gaps(intervals, iteration_time_ns, inference.iterations) for worker, intervals in busy.items()}
    holes = {
        (pipeline, stage): Holes(gaps[pipeline % cell_size, stage], guard_ns)
        for replica in replicas
        for pipeline, stage in replica.workers
    }
    requests = sorted(
        Request(whole_ns(seconds), position, tokens)
        for position, (seconds, tokens) in enumerate(inference.requests.inline)
    )
    rejected = unplaceable = 0
    ttft_ns: dict[int, int] = {}
    pieces: list[PrefillPiece] = []
    for request in requests:
        whole = prefill_ns(inference.prefill.table, request.tokens)
        piece_ns = -(-whole // inference.shards)
        best: tuple[int, Replica, list[int]] | None = None
        for replica in replicas:
            hop = hop_ns(inference, replica.datacenter, request.tokens)
            starts = _starts(replica, holes, request.arrival_ns + dispatch_ns, piece_ns, hop)
            if starts is not None and (best is None or starts[-1] + piece_ns < best[0]):
                best = starts[-1] + piece_ns, replica, starts
        if best is None:
            unplaceable += 1
            continue
        finish, replica, starts = best
        if slo_ns is not None and finish - request.arrival_ns > slo_ns:
            rejected += 1
            continue
        ttft_ns[request.position] = finish - request.arrival_ns
        for shard, ((pipeline, stage), start) in enumerate(zip(replica.workers, starts, strict=True)):
            holes[pipeline, stage].book(start, piece_ns)
            pieces.append(PrefillPiece(request.position, shard, pipeline, stage, start, piece_ns))
    return PrefillOutcome(len(replicas), ttft_ns, rejected, unplaceable, pieces)


def _starts(
    replica: Replica, holes: dict[tuple[int, int], Holes], ready_ns: int, piece_ns: int, hop: int
) -> list[int] | None:
    """Return each shard's earliest start, one after the other, or None where one does not fit."""
    starts: list[int] = []
    for worker in replica.workers:
        start = holes[worker].earliest(ready_ns, piece_ns)
        if start is None:
            return None
        starts.append(start)
        ready_ns = start + piece_ns + hop
    return starts
