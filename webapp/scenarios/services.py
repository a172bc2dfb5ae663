"""Writes to the scenario library; nothing that has a problem is stored."""

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.text import slugify

from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.scenarios.models import Scenario
from webapp.scenarios.outline import outline

MAX_SLUG_LENGTH = 72


class ScenarioConflictError(Exception):
    """Somebody else saved the scenario since it was read."""

    def __init__(self, current_version: int) -> None:
        self.current_version = current_version
        super().__init__(f"version {current_version} was saved while you edited")


def scenario_create(*, workspace: Workspace, created_by: User | None, text: str, is_demo: bool = False) -> Scenario:
    """Store a new scenario.

    Raises
    ------
    webapp.engine.ScenarioError
        If the text is no valid document; carries every problem.
    """
    document = engine.document_checked(text)
    name = document["name"]
    for _ in range(5):
        try:
            with transaction.atomic():
                return Scenario.objects.create(
                    workspace=workspace,
                    slug=_free_slug(workspace=workspace, name=name),
                    name=name,
                    text=text,
                    document=engine.canonical_json(document),
                    outline=engine.canonical_json(outline(document)),
                    is_demo=is_demo,
                    created_by=created_by,
                )
        except IntegrityError:  # the same name was saved at the same moment
            continue
    raise ScenarioConflictError(current_version=1)


def scenario_update(*, scenario: Scenario, text: str, expected_version: int) -> Scenario:
    """Replace a scenario's text if it still has the version that the author read.

    Raises
    ------
    ScenarioConflictError
        If it has been changed or deleted meanwhile.
    webapp.engine.ScenarioError
        If the text is no valid document.
    """
    document = engine.document_checked(text)
    changed = Scenario.objects.filter(pk=scenario.pk, version=expected_version, deleted_at__isnull=True).update(
        name=document["name"],
        text=text,
        document=engine.canonical_json(document),
        outline=engine.canonical_json(outline(document)),
        version=F("version") + 1,
        updated_at=timezone.now(),
    )
    scenario.refresh_from_db()
    if not changed:
        raise ScenarioConflictError(current_version=scenario.version)
    return scenario


def scenario_delete(*, scenario: Scenario) -> None:
    """Take a scenario out of the library; its runs stay, and so does the row."""
    Scenario.objects.filter(pk=scenario.pk, deleted_at__isnull=True).update(deleted_at=timezone.now())


def _free_slug(*, workspace: Workspace, name: str) -> str:
    base = slugify(name)[:MAX_SLUG_LENGTH].strip("-") or "scenario"
    taken = set(Scenario.objects.filter(workspace=workspace, slug__startswith=base).values_list("slug", flat=True))
    if base not in taken and base != "new":
        return base
    number = 2
    while f"{base}-{number}" in taken:
        number += 1
    return f"{base}-{number}"
