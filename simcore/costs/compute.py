"""How long operations, all-reduces and the optimizer take (MODEL sections 3 and 6)."""

from dataclasses import dataclass

from simcore.costs.network import placed_stages
from simcore.scenario.document import ExplicitCompute, Scenario
from simcore.units import S_PER_MS, S_PER_US, bytes_from_mb, bytes_per_s_from_gbps

SPLITTING_SCHEDULES = frozenset({"zb-h1"})
"""Schedules with the weight gradient as an operation of its own."""


@dataclass(frozen=True, slots=True)
class StageSeconds:
    """Durations in seconds, one value a stage; operations are those of one chunk."""

    forward_s: tuple[float, ...]
    backward_s: tuple[float, ...]
    weight_s: tuple[float, ...]
    """Zero where the schedule does not split the weight gradient off."""
    all_reduce_s: tuple[float, ...]
    optimizer_s: float


def per_stage(value: float | tuple[float, ...], num_stages: int) -> tuple[float, ...]:
    """Return one value a stage of a field that may give one for all."""
    return value if isinstance(value, tuple) else (value,) * num_stages


def ring_all_reduce_s(payload_bytes: float, num_ranks: int, rate_bytes_per_s: float, latency_s: float) -> float:
    """Return the time of one ring all-reduce over identical links.

    Parameters
    ----------
    payload_bytes : float
        Size of the reduced tensor on each rank. >= 0; nothing to reduce takes no time.
    num_ranks : int
        Ranks in the ring. >= 1; a ring of one takes no time.
    rate_bytes_per_s : float
        Rate of each directed link. > 0.
    latency_s : float
        One-way latency of each hop. >= 0.

    Notes
    -----
    Assumes no other traffic on the ring and no overlap with compute.

    References
    ----------
    Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
    JPDC 69(2), 2009.

    Examples
    --------
    >>> ring_all_reduce_s(1e9, 4, 1.25e9, 0.02)
    1.3199999999999998
    """
    if num_ranks == 1 or payload_bytes == 0:
        return 0.0
    hops = 2 * (num_ranks - 1)
    return hops / num_ranks * payload_bytes / rate_bytes_per_s + hops * latency_s


def stage_seconds(scenario: Scenario) -> StageSeconds:
    """Return the durations of every stage's operations and of its end of the iteration."""
    training = scenario.training
    compute = training.compute
    assert isinstance(compute, ExplicitCompute)
    assert training.gradient_mb is not None
    num_stages, num_chunks = training.pipeline_stages, training.virtual_stages
    forward = per_stage(compute.forward_ms, num_stages)
    backward = per_stage(compute.backward_ms, num_stages)
    weight = per_stage(compute.weight_ms, num_stages)
    splits = training.schedule in SPLITTING_SCHEDULES
    pairs = list(zip(backward, weight, strict=True))
    ends = [scenario.datacenters[index] for index in placed_stages(scenario)]
    gradients = per_stage(training.gradient_mb, num_stages)
    return StageSeconds(
        forward_s=tuple(ms * S_PER_MS / num_chunks for ms in forward),
        backward_s=tuple((b * S_PER_MS + (0.0 if splits else w * S_PER_MS)) / num_chunks for b, w in pairs),
        weight_s=tuple((w * S_PER_MS if splits else 0.0) / num_chunks for w in weight),
        all_reduce_s=tuple(
            ring_all_reduce_s(
                bytes_from_mb(megabytes),
                training.pipelines,
                bytes_per_s_from_gbps(end.intra_gbps),
                end.intra_latency_us * S_PER_US,
            )
            for megabytes, end in zip(gradients, ends, strict=True)
        ),
        optimizer_s=training.optimizer_ms * S_PER_MS,
    )
