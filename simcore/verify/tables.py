"""The iteration's segments as dense tables, complete or not at all.

Axes: operations (K, 3 kinds F B W, V * P virtual stages, M); tensors (K, 2 activation gradient,
V * P sending virtual stages, M). Entries that do not exist hold 0 and are masked.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.results.segments import Kind, Segments
from simcore.results.timeline import Timeline
from simcore.verify.report import KIND_LETTERS, Report, Rule, at, channel_name, worker_name

Times = NDArray[np.int64]

OPERATION_KINDS = (Kind.FORWARD, Kind.BACKWARD, Kind.WEIGHT)
TRANSFER_KINDS = (Kind.LOCAL_TRANSFER, Kind.WAN_TRANSFER)
WORKER_KINDS = (*OPERATION_KINDS, Kind.BLOCKED_SEND, Kind.ALL_REDUCE, Kind.OPTIMIZER)


@dataclass(frozen=True, slots=True)
class Tables:
    """When every operation and tensor of the cell happened."""

    start_ns: Times
    end_ns: Times
    sent_ns: Times
    """Start of a tensor's occupation."""
    sent_end_ns: Times
    arrival_ns: Times
    """When the receiver can use it: occupation, latency, gather."""
    channel: NDArray[np.int64]
    """Channel of each tensor, shape (K, 2, V * P); -1 where there is none."""
    exists: NDArray[np.bool_]
    """Whether the schedule has the operation kind, shape (3,)."""

    def ready_ns(self) -> Times:
        """Return when everything an operation needs is there, shape (K, 3, V * P, M)."""
        ready = np.zeros_like(self.start_ns)
        ready[:, 0, 1:] = self.arrival_ns[:, 0, :-1]
        ready[:, 1] = self.end_ns[:, 0]
        ready[:, 1, :-1] = np.maximum(ready[:, 1, :-1], self.arrival_ns[:, 1, 1:])
        ready[:, 2] = self.end_ns[:, 1]
        return ready

    def released_ns(self, blocking_sends: bool) -> Times:
        """Return when an operation lets its worker go on: its end, or its tensor's arrival if sends block."""
        released = self.end_ns.copy()
        if blocking_sends:
            released[:, 0, :-1] = self.arrival_ns[:, 0, :-1]
            released[:, 1, 1:] = self.arrival_ns[:, 1, 1:]
        return released


def operation_name(plan: Plan, position: int) -> str:
    """Return how sentences call the operation at a flat position of the operations' table."""
    num_stages, num_virtual = plan.layout.num_stages, plan.layout.num_virtual_stages
    shape = (plan.layout.cell_size, 3, num_virtual, plan.num_microbatches)
    pipeline, kind, virtual, microbatch = (int(index) for index in np.unravel_index(position, shape))
    chunk, stage = divmod(virtual, num_stages)
    of_chunk = f", chunk {chunk}" if plan.num_chunks > 1 else ""
    return f"{worker_name(pipeline, stage)}: {KIND_LETTERS[kind]} of microbatch {microbatch}{of_chunk}"


def tensor_name(plan: Plan, position: int) -> str:
    """Return how sentences call the tensor at a flat position of the tensors' table."""
    num_stages, num_virtual = plan.layout.num_stages, plan.layout.num_virtual_stages
    shape = (plan.layout.cell_size, 2, num_virtual, plan.num_microbatches)
    pipeline, is_gradient, virtual, microbatch = (int(index) for index in np.unravel_index(position, shape))
    what = "gradient" if is_gradient else "activation"
    return f"the {what} of microbatch {microbatch} from {worker_name(pipeline, virtual % num_stages)}"


def read_tables(plan: Plan, timeline: Timeline, report: Report) -> Tables | None:
    """Return the tables of a complete iteration; None, and why in the report, of another."""
    segments = timeline.iteration
    if not _are_possible(plan, timeline, report):
        return None
    operations = _read_operations(plan, segments, report)
    transfers = _read_transfers(plan, segments, report)
    if operations is None or transfers is None:
        return None
    start_ns, end_ns, exists = operations
    sent_ns, sent_end_ns, channel = transfers
    delay_ns = np.append(plan.arrival_ns, 0)[channel]
    return Tables(
        start_ns=start_ns,
        end_ns=end_ns,
        sent_ns=sent_ns,
        sent_end_ns=sent_end_ns,
        arrival_ns=sent_end_ns + delay_ns[..., np.newaxis],
        channel=channel,
        exists=exists,
    )


def _are_possible(plan: Plan, timeline: Timeline, report: Report) -> bool:
    """Report segments of the iteration whose row, kind or time cannot be."""
    segments, num_workers = timeline.iteration, plan.num_workers
    on_worker = segments.row < num_workers
    fits = np.where(on_worker, np.isin(segments.kind, WORKER_KINDS), np.isin(segments.kind, TRANSFER_KINDS))
    fits &= segments.row < num_workers + len(plan.layout.channels)
    inside = (segments.start_ns >= 0) & (segments.duration_ns >= 0)
    # Compared without the sum, which an absurd duration could overflow.
    inside &= segments.duration_ns <= timeline.iteration_time_ns - segments.start_ns
    report.add_each(
        Rule.SEGMENT,
        ~fits,
        lambda i: (
            f"a segment of kind {segments.kind[i]} on row {segments.row[i]} at {at(segments.start_ns[i])}: "
            "that row does not show that kind"
        ),
    )
    report.add_each(
        Rule.SEGMENT,
        ~inside,
        lambda i: (
            f"row {segments.row[i]}: from {at(segments.start_ns[i])} for {at(segments.duration_ns[i])} is not "
            f"within the iteration of {at(timeline.iteration_time_ns)}"
        ),
    )
    return bool(fits.all() and inside.all())


