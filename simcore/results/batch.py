"""Batches: the deterministic sequence in which a running simulation tells what it found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.results.segments import Segments
from simcore.results.timeline import Layout


class Stage(StrEnum):
    """What a batch carries."""

    LAYOUT = "layout"
    """`layout`: the rows; always the first batch."""
    ITERATION = "iteration"
    """`segments` of the iteration template (template rows), `at_ns` is each one's start."""
    ITERATION_END = "iteration_end"
    """`figures` known once the iteration is over: iteration_time_ns, gpu_utilization_training, ..."""
    FILLS = "fills"
    """`segments` of prefill (row ids), in booking order; `at_ns` is each request's arrival."""
    RESULT = "result"
    """`figures`: the whole result; always the last batch."""


@dataclass(frozen=True, slots=True)
class Batch:
    """One step of a simulation. Same scenario, same batches, byte for byte."""

    stage: Stage
    simulated_ns: int
    """How far simulated time has come once this batch is shown; never decreases."""
    horizon_ns: int
    """All iterations together; 0 until the iteration's length is known."""
    layout: Layout | None = None
    segments: Segments | None = None
    at_ns: NDArray[np.int64] | None = None
    """Simulated instant at which each segment becomes known, ascending; shape (num_segments,)."""
    figures: dict[str, Any] | None = None
