"""Runs that another run can be compared with, and what the page says of the two."""

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.runs.deltas import Delta, of_time
from webapp.runs.models import Run

MAX_CHOICES = 12


def is_same_job(run: Run, other: Run) -> bool:
    """Return whether both do as many operations on as many workers, so that their times compare one to one."""
    here, there = _shape(run), _shape(other)
    return here is not None and here == there


def _shape(run: Run) -> tuple[int, int] | None:
    """Return workers, and operations of all of them in one iteration; None while not known."""
    figures = run.figures_data
    try:
        return figures["num_workers"], figures["segments"] * figures["num_cells"]
    except KeyError:
        return None


def iteration_delta(run: Run, base: Run) -> Delta | None:
    """Return how a run's iteration time compares with another's; None while it is not known."""
    times_ns = [figures.get("iteration_time_ns") for figures in (run.figures_data, base.figures_data)]
    if times_ns[0] is None or times_ns[1] is None:
        return None
    return of_time(times_ns[0], times_ns[1])


@dataclass(frozen=True, slots=True)
class Choice:
    """One entry of the menu of baselines."""

    run: Run
    delta: Delta | None
    """How the page's run compares with it."""


@dataclass(frozen=True, slots=True)
class Menu:
    """Baselines to choose from, newest first, and the one that is chosen."""

    chosen: Choice | None
    same_job: list[Choice]
    others: list[Choice]

    @property
    def suggestion(self) -> Choice | None:
        """Return the newest run of the same job, while nothing is chosen."""
        return self.same_job[0] if self.same_job and self.chosen is None else None

    @property
    def is_other_job(self) -> bool:
        """Return whether the chosen baseline does other work, which the page has to say."""
        return self.chosen is not None and any(entry.run.pk == self.chosen.run.pk for entry in self.others)


def menu(run: Run, recent: Sequence[Run], base: Run | None) -> Menu:
    """Return the menu of a run's page.

    Parameters
    ----------
    run : Run
        Run of the page.
    recent : sequence of Run
        Succeeded runs of the workspace, newest first; of one scenario document only the newest is offered.
    base : Run or None
        The chosen baseline, which may be older than all of `recent`.
    """
    seen = {run.scenario_hash}
    offered = [] if base is None else [base]
    seen.update(entry.scenario_hash for entry in offered)
    for entry in recent:
        if entry.scenario_hash not in seen and len(offered) < MAX_CHOICES:
            seen.add(entry.scenario_hash)
            offered.append(entry)
    choices = [Choice(entry, iteration_delta(run, entry)) for entry in offered]
    return Menu(
        chosen=choices[0] if base is not None else None,
        same_job=[choice for choice in choices if is_same_job(run, choice.run)],
        others=[choice for choice in choices if not is_same_job(run, choice.run)],
    )
