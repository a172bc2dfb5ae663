"""Durations of operations, all-reduce and optimizer (MODEL sections 1, 3 and 6)."""

import math
from typing import NamedTuple

from simcore.scenario.document import Datacenter, ExplicitCompute, FixedPlacement, Scenario

PerStage = float | tuple[float, ...]


class StageDurations(NamedTuple):
    """What one stage takes, in nanoseconds; operations are those of one chunk."""

    forward_ns: int
    backward_ns: int
    weight_ns: int
    all_reduce_ns: int


def whole_ns(seconds: float) -> int:
    """Return seconds as nanoseconds, halves up."""
    return math.floor(seconds * 1e9 + 0.5)


def splits_weight(scenario: Scenario) -> bool:
    """Return whether the weight gradient is an operation of its own."""
    return scenario.training.schedule == "zb-h1"


def stage_datacenters(scenario: Scenario) -> list[Datacenter]:
    """Return each stage's datacenter."""
    assert isinstance(scenario.placement, FixedPlacement)
    by_name = {datacenter.name: datacenter for datacenter in scenario.datacenters}
    return [by_name[name] for name in scenario.placement.stages]


def _of_stage(value: PerStage, stage: int) -> float:
    return value[stage] if isinstance(value, tuple) else value


def stage_durations(scenario: Scenario) -> list[StageDurations]:
    """Return what every stage takes."""
    training = scenario.training
    compute = training.compute
    assert isinstance(compute, ExplicitCompute)
    assert training.gradient_mb is not None
    result = []
    for stage, datacenter in enumerate(stage_datacenters(scenario)):
        forward_s = _of_stage(compute.forward_ms, stage) * 1e-3
        backward_s = _of_stage(compute.backward_ms, stage) * 1e-3
        weight_s = _of_stage(compute.weight_ms, stage) * 1e-3
        if not splits_weight(scenario):
            backward_s, weight_s = backward_s + weight_s, 0.0
        result.append(
            StageDurations(
                forward_ns=whole_ns(forward_s / training.virtual_stages),
                backward_ns=whole_ns(backward_s / training.virtual_stages),
                weight_ns=whole_ns(weight_s / training.virtual_stages),
                all_reduce_ns=whole_ns(
                    _all_reduce_s(_of_stage(training.gradient_mb, stage) * 1e6, training.pipelines, datacenter)
                ),
            )
        )
    return result


def _all_reduce_s(gradient_bytes: float, replicas: int, datacenter: Datacenter) -> float:
    """Return the ring all-reduce of section 6."""
    if replicas == 1 or gradient_bytes == 0:
        return 0.0
    intra_rate = datacenter.intra_gbps * 125e6
    latency_s = datacenter.intra_latency_us * 1e-6
    return 2 * (replicas - 1) / replicas * gradient_bytes / intra_rate + 2 * (replicas - 1) * latency_s
