"""Lost workers, lost messages, unheeded cancels and time limits."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.utils import timezone

from tests.service.conftest import RunMaker, claimed
from webapp.celery import app
from webapp.runs import reaper, tasks
from webapp.runs.models import Run
from webapp.runs.reaper import MAX_ATTEMPTS, runs_reap
from webapp.runs.services import run_cancel

pytestmark = pytest.mark.django_db(transaction=True)


class Killer:
    """Remembers which run's worker was to be killed, and the run's status at that moment."""

    def __init__(self) -> None:
        self.killed: list[tuple[UUID, str]] = []

    def __call__(self, run: Run) -> None:
        self.killed.append((run.pk, Run.objects.get(pk=run.pk).status))


def long_ago(run: Run, *fields: str, by_s: float = 3_600.0) -> None:
    """Move instants of the run into the past."""
    Run.objects.filter(pk=run.pk).update(**{field: timezone.now() - timedelta(seconds=by_s) for field in fields})


def reaped(run: Run, killer: Killer | None = None) -> Run:
    runs_reap(kill=killer or Killer())
    run.refresh_from_db()
    return run


def test_a_live_run_is_left_alone(make_run: RunMaker, published: list[UUID]) -> None:
    run = make_run()
    claimed(run)
    assert reaped(run).status == Run.Status.RUNNING
    assert published == [run.pk]


def test_a_silent_worker_loses_its_run_to_another_attempt(make_run: RunMaker, published: list[UUID]) -> None:
    run = make_run()
    claimed(run)
    long_ago(run, "heartbeat_at", by_s=settings.STALE_S + 1)
    assert reaped(run).status == Run.Status.QUEUED
    assert published == [run.pk, run.pk]
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Run.Status.SUCCEEDED, 2)


def test_a_run_that_outlives_no_worker_is_given_up(make_run: RunMaker, published: list[UUID]) -> None:
    run = make_run()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        assert claimed(run).attempt == attempt
        long_ago(run, "heartbeat_at", by_s=settings.STALE_S + 1)
        reaped(run)
    assert run.status == Run.Status.ERRORED
    assert run.problems[0]["message"] == "its worker was lost 3 times"
    assert len(published) == MAX_ATTEMPTS


def test_a_silent_worker_with_a_cancel_is_not_replaced(make_run: RunMaker) -> None:
    run = make_run()
    claimed(run)
    run_cancel(run=run)
    long_ago(run, "heartbeat_at", by_s=settings.STALE_S + 1)
    assert reaped(run).status == Run.Status.CANCELLED


def test_a_worker_that_ignores_a_cancel_is_killed_after_the_state_is_stored(make_run: RunMaker) -> None:
    run, killer = make_run(), Killer()
    claimed(run)
    run_cancel(run=run)
    assert reaped(run, killer).status == Run.Status.RUNNING, "the grace is not over"
    long_ago(run, "cancel_requested_at", by_s=settings.CANCEL_GRACE_S + 1)
    assert reaped(run, killer).status == Run.Status.CANCELLED
    assert killer.killed == [(run.pk, "cancelled")]


def test_a_worker_that_went_on_to_another_run_is_spared(make_run: RunMaker) -> None:
    run, other, killer = make_run(), make_run(), Killer()
    claimed(run, pid=7)
    run_cancel(run=run)
    long_ago(run, "cancel_requested_at", by_s=settings.CANCEL_GRACE_S + 1)
    claimed(other, pid=7)
    assert reaped(run, killer).status == Run.Status.CANCELLED
    assert killer.killed == []


def test_an_attempt_over_the_time_limit_is_ended(make_run: RunMaker) -> None:
    run, killer = make_run(), Killer()
    claimed(run)
    long_ago(run, "started_at", by_s=settings.RUN_LIMIT_S + 1)
    assert reaped(run, killer).status == Run.Status.ERRORED
    assert "longer than the limit" in run.problems[0]["message"]
    assert killer.killed == [(run.pk, "errored")]


def test_a_message_that_got_lost_is_sent_again(make_run: RunMaker, published: list[UUID]) -> None:
    never, once, fresh = make_run(), make_run(), make_run()
    Run.objects.filter(pk=never.pk).update(published_at=None)
    long_ago(never, "queued_at")
    long_ago(once, "queued_at", "published_at")
    published.clear()
    reaped(fresh)
    assert set(published) == {never.pk, once.pk}
    published.clear()
    reaped(fresh)
    assert published == [], "sent again a moment ago"


def test_a_broker_that_is_away_stops_no_round(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("no broker")

    monkeypatch.setattr(app.control, "revoke", refuse)
    monkeypatch.setattr(tasks.run_execute, "apply_async", refuse)
    run, stale = make_run(), make_run()
    for each in (run, stale):
        claimed(each, pid=each.pk.int % 10_000)
    run_cancel(run=run)
    long_ago(run, "cancel_requested_at")
    long_ago(stale, "heartbeat_at")
    runs_reap(kill=reaper.worker_revoke)
    run.refresh_from_db()
    stale.refresh_from_db()
    assert (run.status, stale.status) == (Run.Status.CANCELLED, Run.Status.QUEUED)
