"""The recorder: from a simulation's batches to stored chunks, at the run's pace, exactly once.

The sequence of segments is the same for every attempt, so an attempt after a lost worker computes
again and skips as many segments as are stored. Everything a write changes (chunks, `last_seq`,
`emitted_segments`, heartbeat, final state) is one transaction that begins by updating the run where
`attempt` is still this worker's: a worker that was given up finds no row and stops.
"""

import json
import time
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction
from django.utils import timezone

from webapp import engine
from webapp.runs.chunks import SEGMENTS_PER_CHUNK, Spool
from webapp.runs.models import Chunk, Result, Run
from webapp.runs.services import Claim

WRITE_BYTES = 64_000
WRITE_INTERVAL_S = 0.1
PROGRESS_INTERVAL_S = 0.25
NAP_S = 0.02
SEGMENTS_PER_WRITE = 8 * SEGMENTS_PER_CHUNK
"""Most segments of one transaction, so that other writers get their turn on SQLite."""
NO_LIMIT_NS = 2**62


class ClaimLostError(Exception):
    """The run is no longer this worker's: cancelled by force, or given to another attempt."""


class RunCancelledError(Exception):
    """Somebody asked to cancel the run."""


class Recorder:
    """Records one attempt of one run.

    Parameters
    ----------
    claim : Claim
        The attempt, and what earlier ones stored.
    ring : callable
        Called with the run's id after each write.
    clock, sleep : callable
        Monotonic seconds, and waiting for some; tests give their own.
    """

    def __init__(
        self,
        claim: Claim,
        *,
        ring: Callable[[UUID], None],
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._claim = claim
        self._ring = ring
        self._clock = clock
        self._sleep = sleep
        self._spool = Spool()
        self._started_s = self._written_s = clock()
        self._is_urgent = True
        """The first segments are stored at once, without waiting for company."""
        self._last_seq = claim.last_seq
        self._num_segments = 0
        """Segments of the emission passed so far, skipped ones included."""
        self._simulated_ns = claim.simulated_ns
        self._horizon_ns = 0
        self._phase = "iteration"
        self._figures: dict[str, Any] | None = None
        if claim.attempt > 1:
            self._log("warning", f"worker lost, attempt {claim.attempt}")

    def record(self, batches: Iterable[engine.Batch]) -> None:
        """Store all batches and the final state.

        Raises
        ------
        RunCancelledError, ClaimLostError
            As soon as a write or a look at the run says so.
        """
        for batch in batches:
            self._horizon_ns = max(self._horizon_ns, batch.horizon_ns)
            if batch.segments is not None:
                self._pass_segments(batch)
            else:
                self._await(batch.simulated_ns)
                self._pass_facts(batch)
            self._advance(batch.simulated_ns)
            if batch.stage == engine.Stage.RESULT:
                self._succeed(batch.figures or {})
                return
            self._tick()
        raise engine.SimulationError("the simulation ended without a result")

    def finish(self, status: Run.Status, *, problem: str = "", traceback: str = "") -> None:
        """Store what is pending and end the run early, as partial."""
        self._log("warning" if status == Run.Status.CANCELLED else "error", f"run {status.value}")
        self._write(
            status=status,
            finished_at=timezone.now(),
            partial=self._num_stored > 0,
            problem=problem,
            traceback=traceback,
        )

    @property
    def _num_stored(self) -> int:
        """Segments of the emission that are stored once the spool is written."""
        return max(self._num_segments, self._claim.emitted_segments)

    def _pass_segments(self, batch: engine.Batch) -> None:
        segments, at_ns = batch.segments, batch.at_ns
        if segments is None or at_ns is None:
            raise engine.SimulationError("a batch of segments lacks its instants")
        scope = "iteration" if batch.stage == engine.Stage.ITERATION else "horizon"
        position = min(len(segments), max(0, self._claim.emitted_segments - self._num_segments))
        self._num_segments += position
        while position < len(segments):
            due = int(np.searchsorted(at_ns, self._allowed_ns(), side="right"))
            end = min(due, position + SEGMENTS_PER_WRITE)
            if end <= position:
                self._nap(until_ns=int(at_ns[position]))
                continue
            self._advance(int(at_ns[end - 1]))
            self._spool.add_segments(
                segments.take(slice(position, end)),
                scope=scope,
                first=self._num_segments,
                simulated_ns=self._simulated_ns,
                horizon_ns=self._horizon_ns,
            )
            self._num_segments += end - position
            position = end
            self._tick()

    def _pass_facts(self, batch: engine.Batch) -> None:
        if batch.layout is not None and Chunk.Kind.LAYOUT not in self._claim.stored_kinds:
            self._spool.add(Chunk.Kind.LAYOUT, layout=engine.layout_data(batch.layout))
        if batch.stage == engine.Stage.ITERATION_END:
            self._phase = "fills"
            if Chunk.Kind.METRIC not in self._claim.stored_kinds:
                self._tell_figures(batch.figures or {}, batch.simulated_ns)

    def _tell_figures(self, figures: dict[str, Any], simulated_ns: int) -> None:
        self._figures = engine.figures_summary(figures)
        self._spool.add(
            Chunk.Kind.METRIC, figures=self._figures, simulated_ns=simulated_ns, horizon_ns=self._horizon_ns
        )

    def _succeed(self, figures: dict[str, Any]) -> None:
        self._tell_figures(figures, self._simulated_ns)
        self._write(
            result=engine.figures_text(figures), status=Run.Status.SUCCEEDED, finished_at=timezone.now(), partial=False
        )

    def _allowed_ns(self) -> int:
        """Return how far simulated time may have come by now."""
        if self._claim.pace is None:
            return NO_LIMIT_NS
        elapsed_s = self._clock() - self._started_s
        return min(NO_LIMIT_NS, self._claim.simulated_ns + int(self._claim.pace * elapsed_s * 1e9))

    def _advance(self, simulated_ns: int) -> None:
        self._simulated_ns = max(self._simulated_ns, simulated_ns)

    def _await(self, until_ns: int) -> None:
        while self._allowed_ns() < until_ns:
            self._nap(until_ns)

    def _nap(self, until_ns: int) -> None:
        """Let wall time pass towards `until_ns`, keeping up the writes."""
        allowed_ns = self._allowed_ns()
        self._advance(min(allowed_ns, until_ns))
        self._tick()
        missing_s = (until_ns - allowed_ns) / 1e9 / (self._claim.pace or 1.0)
        self._sleep(min(NAP_S, max(0.001, missing_s)))

    def _tick(self) -> None:
        """Write if it is time to; a quiet spell is filled by progress, which also looks for a cancel."""
        waited_s = self._clock() - self._written_s
        if self._spool and (self._is_urgent or self._spool.num_bytes >= WRITE_BYTES or waited_s >= WRITE_INTERVAL_S):
            self._is_urgent = self._num_segments == 0
            self._write()
        elif waited_s >= PROGRESS_INTERVAL_S:
            self._spool.add(
                Chunk.Kind.PROGRESS,
                simulated_ns=self._simulated_ns,
                horizon_ns=self._horizon_ns,
                phase=self._phase,
            )
            self._write()

    def _log(self, level: str, message: str) -> None:
        self._spool.add(Chunk.Kind.LOG, level=level, message=message)

    def _write(self, *, result: str | None = None, **changes: Any) -> None:
        """Store the spool and `changes` of the run in one transaction, if the run is still ours."""
        chunks = self._spool.take(run_id=self._claim.run_id, first_seq=self._last_seq + 1)
        last_seq = self._last_seq + len(chunks)
        if self._figures is not None:
            changes["figures"] = json.dumps(self._figures, ensure_ascii=False)
        with transaction.atomic():
            mine = Run.objects.filter(pk=self._claim.run_id, attempt=self._claim.attempt, status=Run.Status.RUNNING)
            if not mine.update(
                last_seq=last_seq,
                emitted_segments=self._num_stored,
                simulated_ns=self._simulated_ns,
                horizon_ns=self._horizon_ns,
                heartbeat_at=timezone.now(),
                **changes,
            ):
                raise ClaimLostError
            Chunk.objects.bulk_create(chunks)
            if result is not None:
                Result.objects.create(run_id=self._claim.run_id, text=result)
            is_cancelled = "status" not in changes and mine.filter(cancel_requested_at__isnull=False).exists()
        self._last_seq = last_seq
        self._written_s = self._clock()
        self._ring(self._claim.run_id)
        if is_cancelled:
            raise RunCancelledError
