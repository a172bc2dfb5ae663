"""The last question to a sound document: does it fit the GPUs' memory? And what nearby would."""

from collections.abc import Iterator
from typing import Any

from simcore.costs.memory import StageMemory, memory
from simcore.errors import InfeasibleError, Problem
from simcore.scenario.document import Scenario, Training
from simcore.scenario.parse import scenario_from
from simcore.schedules import GREEDY

MOST_TENSOR_PARALLEL = 64


def feasible_scenario(document: Any) -> Scenario:
    """Return the scenario of a document that can run.

    Raises
    ------
    ScenarioError
        Carries every problem of the document.
    InfeasibleError
        The document is sound, but does not fit the memory.
    """
    scenario = scenario_from(document)
    if found := memory_problems(scenario):
        raise InfeasibleError(found)
    return scenario


def memory_problems(scenario: Scenario) -> list[Problem]:
    """Return one problem for the stage that lacks most memory, or none."""
    stages = memory(scenario)
    if not stages:
        return []
    worst = min(stages, key=lambda stage: stage.headroom_bytes)
    if worst.headroom_bytes >= 0:
        return []
    path, offer = _offer(scenario)
    others = sum(stage.headroom_bytes < 0 for stage in stages) - 1
    also = f" ({others} more {'stage does' if others == 1 else 'stages do'} not fit either)" if others else ""
    return [Problem(path, f"{_need_text(scenario, worst)}{also}; {offer}")]


def _need_text(scenario: Scenario, stage: StageMemory) -> str:
    parts = (
        ("weights", stage.weights_bytes),
        ("gradients", stage.gradients_bytes),
        ("optimizer", stage.optimizer_bytes),
        (f"activations of {stage.microbatches_in_flight:g} microbatches", stage.activations_bytes),
        ("inference shard", stage.inference_bytes),
    )
    listed = ", ".join(f"{name} {num_bytes / 1e9:.1f}" for name, num_bytes in parts if num_bytes)
    return (
        f"stage {stage.stage} needs {stage.total_bytes / 1e9:.1f} GB on each GPU ({listed}), "
        f"which has {stage.capacity_bytes / 1e9:g} GB"
    )


def _offer(scenario: Scenario) -> tuple[str, str]:
    """Return the field to change and a sentence on the nearest value that fits."""
    for field, value, changed in _nearby(scenario):
        if all(stage.headroom_bytes >= 0 for stage in memory(changed)):
            return f"training.{field}", f"{field} {value} would fit"
    return "training.pipeline_stages", "no nearby setting fits; use more stages, a larger GPU or a smaller model"


def _nearby(scenario: Scenario) -> Iterator[tuple[str, Any, Scenario]]:
    """Yield changes of one field, those that cost least first."""

    def changed(**fields: Any) -> Scenario:
        training: Training = scenario.training.model_copy(update=fields)
        return scenario.model_copy(update={"training": training})

    training = scenario.training
    if training.schedule == GREEDY and training.max_in_flight is not None:
        for value in range(training.max_in_flight - 1, 0, -1):
            yield "max_in_flight", value, changed(max_in_flight=value)
    for value in range(training.microbatch_size - 1, 0, -1):
        yield "microbatch_size", value, changed(microbatch_size=value)
    if training.recompute == "none":
        yield "recompute", "full", changed(recompute="full")
    value = 2 * training.tensor_parallel
    while value <= MOST_TENSOR_PARALLEL:
        yield "tensor_parallel", value, changed(tensor_parallel=value)
        value *= 2
