"""The twin's result as batches: what the engine would tell, from code that compiles nothing."""

import json
from collections.abc import Iterator

import numpy as np

from simcore.reference import simulate
from simcore.results.batch import Batch, Stage
from simcore.results.segments import Segments
from simcore.scenario.parse import scenario_from
from tests.twin_timeline import twin_timeline

SEGMENTS_PER_BATCH = 7
"""Few, so that a run has many batches."""


def twin_batches(text: str) -> Iterator[Batch]:
    """Yield the batches of a resolved document (JSON)."""
    scenario = scenario_from(json.loads(text))
    result = simulate(scenario)
    timeline = twin_timeline(scenario, result)
    figures = {"name": scenario.name, "num_iterations": timeline.num_iterations, **result.figures}
    yield Batch(Stage.LAYOUT, simulated_ns=0, horizon_ns=0, layout=timeline.layout)
    yield from _pieces(Stage.ITERATION, timeline.iteration, horizon_ns=0)
    known = {key: figures[key] for key in ("iteration_time_ns", "num_iterations", "gpu_utilization_training")}
    yield Batch(
        Stage.ITERATION_END,
        simulated_ns=timeline.iteration_time_ns,
        horizon_ns=timeline.horizon_ns,
        figures=known,
    )
    yield from _pieces(Stage.FILLS, timeline.fills, horizon_ns=timeline.horizon_ns)
    yield Batch(Stage.RESULT, simulated_ns=timeline.horizon_ns, horizon_ns=timeline.horizon_ns, figures=figures)


def _pieces(stage: Stage, segments: Segments, *, horizon_ns: int) -> Iterator[Batch]:
    segments = segments.take(np.argsort(segments.start_ns, kind="stable"))
    for first in range(0, len(segments), SEGMENTS_PER_BATCH):
        piece = segments.take(slice(first, first + SEGMENTS_PER_BATCH))
        last_ns = int(piece.start_ns[-1])
        yield Batch(stage, simulated_ns=last_ns, horizon_ns=horizon_ns, segments=piece, at_ns=piece.start_ns)
