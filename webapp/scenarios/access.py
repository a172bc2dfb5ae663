"""The workspace of a page, and whether its visitor may change things there."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest

from webapp.accounts.models import User, Workspace
from webapp.accounts.selectors import may_edit, workspace_for
from webapp.scenarios.models import Scenario
from webapp.scenarios.selectors import scenario_get


class AuthedRequest(HttpRequest):
    """A request of somebody signed in; `login_required` sees to it."""

    user: User


def workspace_of(request: AuthedRequest, slug: str) -> Workspace:
    """Return the workspace if the visitor belongs to it; 404 otherwise."""
    return workspace_for(user=request.user, slug=slug)


def editable_workspace_of(request: AuthedRequest, slug: str) -> Workspace:
    """Return the workspace if the visitor may change it; 403 for its viewers."""
    workspace = workspace_of(request, slug)
    if not may_edit(user=request.user, workspace=workspace):
        raise PermissionDenied(
            f"You can look at {workspace.name}, but not change it; ask one of its owners for the role of editor."
        )
    return workspace


def scenario_or_404(workspace: Workspace, slug: str, *, deleted_too: bool = False) -> Scenario:
    """Return a scenario of the workspace; 404 if it has none of this slug."""
    try:
        return scenario_get(workspace=workspace, slug=slug, deleted_too=deleted_too)
    except Scenario.DoesNotExist:
        raise Http404("no such scenario") from None
