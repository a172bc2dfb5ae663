"""Figures of a result: what the keys of a run's JSON mean is in docs/figures.md."""

from typing import Any

import numpy as np

from simcore import ENGINE_VERSION
from simcore.costs.plan import Plan
from simcore.results.segments import TRAINING_COMPUTE_KINDS, Kind, Segments
from simcore.scenario.document import Scenario
from simcore.scenario.resolve import resolved_document, scenario_hash


def computing_ns(segments: Segments) -> int:
    """Return the time of all forwards, backwards, weight gradients and recomputes."""
    return int(segments.duration_ns[np.isin(segments.kind, TRAINING_COMPUTE_KINDS)].sum())


def training_figures(scenario: Scenario, plan: Plan, iteration: Segments, iteration_time_ns: int) -> dict[str, Any]:
    """Return what is known once one iteration is.

    Parameters
    ----------
    scenario, plan
        What was simulated.
    iteration : Segments
        One iteration of one cell.
    iteration_time_ns : int
        Its length, > 0 unless nothing takes time.
    """
    num_iterations = 1 if scenario.inference is None else scenario.inference.iterations
    worker_time_ns = iteration_time_ns * plan.num_workers
    return {
        "name": scenario.name,
        "scenario_hash": scenario_hash(resolved_document(scenario)),
        "engine_version": ENGINE_VERSION,
        "seed": scenario.seed,
        "iteration_time_ns": iteration_time_ns,
        "num_iterations": num_iterations,
        "horizon_ns": iteration_time_ns * num_iterations,
        "gpu_utilization_training": computing_ns(iteration) / worker_time_ns if worker_time_ns else 0.0,
        "num_workers": plan.layout.num_workers,
        "num_cells": plan.layout.num_cells,
        "segments": plan.num_operations,
        "wan_transfers": plan.num_wan_transfers,
        "wan_bytes": plan.num_wan_transfers * plan.tensor_bytes * plan.layout.num_cells,
        "blocked_send_ns": int(iteration.duration_ns[iteration.kind == Kind.BLOCKED_SEND].sum()),
    }
