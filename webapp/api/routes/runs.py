"""Runs: start, list, read, cancel."""

import json
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from webapp import engine
from webapp.api.auth import Caller
from webapp.api.bodies import body_of, takes
from webapp.api.paging import DEFAULT_LIMIT, page_after
from webapp.api.parameters import Cursor, Limit, ScenarioId, SearchText, WorkspaceSlug
from webapp.api.problems import RequestRefusedError, scenario_refused
from webapp.api.routes.scenarios import BODY_REFUSALS, REFUSALS, found_scenario
from webapp.api.schemas import RunIn, RunListOut, RunOut, RunStatus
from webapp.runs.models import Run
from webapp.runs.selectors import run_get, run_list
from webapp.runs.services import run_cancel, run_enqueue

router = Router(tags=["runs"])


@router.get("", response={200: RunListOut, **REFUSALS}, summary="List runs")
def list_runs(
    request: HttpRequest,
    status: RunStatus | None = None,
    scenario: ScenarioId = None,
    q: SearchText = "",
    workspace: WorkspaceSlug = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Any:
    """Runs of the workspace, newest first."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("read")
    of_scenario = found_scenario(place, scenario) if scenario is not None else None
    rows = run_list(workspace=place, status=status or "", scenario=of_scenario, query=q)
    page, following = page_after(
        rows.defer(None).defer("document", "traceback"), by="queued_at", cursor=cursor, limit=limit
    )
    return {"items": [run_data(run, request) for run in page], "next_cursor": following}


@router.post("", response={201: RunOut, **BODY_REFUSALS}, summary="Start a run", openapi_extra=takes(RunIn))
def create_run(request: HttpRequest, response: HttpResponse, workspace: WorkspaceSlug = None) -> Any:
    """Queue a run of a stored scenario as it is now, or of a document given inline."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("run", place)
    body = body_of(request, RunIn)
    if (body.scenario is None) == (body.document is None):
        sentence = "give either scenario, the id of a stored one, or document"
        raise RequestRefusedError(422, f"The body must {sentence}.", [engine.Problem("scenario", sentence)])
    try:
        run = run_enqueue(
            workspace=place,
            requested_by=caller.user,
            scenario=found_scenario(place, body.scenario) if body.scenario is not None else None,
            document=body.document,
            pace=body.pace if isinstance(body.pace, float) else None,
        )
    except engine.ScenarioError as error:
        raise scenario_refused(error.problems) from error
    response["Location"] = f"{request.path}/{run.id}"
    return Status(201, run_data(run, request))


@router.get("/{run_id}", response={200: RunOut, **REFUSALS}, summary="Read a run")
def read_run(request: HttpRequest, run_id: UUID) -> Any:
    """Where a run stands, and its latest figures."""
    return run_data(visible_run(request, run_id, "read"), request)


@router.post("/{run_id}/cancel", response={202: RunOut, **REFUSALS}, summary="Cancel a run")
def cancel_run(request: HttpRequest, run_id: UUID) -> Any:
    """Ask the worker to stop; what it had computed is kept, marked partial. A final run stays as it is."""
    return Status(202, run_data(run_cancel(run=visible_run(request, run_id, "run")), request))


def visible_run(request: HttpRequest, run_id: UUID, scope: str) -> Run:
    """Return a run that the caller may see and use so; 404 as a problem otherwise."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    try:
        run = run_get(run_id=run_id, visible_to=caller.user)
    except (Run.DoesNotExist, ValidationError):
        run = None
    if run is None or not caller.sees(run.workspace_id):
        raise RequestRefusedError(404, f"There is no run {run_id} that you can see.")
    caller.needs(scope, run.workspace)
    return run


def run_data(run: Run, request: HttpRequest) -> dict[str, Any]:
    """Return what the interface says of a run."""
    return {
        "id": run.id,
        "workspace": run.workspace.slug,
        "name": run.name,
        "scenario": run.scenario.slug if run.scenario is not None and run.scenario.deleted_at is None else None,
        "status": run.status,
        "pace": run.pace,
        "partial": run.partial,
        "simulated_ns": run.simulated_ns,
        "horizon_ns": run.horizon_ns,
        "figures": run.figures_data,
        "problems": run.problems,
        "scenario_hash": run.scenario_hash,
        "engine_version": run.engine_version,
        "seed": run.seed,
        "attempt": run.attempt,
        "requested_by": run.requested_by.get_username() if run.requested_by is not None else None,
        "queued_at": run.queued_at,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "url": request.build_absolute_uri(run.get_absolute_url()),
    }


def document_of(run: Run) -> dict[str, Any]:
    """Return the resolved scenario that the run stores."""
    document: dict[str, Any] = json.loads(run.document)
    return document
