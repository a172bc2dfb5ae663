"""The editor: a form beside the text, one check for both, saving with the version that was read."""

import json
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from webapp import engine
from webapp.accounts.models import Workspace
from webapp.accounts.selectors import may_edit
from webapp.runs.services import run_enqueue
from webapp.scenarios.access import AuthedRequest, editable_workspace_of, scenario_or_404, workspace_of
from webapp.scenarios.checking import checked
from webapp.scenarios.choices import editor_choices
from webapp.scenarios.conflicts import Conflict
from webapp.scenarios.demo_documents import starting_document
from webapp.scenarios.drafts import Draft, draft_from, text_from, version_from
from webapp.scenarios.forms import ChangeError
from webapp.scenarios.models import Scenario
from webapp.scenarios.pace import PACES
from webapp.scenarios.services import ScenarioConflictError, scenario_create, scenario_update
from webapp.scenarios.yaml_text import yaml_from


@login_required
@require_http_methods(["GET", "POST"])
def new(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Edit a scenario that is not stored yet."""
    workspace = editable_workspace_of(request, workspace_slug)
    if request.method == "GET":
        return _page(request, workspace, None, text=yaml_from(starting_document()))
    return _save(request, workspace, None)


@login_required
@require_http_methods(["GET", "POST"])
def edit(request: AuthedRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Edit a stored scenario; viewers of the workspace read it."""
    workspace = workspace_of(request, workspace_slug)
    if request.method == "GET":
        scenario = scenario_or_404(workspace, slug)
        return _page(request, workspace, scenario, text=scenario.text)
    scenario = scenario_or_404(workspace, slug, deleted_too=True)
    return _save(request, editable_workspace_of(request, workspace_slug), scenario)


@login_required
@require_POST
def check(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Return text, form values and problems after what was typed; see `webapp.scenarios.checking`."""
    workspace_of(request, workspace_slug)
    try:
        sent = json.loads(request.body)
        return JsonResponse(checked(sent["text"], sent.get("changes", [])))
    except RequestDataTooBig:
        return JsonResponse({"detail": "The document is longer than the server reads."}, status=413)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ChangeError) as error:
        return JsonResponse({"detail": f"This is no step of the editor: {error}"}, status=400)


def _save(request: AuthedRequest, workspace: Workspace, scenario: Scenario | None) -> HttpResponse:
    text = text_from(request.POST)
    try:
        draft = draft_from(request.POST)
        stored = _stored(request, workspace, scenario, draft)
        if draft.action == "run":
            return redirect(
                run_enqueue(workspace=workspace, requested_by=request.user, scenario=stored, pace=draft.pace)
            )
    except ScenarioConflictError:
        conflict = Conflict.between(text, scenario) if scenario is not None else None
        return _page(request, workspace, scenario, text=text, conflict=conflict, status=409)
    except engine.ScenarioError as error:
        pace_problems = [problem for problem in error.problems if problem.path == "pace"]
        return _page(request, workspace, scenario, text=text, refused=True, pace_problems=pace_problems, status=422)
    messages.success(request, f"Saved {stored.name} as version {stored.version}.")
    return redirect(stored)


def _stored(request: AuthedRequest, workspace: Workspace, scenario: Scenario | None, draft: Draft) -> Scenario:
    """Return the scenario after the draft is stored; a text that is stored already stays as it is."""
    if scenario is None or draft.makes_new:
        return scenario_create(workspace=workspace, created_by=request.user, text=draft.text)
    if draft.text == scenario.text and scenario.deleted_at is None:
        return scenario
    return scenario_update(scenario=scenario, text=draft.text, expected_version=draft.version)


def _page(
    request: AuthedRequest,
    workspace: Workspace,
    scenario: Scenario | None,
    *,
    text: str,
    conflict: Conflict | None = None,
    refused: bool = False,
    pace_problems: list[engine.Problem] | None = None,
    status: int = 200,
) -> HttpResponse:
    version = version_from(request.POST.get("version", "")) if request.method == "POST" else 0
    if scenario is not None and request.method == "GET":
        version = scenario.version
    is_editor = scenario is None or may_edit(user=request.user, workspace=workspace)
    state: dict[str, Any] = checked(text)
    state |= {
        "text": None,
        "saved_text": scenario.text if scenario is not None and conflict is None else "",
        "version": version,
        "is_new": scenario is None,
        "may_edit": is_editor,
        "check_url": reverse("scenario-check", kwargs={"workspace_slug": workspace.slug}),
        "systems": engine.system_presets(),
    }
    context = {
        "workspace": workspace,
        "scenario": scenario,
        "text": text,
        "version": version,
        "state": state,
        "conflict": conflict,
        "refused": refused,
        "pace_problems": pace_problems or [],
        "chosen_pace": request.POST.get("pace", "max"),
        "custom_pace": request.POST.get("custom_pace", ""),
        "choices": editor_choices(),
        "paces": PACES,
        "may_edit": is_editor,
    }
    return render(request, "scenarios/editor.html", context, status=status)
