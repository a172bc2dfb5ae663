"""What holds for every worker, whatever its schedule."""

import numpy as np

from simcore.costs.plan import Plan
from simcore.results.segments import Kind
from simcore.results.timeline import Timeline
from simcore.verify.report import Report, Rule, at, worker_name
from simcore.verify.tables import Tables, operation_name


def check_dependencies(plan: Plan, tables: Tables, report: Report) -> None:
    """Report operations that start before their activation, gradient, F or B is there."""
    ready_ns = tables.ready_ns()
    early = (tables.start_ns < ready_ns) & tables.exists[np.newaxis, :, np.newaxis, np.newaxis]
    report.add_each(
        Rule.DEPENDENCY,
        early.ravel(),
        lambda i: (
            f"{operation_name(plan, i)} starts at {at(tables.start_ns.flat[i])}, but what it needs is there only "
            f"at {at(ready_ns.flat[i])}"
        ),
    )


def check_one_at_a_time(plan: Plan, timeline: Timeline, report: Report) -> None:
    """Report segments of one worker that overlap; one of no length may only stand between others."""
    segments = timeline.iteration
    ours = segments.take(np.flatnonzero(segments.row < plan.num_workers))
    ours = ours.take(np.lexsort((ours.end_ns, ours.start_ns, ours.row)))
    same_row = ours.row[1:] == ours.row[:-1]
    overlap = same_row & (ours.start_ns[1:] < ours.end_ns[:-1])

    def sentence(i: int) -> str:
        pipeline, stage = divmod(int(ours.row[i]), plan.layout.num_stages)
        names = [Kind(ours.kind[j]).name.lower().replace("_", " ") for j in (i, i + 1)]
        return (
            f"{worker_name(pipeline, stage)}: {names[1]} of microbatch {ours.item[i + 1]} starts at "
            f"{at(ours.start_ns[i + 1])}, before {names[0]} of microbatch {ours.item[i]} ends at {at(ours.end_ns[i])}"
        )

    report.add_each(Rule.ONE_AT_A_TIME, overlap, sentence)


def check_blocked_sends(plan: Plan, tables: Tables, timeline: Timeline, report: Report) -> None:
    """Report blocked sends that are missing, needless, or not from the operation's end to the arrival."""
    segments, layout = timeline.iteration, plan.layout
    # One of no length keeps nobody from anything: it may be recorded or left out.
    ours = segments.take(np.flatnonzero((segments.kind == Kind.BLOCKED_SEND) & (segments.duration_ns > 0)))
    released_ns = tables.released_ns(plan.blocking_sends)
    position = np.flatnonzero((released_ns > tables.end_ns) & tables.exists[np.newaxis, :, np.newaxis, np.newaxis])
    pipeline, _, virtual, microbatch = np.unravel_index(position, tables.start_ns.shape)
    row = pipeline * layout.num_stages + virtual % layout.num_stages
    blocked = (row, microbatch, tables.end_ns.ravel()[position], released_ns.ravel()[position])
    expected = dict(zip(zip(*(column.tolist() for column in blocked), strict=True), position.tolist(), strict=True))
    columns = (ours.row, ours.item, ours.start_ns, ours.end_ns)
    for found in zip(*(column.tolist() for column in columns), strict=True):
        if expected.pop(found, None) is None:
            name = worker_name(*divmod(found[0], layout.num_stages))
            report.add(
                Rule.BLOCKED_SEND,
                f"{name}: nothing of microbatch {found[1]} is on its way from {at(found[2])} to {at(found[3])}",
            )
    for where in expected.values():
        report.add(
            Rule.BLOCKED_SEND,
            f"{operation_name(plan, where)} must block its worker from {at(tables.end_ns.flat[where])} to "
            f"{at(released_ns.flat[where])}, when its tensor arrives",
        )
