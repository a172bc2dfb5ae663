"""Reads of runs and their chunks."""

from collections.abc import Iterator
from uuid import UUID

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from webapp.accounts.models import User, Workspace
from webapp.runs.models import Chunk, Run
from webapp.scenarios.models import Scenario

LARGE_FIELDS = ("document", "traceback", "problem")
RECENT_RUNS = 60


def run_list(
    *, workspace: Workspace, status: str = "", scenario: Scenario | None = None, query: str = ""
) -> QuerySet[Run]:
    """Return runs of the workspace, newest first, without their documents."""
    runs = Run.objects.filter(workspace=workspace)
    if status:
        runs = runs.filter(status=status)
    if scenario is not None:
        runs = runs.filter(scenario=scenario)
    if query:
        runs = runs.filter(name__icontains=query)
    runs = runs.select_related("workspace", "scenario", "requested_by").defer(*LARGE_FIELDS)
    return runs.order_by("-queued_at", "-pk")


def run_get(*, run_id: UUID | str, visible_to: User | AnonymousUser) -> Run:
    """Return a run that the user may see; raises Run.DoesNotExist otherwise."""
    if not visible_to.is_authenticated:
        raise Run.DoesNotExist
    return Run.objects.select_related("workspace", "scenario", "requested_by").get(
        pk=run_id, workspace__memberships__user_id=visible_to.pk
    )


def runs_to_compare_with(*, run: Run) -> list[Run]:
    """Return the latest succeeded runs of the same workspace but for this one, newest first."""
    succeeded = run_list(workspace=run.workspace, status=Run.Status.SUCCEEDED)
    return list(succeeded.exclude(pk=run.pk)[:RECENT_RUNS])


def baseline_get(*, run: Run, base_id: str) -> Run | None:
    """Return a succeeded run of the same workspace by its id; None if there is no such run."""
    try:
        pk = UUID(base_id)
    except ValueError:
        return None
    succeeded = run_list(workspace=run.workspace, status=Run.Status.SUCCEEDED)
    return succeeded.exclude(pk=run.pk).filter(pk=pk).first()


def chunks_after(*, run_id: UUID, seq: int, limit: int) -> list[tuple[int, bytes]]:
    """Return (seq, frame) of the next chunks of a run, at most `limit`."""
    rows = Chunk.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq").values_list("seq", "payload")[:limit]
    return [(number, bytes(payload)) for number, payload in rows]


def frames(*, run_id: UUID, kinds: tuple[str, ...] = ("layout", "segments", "metric")) -> Iterator[bytes]:
    """Yield the stored frames of these kinds, in order."""
    rows = Chunk.objects.filter(run_id=run_id, kind__in=kinds).order_by("seq").values_list("payload", flat=True)
    for payload in rows.iterator(chunk_size=64):
        yield bytes(payload)
