"""Prefill: pieces, their order, and that they stay within the gaps (MODEL section 8)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.results.segments import Kind, Segments
from simcore.results.timeline import Timeline
from simcore.scenario.catalogue import MODELS
from simcore.scenario.document import Inference, InlineRequests, PresetModel, Scenario, TablePrefill
from simcore.units import S_PER_MS, S_PER_US, bytes_per_s_from_gbps, ns_from_s
from simcore.verify.report import Report, Rule, at, worker_name

Times = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Fills:
    """Pieces ordered by (request, shard), and what is known of each."""

    pieces: Segments
    arrival_ns: Times
    piece_ns: Times
    """Planned duration."""
    hop_ns: Times

    def name(self, i: int, timeline: Timeline) -> str:
        """Return how sentences call piece `i`."""
        where = worker_name(*divmod(int(self.pieces.row[i]), timeline.layout.num_stages))
        return f"{where}: shard {self.pieces.part[i]} of request {self.pieces.item[i]} at {at(self.pieces.start_ns[i])}"


def check_fills(scenario: Scenario, timeline: Timeline, report: Report) -> None:
    """Report what is wrong with the prefill, and a wrong number of rounds."""
    inference = scenario.inference
    expected_iterations = 1 if inference is None else inference.iterations
    if timeline.num_iterations != expected_iterations:
        report.add(
            Rule.ITERATION_LENGTH,
            f"the timeline has {timeline.num_iterations} rounds; expected are {expected_iterations}",
        )
    if len(timeline.fills) == 0:
        return
    if inference is None:
        report.add(Rule.PREFILL_PIECES, f"{len(timeline.fills)} pieces of prefill, but the scenario has no inference")
        return
    fills = _read_fills(scenario, inference, timeline, report)
    if fills is None:
        return
    _check_pieces(inference, timeline, fills, report)
    _check_starts(inference, timeline, fills, report)
    _check_overlaps(timeline, fills, report)
    _check_gaps(inference, timeline, fills, report)


def _read_fills(scenario: Scenario, inference: Inference, timeline: Timeline, report: Report) -> _Fills | None:
    assert isinstance(inference.requests, InlineRequests)
    assert isinstance(inference.prefill, TablePrefill)
    layout, requests = timeline.layout, inference.requests.inline
    order = np.lexsort((timeline.fills.part, timeline.fills.item))
    pieces = timeline.fills.take(order)
    possible = (pieces.kind == Kind.PREFILL) & (pieces.row < layout.num_workers) & (pieces.item < len(requests))
    possible &= (pieces.part < inference.shards) & (pieces.start_ns >= 0) & (pieces.duration_ns >= 0)
    possible &= pieces.duration_ns <= np.iinfo(np.int64).max - pieces.start_ns
    report.add_each(
        Rule.SEGMENT,
        ~possible,
        lambda i: (
            f"row {pieces.row[i]} at {at(pieces.start_ns[i])}: shard {pieces.part[i]} of request {pieces.item[i]} "
            "is no piece of prefill that the scenario could have"
        ),
    )
    if not possible.all():
        return None
    arrivals = np.array([ns_from_s(seconds) for seconds, _ in requests], dtype=np.int64)
    tokens = np.array([count for _, count in requests], dtype=np.int64)[pieces.item]
    datacenter = np.array(layout.stage_datacenter)[pieces.row % layout.num_stages]
    return _Fills(
        pieces=pieces,
        arrival_ns=arrivals[pieces.item],
        piece_ns=-(-_prefill_ns(inference.prefill, tokens) // inference.shards),
        hop_ns=_hop_ns(scenario, inference, tokens, datacenter),
    )


def _prefill_ns(prefill: TablePrefill, tokens: Times) -> Times:
    """Return what whole prompts take: interpolated, held below the table, extended above it."""
    lengths = np.array([row[0] for row in prefill.table], dtype=np.int64)
    ms = np.array([row[1] for row in prefill.table])
    if len(ms) == 1:
        prompt_ms = np.full(len(tokens), ms[0])
    else:
        left = np.clip(np.searchsorted(lengths, tokens, side="right") - 1, 0, len(ms) - 2)
        x0, y0, x1, y1 = lengths[left], ms[left], lengths[left + 1], ms[left + 1]
        prompt_ms = np.where(tokens <= lengths[0], ms[0], y0 + (y1 - y0) * (tokens - x0) / (x1 - x0))
    return _whole_ns(prompt_ms * S_PER_MS)


def _whole_ns(seconds: NDArray[np.float64]) -> Times:
    whole: Times = np.floor(seconds * 1e9 + 0.5).astype(np.int64)
    return whole


def _hop_ns(scenario: Scenario, inference: Inference, tokens: Times, datacenter: NDArray[np.int64]) -> Times:
    """Return what handing each prompt to the next shard takes, in the piece's datacenter."""
    bytes_per_token = inference.hop_bytes_per_token
    if bytes_per_token is None:
        model = inference.model
        bytes_per_token = 2 * (MODELS[model.preset] if isinstance(model, PresetModel) else model).hidden_size
    rate = np.array([bytes_per_s_from_gbps(end.intra_gbps) for end in scenario.datacenters])[datacenter]
    latency_s = np.array([end.intra_latency_us * S_PER_US for end in scenario.datacenters])[datacenter]
    return _whole_ns(tokens * bytes_per_token / rate + latency_s)


