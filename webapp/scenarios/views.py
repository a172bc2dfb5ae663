"""The scenario library: list, import, duplicate, delete, run."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from webapp import engine
from webapp.accounts.selectors import may_edit
from webapp.runs.services import run_enqueue
from webapp.scenarios.access import AuthedRequest, editable_workspace_of, scenario_or_404, workspace_of
from webapp.scenarios.demos import demos_load
from webapp.scenarios.library import library_page
from webapp.scenarios.pace import PACES, pace_from
from webapp.scenarios.selectors import scenario_list
from webapp.scenarios.services import scenario_create, scenario_delete
from webapp.scenarios.yaml_edit import Change, edited
from webapp.scenarios.yaml_text import yaml_from


@login_required
@require_GET
def library(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Show the workspace's scenarios, searched and paged."""
    workspace = workspace_of(request, workspace_slug)
    query = request.GET.get("q", "").strip()
    page, rows = library_page(scenario_list(workspace=workspace, query=query), request.GET.get("page"))
    context = {
        "workspace": workspace,
        "query": query,
        "page": page,
        "rows": rows,
        "has_active": any(row.last_run is not None and not row.last_run.is_final for row in rows),
        "paces": PACES,
        "may_edit": may_edit(user=request.user, workspace=workspace),
    }
    return render(request, "scenarios/library.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def import_text(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Store a document that was uploaded or pasted; what has problems comes back with them."""
    workspace = editable_workspace_of(request, workspace_slug)
    if request.method == "GET":
        return render(request, "scenarios/import.html", {"workspace": workspace})
    upload = request.FILES.get("file")
    text = request.POST.get("text", "")
    try:
        if upload is not None:
            text = _text_of(upload.read())
        scenario = scenario_create(workspace=workspace, created_by=request.user, text=_readable(text))
    except engine.ScenarioError as error:
        context = {"workspace": workspace, "text": text, "problems": error.problems}
        return render(request, "scenarios/import.html", context, status=422)
    messages.success(request, f"Imported {scenario.name}.")
    return redirect(scenario)


@login_required
@require_POST
def duplicate(request: AuthedRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Copy a scenario under a new name and open the copy."""
    workspace = editable_workspace_of(request, workspace_slug)
    original = scenario_or_404(workspace, slug)
    name = f"{original.name[:190]} (copy)"
    text, _ = edited(original.text, engine.parse_text(original.text), [Change(("name",), name)])
    scenario = scenario_create(workspace=workspace, created_by=request.user, text=text)
    messages.success(request, f"This is a copy of {original.name}.")
    return redirect(scenario)


@login_required
@require_http_methods(["GET", "POST"])
def delete(request: AuthedRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Ask, then take the scenario out of the library."""
    workspace = editable_workspace_of(request, workspace_slug)
    scenario = scenario_or_404(workspace, slug)
    if request.method == "GET":
        return render(request, "scenarios/delete.html", {"workspace": workspace, "scenario": scenario})
    scenario_delete(scenario=scenario)
    messages.success(request, f"Deleted {scenario.name}. Its runs stay.")
    return redirect("scenario-list", workspace_slug=workspace.slug)


@login_required
@require_POST
def run(request: AuthedRequest, workspace_slug: str, slug: str) -> HttpResponse:
    """Queue a run of the stored scenario and open its page."""
    workspace = editable_workspace_of(request, workspace_slug)
    scenario = scenario_or_404(workspace, slug)
    try:
        pace = pace_from(request.POST.get("pace", "max"), request.POST.get("custom_pace", ""))
        queued = run_enqueue(workspace=workspace, requested_by=request.user, scenario=scenario, pace=pace)
    except engine.ScenarioError as error:
        messages.error(request, engine.problem_lines(error.problems))
        return redirect(scenario)
    return redirect(queued)


@login_required
@require_POST
def load_demos(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Put the demo scenarios into the library."""
    workspace = editable_workspace_of(request, workspace_slug)
    loaded = demos_load(workspace, request.user)
    messages.success(request, f"{len(loaded)} demo scenarios are in the library.")
    return redirect("scenario-list", workspace_slug=workspace.slug)


@login_required
@require_POST
def run_demos(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Queue a run of each demo scenario, to compare them on the first page."""
    workspace = editable_workspace_of(request, workspace_slug)
    for scenario in demos_load(workspace, request.user):
        run_enqueue(workspace=workspace, requested_by=request.user, scenario=scenario)
    return redirect(f"{reverse('home')}?{urlencode({'w': workspace.slug})}")


def _text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problem = engine.Problem(
            "", f"is not UTF-8 text: byte {error.start} cannot be read; save it as UTF-8 and try again"
        )
        raise engine.ScenarioError([problem]) from error


def _readable(text: str) -> str:
    """Return YAML as it is, and JSON as YAML: the editor's pane is read by people."""
    return yaml_from(engine.parse_text(text)) if text.lstrip().startswith("{") else text
