"""Schedules: what a free worker takes, and that it takes it at once."""

import heapq

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.verify.report import Report, Rule, at, worker_name
from simcore.verify.tables import Tables, operation_name


def static_rank(plan: Plan, stage: int) -> NDArray[np.int64]:
    """Return each operation's place in the list of a worker, shape (3, V, M); W only where split.

    In closed form, from the place of the i-th F and the i-th B: with `w` F of warm-up,
    F(i) stands at i, or at w + 2 (i - w) once they alternate; B(i) at w + 2 i + 1, or at n + i once
    the F are used up.
    """
    num_stages, num_chunks, num_microbatches = plan.layout.num_stages, plan.num_chunks, plan.num_microbatches
    total = num_chunks * num_microbatches
    i = np.arange(total, dtype=np.int64)
    microbatch, chunk, weights = i, np.zeros_like(i), np.zeros_like(i)
    warm_up = min(num_stages - stage - 1, total)
    if plan.schedule == "gpipe":
        warm_up = total
    elif plan.schedule == "interleaved-1f1b":
        warm_up = min(2 * (num_stages - stage - 1) + (num_chunks - 1) * num_stages, total)
        microbatch = i // (num_stages * num_chunks) * num_stages + i % num_stages
        chunk = i // num_stages % num_chunks
    forward = np.where(i < warm_up, i, 2 * i - warm_up)
    backward = np.where(i < total - warm_up, warm_up + 2 * i + 1, total + i)
    if plan.splits_weight:
        # W(i - stage) follows B(i): every place moves on by the W before it.
        weights = np.where(i < total - stage, backward[np.minimum(i + stage, total - 1)] + i + 1, 2 * total + i)
        forward = forward + np.maximum(i - warm_up - stage, 0)
        backward = backward + np.maximum(i - stage, 0)
    rank = np.zeros((3, num_chunks, num_microbatches), dtype=np.int64)
    rank[0, chunk, microbatch] = forward
    rank[1, num_chunks - 1 - chunk, microbatch] = backward
    rank[2, chunk, microbatch] = weights
    return rank


def check_static(plan: Plan, tables: Tables, report: Report) -> None:
    """Report operations out of the list's order, and workers that wait though the next one is ready."""
    num_stages = plan.layout.num_stages
    num_kinds = 3 if plan.splits_weight else 2
    positions = np.arange(tables.start_ns.size).reshape(tables.start_ns.shape)
    ready_ns, released_ns = tables.ready_ns().ravel(), tables.released_ns(plan.blocking_sends).ravel()
    start_ns, end_ns = tables.start_ns.ravel(), tables.end_ns.ravel()
    for stage in range(num_stages):
        rank = static_rank(plan, stage)[:num_kinds].ravel()
        listed = np.argsort(rank)
        for pipeline in range(plan.layout.cell_size):
            place = positions[pipeline, :num_kinds, stage::num_stages].ravel()[listed]
            ended_ns = np.concatenate([[0], end_ns[place[:-1]]])
            free_ns = np.concatenate([[0], released_ns[place[:-1]]])
            _check_list(plan, report, place, start_ns[place], ended_ns, np.maximum(ready_ns[place], free_ns))


def _check_list(
    plan: Plan,
    report: Report,
    place: NDArray[np.int64],
    start_ns: NDArray[np.int64],
    ended_ns: NDArray[np.int64],
    possible_ns: NDArray[np.int64],
) -> None:
    """Check one worker's operations, in the order of its list."""
    report.add_each(
        Rule.SCHEDULE_ORDER,
        start_ns < ended_ns,
        lambda i: (
            f"{operation_name(plan, int(place[i]))} starts at {at(start_ns[i])}, but the operation before it in "
            f"{plan.schedule}'s list ends at {at(ended_ns[i])}"
        ),
    )
    report.add_each(
        Rule.WORKER_WAITING,
        start_ns > possible_ns,
        lambda i: (
            f"{operation_name(plan, int(place[i]))} starts at {at(start_ns[i])}, but could at {at(possible_ns[i])}"
        ),
    )


def check_greedy(plan: Plan, tables: Tables, report: Report) -> None:
    """Report choices that a greedy worker may not make, and waiting although it could go on."""
    ready_ns, released_ns = tables.ready_ns(), tables.released_ns(plan.blocking_sends)
    late = _late(tables)
    for pipeline in range(plan.layout.cell_size):
        for stage in range(plan.layout.num_stages):
            _check_greedy_worker(plan, tables, report, (pipeline, stage), ready_ns, released_ns, late)