def _check_pieces(inference: Inference, timeline: Timeline, fills: _Fills, report: Report) -> None:
    """Check that a request has all its shards once, on one replica, each as long as planned."""
    pieces, shards = fills.pieces, inference.shards
    requests, counts = np.unique(pieces.item, return_counts=True)
    report.add_each(
        Rule.PREFILL_PIECES,
        counts != shards,
        lambda i: f"request {requests[i]} has {counts[i]} pieces; one for each of {shards} shards is right",
    )
    replica, shard = _replicas(timeline, shards)
    misplaced = shard[pieces.row] != pieces.part
    report.add_each(
        Rule.PREFILL_PIECES, misplaced, lambda i: f"{fills.name(i, timeline)} is not that worker's shard of a replica"
    )
    follows = pieces.item[1:] == pieces.item[:-1]
    report.add_each(
        Rule.PREFILL_PIECES,
        follows & (replica[pieces.row[1:]] != replica[pieces.row[:-1]]),
        lambda i: f"{fills.name(i + 1, timeline)} is on another replica than the shard before it",
    )
    report.add_each(
        Rule.PREFILL_PIECES,
        follows & (pieces.part[1:] == pieces.part[:-1]),
        lambda i: f"{fills.name(i + 1, timeline)} is there twice",
    )
    report.add_each(
        Rule.PREFILL_DURATION,
        pieces.duration_ns != fills.piece_ns,
        lambda i: f"{fills.name(i, timeline)} takes {at(pieces.duration_ns[i])}; planned are {at(fills.piece_ns[i])}",
    )


