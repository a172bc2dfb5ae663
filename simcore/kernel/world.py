"""What the event loop reads (`Tables`) and what it changes (`World`): integers and arrays only.

Short names in the shapes: P stages, K pipelines of the cell, W = K * P workers, M microbatches,
V chunks, U = V * M units of a worker, C channels, T tensors, R = W + C rows, S segments.

A worker is `pipeline * P + stage`; a unit `chunk * M + microbatch`; an operation
`kind * U + unit`; a boundary lies between virtual stages `boundary` and `boundary + 1`. A way is
`(pipeline * V * P + boundary) * 2 + is_gradient`, what a tensor is but for its microbatch, and a
tensor is `microbatch << way_bits | way`: tensors compare in the order in which a channel serves those
that joined at one instant (MODEL section 4). Tables by way, worker and unit spare the loop its
divisions.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.kernel.heap import NEVER_NS
from simcore.results.segments import Kind
from simcore.schedules import GREEDY, stage_orders

NO_TENSOR = -1
NO_WAY = -1
FREE = -1
"""Value of `World.current` of a worker that may take an operation."""

# What a unit of a worker has; bits of `World.flags`.
ACTIVATION_IS_THERE = 1
FORWARD_IS_DONE = 2
GRADIENT_IS_THERE = 4
BACKWARD_IS_DONE = 8
BACKWARD_IS_READY = FORWARD_IS_DONE | GRADIENT_IS_THERE

# Events are `payload * 4 + kind`.
OPERATION_END = 0
JOIN = 1
ARRIVAL = 2


class ExitCode(IntEnum):
    """Why the loop returned."""

    MORE = 0
    """The slice is over, the iteration is not."""
    DONE = 1
    STUCK = 2
    """Nothing will happen any more, yet operations are left: an order that waits for itself."""


class Tables(NamedTuple):
    """One cell's plan, never changed by the loop."""

    num_stages: int
    num_pipelines: int
    num_units: int
    way_bits: int
    is_greedy: bool
    is_blocking: bool
    max_in_flight: int
    optimizer_ns: int
    order: NDArray[np.int32]  # (P, operations of a worker), operations; (P, 0) under greedy
    duration_ns: NDArray[np.int64]  # (3, W) of F, B, W
    worker_stage: NDArray[np.int32]  # (W,)
    unit_chunk: NDArray[np.int32]  # (U,)
    unit_microbatch: NDArray[np.int32]  # (U,)
    sent_way: NDArray[np.int32]  # (2, W, V) of what F, B of a chunk sends; NO_WAY
    way_channel: NDArray[np.int32]  # (ways,)
    way_part: NDArray[np.int64]  # (ways,) TransferPart code
    part_way: NDArray[np.int32]  # (ways,) of a TransferPart code
    way_sender: NDArray[np.int32]  # (ways,) worker
    way_receiver: NDArray[np.int32]  # (ways,) worker
    way_unit: NDArray[np.int32]  # (ways,) receiver's unit of microbatch 0
    scatter_ns: NDArray[np.int64]  # (C,)
    occupation_ns: NDArray[np.int64]  # (C,)
    arrival_ns: NDArray[np.int64]  # (C,) from the end of the occupation
    transfer_kind: NDArray[np.uint8]  # (C,) Kind
    all_reduce_ns: NDArray[np.int64]  # (P,)


