"""The recorder alone: pace, size and moment of writes, and exactly once over deaths at any point."""

import random
from collections.abc import Iterator
from uuid import UUID

import numpy as np
import pytest

from tests.service.conftest import RunMaker, claimed
from tests.service.stand_in import twin_batches
from tests.service.stored import assert_whole, headers, segment_bytes
from webapp import engine
from webapp.runs import chunks, recorder, tasks
from webapp.runs.models import Chunk, Result, Run
from webapp.runs.recorder import ClaimLostError, Recorder, RunCancelledError
from webapp.runs.services import Claim, run_cancel

pytestmark = pytest.mark.django_db(transaction=True)


class WorkerDied(BaseException):
    """Stands for SIGKILL: nothing catches it."""


class Clock:
    """Wall time that passes only while the recorder sleeps."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now_s += seconds


class Bell:
    """Remembers when it was rung and what was stored then; dies at a chosen write."""

    def __init__(self, clock: Clock, die_at: int | None = None) -> None:
        self._clock = clock
        self._die_at = die_at
        self.rung: list[tuple[float, int, int]] = []
        """(seconds, last chunk, simulated nanoseconds) after each write."""

    def __call__(self, run_id: UUID) -> None:
        run = Run.objects.get(pk=run_id)
        self.rung.append((self._clock() - 100.0, run.last_seq, run.simulated_ns))
        if len(self.rung) == self._die_at:
            raise WorkerDied


def recorded(claim: Claim, bell: Bell, clock: Clock) -> Recorder:
    made = Recorder(claim, ring=bell, clock=clock, sleep=clock.sleep)
    made.record(engine.batches(claim.document))
    return made


def record(run: Run, die_at: int | None = None) -> Bell:
    """Record one attempt, which may die; return its bell."""
    clock = Clock()
    bell = Bell(clock, die_at)
    claim = claimed(run)
    try:
        recorded(claim, bell, clock)
    except WorkerDied:
        Run.objects.filter(pk=run.pk, attempt=claim.attempt).update(status=Run.Status.QUEUED)
    run.refresh_from_db()
    return bell


def test_simulated_time_never_runs_ahead_of_the_pace(make_run: RunMaker) -> None:
    run = make_run(pace=0.02)
    bell = record(run)
    assert run.status == Run.Status.SUCCEEDED
    for elapsed_s, _, simulated_ns in bell.rung:
        assert simulated_ns <= 0.02 * elapsed_s * 1e9 + 1
    assert bell.rung[-1][0] == pytest.approx(run.horizon_ns / 1e9 / 0.02, rel=0.01)


def test_no_segment_is_stored_before_its_instant(make_run: RunMaker) -> None:
    run = make_run(pace=0.02)
    bell = record(run)
    for chunk in Chunk.objects.filter(run=run, kind="segments"):
        header, columns = engine.decode(bytes(chunk.payload))
        elapsed_s = min(second for second, last_seq, _ in bell.rung if last_seq >= chunk.seq)
        assert int(np.max(columns["start_ns"])) <= 0.02 * elapsed_s * 1e9 + 1, header
    assert run.emitted_segments > 0


def test_pace_changes_no_byte_of_the_segments(make_run: RunMaker) -> None:
    fast, slow = make_run(), make_run(pace=0.02)
    record(fast)
    record(slow)
    assert segment_bytes(fast) == segment_bytes(slow)
    assert Result.objects.get(run=fast).text == Result.objects.get(run=slow).text


def test_the_first_segments_are_stored_at_once(make_run: RunMaker) -> None:
    run = make_run(pace=0.001)
    bell = record(run)
    first_seq = headers(run, "segments")[0]["seq"]
    assert next(elapsed_s for elapsed_s, seq, _ in bell.rung if seq >= first_seq) == 0.0


def test_a_quiet_spell_is_filled_with_progress(make_run: RunMaker) -> None:
    run = make_run(pace=0.001)
    bell = record(run)
    pauses_s = np.diff([elapsed_s for elapsed_s, *_ in bell.rung])
    assert pauses_s.max() <= recorder.PROGRESS_INTERVAL_S + 2 * recorder.NAP_S
    assert [header["simulated_ns"] for header in headers(run, "progress")] == sorted(
        header["simulated_ns"] for header in headers(run, "progress")
    )


def test_chunks_and_writes_are_bounded(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chunks, "SEGMENTS_PER_CHUNK", 3)
    monkeypatch.setattr(recorder, "SEGMENTS_PER_WRITE", 6)
    monkeypatch.setattr(recorder, "WRITE_BYTES", 3 * engine.SEGMENT_BYTES)
    run = make_run()
    bell = record(run)
    assert {header["n"] for header in headers(run, "segments")} <= {1, 2, 3}
    assert_whole(run)
    assert len(bell.rung) > 10


def random_deaths(seed: int) -> Iterator[int]:
    generator = random.Random(seed)
    while True:
        yield generator.randint(1, 12)


@pytest.mark.parametrize("pace", [None, 0.05])
@pytest.mark.parametrize("seed", range(12))
def test_every_segment_is_stored_once_whenever_workers_die(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch, seed: int, pace: float | None
) -> None:
    monkeypatch.setattr(recorder, "WRITE_BYTES", 4 * engine.SEGMENT_BYTES)
    undisturbed, disturbed = make_run(), make_run(pace=pace)
    record(undisturbed)
    deaths = random_deaths(seed)
    for _ in range(2 + seed % 4):
        record(disturbed, die_at=next(deaths))
        if disturbed.is_final:
            break
    while not disturbed.is_final:
        record(disturbed)
    assert disturbed.status == Run.Status.SUCCEEDED
    assert_whole(disturbed)
    assert segment_bytes(disturbed) == segment_bytes(undisturbed)
    assert Result.objects.get(run=disturbed).text == Result.objects.get(run=undisturbed).text
    assert len(headers(disturbed, "layout")) == 1
    assert headers(disturbed)[-1]["figures"] == headers(undisturbed)[-1]["figures"]


def test_a_death_inside_a_transaction_stores_nothing_of_it(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed, run = make_run(), make_run()
    record(undisturbed)
    claim, clock = claimed(run), Clock()
    create, calls = Chunk.objects.bulk_create, []

    def dies_after_third(rows: list[Chunk]) -> list[Chunk]:
        made = create(rows)
        calls.append(len(rows))
        if len(calls) == 3:
            raise WorkerDied
        return made

    monkeypatch.setattr(recorder, "WRITE_BYTES", 4 * engine.SEGMENT_BYTES)
    monkeypatch.setattr(recorder.Chunk.objects, "bulk_create", dies_after_third)
    with pytest.raises(WorkerDied):
        recorded(claim, Bell(clock), clock)
    run.refresh_from_db()
    assert run.last_seq == sum(calls[:2])
    assert_whole(run)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED)
    monkeypatch.undo()
    monkeypatch.setattr(engine, "batches", twin_batches)
    record(run)
    assert segment_bytes(run) == segment_bytes(undisturbed)


def test_an_attempt_that_lost_its_claim_stores_nothing_more(make_run: RunMaker) -> None:
    run = make_run()
    old, clock = claimed(run), Clock()
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED)
    record(run)
    before = Chunk.objects.filter(run=run).count()
    with pytest.raises(ClaimLostError):
        recorded(old, Bell(clock), clock)
    assert Chunk.objects.filter(run=run).count() == before
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Run.Status.SUCCEEDED, 2)


def test_a_worker_given_up_by_the_reaper_ends_quietly(make_run: RunMaker) -> None:
    run = make_run()
    claim = claimed(run)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.CANCELLED)
    tasks.run_compute(claim)
    run.refresh_from_db()
    assert (run.status, run.last_seq) == (Run.Status.CANCELLED, 0)


def test_a_cancel_is_seen_while_the_pace_holds_everything_back(make_run: RunMaker) -> None:
    run = make_run(pace=0.001)
    claim, clock = claimed(run), Clock()
    bell = Bell(clock)
    made = Recorder(claim, ring=bell, clock=clock, sleep=lambda seconds: sleep_then_cancel(seconds))

    def sleep_then_cancel(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now_s > 102.0:
            run_cancel(run=run)

    with pytest.raises(RunCancelledError):
        made.record(engine.batches(claim.document))
    assert clock.now_s < 102.0 + 2 * recorder.PROGRESS_INTERVAL_S
    made.finish(Run.Status.CANCELLED)
    run.refresh_from_db()
    assert (run.status, run.partial) == (Run.Status.CANCELLED, True)
    assert run.emitted_segments > 0
    assert_whole(run)


def test_a_simulation_without_a_result_is_our_fault(make_run: RunMaker) -> None:
    claim, clock = claimed(make_run()), Clock()
    made = Recorder(claim, ring=Bell(clock), clock=clock, sleep=clock.sleep)
    with pytest.raises(engine.SimulationError, match="without a result"):
        made.record([])