def _replicas(timeline: Timeline, shards: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return each worker's replica and its shard in it, shape (num_workers,); -1 for a remainder."""
    layout = timeline.layout
    replica = np.full(layout.num_workers, -1, dtype=np.int64)
    shard = np.full(layout.num_workers, -1, dtype=np.int64)
    datacenter = np.tile(layout.stage_datacenter, layout.num_pipelines)
    num_replicas = 0
    for index in range(len(layout.datacenters)):
        workers = np.flatnonzero(datacenter == index)
        workers = workers[: len(workers) // shards * shards]
        place = np.arange(len(workers))
        replica[workers], shard[workers] = num_replicas + place // shards, place % shards
        num_replicas += len(workers) // shards
    return replica, shard


def _check_starts(inference: Inference, timeline: Timeline, fills: _Fills, report: Report) -> None:
    """Check arrival, dispatch, hops and the SLO."""
    pieces = fills.pieces
    dispatched_ns = fills.arrival_ns + ns_from_s(inference.dispatch_ms * S_PER_MS)
    report.add_each(
        Rule.PREFILL_START,
        pieces.start_ns < dispatched_ns,
        lambda i: f"{fills.name(i, timeline)} starts before the request is dispatched at {at(dispatched_ns[i])}",
    )
    follows = (pieces.item[1:] == pieces.item[:-1]) & (pieces.part[1:] != pieces.part[:-1])
    handed_ns = pieces.end_ns[:-1] + fills.hop_ns[:-1]
    report.add_each(
        Rule.PREFILL_START,
        follows & (pieces.start_ns[1:] < handed_ns),
        lambda i: f"{fills.name(i + 1, timeline)} starts before the shard before it hands over at {at(handed_ns[i])}",
    )
    if inference.admission == "slo":
        assert inference.slo_ttft_ms is not None
        slo_ns = ns_from_s(inference.slo_ttft_ms * S_PER_MS)
        ttft_ns = pieces.end_ns - fills.arrival_ns
        report.add_each(
            Rule.ADMISSION,
            ttft_ns > slo_ns,
            lambda i: f"{fills.name(i, timeline)} ends {at(ttft_ns[i])} after the arrival; the SLO is {at(slo_ns)}",
        )


def _check_overlaps(timeline: Timeline, fills: _Fills, report: Report) -> None:
    """Check that pieces of one worker do not overlap each other."""
    pieces = fills.pieces
    order = np.lexsort((pieces.end_ns, pieces.start_ns, pieces.row))
    before, after = order[:-1], order[1:]
    report.add_each(
        Rule.PREFILL_OVERLAP,
        (pieces.row[before] == pieces.row[after]) & (pieces.start_ns[after] < pieces.end_ns[before]),
        lambda i: (
            f"{fills.name(int(after[i]), timeline)} starts before request {pieces.item[before[i]]} ends there at "
            f"{at(pieces.end_ns[before[i]])}"
        ),
    )


def _check_gaps(inference: Inference, timeline: Timeline, fills: _Fills, report: Report) -> None:
    """Check that pieces lie in the gaps of the repeated iteration, the guard left free, within the horizon."""
    pieces, horizon_ns = fills.pieces, timeline.horizon_ns
    beyond = pieces.end_ns > horizon_ns
    report.add_each(
        Rule.HORIZON,
        beyond,
        lambda i: f"{fills.name(i, timeline)} ends at {at(pieces.end_ns[i])}, after the horizon of {at(horizon_ns)}",
    )
    if beyond.any() or timeline.iteration_time_ns == 0:
        return
    gap_end_ns = _gap_end_ns(inference, timeline, pieces)
    over = gap_end_ns < pieces.end_ns
    report.add_each(
        Rule.PREFILL_OVER_TRAINING,
        over,
        lambda i: (
            f"{fills.name(i, timeline)} ends at {at(pieces.end_ns[i])}; training has the worker from "
            f"{at(gap_end_ns[i])}"
        ),
    )
    guard_ns = ns_from_s(inference.guard_ms * S_PER_MS)
    report.add_each(
        Rule.GUARD,
        ~over & (gap_end_ns - guard_ns < pieces.end_ns),
        lambda i: (
            f"{fills.name(i, timeline)} ends at {at(pieces.end_ns[i])}, less than {at(guard_ns)} before the gap "
            f"ends at {at(gap_end_ns[i])}"
        ),
    )


def _gap_end_ns(inference: Inference, timeline: Timeline, pieces: Segments) -> Times:
    """Return when training takes each piece's worker next, or still has it; else the horizon."""
    iteration, length_ns = timeline.iteration, timeline.iteration_time_ns
    num_cell_workers = timeline.layout.num_cell_workers
    blocks = (iteration.row < num_cell_workers) & (iteration.duration_ns > 0)
    if not inference.allreduce_blocks:
        blocks &= iteration.kind != Kind.ALL_REDUCE
    busy = iteration.take(np.flatnonzero(blocks)).sorted_by_row()
    first = np.searchsorted(busy.row, np.arange(num_cell_workers + 1))
    template_row = pieces.row % num_cell_workers
    gap_end_ns = np.full(len(pieces), timeline.horizon_ns, dtype=np.int64)
    for row in np.unique(template_row).tolist():
        start_ns, end_ns = (column[first[row] : first[row + 1]] for column in (busy.start_ns, busy.end_ns))
        if len(start_ns) == 0:
            continue
        ours = np.flatnonzero(template_row == row)
        round_index, phase_ns = np.divmod(pieces.start_ns[ours], length_ns)
        following = np.searchsorted(end_ns, phase_ns, side="right")
        wraps = following == len(start_ns)
        next_ns = (round_index + wraps) * length_ns + start_ns[np.where(wraps, 0, following)]
        gap_end_ns[ours] = np.minimum(next_ns, timeline.horizon_ns)
    return gap_end_ns
