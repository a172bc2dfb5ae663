"""Iteration times of the demo scenarios side by side: how many times longer the others take than the first."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.runs.models import Run
from webapp.scenarios.library import Row
from webapp.scenarios.models import Scenario


@dataclass(frozen=True, slots=True)
class Bar:
    """One scenario's latest iteration time among others."""

    scenario: Scenario
    run: Run
    iteration_time_ns: int
    share: float
    """Of the longest iteration time, 0 to 1."""
    times_reference: float
    """How many times the reference's iteration time it is."""
    is_reference: bool
    url: str
    """The run's page, with the reference's run as its baseline."""


def comparison(rows: Sequence[Row], *, reference_name: str) -> list[Bar]:
    """Return the scenarios with a finished run as bars, fastest first; empty unless there are two.

    The scenario of that name is the reference, else the fastest.
    """
    known = [
        (time_ns, row.scenario, row.last_run)
        for row in rows
        if row.last_run is not None
        and row.last_run.status == Run.Status.SUCCEEDED
        and (time_ns := row.figures.get("iteration_time_ns"))
    ]
    if len(known) < 2:
        return []
    known.sort(key=lambda entry: (entry[0], entry[1].pk))
    longest_ns = known[-1][0]
    reference_ns, reference, reference_run = next(
        (entry for entry in known if entry[1].name == reference_name), known[0]
    )
    return [
        Bar(
            scenario,
            run,
            ns,
            ns / longest_ns,
            ns / reference_ns,
            is_reference=scenario is reference,
            url=run.get_absolute_url() + ("" if scenario is reference else f"?base={reference_run.pk}"),
        )
        for ns, scenario, run in known
    ]
