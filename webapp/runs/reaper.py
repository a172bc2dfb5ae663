"""The reaper: what must happen to runs although their worker, or their message, is gone.

It runs in `manage.py up` and as `manage.py reap`. Any number may run at once: every change is
guarded by the state it was decided on.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from webapp import engine
from webapp.celery import app
from webapp.runs import doorbell
from webapp.runs.models import Run
from webapp.runs.services import HAS_SEGMENTS, run_publish

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
REPUBLISH_AFTER = timedelta(seconds=30)
MAX_REPUBLISHED = 20
"""Oldest queued runs whose message is repeated in one round; a claim twice is harmless."""

Kill = Callable[[Run], None]


def worker_revoke(run: Run) -> None:
    """Have the worker that computes the run killed, wherever it is (needs Redis)."""
    try:
        app.control.revoke(str(run.pk), terminate=True, signal="SIGKILL")
    except Exception:  # whatever the broker's library raises: the run's state is stored, only the process lives on
        logger.exception("the broker did not take a kill run_id=%s", run.pk)


def runs_reap(*, kill: Kill) -> None:
    """Look once after every run that is not final.

    Parameters
    ----------
    kill : callable
        Ends the worker process of a run that did not heed a cancel or its time limit; called after
        the run's final state is stored.
    """
    cancels_enforce(kill=kill)
    limits_enforce(kill=kill)
    stale_requeue()
    lost_publish()


def cancels_enforce(*, kill: Kill) -> None:
    """Cancel runs whose worker has let the grace pass."""
    overdue = Q(cancel_requested_at__lt=timezone.now() - timedelta(seconds=settings.CANCEL_GRACE_S))
    for run in Run.objects.filter(overdue, status=Run.Status.RUNNING):
        if _end(run, Run.Status.CANCELLED):
            logger.warning("worker ignored the cancel run_id=%s pid=%s", run.pk, run.worker_pid)
            _kill_still_at_it(run, kill)


def limits_enforce(*, kill: Kill) -> None:
    """End runs whose attempt takes longer than any may."""
    overdue = Q(started_at__lt=timezone.now() - timedelta(seconds=settings.RUN_LIMIT_S))
    for run in Run.objects.filter(overdue, status=Run.Status.RUNNING):
        sentence = f"took longer than the limit of {settings.RUN_LIMIT_S:g} s"
        if _end(run, Run.Status.ERRORED, sentence):
            logger.error("time limit run_id=%s pid=%s", run.pk, run.worker_pid)
            _kill_still_at_it(run, kill)


def stale_requeue() -> None:
    """Give runs of silent workers to another attempt, at most `MAX_ATTEMPTS` in all."""
    is_stale = Q(heartbeat_at__lt=timezone.now() - timedelta(seconds=settings.STALE_S))
    for run in Run.objects.filter(is_stale, status=Run.Status.RUNNING):
        if run.cancel_requested_at is not None:
            _end(run, Run.Status.CANCELLED)
        elif run.attempt >= MAX_ATTEMPTS:
            _end(run, Run.Status.ERRORED, f"its worker was lost {run.attempt} times")
        elif _still(run).filter(is_stale).update(status=Run.Status.QUEUED, published_at=None):
            logger.warning("worker lost run_id=%s attempt=%d", run.pk, run.attempt)
            transaction.on_commit(partial(run_publish, run_id=run.pk))
            transaction.on_commit(partial(doorbell.ring, run.pk))


def lost_publish() -> None:
    """Repeat the message of runs that wait suspiciously long."""
    before = timezone.now() - REPUBLISH_AFTER
    unheard = Q(published_at__isnull=True, queued_at__lt=before) | Q(published_at__lt=before)
    waiting = Run.objects.filter(unheard, status=Run.Status.QUEUED).order_by("queued_at")
    for run_id in list(waiting.values_list("pk", flat=True)[:MAX_REPUBLISHED]):
        run_publish(run_id=run_id)


def _kill_still_at_it(run: Run, kill: Kill) -> None:
    """Kill the run's worker, unless that has noticed by itself and is at another run."""
    others = Run.objects.filter(status=Run.Status.RUNNING, worker_host=run.worker_host, worker_pid=run.worker_pid)
    if not others.exclude(pk=run.pk).exists():
        kill(run)


def _still(run: Run) -> Any:
    """Return the query of the run as long as it is in the attempt that was looked at."""
    return Run.objects.filter(pk=run.pk, attempt=run.attempt, status=Run.Status.RUNNING)


def _end(run: Run, status: Run.Status, sentence: str = "") -> bool:
    problem = engine.problems_json([engine.Problem("", sentence)]) if sentence else ""
    ended = _still(run).update(status=status, finished_at=timezone.now(), partial=HAS_SEGMENTS, problem=problem)
    transaction.on_commit(partial(doorbell.ring, run.pk))
    return bool(ended)
