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


def scenario_get(*, workspace: Workspace, slug: str) -> Scenario:
    """Return one scenario of the workspace; raises Scenario.DoesNotExist."""
    return Scenario.objects.select_related("workspace").get(workspace=workspace, slug=slug, deleted_at__isnull=True)