def _read_operations(plan: Plan, segments: Segments, report: Report) -> tuple[Times, Times, NDArray[np.bool_]] | None:
    layout = plan.layout
    shape = (layout.cell_size, 3, layout.num_virtual_stages, plan.num_microbatches)
    ours = segments.take(np.flatnonzero(np.isin(segments.kind, OPERATION_KINDS)))
    pipeline, stage = np.divmod(ours.row.astype(np.int64), layout.num_stages)
    virtual = ours.part.astype(np.int64) * layout.num_stages + stage
    known = (ours.item < plan.num_microbatches) & (ours.part < plan.num_chunks)
    report.add_each(
        Rule.OPERATIONS,
        ~known,
        lambda i: (
            f"{worker_name(int(pipeline[i]), int(stage[i]))}: microbatch {ours.item[i]}, chunk {ours.part[i]} at "
            f"{at(ours.start_ns[i])} is none of the {plan.num_microbatches} x {plan.num_chunks} of the scenario"
        ),
    )
    if not known.all():
        return None
    position = np.ravel_multi_index((pipeline, ours.kind.astype(np.int64), virtual, ours.item.astype(np.int64)), shape)
    exists = np.array([True, True, plan.splits_weight])
    wanted = np.broadcast_to(exists[np.newaxis, :, np.newaxis, np.newaxis], shape).ravel()
    times = _scattered(position, ours, wanted)
    if isinstance(times, np.ndarray):
        report.add_each(
            Rule.OPERATIONS,
            times != wanted,
            lambda i: f"{operation_name(plan, i)} is there {times[i]} times; expected {int(wanted[i])}",
        )
        return None
    start_ns, end_ns = (column.reshape(shape) for column in times)
    planned = np.stack([plan.forward_ns, plan.backward_ns, plan.weight_ns])
    planned_virtual = np.tile(planned, plan.num_chunks)[np.newaxis, :, :, np.newaxis]
    wrong = (end_ns - start_ns != planned_virtual) & wanted.reshape(shape)
    expected = np.broadcast_to(planned_virtual, shape).ravel()
    report.add_each(
        Rule.DURATION,
        wrong.ravel(),
        lambda i: (
            f"{operation_name(plan, i)} at {at(start_ns.flat[i])} takes {at(end_ns.flat[i] - start_ns.flat[i])}; "
            f"planned are {at(expected[i])}"
        ),
    )
    return start_ns, end_ns, exists


def _read_transfers(plan: Plan, segments: Segments, report: Report) -> tuple[Times, Times, NDArray[np.int64]] | None:
    layout = plan.layout
    num_virtual = layout.num_virtual_stages
    shape = (layout.cell_size, 2, num_virtual, plan.num_microbatches)
    channel = np.stack([plan.activation_channel, plan.gradient_channel], axis=1).astype(np.int64)
    ours = segments.take(np.flatnonzero(np.isin(segments.kind, TRANSFER_KINDS)))
    # `part` packs (pipeline, is gradient, virtual source) in this order: it is a flat position by itself.
    known = (ours.item < plan.num_microbatches) & (ours.part < layout.cell_size * 2 * num_virtual)
    report.add_each(
        Rule.TRANSFERS,
        ~known,
        lambda i: (
            f"row {ours.row[i]} at {at(ours.start_ns[i])}: microbatch {ours.item[i]}, tensor {ours.part[i]} is none "
            "of the scenario"
        ),
    )
    if not known.all():
        return None
    part = ours.part.astype(np.int64)
    position = part * plan.num_microbatches + ours.item
    wanted = np.repeat(channel.ravel() >= 0, plan.num_microbatches)
    times = _scattered(position, ours, wanted)
    if isinstance(times, np.ndarray):
        report.add_each(
            Rule.TRANSFERS,
            times != wanted,
            lambda i: f"{tensor_name(plan, i)} is sent {times[i]} times; expected {int(wanted[i])}",
        )
        return None
    right_channel = channel.ravel()[part]
    is_wan = np.array([channel.is_wan for channel in layout.channels] + [False])
    right_kind = np.where(is_wan[right_channel], Kind.WAN_TRANSFER, Kind.LOCAL_TRANSFER)
    elsewhere = (ours.row != right_channel + plan.num_workers) | (ours.kind != right_kind)
    report.add_each(
        Rule.TRANSFERS,
        elsewhere,
        lambda i: (
            f"{tensor_name(plan, int(position[i]))} at {at(ours.start_ns[i])} belongs on the "
            f"{channel_name(plan, int(right_channel[i]))} as {'WAN' if is_wan[right_channel[i]] else 'local'} transfer"
        ),
    )
    report.add_each(
        Rule.DURATION,
        ours.duration_ns != plan.occupation_ns[right_channel],
        lambda i: (
            f"{tensor_name(plan, int(position[i]))} at {at(ours.start_ns[i])} occupies its channel for "
            f"{at(ours.duration_ns[i])}; planned are {at(plan.occupation_ns[right_channel[i]])}"
        ),
    )
    sent_ns, sent_end_ns = (column.reshape(shape) for column in times)
    return sent_ns, sent_end_ns, channel


def _scattered(
    position: NDArray[np.int64], segments: Segments, wanted: NDArray[np.bool_]
) -> tuple[Times, Times] | NDArray[np.int64]:
    """Return starts and ends by position; the counts instead when they are not the wanted ones."""
    counts = np.bincount(position, minlength=len(wanted))
    if not np.array_equal(counts, wanted):
        return counts
    start_ns, end_ns = np.zeros(len(wanted), dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
    start_ns[position] = segments.start_ns
    end_ns[position] = segments.end_ns
    return start_ns, end_ns
