"""The end of the iteration: all-reduce, optimizer, length (MODEL section 6)."""

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.results.segments import Kind
from simcore.results.timeline import Timeline
from simcore.verify.report import Report, Rule, at, worker_name
from simcore.verify.tables import Tables


def check_end(plan: Plan, tables: Tables, timeline: Timeline, report: Report) -> None:
    """Report all-reduces and optimizers at the wrong time, and a wrong length of the iteration."""
    num_stages = plan.layout.num_stages
    # An absent W is 0 in the table and never the latest.
    last_ns = tables.released_ns(plan.blocking_sends).max(axis=(0, 1, 3))
    done_ns = last_ns.reshape(plan.num_chunks, num_stages).max(axis=0)
    reduced_ns = done_ns + plan.all_reduce_ns
    optimizer_ns = np.full(num_stages, plan.optimizer_ns)
    _check_kind(plan, timeline, report, Rule.ALL_REDUCE, done_ns, plan.all_reduce_ns)
    _check_kind(plan, timeline, report, Rule.OPTIMIZER, reduced_ns, optimizer_ns)
    length_ns = int((reduced_ns + optimizer_ns).max())
    if timeline.iteration_time_ns != length_ns:
        report.add(
            Rule.ITERATION_LENGTH,
            f"the iteration is said to take {at(timeline.iteration_time_ns)}, but the last stage is through at "
            f"{at(length_ns)}",
        )


def _check_kind(
    plan: Plan,
    timeline: Timeline,
    report: Report,
    rule: Rule,
    start_ns: NDArray[np.int64],
    duration_ns: NDArray[np.int64],
) -> None:
    """Report segments of one kind that are not once on every worker of a stage, where and as long as planned."""
    kind = Kind.ALL_REDUCE if rule is Rule.ALL_REDUCE else Kind.OPTIMIZER
    ours = timeline.iteration.take(np.flatnonzero(timeline.iteration.kind == kind))
    missing = {row for row in range(plan.num_workers) if duration_ns[row % plan.layout.num_stages] > 0}
    for row, start, duration in zip(ours.row.tolist(), ours.start_ns.tolist(), ours.duration_ns.tolist(), strict=True):
        pipeline, stage = divmod(row, plan.layout.num_stages)
        right = (row in missing) and (start, duration) == (start_ns[stage], duration_ns[stage])
        missing.discard(row)
        if not right:
            report.add(
                rule,
                f"{worker_name(pipeline, stage)}: {rule} from {at(start)} for {at(duration)}; right is once, from "
                f"{at(start_ns[stage])} for {at(duration_ns[stage])}",
            )
    for row in sorted(missing):
        pipeline, stage = divmod(row, plan.layout.num_stages)
        report.add(
            rule,
            f"{worker_name(pipeline, stage)}: no {rule}; it belongs at {at(start_ns[stage])} for "
            f"{at(duration_ns[stage])}",
        )
