"""The page of one run, and its cancel button."""

import json
import re
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from webapp.accounts.models import Workspace
from webapp.accounts.selectors import may_edit
from webapp.runs import baselines
from webapp.runs.kpis import tiles
from webapp.runs.models import Run
from webapp.runs.selectors import baseline_get, run_get, runs_to_compare_with
from webapp.runs.services import run_cancel
from webapp.scenarios.access import AuthedRequest, workspace_of

_MEMBER = re.compile(r"^[A-Za-z_]\w*")


@login_required
@require_GET
def detail(request: AuthedRequest, workspace_slug: str, run_id: UUID) -> HttpResponse:
    """Show a run, live or finished."""
    workspace = workspace_of(request, workspace_slug)
    run = _run_or_404(request, workspace, run_id)
    editor_url = _editor_url(run)
    context = {
        **_figures(request, run),
        "workspace": workspace,
        "editor_url": editor_url,
        "problems": [{**problem, "url": _field_url(editor_url, problem.get("path", ""))} for problem in run.problems],
        "may_edit": may_edit(user=request.user, workspace=workspace),
        "api_url": f"/api/v1/runs/{run.id}",
        "page_data": _page_data(run),
    }
    return render(request, "runs/run.html", context)


@login_required
@require_GET
def figures(request: AuthedRequest, workspace_slug: str, run_id: UUID) -> HttpResponse:
    """Return the key figures as a piece of the page, for the page itself when they have changed."""
    run = _run_or_404(request, workspace_of(request, workspace_slug), run_id)
    return render(request, "runs/_figures.html", _figures(request, run))


@login_required
@require_POST
def cancel(request: AuthedRequest, workspace_slug: str, run_id: UUID) -> HttpResponse:
    """Cancel a run; what it has computed stays."""
    workspace = workspace_of(request, workspace_slug)
    run = _run_or_404(request, workspace, run_id)
    if not may_edit(user=request.user, workspace=workspace):
        raise PermissionDenied
    run = run_cancel(run=run)
    if request.headers.get("Accept") == "application/json":
        return HttpResponse(json.dumps({"status": run.status}), content_type="application/json")
    messages.success(request, "The run is cancelled." if run.is_final else "The run stops at its next slice.")
    return redirect(run)


def _run_or_404(request: AuthedRequest, workspace: Workspace, run_id: UUID) -> Run:
    try:
        run = run_get(run_id=run_id, visible_to=request.user)
    except Run.DoesNotExist:
        raise Http404("no such run") from None
    if run.workspace_id != workspace.pk:
        raise Http404("no such run")
    return run


def _figures(request: AuthedRequest, run: Run) -> dict[str, Any]:
    """Return what `runs/_figures.html` shows: key figures, beside those of the baseline that the address names."""
    wanted = request.GET.get("base", "")
    base = baseline_get(run=run, base_id=wanted) if wanted else None
    return {
        "run": run,
        "tiles": tiles(
            run.figures_data,
            has_inference="inference" in json.loads(run.document),
            baseline=base.figures_data if base is not None else None,
        ),
        "baselines": baselines.menu(run, runs_to_compare_with(run=run), base),
        "is_base_missing": bool(wanted) and base is None,
    }


def _editor_url(run: Run) -> str:
    if run.scenario is None or run.scenario.deleted_at is not None:
        return ""
    return f"/w/{run.workspace.slug}/scenarios/{run.scenario.slug}/edit"


def _field_url(editor_url: str, path: str) -> str:
    """Return where the field of a problem is edited; the section is the path's first member."""
    section = _MEMBER.match(path)
    return f"{editor_url}?section={section.group()}" if editor_url and section else editor_url


def _page_data(run: Run) -> dict[str, Any]:
    """Return what the page's script needs to know."""
    api_url = f"/api/v1/runs/{run.id}"
    return {
        "id": str(run.id),
        "status": run.status,
        "is_final": run.is_final,
        "last_seq": run.last_seq,
        "pace": run.pace,
        "simulated_ns": run.simulated_ns,
        "horizon_ns": run.horizon_ns,
        "socket_path": "/ws/runs/",
        "figures_url": reverse("run-figures", args=[run.workspace.slug, run.id]),
        "layout_url": f"{api_url}/layout",
        "timeline_url": f"{api_url}/timeline",
    }
