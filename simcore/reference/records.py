"""What the twin reports."""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Operation(NamedTuple):
    """One F, B or W of the simulated cell."""

    kind: str
    """`F`, `B` or `W`."""
    pipeline: int
    """Within the cell; likewise below, except for prefill."""
    stage: int
    microbatch: int
    chunk: int
    start_ns: int
    end_ns: int


class Transfer(NamedTuple):
    """One tensor's way over its channel."""

    source_stage: int
    target_stage: int
    pipeline: int
    microbatch: int
    is_gradient: bool
    virtual_source: int
    """Sending stage, `chunk * P + stage`."""
    queued_ns: int
    """When it joined the channel's queue, scattered already."""
    start_ns: int
    end_ns: int
    """End of the channel's occupation."""
    arrival_ns: int
    """When the receiver can use it, gathered already."""
    is_wan: bool


class Blocked(NamedTuple):
    """A worker that waits for a tensor it sent to arrive."""

    pipeline: int
    stage: int
    microbatch: int
    chunk: int
    kind: str
    """Kind of the operation that produced the tensor."""
    start_ns: int
    end_ns: int


class PrefillPiece(NamedTuple):
    """One shard's share of one request."""

    request: int
    """Position in the document."""
    shard: int
    pipeline: int
    """Among all D pipelines."""
    stage: int
    start_ns: int
    duration_ns: int


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """One iteration of one cell, the prefill of the whole horizon, and the figures."""

    figures: dict[str, Any]
    operations: list[Operation]
    """In the order in which they started."""
    transfers: list[Transfer]
    blocked: list[Blocked]
    """Empty unless sends block."""
    stage_done_ns: list[int]
    """When the last operation of each stage has ended on every pipeline, its tensors arrived if sends block."""
    all_reduce_ns: list[int]
    optimizer_ns: int
    iteration_time_ns: int
    prefills: list[PrefillPiece]
    """In booking order."""
