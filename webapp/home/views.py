"""The first page: what runs now, what ran last, and where to start."""

from django.contrib.auth.decorators import login_required
from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from webapp.accounts.selectors import may_edit, workspaces_of
from webapp.home.comparison import comparison
from webapp.runs.models import Run
from webapp.runs.selectors import run_list
from webapp.scenarios.access import AuthedRequest
from webapp.scenarios.demo_documents import REFERENCE_NAME
from webapp.scenarios.library import rows_of
from webapp.scenarios.selectors import scenario_list

RECENT_RUNS = 8
RECENT_SCENARIOS = 6


@login_required
@require_GET
def home(request: AuthedRequest) -> HttpResponse:
    """Show the visitor's first workspace at a glance."""
    workspaces = list(workspaces_of(user=request.user))
    if not workspaces:
        return render(request, "home/no_workspace.html")
    workspace = next((item for item in workspaces if item.slug == request.GET.get("w")), workspaces[0])
    runs = run_list(workspace=workspace)
    newest = Run.objects.filter(scenario=OuterRef("pk")).order_by("-queued_at", "-pk")
    scenarios = scenario_list(workspace=workspace).annotate(last_run_id=Subquery(newest.values("pk")[:1]))
    recent_runs = list(runs[:RECENT_RUNS])
    demos = rows_of(list(scenarios.filter(is_demo=True)[:RECENT_SCENARIOS]))
    context = {
        "workspace": workspace,
        "workspaces": workspaces,
        "running": list(runs.filter(status__in=Run.ACTIVE)[:RECENT_RUNS]),
        "recent_runs": recent_runs,
        "demos": demos,
        "comparison": comparison(demos, reference_name=REFERENCE_NAME),
        "recent_scenarios": rows_of(list(scenarios.filter(is_demo=False)[:RECENT_SCENARIOS])),
        "may_edit": may_edit(user=request.user, workspace=workspace),
    }
    return render(request, "home/home.html", context)
