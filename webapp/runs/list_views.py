"""The list of runs."""

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from webapp.runs.models import Run
from webapp.runs.selectors import run_list
from webapp.scenarios.access import AuthedRequest, workspace_of

PAGE_SIZE = 50


@login_required
@require_GET
def runs(request: AuthedRequest, workspace_slug: str) -> HttpResponse:
    """Show the workspace's runs, newest first, filtered by status and text."""
    workspace = workspace_of(request, workspace_slug)
    query = request.GET.get("q", "").strip()
    status = request.GET.get("status", "")
    status = status if status in Run.Status.values else ""
    page = Paginator(run_list(workspace=workspace, status=status, query=query), PAGE_SIZE).get_page(
        request.GET.get("page")
    )
    context = {
        "workspace": workspace,
        "query": query,
        "status": status,
        "statuses": Run.Status.choices,
        "page": page,
        "has_active": any(not run.is_final for run in page.object_list),
    }
    return render(request, "runs/run_list.html", context)
