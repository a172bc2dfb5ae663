"""The twin's result in the engine's shape, to compare the two and to verify it."""

import numpy as np

from simcore.costs.plan import Plan, cell_plan
from simcore.reference import ReferenceResult
from simcore.results.segments import DTYPES, Kind, Segments, TransferPart
from simcore.results.timeline import Timeline
from simcore.scenario.document import Scenario

LETTER_KINDS = {"F": Kind.FORWARD, "B": Kind.BACKWARD, "W": Kind.WEIGHT}
Row = tuple[int, int, int, int, int, int]


def segments_of(rows: list[Row]) -> Segments:
    """Return segments of (row, kind, start, duration, item, part), sorted by row and start."""
    columns = zip(*rows, strict=True) if rows else [[]] * len(DTYPES)
    arrays = (np.array(column, dtype=dtype) for column, dtype in zip(columns, DTYPES.values(), strict=True))
    return Segments(*arrays).sorted_by_row()


def rows_of(segments: Segments) -> list[Row]:
    """Return the segments as tuples of plain numbers."""
    columns = (getattr(segments, name).tolist() for name in DTYPES)
    return list(zip(*columns, strict=True))


def twin_timeline(scenario: Scenario, result: ReferenceResult) -> Timeline:
    """Return the timeline of a twin's result."""
    plan = cell_plan(scenario)
    stages = plan.layout.num_stages
    return Timeline(
        layout=plan.layout,
        iteration_time_ns=result.iteration_time_ns,
        num_iterations=1 if scenario.inference is None else scenario.inference.iterations,
        iteration=segments_of(_iteration_rows(plan, result)),
        fills=segments_of(
            [
                (piece.pipeline * stages + piece.stage, Kind.PREFILL, *piece[4:], piece.request, piece.shard)
                for piece in result.prefills
            ]
        ),
    )


def _iteration_rows(plan: Plan, result: ReferenceResult) -> list[Row]:
    stages, num_virtual = plan.layout.num_stages, plan.layout.num_virtual_stages
    rows: list[Row] = []
    for operation in result.operations:
        row = operation.pipeline * stages + operation.stage
        duration_ns = operation.end_ns - operation.start_ns
        kind = LETTER_KINDS[operation.kind]
        rows.append((row, kind, operation.start_ns, duration_ns, operation.microbatch, operation.chunk))
    for blocked in result.blocked:
        row = blocked.pipeline * stages + blocked.stage
        duration_ns = blocked.end_ns - blocked.start_ns
        rows.append((row, Kind.BLOCKED_SEND, blocked.start_ns, duration_ns, blocked.microbatch, blocked.chunk))
    for transfer in result.transfers:
        channels = plan.gradient_channel if transfer.is_gradient else plan.activation_channel
        row = plan.num_workers + int(channels[transfer.pipeline, transfer.virtual_source])
        kind = Kind.WAN_TRANSFER if transfer.is_wan else Kind.LOCAL_TRANSFER
        part = TransferPart(transfer.pipeline, transfer.is_gradient, transfer.virtual_source).code(num_virtual)
        rows.append((row, kind, transfer.start_ns, transfer.end_ns - transfer.start_ns, transfer.microbatch, part))
    for pipeline in range(plan.layout.cell_size):
        for stage, done_ns in enumerate(result.stage_done_ns):
            row, reduce_ns = pipeline * stages + stage, result.all_reduce_ns[stage]
            if reduce_ns:
                rows.append((row, Kind.ALL_REDUCE, done_ns, reduce_ns, 0, 0))
            if result.optimizer_ns:
                rows.append((row, Kind.OPTIMIZER, done_ns + reduce_ns, result.optimizer_ns, 0, 0))
    return rows
