"""Rows of the scenario library: each scenario with the last of its runs."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery

from webapp.runs.models import Run
from webapp.runs.selectors import LARGE_FIELDS
from webapp.scenarios.models import Scenario

PAGE_SIZE = 50


@dataclass(frozen=True, slots=True)
class Row:
    """A scenario and what its newest run gave."""

    scenario: Scenario
    outline: dict[str, Any]
    last_run: Run | None
    figures: dict[str, Any]


def library_page(scenarios: QuerySet[Scenario], number: str | None) -> tuple[Page[Any], list[Row]]:
    """Return a page of scenarios and its rows; three queries, however many there are."""
    newest = Run.objects.filter(scenario=OuterRef("pk")).order_by("-queued_at", "-pk")
    page = Paginator(scenarios.annotate(last_run_id=Subquery(newest.values("pk")[:1])), PAGE_SIZE).get_page(number)
    return page, rows_of(list(page.object_list))


def rows_of(scenarios: list[Scenario]) -> list[Row]:
    """Return rows for scenarios annotated with `last_run_id`."""
    run_ids: list[UUID] = [run_id for scenario in scenarios if (run_id := getattr(scenario, "last_run_id", None))]
    runs = Run.objects.select_related("workspace").defer(*LARGE_FIELDS).in_bulk(run_ids) if run_ids else {}
    rows = []
    for scenario in scenarios:
        run = runs.get(getattr(scenario, "last_run_id", None))
        rows.append(Row(scenario, scenario.outline_data, run, run.figures_data if run else {}))
    return rows
