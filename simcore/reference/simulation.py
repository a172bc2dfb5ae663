"""A whole scenario: the iteration, its end, the prefill and the figures (MODEL sections 6 and 8)."""

from collections import defaultdict
from typing import Any

from simcore.reference.durations import stage_durations, whole_ns
from simcore.reference.events import CellSimulation
from simcore.reference.prefill import Interval, PrefillOutcome, idle_gaps, place_requests
from simcore.reference.records import Blocked, Operation, ReferenceResult
from simcore.scenario.document import Scenario


def simulate(scenario: Scenario) -> ReferenceResult:
    """Return what happens in a scenario, by the plain reading of MODEL.md.

    Parameters
    ----------
    scenario : Scenario
        Valid: explicit compute, fixed placement; inference with a prefill table and inline requests.
    """
    durations = stage_durations(scenario)
    cell = CellSimulation(scenario, durations)
    cell.run()
    stage_done_ns = [0] * scenario.training.pipeline_stages
    for occupied in _occupations(cell):
        stage_done_ns[occupied.stage] = max(stage_done_ns[occupied.stage], occupied.end_ns)
    all_reduce_ns = [stage.all_reduce_ns for stage in durations]
    optimizer_ns = whole_ns(scenario.training.optimizer_ms * 1e-3)
    ends = [done + reduce + optimizer_ns for done, reduce in zip(stage_done_ns, all_reduce_ns, strict=True)]
    iteration_time_ns = max(ends)
    busy = _busy(scenario, cell, stage_done_ns, all_reduce_ns, optimizer_ns)
    outcome = None if scenario.inference is None else place_requests(scenario, busy, iteration_time_ns)
    figures = _training_figures(scenario, cell, iteration_time_ns)
    if outcome is not None:
        figures["inference"] = _inference_figures(scenario, cell, busy, outcome, iteration_time_ns)
    return ReferenceResult(
        figures=figures,
        operations=cell.operations,
        transfers=cell.transfers,
        blocked=cell.blocked,
        stage_done_ns=stage_done_ns,
        all_reduce_ns=all_reduce_ns,
        optimizer_ns=optimizer_ns,
        iteration_time_ns=iteration_time_ns,
        prefills=[] if outcome is None else outcome.pieces,
    )


def _busy(
    scenario: Scenario,
    cell: CellSimulation,
    stage_done_ns: list[int],
    all_reduce_ns: list[int],
    optimizer_ns: int,
) -> dict[tuple[int, int], list[Interval]]:
    """Return what keeps prefill off each worker of the cell in one iteration."""
    busy: dict[tuple[int, int], list[Interval]] = defaultdict(list)
    for occupied in _occupations(cell):
        busy[occupied.pipeline, occupied.stage].append((occupied.start_ns, occupied.end_ns))
    for pipeline in range(scenario.training.cell_size):
        for stage, done in enumerate(stage_done_ns):
            reduced = done + all_reduce_ns[stage]
            if scenario.inference is None or scenario.inference.allreduce_blocks:
                busy[pipeline, stage].append((done, reduced))
            busy[pipeline, stage].append((reduced, reduced + optimizer_ns))
    return busy


def _training_figures(scenario: Scenario, cell: CellSimulation, iteration_time_ns: int) -> dict[str, Any]:
    training = scenario.training
    wan_transfers = sum(transfer.is_wan for transfer in cell.transfers)
    all_time_ns = iteration_time_ns * len(cell.workers)
    return {
        "iteration_time_ns": iteration_time_ns,
        "gpu_utilization_training": _computing_ns(cell) / all_time_ns if all_time_ns else 0.0,
        "segments": len(cell.operations),
        "wan_transfers": wan_transfers,
        "wan_bytes": wan_transfers * cell.network.tensor_bytes * (training.pipelines // training.cell_size),
    }


def _inference_figures(
    scenario: Scenario,
    cell: CellSimulation,
    busy: dict[tuple[int, int], list[Interval]],
    outcome: PrefillOutcome,
    iteration_time_ns: int,
) -> dict[str, Any]:
    assert scenario.inference is not None
    training, iterations = scenario.training, scenario.inference.iterations
    num_cells = training.pipelines // training.cell_size
    idle_ns = num_cells * sum(
        end - start for intervals in busy.values() for start, end in idle_gaps(intervals, iteration_time_ns, iterations)
    )
    filled_ns = sum(piece.duration_ns for piece in outcome.pieces)
    all_time_ns = iteration_time_ns * iterations * training.pipelines * training.pipeline_stages
    used_ns = _computing_ns(cell) * num_cells * iterations + filled_ns
    return {
        "groups": outcome.num_replicas,
        "served": len(outcome.ttft_ns),
        "rejected": outcome.rejected,
        "unplaceable": outcome.unplaceable,
        "filled_ns": filled_ns,
        "idle_ns": idle_ns,
        "gpu_utilization_total": used_ns / all_time_ns if all_time_ns else 0.0,
        "ttft_ns": {str(position): ttft for position, ttft in outcome.ttft_ns.items()},
        "ttft_sum_ns": sum(outcome.ttft_ns.values()),
    }


def _occupations(cell: CellSimulation) -> list[Operation | Blocked]:
    """Return everything that occupies a worker before the end of the iteration."""
    return [*cell.operations, *cell.blocked]


def _computing_ns(cell: CellSimulation) -> int:
    """Return the F, B and W time of the cell in one iteration."""
    return sum(operation.end_ns - operation.start_ns for operation in cell.operations)
