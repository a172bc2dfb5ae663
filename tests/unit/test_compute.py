"""Durations: given, or from FLOPs; tensors: given, or from the model."""

import pytest

from simcore.costs.compute import ring_all_reduce_s, stage_seconds, tensor_bytes, trained_model
from simcore.scenario.parse import scenario_from
from tests.casts import Document, two_regions

MODEL = {
    "layers": 3,
    "hidden_size": 64,
    "attention_heads": 4,
    "ffn_size": 128,
    "vocab_size": 1000,
    "sequence_length": 32,
}
# Two sequences of 32 tokens: four matrices 64 x 64 and two 64 x 128, the scores, the head.
LAYER_FLOPS = 2 * 64 * (4 * 64 * 64 + 2 * 64 * 128) + 4 * 2 * 32**2 * 64
HEAD_FLOPS = 2 * 64 * 64 * 1000
PEAK_FLOPS_PER_S = 100e12


def analytic(**training: object) -> Document:
    """Return two stages of a model of three layers on GPUs of 100 TFLOPS."""
    gpu = {"id": "round", "memory_gb": 80, "bf16_tflops": PEAK_FLOPS_PER_S / 1e12, "memory_gb_per_s": 1000}
    document = two_regions(datacenters={"gpu": gpu}, microbatch_size=2, **training)
    document["model"] = MODEL
    document["training"]["compute"] = {"mode": "analytic", "mfu": 0.5}
    return document


def test_a_forward_is_flops_over_what_the_gpus_reach():
    seconds = stage_seconds(scenario_from(analytic(tensor_parallel=4)))
    reached = 4 * PEAK_FLOPS_PER_S * 0.5
    assert seconds.forward_s == pytest.approx((2 * LAYER_FLOPS / reached, (LAYER_FLOPS + HEAD_FLOPS) / reached))
    assert seconds.backward_s == pytest.approx([2 * forward_s for forward_s in seconds.forward_s])
    assert seconds.weight_s == (0, 0)


def test_full_recompute_adds_a_forward_to_the_backward():
    seconds = stage_seconds(scenario_from(analytic(recompute="full")))
    assert seconds.backward_s == pytest.approx([3 * forward_s for forward_s in seconds.forward_s])


def test_a_split_weight_gradient_takes_one_forward_of_the_backward():
    seconds = stage_seconds(scenario_from(analytic(schedule="zb-h1", recompute="full")))
    assert seconds.backward_s == pytest.approx([2 * forward_s for forward_s in seconds.forward_s])
    assert seconds.weight_s == pytest.approx(seconds.forward_s)


def test_the_slower_gpu_shows():
    document = analytic()
    document["datacenters"][0]["gpu"] = {**document["datacenters"][0]["gpu"], "bf16_tflops": 50}
    slow = stage_seconds(scenario_from(document)).forward_s
    alike = stage_seconds(scenario_from(analytic())).forward_s
    assert slow == pytest.approx((2 * alike[0], alike[1]))


def test_sizes_follow_from_the_model_where_the_document_gives_none():
    document = analytic(pipelines=2)
    for sized in ("activation_mb", "gradient_mb"):
        del document["training"][sized]
    for datacenter in document["datacenters"]:
        datacenter.update(intra_gbps=8, intra_latency_us=0)
    scenario = scenario_from(document)
    model = trained_model(scenario)
    assert model is not None
    assert tensor_bytes(scenario.training, model) == 2 * 2 * 32 * 64
    reduced = [2 * parameters for parameters in model.stage_parameters(2)]
    assert stage_seconds(scenario).all_reduce_s == pytest.approx(
        [ring_all_reduce_s(payload_bytes, 2, 1e9, 0) for payload_bytes in reduced]
    )


def test_given_durations_do_not_change_with_the_model():
    document = analytic(recompute="full")
    document["training"]["compute"] = {"mode": "explicit", "forward_ms": 10, "backward_ms": 20}
    seconds = stage_seconds(scenario_from(document))
    assert (seconds.forward_s, seconds.backward_s) == ((0.01, 0.01), (0.02, 0.02))
