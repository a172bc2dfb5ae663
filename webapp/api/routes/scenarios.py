"""Scenarios: list, create, read, update, delete."""

import json
from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from webapp import engine
from webapp.accounts.models import Workspace
from webapp.api.auth import Caller
from webapp.api.bodies import body_of, takes
from webapp.api.paging import DEFAULT_LIMIT, page_after
from webapp.api.parameters import Cursor, Limit, SearchText, WorkspaceSlug
from webapp.api.problems import ProblemOut, RequestRefusedError, scenario_refused
from webapp.api.schemas import ScenarioIn, ScenarioListOut, ScenarioOut, ScenarioUpdateIn
from webapp.scenarios.models import Scenario
from webapp.scenarios.selectors import scenario_get, scenario_list
from webapp.scenarios.services import ScenarioConflictError, scenario_create, scenario_delete, scenario_update
from webapp.scenarios.yaml_text import yaml_from

router = Router(tags=["scenarios"])

REFUSALS = dict.fromkeys((401, 403, 404, 422), ProblemOut)
BODY_REFUSALS = {**REFUSALS, 400: ProblemOut, 413: ProblemOut}


@router.get("", response={200: ScenarioListOut, **REFUSALS}, summary="List scenarios")
def list_scenarios(
    request: HttpRequest,
    q: SearchText = "",
    workspace: WorkspaceSlug = None,
    cursor: Cursor = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Any:
    """Scenarios of the workspace, last changed first, without their documents."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("read")
    rows, following = page_after(scenario_list(workspace=place, query=q), by="updated_at", cursor=cursor, limit=limit)
    return {"items": [_summary(row, request) for row in rows], "next_cursor": following}


@router.post(
    "",
    response={201: ScenarioOut, **BODY_REFUSALS},
    summary="Create a scenario",
    openapi_extra=takes(ScenarioIn),
)
def create_scenario(request: HttpRequest, response: HttpResponse, workspace: WorkspaceSlug = None) -> Any:
    """Store a document. What has problems is refused with all of them, and nothing is stored."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("write", place)
    text = _text_of(body_of(request, ScenarioIn))
    try:
        scenario = scenario_create(workspace=place, created_by=caller.user, text=text)
    except engine.ScenarioError as error:
        raise scenario_refused(error.problems) from error
    response["Location"] = f"{request.path}/{scenario.slug}"
    return Status(201, _whole(scenario, request, response))


@router.get("/{scenario_id}", response={200: ScenarioOut, **REFUSALS}, summary="Read a scenario")
def read_scenario(
    request: HttpRequest, response: HttpResponse, scenario_id: str, workspace: WorkspaceSlug = None
) -> Any:
    """The document as data, and as the text that its author wrote. The ETag is its version."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    caller.needs("read")
    return _whole(found_scenario(caller.workspace(workspace), scenario_id), request, response)


@router.put(
    "/{scenario_id}",
    response={200: ScenarioOut, **BODY_REFUSALS, 409: ProblemOut},
    summary="Change a scenario",
    openapi_extra=takes(ScenarioUpdateIn),
)
def update_scenario(
    request: HttpRequest, response: HttpResponse, scenario_id: str, workspace: WorkspaceSlug = None
) -> Any:
    """Replace the document. Say the version you read, in `If-Match` or in the body; a newer one is a 409."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("write", place)
    scenario = found_scenario(place, scenario_id)
    body = body_of(request, ScenarioUpdateIn)
    version = _expected_version(request, body)
    try:
        scenario = scenario_update(scenario=scenario, text=_text_of(body), expected_version=version)
    except ScenarioConflictError as error:
        raise RequestRefusedError(
            409,
            f"The scenario is at version {error.current_version}, not {version}: somebody else saved it meanwhile. "
            "Read it again, merge, and send the new version.",
        ) from error
    except engine.ScenarioError as error:
        raise scenario_refused(error.problems) from error
    return _whole(scenario, request, response)


@router.delete("/{scenario_id}", response={204: None, **REFUSALS}, summary="Delete a scenario")
def delete_scenario(request: HttpRequest, scenario_id: str, workspace: WorkspaceSlug = None) -> Any:
    """Take a scenario out of the library; its runs stay."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    place = caller.workspace(workspace)
    caller.needs("write", place)
    scenario_delete(scenario=found_scenario(place, scenario_id))
    return Status(204, None)


def found_scenario(workspace: Workspace, scenario_id: str) -> Scenario:
    """Return a scenario of the workspace; a 404 problem if there is none."""
    try:
        return scenario_get(workspace=workspace, slug=scenario_id)
    except Scenario.DoesNotExist as error:
        raise RequestRefusedError(404, f"There is no scenario {scenario_id!r} that you can see.") from error


def _text_of(body: ScenarioIn) -> str:
    if (body.document is None) == (body.text is None):
        sentence = "give either document or text"
        raise RequestRefusedError(422, f"The body must {sentence}.", [engine.Problem("document", sentence)])
    return body.text if body.text is not None else yaml_from(body.document or {})


def _expected_version(request: HttpRequest, body: ScenarioUpdateIn) -> int:
    header = request.headers.get("If-Match", "").removeprefix("W/").strip('"')
    if header.isdecimal() and len(header) < 10:
        return int(header)
    if header or body.version is None:
        raise RequestRefusedError(
            422,
            "Say which version you read.",
            [engine.Problem("version", 'is required: the version that you read, here or as If-Match: "3"')],
        )
    return body.version


def _summary(scenario: Scenario, request: HttpRequest) -> dict[str, Any]:
    return {
        "id": scenario.slug,
        "workspace": scenario.workspace.slug,
        "name": scenario.name,
        "version": scenario.version,
        "is_demo": scenario.is_demo,
        "created_at": scenario.created_at,
        "updated_at": scenario.updated_at,
        "url": request.build_absolute_uri(scenario.get_absolute_url()),
    }


def _whole(scenario: Scenario, request: HttpRequest, response: HttpResponse) -> dict[str, Any]:
    response["ETag"] = f'"{scenario.version}"'
    return {**_summary(scenario, request), "document": json.loads(scenario.document), "text": scenario.text}