class World(NamedTuple):
    """The state of a cell's iteration."""

    clock_ns: NDArray[np.int64]  # (1,) everything up to this instant has happened
    operations_left: NDArray[np.int64]  # (1,)
    event_ns: NDArray[np.int64]  # (E + 1,) heap, E = W + C + T joins of scattered tensors
    event: NDArray[np.int64]  # (E + 1,) heap
    num_events: NDArray[np.int64]  # (1,)
    flags: NDArray[np.uint8]  # (W, U) bits
    current: NDArray[np.int32]  # (W,) operation that runs or whose send blocks; FREE
    num_taken: NDArray[np.int32]  # (W,) operations started
    in_flight: NDArray[np.int32]  # (W,) greedy: F started, B not finished
    ready: NDArray[np.int32]  # (2, W, M) greedy: microbatches whose F, B is ready, lowest first
    ready_head: NDArray[np.int32]  # (2, W)
    ready_tail: NDArray[np.int32]  # (2, W)
    blocked_since_ns: NDArray[np.int64]  # (W,)
    dirty: NDArray[np.int32]  # (W,) workers that may be able to start something now
    is_dirty: NDArray[np.bool_]  # (W,)
    num_dirty: NDArray[np.int64]  # (1,)
    pending_first: NDArray[np.int32]  # (C,) tensors that joined at this instant, not yet given a start; NO_TENSOR
    pending_last: NDArray[np.int32]  # (C,)
    pending_next: NDArray[np.int32]  # (T codes,)
    touched: NDArray[np.int32]  # (C,) channels with pending tensors
    num_touched: NDArray[np.int64]  # (1,)
    free_at_ns: NDArray[np.int64]  # (C,) end of what has been given a start
    next_arrival: NDArray[np.int64]  # (C,) place of the segment whose tensor arrives next
    stage_operations_left: NDArray[np.int64]  # (P,) over all pipelines
    stage_done_ns: NDArray[np.int64]  # (P,)
    row_end: NDArray[np.int64]  # (R,) where each row's next segment goes
    log: NDArray[np.int64]  # (S, 3) records of segments, each row's in its own stretch; see segment_log


def way_bits(plan: Plan) -> int:
    """Return how many bits hold a way."""
    return (2 * plan.layout.cell_size * plan.layout.num_virtual_stages - 1).bit_length()


