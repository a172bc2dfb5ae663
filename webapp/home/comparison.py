"""Iteration times side by side: how many times longer one scenario takes than the fastest."""

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
    times_fastest: float
    """How many times the shortest iteration time it is; 1 for the fastest."""


def comparison(rows: Sequence[Row]) -> list[Bar]:
    """Return the scenarios with a finished run as bars, fastest first; empty unless there are two."""
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
    fastest_ns, longest_ns = known[0][0], known[-1][0]
    return [Bar(scenario, run, ns, ns / longest_ns, ns / fastest_ns) for ns, scenario, run in known]
