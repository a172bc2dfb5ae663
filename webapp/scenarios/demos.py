"""Loads the demo scenarios into a workspace."""

from webapp.accounts.models import User, Workspace
from webapp.scenarios.demo_documents import DEMOS
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import scenario_create
from webapp.scenarios.yaml_text import yaml_from


def demos_load(workspace: Workspace, owner: User | None) -> list[Scenario]:
    """Return the demo scenarios of the workspace, made where it has none of the name.

    Loading again changes nothing; a demo that somebody edited or renamed stays as it is.
    """
    there = {
        scenario.name: scenario
        for scenario in Scenario.objects.filter(workspace=workspace, is_demo=True, deleted_at__isnull=True)
    }
    scenarios = []
    for build in reversed(DEMOS):
        document = build()
        found = there.get(document["name"])
        scenarios.append(
            found or scenario_create(workspace=workspace, created_by=owner, text=yaml_from(document), is_demo=True)
        )
    return scenarios[::-1]
