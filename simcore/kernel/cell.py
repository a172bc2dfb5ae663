"""One iteration of one cell, simulated in slices."""

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.errors import SimulationError
from simcore.kernel.collect import collect
from simcore.kernel.loop import advance
from simcore.kernel.segment_log import segments_of_log
from simcore.kernel.world import ExitCode, row_lengths, tables, world
from simcore.results.segments import Kind, Segments

EVENTS_PER_SLICE = 400_000
"""About 40 ms: short enough to notice a cancel, long enough for the calls not to count."""


class CellRun:
    """A cell's iteration under way. Slices do not change what comes out, nor its order."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._tables = tables(plan)
        self._world = world(plan)
        self._lengths = row_lengths(plan)
        self._row_start = self._world.row_end.copy()
        self._emitted = self._world.row_end.copy()
        self.is_done = False

    @property
    def clock_ns(self) -> int:
        """Return the instant up to which everything has happened."""
        return int(self._world.clock_ns[0])

    @property
    def stage_done_ns(self) -> NDArray[np.int64]:
        """Return when each stage's last operation has ended, its tensor arrived if sends block; shape (P,)."""
        return self._world.stage_done_ns

    @property
    def iteration_time_ns(self) -> int:
        """Return the length of the iteration: every stage through its all-reduce and optimizer."""
        return int((self._world.stage_done_ns + self.plan.all_reduce_ns).max()) + self.plan.optimizer_ns

    def advance(self, max_events: int = EVENTS_PER_SLICE) -> None:
        """Simulate one slice.

        Raises
        ------
        SimulationError
            If operations are left that wait for each other.
        """
        code = advance(self._tables, self._world, max_events)
        if code == ExitCode.STUCK:
            left = int(self._world.operations_left[0])
            raise SimulationError(f"the {self.plan.schedule} schedule is stuck: {left} operations wait for each other")
        self.is_done = code == ExitCode.DONE

    def new_segments(self) -> tuple[Segments, NDArray[np.int64]]:
        """Return what has become known since the last call, and when; all of it once done.

        A segment is known from its start, a blocked send from its end. Ordered by that instant,
        then by row and start.
        """
        until_ns = np.iinfo(np.int64).max if self.is_done else self.clock_ns
        places = np.empty(int((self._world.row_end - self._emitted).sum()), dtype=np.int64)
        index = places[: collect(self._emitted, self._world.row_end, self._world.log, until_ns, places)]
        row = np.searchsorted(self._row_start, index, side="right") - 1
        segments = segments_of_log(self._world.log[index], row.astype(np.uint32))
        at_ns = np.where(segments.kind == Kind.BLOCKED_SEND, segments.end_ns, segments.start_ns)
        order = np.lexsort((segments.row, at_ns))
        return segments.take(order), at_ns[order]

    def segments(self) -> Segments:
        """Return the whole iteration, ordered by (row, start)."""
        rows = np.arange(len(self._lengths), dtype=np.uint32)
        return segments_of_log(self._world.log, np.repeat(rows, self._lengths))
