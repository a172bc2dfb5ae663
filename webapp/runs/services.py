"""Writes to runs: queue, claim, cancel, finish. What a worker records is in `recorder`."""

import json
import logging
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import BooleanField, ExpressionWrapper, F, Q
from django.utils import timezone

from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.runs import doorbell
from webapp.runs.models import Chunk, Run
from webapp.scenarios.models import Scenario

logger = logging.getLogger(__name__)

MIN_PACE, MAX_PACE = 1e-9, 1e9
HAS_SEGMENTS = ExpressionWrapper(Q(emitted_segments__gt=0), output_field=BooleanField())
"""Whether a run that ends now leaves something behind, decided by the database."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One worker's exclusive hold on a run, and what earlier attempts had stored."""

    run_id: UUID
    attempt: int
    """Fencing token: a write with an older one changes nothing."""
    document: str
    pace: float | None
    last_seq: int
    emitted_segments: int
    simulated_ns: int
    stored_kinds: frozenset[str]


def run_enqueue(
    *,
    workspace: Workspace,
    requested_by: User | None,
    scenario: Scenario | None = None,
    document: dict[str, Any] | None = None,
    pace: float | None = None,
) -> Run:
    """Queue a run of a scenario as it is now, or of a document given inline.

    Raises
    ------
    webapp.engine.ScenarioError
        If the document cannot run, or the pace is out of range; nothing is stored.
    """
    if (scenario is None) == (document is None):
        raise ValueError("give either a scenario or a document")
    if scenario is not None and scenario.workspace_id != workspace.pk:
        raise ValueError("the scenario belongs to another workspace")
    if pace is not None and not MIN_PACE <= pace <= MAX_PACE:
        sentence = f"must be between {MIN_PACE:g} and {MAX_PACE:g} simulated seconds per second, or max; got {pace:g}"
        raise engine.ScenarioError([engine.Problem("pace", sentence)])
    resolved = engine.resolve(json.loads(scenario.document) if scenario is not None else document or {})
    with transaction.atomic():
        run = Run.objects.create(
            workspace=workspace,
            scenario=scenario,
            requested_by=requested_by,
            name=resolved.name,
            pace=pace,
            document=resolved.text,
            scenario_hash=resolved.hash,
            engine_version=engine.ENGINE_VERSION,
            seed=resolved.seed,
        )
        transaction.on_commit(partial(run_publish, run_id=run.id))
    return run


def run_publish(*, run_id: UUID) -> bool:
    """Tell the broker of a queued run; a message that gets lost is sent again by the reaper."""
    from webapp.runs.tasks import run_execute

    try:
        run_execute.apply_async(args=[str(run_id)], task_id=str(run_id), retry=False)
    except Exception:
        logger.exception("the broker did not take a run run_id=%s", run_id)
        return False
    Run.objects.filter(pk=run_id).update(published_at=timezone.now())
    return True


def run_claim(*, run_id: UUID, host: str, pid: int) -> Claim | None:
    """Take a queued run for this worker process; None if it is not queued (any more)."""
    now = timezone.now()
    with transaction.atomic():
        queued = Run.objects.filter(pk=run_id, status=Run.Status.QUEUED)
        if not queued.update(
            status=Run.Status.RUNNING,
            attempt=F("attempt") + 1,
            worker_host=host,
            worker_pid=pid,
            heartbeat_at=now,
            started_at=now,
        ):
            return None
        run = Run.objects.get(pk=run_id)
        kinds = frozenset(Chunk.objects.filter(run_id=run_id).values_list("kind", flat=True).distinct())
    doorbell.ring(run_id)
    return Claim(
        run_id=run_id,
        attempt=run.attempt,
        document=run.document,
        pace=run.pace,
        last_seq=run.last_seq,
        emitted_segments=run.emitted_segments,
        simulated_ns=run.simulated_ns,
        stored_kinds=kinds,
    )


def run_heartbeat(*, claim: Claim) -> bool:
    """Say that the worker lives; False if the run is no longer its own."""
    mine = Run.objects.filter(pk=claim.run_id, attempt=claim.attempt, status=Run.Status.RUNNING)
    return bool(mine.update(heartbeat_at=timezone.now()))


def run_cancel(*, run: Run) -> Run:
    """Cancel a run: at once while it is queued, else by a flag that its worker sees; no-op when it is final."""
    now = timezone.now()
    Run.objects.filter(pk=run.pk, status__in=Run.ACTIVE, cancel_requested_at__isnull=True).update(
        cancel_requested_at=now
    )
    Run.objects.filter(pk=run.pk, status=Run.Status.QUEUED).update(
        status=Run.Status.CANCELLED, finished_at=now, partial=HAS_SEGMENTS
    )
    run.refresh_from_db()
    transaction.on_commit(partial(doorbell.ring, run.id))
    return run
