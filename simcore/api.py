"""What everything else calls: a scenario in, figures and a timeline out.

`simulate` returns the whole, `stream` tells it as it is found. Both make the same segments from the
same kernels; slices only decide when control returns.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from typing import Any

from simcore.bubbletea.controller import placements
from simcore.costs.plan import Plan, cell_plan
from simcore.kernel.cell import EVENTS_PER_SLICE, CellRun
from simcore.results.batch import Batch, Stage
from simcore.results.figures import training_figures
from simcore.results.segments import Segments, concatenated
from simcore.results.timeline import Timeline
from simcore.scenario.document import Scenario
from simcore.scenario.parse import scenario_from

FIRST_SLICE_EVENTS = 4_000
"""Few, so that a watcher sees something at once; each slice after it has twice as many."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a simulation found."""

    figures: dict[str, Any]
    """JSON values; docs/figures.md says what each means."""
    timeline: Timeline


def simulate(scenario: Scenario) -> Result:
    """Return figures and timeline of a scenario.

    Raises
    ------
    InfeasibleError
        If the scenario needs more time or memory than is simulated.
    SimulationError
        If the engine broke one of its own promises.
    """
    plan = cell_plan(scenario)
    cell = CellRun(plan)
    while not cell.is_done:
        cell.advance()
    iteration, iteration_time_ns = cell.segments(), cell.iteration_time_ns
    figures = training_figures(scenario, plan, iteration, iteration_time_ns)
    fills: list[Segments] = []
    if scenario.inference is not None:
        for piece in placements(scenario, plan, iteration, iteration_time_ns):
            fills.append(piece.segments)
            if piece.figures is not None:
                figures["inference"] = piece.figures
    timeline = Timeline(
        layout=plan.layout,
        iteration_time_ns=iteration_time_ns,
        num_iterations=figures["num_iterations"],
        iteration=iteration,
        fills=concatenated(fills).sorted_by_row(),
    )
    return Result(figures, timeline)


def stream(scenario: Scenario) -> Iterator[Batch]:
    """Yield what a simulation finds, as it finds it; the same batches every time.

    Raises
    ------
    InfeasibleError, SimulationError
        As `simulate`; what was found before has been yielded by then.
    """
    plan = cell_plan(scenario)
    yield Batch(Stage.LAYOUT, 0, 0, layout=plan.layout)
    cell = CellRun(plan)
    yield from _iteration_batches(cell)
    iteration, iteration_time_ns = cell.segments(), cell.iteration_time_ns
    figures = training_figures(scenario, plan, iteration, iteration_time_ns)
    end = Batch(Stage.ITERATION_END, iteration_time_ns, figures["horizon_ns"], figures=figures)
    yield end
    if scenario.inference is not None:
        inference = yield from _fill_batches(scenario, plan, iteration, end)
        figures = {**figures, "inference": inference}
    yield replace(end, stage=Stage.RESULT, simulated_ns=end.horizon_ns, figures=figures)


def _iteration_batches(cell: CellRun) -> Iterator[Batch]:
    num_events = FIRST_SLICE_EVENTS
    while not cell.is_done:
        cell.advance(num_events)
        num_events = min(2 * num_events, EVENTS_PER_SLICE)
        segments, at_ns = cell.new_segments()
        simulated_ns = cell.iteration_time_ns if cell.is_done else cell.clock_ns
        yield Batch(Stage.ITERATION, simulated_ns, 0, segments=segments, at_ns=at_ns)


def _fill_batches(
    scenario: Scenario, plan: Plan, iteration: Segments, end: Batch
) -> Generator[Batch, None, dict[str, Any] | None]:
    """Yield the fills and return the inference figures."""
    simulated_ns = end.simulated_ns
    figures = None
    for piece in placements(scenario, plan, iteration, end.simulated_ns):
        figures = piece.figures
        simulated_ns = min(max(simulated_ns, piece.reached_ns), end.horizon_ns)
        yield Batch(Stage.FILLS, simulated_ns, end.horizon_ns, segments=piece.segments, at_ns=piece.at_ns)
    return figures


def warm() -> None:
    """Compile or load every kernel by simulating something small."""
    document = {
        "version": 1,
        "name": "warm",
        "datacenters": [{"name": "here", "gpu": "a100-80gb", "gpus": 2}],
        "training": {
            "pipeline_stages": 2,
            "pipelines": 1,
            "microbatches": 2,
            "compute": {"mode": "explicit", "forward_ms": 1, "backward_ms": 2},
            "activation_mb": 1,
            "gradient_mb": 1,
        },
        "placement": {"mode": "fixed", "stages": ["here", "here"]},
        "inference": {
            "model": {"preset": "llama-3-8b"},
            "prefill": {"mode": "table", "table": [[128, 0.5]]},
            "requests": {"mode": "inline", "inline": [[0.0, 128]]},
        },
    }
    for _ in stream(scenario_from(document)):
        pass
