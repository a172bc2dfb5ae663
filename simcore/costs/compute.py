"""How long operations, all-reduces and the optimizer take (MODEL sections 3 and 6)."""

from dataclasses import dataclass

from simcore.costs.gpus import gpu_spec
from simcore.costs.network import placed_stages
from simcore.costs.transformer import Transformer, transformer
from simcore.scenario.document import AnalyticCompute, Datacenter, ExplicitCompute, Scenario, Training
from simcore.units import S_PER_MS, S_PER_US, bytes_from_mb, bytes_per_s_from_gbps

SPLITTING_SCHEDULES = frozenset({"zb-h1"})
"""Schedules with the weight gradient as an operation of its own."""
ACTIVATION_BYTES = 2
"""Of one number that crosses a stage boundary: BF16."""
GRADIENT_BYTES = 2
"""Of one parameter's gradient in the all-reduce: BF16."""


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


def tensor_bytes(training: Training, model: Transformer | None) -> float:
    """Return the bytes of an activation, or of its gradient, that crosses a stage boundary."""
    if training.activation_mb is not None:
        return bytes_from_mb(training.activation_mb)
    assert model is not None
    return ACTIVATION_BYTES * training.microbatch_size * model.sequence_length * model.hidden_size


def gradient_bytes(training: Training, model: Transformer | None) -> tuple[float, ...]:
    """Return the bytes that each stage all-reduces."""
    num_stages = training.pipeline_stages
    if training.gradient_mb is not None:
        return tuple(bytes_from_mb(megabytes) for megabytes in per_stage(training.gradient_mb, num_stages))
    assert model is not None
    return tuple(GRADIENT_BYTES * parameters for parameters in model.stage_parameters(num_stages))


def stage_seconds(scenario: Scenario) -> StageSeconds:
    """Return the durations of every stage's operations and of its end of the iteration."""
    training, model = scenario.training, trained_model(scenario)
    num_chunks = training.virtual_stages
    ends = [scenario.datacenters[index] for index in placed_stages(scenario)]
    if isinstance(training.compute, ExplicitCompute):
        passes = _explicit_passes(training, training.compute)
    else:
        assert model is not None
        passes = _analytic_passes(training, training.compute, model, ends)
    splits = training.schedule in SPLITTING_SCHEDULES
    reduced = zip(gradient_bytes(training, model), ends, strict=True)
    return StageSeconds(
        forward_s=tuple(forward / num_chunks for forward, _, _ in passes),
        backward_s=tuple((inputs + (0.0 if splits else weights)) / num_chunks for _, inputs, weights in passes),
        weight_s=tuple((weights if splits else 0.0) / num_chunks for _, _, weights in passes),
        all_reduce_s=tuple(
            ring_all_reduce_s(
                payload_bytes,
                training.pipelines,
                bytes_per_s_from_gbps(end.intra_gbps),
                end.intra_latency_us * S_PER_US,
            )
            for payload_bytes, end in reduced
        ),
        optimizer_s=training.optimizer_ms * S_PER_MS,
    )


def trained_model(scenario: Scenario) -> Transformer | None:
    """Return the dimensions of the model that is trained, if the document has one."""
    return None if scenario.model is None else transformer(scenario.model)


Pass = tuple[float, float, float]
"""Seconds of forward, backward of inputs and backward of weights, all chunks of a stage."""


def _explicit_passes(training: Training, compute: ExplicitCompute) -> list[Pass]:
    columns = (compute.forward_ms, compute.backward_ms, compute.weight_ms)
    values = [[ms * S_PER_MS for ms in per_stage(column, training.pipeline_stages)] for column in columns]
    return list(zip(*values, strict=True))


def _analytic_passes(
    training: Training, compute: AnalyticCompute, model: Transformer, ends: list[Datacenter]
) -> list[Pass]:
    """Return FLOPs over what the stage's GPUs reach; full recompute repeats the forward in the backward."""
    flops = model.stage_forward_flops(training.pipeline_stages, training.microbatch_size)
    repeated = 1 if training.recompute == "full" else 0
    passes = []
    for stage_flops, end in zip(flops, ends, strict=True):
        forward_s = stage_flops / (training.tensor_parallel * gpu_spec(end).peak_flops_per_s * compute.mfu)
        passes.append((forward_s, (1 + repeated) * forward_s, forward_s))
    return passes