def tables(plan: Plan) -> Tables:
    """Return the tables of a plan."""
    layout, microbatches, chunks = plan.layout, plan.num_microbatches, plan.num_chunks
    stages, num_virtual, num_ways = (
        layout.num_stages,
        layout.num_virtual_stages,
        2 * layout.cell_size * layout.num_virtual_stages,
    )
    lane, is_gradient = np.divmod(np.arange(num_ways), 2)
    pipeline, boundary = np.divmod(lane, num_virtual)
    # The last boundary of a pipeline leads nowhere; its ways are never used.
    source = np.minimum(boundary + is_gradient, num_virtual - 1)
    target = np.minimum(boundary + 1 - is_gradient, num_virtual - 1)
    part = (pipeline * 2 + is_gradient) * num_virtual + source
    leads_on = boundary < num_virtual - 1
    part_way = np.full(num_ways, NO_WAY, dtype=np.int32)
    part_way[part[leads_on]] = np.flatnonzero(leads_on)
    channel = np.stack([plan.activation_channel, plan.gradient_channel])
    virtual = np.arange(num_virtual)
    firsts = np.arange(layout.cell_size)[:, None] * num_virtual
    sent = np.stack([(firsts + virtual) * 2, (firsts + virtual - 1) * 2 + 1])
    sent_by_chunk = np.where(channel >= 0, sent, NO_WAY).reshape(2, layout.cell_size, chunks, stages)
    units = np.arange(chunks * microbatches)
    return Tables(
        num_stages=stages,
        num_pipelines=layout.cell_size,
        num_units=chunks * microbatches,
        way_bits=way_bits(plan),
        is_greedy=plan.schedule == GREEDY,
        is_blocking=plan.blocking_sends,
        max_in_flight=plan.max_in_flight,
        optimizer_ns=plan.optimizer_ns,
        order=stage_orders(plan.schedule, stages, microbatches, chunks),
        duration_ns=np.tile(np.stack([plan.forward_ns, plan.backward_ns, plan.weight_ns]), layout.cell_size),
        worker_stage=np.tile(np.arange(stages, dtype=np.int32), layout.cell_size),
        unit_chunk=(units // microbatches).astype(np.int32),
        unit_microbatch=(units % microbatches).astype(np.int32),
        sent_way=np.ascontiguousarray(sent_by_chunk.transpose(0, 1, 3, 2), dtype=np.int32).reshape(2, -1, chunks),
        way_channel=channel[is_gradient, pipeline, source],
        way_part=part,
        part_way=part_way,
        way_sender=(pipeline * stages + source % stages).astype(np.int32),
        way_receiver=(pipeline * stages + target % stages).astype(np.int32),
        way_unit=(target // stages * microbatches).astype(np.int32),
        scatter_ns=plan.scatter_ns,
        occupation_ns=plan.occupation_ns,
        arrival_ns=plan.arrival_ns,
        transfer_kind=np.array(
            [Kind.WAN_TRANSFER if channel.is_wan else Kind.LOCAL_TRANSFER for channel in layout.channels],
            dtype=np.uint8,
        ),
        all_reduce_ns=plan.all_reduce_ns,
    )


def row_lengths(plan: Plan) -> NDArray[np.int64]:
    """Return how many segments each row of the cell will have, shape (W + C,)."""
    sends = np.stack([plan.activation_channel, plan.gradient_channel])
    by_worker = np.full(plan.num_workers, plan.num_worker_operations, dtype=np.int64)
    if plan.blocking_sends:
        virtual_sends = (sends >= 0).sum(axis=0).reshape(plan.layout.cell_size, -1, plan.layout.num_stages)
        by_worker += virtual_sends.sum(axis=1).ravel() * plan.num_microbatches
    by_worker += np.tile(plan.all_reduce_ns > 0, plan.layout.cell_size)
    by_worker += plan.optimizer_ns > 0
    by_channel = np.bincount(sends[sends >= 0].ravel(), minlength=len(plan.layout.channels)) * plan.num_microbatches
    return np.concatenate([by_worker, by_channel.astype(np.int64)])


def world(plan: Plan) -> World:
    """Return the state before the first instant: every worker may start, nothing has been sent."""
    workers, stages, channels = plan.num_workers, plan.layout.num_stages, len(plan.layout.channels)
    microbatches, chunks = plan.num_microbatches, plan.num_chunks
    units = microbatches * chunks
    flags = np.zeros((plan.layout.cell_size, stages, chunks, microbatches), dtype=np.uint8)
    flags[:, 0, 0] |= ACTIVATION_IS_THERE
    flags[:, -1, -1] |= GRADIENT_IS_THERE
    is_greedy = plan.schedule == GREEDY
    ready = np.zeros((2, workers, microbatches if is_greedy else 0), dtype=np.int32)
    ready_tail = np.zeros((2, workers), dtype=np.int32)
    if is_greedy:
        ready[0, ::stages] = np.arange(microbatches, dtype=np.int32)
        ready_tail[0, ::stages] = microbatches
    lengths = row_lengths(plan)
    row_end = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    num_segments = int(lengths.sum())
    # Ends of operations, each channel's next arrival, and what is being scattered.
    most_events = workers + channels + (plan.num_transfers if plan.scatter_ns.any() else 0)
    return World(
        clock_ns=np.zeros(1, dtype=np.int64),
        operations_left=np.array([plan.num_operations], dtype=np.int64),
        event_ns=np.full(most_events + 4, NEVER_NS, dtype=np.int64),
        event=np.empty(most_events + 4, dtype=np.int64),
        num_events=np.zeros(1, dtype=np.int64),
        flags=flags.reshape(workers, units),
        current=np.full(workers, FREE, dtype=np.int32),
        num_taken=np.zeros(workers, dtype=np.int32),
        in_flight=np.zeros(workers, dtype=np.int32),
        ready=ready,
        ready_head=np.zeros((2, workers), dtype=np.int32),
        ready_tail=ready_tail,
        blocked_since_ns=np.zeros(workers, dtype=np.int64),
        dirty=np.arange(workers, dtype=np.int32),
        is_dirty=np.ones(workers, dtype=np.bool_),
        num_dirty=np.array([workers], dtype=np.int64),
        pending_first=np.full(channels, NO_TENSOR, dtype=np.int32),
        pending_last=np.full(channels, NO_TENSOR, dtype=np.int32),
        pending_next=np.empty(microbatches << way_bits(plan), dtype=np.int32),
        touched=np.empty(channels, dtype=np.int32),
        num_touched=np.zeros(1, dtype=np.int64),
        free_at_ns=np.zeros(channels, dtype=np.int64),
        next_arrival=row_end[workers:].astype(np.int64),
        stage_operations_left=np.full(stages, plan.layout.cell_size * plan.num_worker_operations, dtype=np.int64),
        stage_done_ns=np.zeros(stages, dtype=np.int64),
        row_end=row_end.astype(np.int64),
        log=np.empty((num_segments, 3), dtype=np.int64),
    )
