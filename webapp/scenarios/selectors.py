"""Reads of the scenario library."""

from django.db.models import QuerySet

from webapp.accounts.models import Workspace
from webapp.scenarios.models import Scenario


def scenario_list(*, workspace: Workspace, query: str = "") -> QuerySet[Scenario]:
    """Return the workspace's scenarios, latest change first, without their documents."""
    scenarios = Scenario.objects.filter(workspace=workspace, deleted_at__isnull=True)
    if query:
        scenarios = scenarios.filter(name__icontains=query)
    return scenarios.select_related("workspace").defer("document", "text").order_by("-updated_at", "-pk")


def scenario_get(*, workspace: Workspace, slug: str, deleted_too: bool = False) -> Scenario:
    """Return one scenario of the workspace; raises Scenario.DoesNotExist."""
    scenarios = Scenario.objects.select_related("workspace")
    if not deleted_too:
        scenarios = scenarios.filter(deleted_at__isnull=True)
    return scenarios.get(workspace=workspace, slug=slug)
