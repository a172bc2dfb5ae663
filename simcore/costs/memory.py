"""What a GPU has to hold (MODEL section 7), and what may be in flight because of it.

Mixed precision with Adam: 2 bytes a parameter for weights, 2 for gradients, 12 for master weights and
two moments. Activations per layer and microbatch of `b` sequences of `s` tokens, hidden size `h`, `a`
heads: `s * b * h * (34 + 5 * a * s / h) / TP` bytes; with full recompute only the layer's input,
`2 * s * b * h`. Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models",
MLSys 2023, equations 2 and the one of its section 5 on full recomputation.
"""

from dataclasses import dataclass

import numpy as np

from simcore.costs.compute import SPLITTING_SCHEDULES, trained_model
from simcore.costs.gpus import gpu_spec
from simcore.costs.network import placed_stages
from simcore.costs.transformer import Transformer, transformer
from simcore.scenario.document import Scenario, Training
from simcore.schedules import GREEDY, stage_orders

WEIGHT_BYTES = 2
GRADIENT_BYTES = 2
OPTIMIZER_BYTES = 12
INFERENCE_BYTES = 2


@dataclass(frozen=True, slots=True)
class StageMemory:
    """Bytes on each GPU of one stage's workers."""

    stage: int
    weights_bytes: float
    gradients_bytes: float
    optimizer_bytes: float
    activations_bytes: float
    inference_bytes: float
    """One shard of the inference model."""
    capacity_bytes: float
    microbatches_in_flight: float
    """At the worst moment; a chunk counts as its share of a microbatch."""

    @property
    def total_bytes(self) -> float:
        """Return what is needed together."""
        return self.fixed_bytes + self.activations_bytes

    @property
    def fixed_bytes(self) -> float:
        """Return what is needed whatever is in flight."""
        return self.weights_bytes + self.gradients_bytes + self.optimizer_bytes + self.inference_bytes

    @property
    def headroom_bytes(self) -> float:
        """Return what is left; negative when it does not fit."""
        return self.capacity_bytes - self.total_bytes


def layer_activation_bytes(model: Transformer, training: Training) -> float:
    """Return the bytes that one layer keeps of one microbatch on each GPU."""
    tokens = model.sequence_length * training.microbatch_size
    if training.recompute == "full":
        return 2.0 * tokens * model.hidden_size
    scores = 5 * model.attention_heads * model.sequence_length / model.hidden_size
    return tokens * model.hidden_size * (34 + scores) / training.tensor_parallel


def peak_in_flight(training: Training) -> list[float]:
    """Return the most microbatches whose activations a worker of each stage holds, for a static schedule.

    A microbatch is held from the start of its F to the end of its B, or of its W where that is split.
    """
    num_chunks, num_microbatches = training.virtual_stages, training.microbatches
    num_units = num_chunks * num_microbatches
    orders = stage_orders(training.schedule, training.pipeline_stages, num_microbatches, num_chunks)
    kinds = orders // num_units
    releasing = 2 if training.schedule in SPLITTING_SCHEDULES else 1
    held = np.cumsum((kinds == 0).astype(np.int64) - (kinds == releasing), axis=1)
    return [peak / num_chunks for peak in held.max(axis=1).tolist()]


def stage_memory(scenario: Scenario, in_flight: list[float]) -> list[StageMemory]:
    """Return what each stage's GPUs hold with `in_flight` microbatches, shape (P,).

    The scenario has a model.
    """
    training, model = scenario.training, trained_model(scenario)
    assert model is not None
    placed = placed_stages(scenario)
    layers = model.stage_layers(training.pipeline_stages)
    parameters = model.stage_parameters(training.pipeline_stages)
    layer_bytes = layer_activation_bytes(model, training)
    shard_bytes = 0.0
    if scenario.inference is not None:
        shard_bytes = INFERENCE_BYTES * transformer(scenario.inference.model).parameters / scenario.inference.shards
    return [
        StageMemory(
            stage=stage,
            weights_bytes=WEIGHT_BYTES * parameters[stage] / training.tensor_parallel,
            gradients_bytes=GRADIENT_BYTES * parameters[stage] / training.tensor_parallel,
            optimizer_bytes=OPTIMIZER_BYTES * parameters[stage] / training.tensor_parallel,
            activations_bytes=in_flight[stage] * layers[stage] * layer_bytes,
            inference_bytes=shard_bytes / training.tensor_parallel,
            capacity_bytes=gpu_spec(scenario.datacenters[placed[stage]]).memory_bytes,
            microbatches_in_flight=in_flight[stage],
        )
        for stage in range(training.pipeline_stages)
    ]


def max_in_flight(scenario: Scenario) -> int:
    """Return how many microbatches a worker may have in flight.

    Under greedy what the document says, else what the memory of every stage allows, at least 1 and at
    most M; all of them without a model. M under other schedules, which limit themselves.
    """
    training = scenario.training
    if training.schedule != GREEDY or (training.max_in_flight is None and scenario.model is None):
        return training.microbatches
    if training.max_in_flight is not None:
        return min(training.max_in_flight, training.microbatches)
    one_each = stage_memory(scenario, [1.0] * training.pipeline_stages)
    allowed = [
        (stage.capacity_bytes - stage.fixed_bytes) // stage.activations_bytes
        for stage in one_each
        if stage.activations_bytes > 0
    ]
    return int(max(1, min(training.microbatches, *allowed)))


def memory(scenario: Scenario) -> list[StageMemory]:
    """Return what each stage's GPUs hold at the worst moment; nothing without a model."""
    if scenario.model is None:
        return []
    training = scenario.training
    if training.schedule == GREEDY:
        in_flight = [float(max_in_flight(scenario))] * training.pipeline_stages
    else:
        in_flight = peak_in_flight(training)
    return stage_memory(scenario, in_flight)
