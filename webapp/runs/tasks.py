"""The Celery task that computes a run, and what its worker prepares."""

import logging
import os
import socket
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from celery import signals
from django.conf import settings
from django.db import DatabaseError, InterfaceError, OperationalError, connections

from webapp import engine
from webapp.celery import app
from webapp.runs import doorbell
from webapp.runs.models import Run
from webapp.runs.recorder import ClaimLostError, Recorder, RunCancelledError
from webapp.runs.services import Claim, run_claim, run_heartbeat

logger = logging.getLogger(__name__)


@signals.worker_init.connect  # type: ignore[untyped-decorator]  # celery has no types
def kernels_warm(**_: Any) -> None:
    """Load the kernels before the pool forks: every child, also one that replaces a killed one, has them."""
    engine.warm()


@app.task(name="runs.execute")  # type: ignore[untyped-decorator]
def run_execute(run_id: str) -> None:
    """Compute the run, unless it is no longer queued."""
    claim = run_claim(run_id=UUID(run_id), host=socket.gethostname(), pid=os.getpid())
    if claim is None:
        logger.info("nothing to do run_id=%s", run_id)
        return
    with heartbeats(claim):
        run_compute(claim)


def run_compute(claim: Claim) -> None:
    """Simulate and record a claimed run to whatever end it has.

    A database that is away ends nothing: the exception leaves the task, and the reaper gives the
    run to another attempt.
    """
    recorder = Recorder(claim, ring=doorbell.ring)
    try:
        try:
            recorder.record(engine.batches(claim.document))
        except RunCancelledError:
            recorder.finish(Run.Status.CANCELLED)
        except engine.ScenarioError as error:
            recorder.finish(Run.Status.FAILED, problem=engine.problems_json(error.problems))
        except (ClaimLostError, OperationalError, InterfaceError):
            raise
        except Exception as error:
            logger.exception("run errored run_id=%s", claim.run_id)
            problem = engine.Problem("", f"the simulation broke: {type(error).__name__}: {error}")
            recorder.finish(
                Run.Status.ERRORED, problem=engine.problems_json([problem]), traceback=traceback.format_exc()
            )
    except ClaimLostError:
        logger.warning("given up: the run is no longer ours run_id=%s attempt=%d", claim.run_id, claim.attempt)


@contextmanager
def heartbeats(claim: Claim) -> Iterator[None]:
    """Beat for a claim from a thread, through spells in which the recorder has nothing to write."""
    is_over = threading.Event()

    def beat() -> None:
        try:
            while not is_over.wait(settings.STALE_S / 4):
                try:
                    if not run_heartbeat(claim=claim):
                        return
                except DatabaseError as error:
                    logger.warning("no heartbeat run_id=%s: %s", claim.run_id, error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=beat, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