def _late(tables: Tables) -> NDArray[np.bool_]:
    """Return whether an operation may have become ready after workers chose in that instant, shape (K, 2, P, M).

    Only a tensor that arrives in the very instant in which its operation started can do that.
    """
    late = np.zeros((tables.start_ns.shape[0], 2, *tables.start_ns.shape[2:]), dtype=np.bool_)
    late[:, 0, 1:] = tables.arrival_ns[:, 0, :-1] == tables.start_ns[:, 0, :-1]
    late[:, 1, :-1] = tables.arrival_ns[:, 1, 1:] == tables.start_ns[:, 1, 1:]
    return late


class _Eligible:
    """Microbatches of one kind that wait for a worker: lowest first, entered by the instant they are ready."""

    def __init__(self) -> None:
        self._coming: list[tuple[int, bool, int]] = []
        self._waiting: list[int] = []
        self._taken: set[int] = set()

    def expect(self, ready_ns: int, late: bool, microbatch: int) -> None:
        """Announce a microbatch that is ready from `ready_ns` on."""
        heapq.heappush(self._coming, (ready_ns, late, microbatch))

    def take(self, microbatch: int) -> None:
        """Strike a microbatch that the worker has started."""
        self._taken.add(microbatch)

    def lowest(self, now_ns: int, including_now: bool) -> int | None:
        """Return the lowest microbatch that was ready before `now_ns`, or surely in that instant too."""
        limit = (now_ns, True) if including_now else (now_ns, False)
        while self._coming and self._coming[0][:2] < limit:
            heapq.heappush(self._waiting, heapq.heappop(self._coming)[2])
        while self._waiting and self._waiting[0] in self._taken:
            heapq.heappop(self._waiting)
        return self._waiting[0] if self._waiting else None


def _check_greedy_worker(
    plan: Plan,
    tables: Tables,
    report: Report,
    worker: tuple[int, int],
    ready_ns: NDArray[np.int64],
    released_ns: NDArray[np.int64],
    late: NDArray[np.bool_],
) -> None:
    pipeline, stage = worker
    start, end = tables.start_ns[pipeline, :2, stage], tables.end_ns[pipeline, :2, stage]
    ready, is_late = ready_ns[pipeline, :2, stage].tolist(), late[pipeline, :, stage].tolist()
    released = released_ns[pipeline, :2, stage].tolist()
    kinds, microbatches = np.divmod(np.arange(start.size), plan.num_microbatches)
    # In one instant an F of no length stands before the B that it allows.
    order = np.lexsort((kinds, end.ravel(), start.ravel()))
    forwards, backwards = _Eligible(), _Eligible()
    for microbatch in range(plan.num_microbatches):
        forwards.expect(ready[0][microbatch], is_late[0][microbatch], microbatch)
    free_ns, in_flight = 0, 0
    starts = start.ravel().tolist()
    name = worker_name(pipeline, stage)
    for position, kind, microbatch in zip(
        order.tolist(), kinds[order].tolist(), microbatches[order].tolist(), strict=True
    ):
        now = starts[position]
        chosen = f"{'FB'[kind]} of microbatch {microbatch}"
        may_forward = in_flight < plan.max_in_flight
        if now > free_ns:
            waiting = backwards.lowest(now, including_now=False)
            waiting_kind = "B"
            if waiting is None and may_forward:
                waiting, waiting_kind = forwards.lowest(now, including_now=False), "F"
            if waiting is not None:
                report.add(
                    Rule.WORKER_WAITING,
                    f"{name} is free from {at(free_ns)} and starts {chosen} at {at(now)}, though {waiting_kind} of "
                    f"microbatch {waiting} was ready before",
                )
        best_backward = backwards.lowest(now, including_now=True)
        if kind == 1:
            if best_backward is not None and best_backward < microbatch:
                report.add(
                    Rule.PRIORITY, f"{name} starts {chosen} at {at(now)}; B of microbatch {best_backward} is ready"
                )
            in_flight -= 1
            backwards.take(microbatch)
        else:
            best_forward = forwards.lowest(now, including_now=True)
            if best_backward is not None:
                report.add(
                    Rule.PRIORITY, f"{name} starts {chosen} at {at(now)}; B of microbatch {best_backward} is ready"
                )
            elif best_forward is not None and best_forward < microbatch:
                report.add(
                    Rule.PRIORITY, f"{name} starts {chosen} at {at(now)}; F of microbatch {best_forward} is ready"
                )
            if not may_forward:
                report.add(
                    Rule.IN_FLIGHT,
                    f"{name} starts {chosen} at {at(now)} with {in_flight} microbatches in flight; allowed are "
                    f"{plan.max_in_flight}",
                )
            in_flight += 1
            forwards.take(microbatch)
            backwards.expect(ready[1][microbatch], is_late[1][microbatch], microbatch)
        free_ns = released[kind][microbatch]
