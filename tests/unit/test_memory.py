"""What GPUs must hold, what is in flight because of it, and what is offered when it does not fit."""

from typing import Any

import numpy as np
import pytest

from simcore import api
from simcore.costs.feasibility import feasible_scenario
from simcore.costs.memory import StageMemory, max_in_flight, memory, peak_in_flight
from simcore.errors import InfeasibleError
from simcore.results.segments import Kind
from simcore.scenario.document import Scenario
from simcore.scenario.parse import scenario_from
from tests.casts import Document, scenario_document
from tests.peers import calculon_rows, llm_analysis_rows

GIB_BYTES = 2**30
LAYERED = {"layers": 4, "hidden_size": 8, "attention_heads": 2, "vocab_size": 10, "sequence_length": 16}
LAYER_PARAMETERS = 4 * 8 * 8 + 2 * 8 * 32 + 2 * 8
HEAD_PARAMETERS = 80


def trained(model: Document, *, stages: int = 2, gpu: Any = "a100-80gb", **training: Any) -> Document:
    """Return one datacenter that trains `model`, with the sizes that follow from it."""
    document = scenario_document(["east"], ["east"] * stages, [], datacenters={"gpu": gpu, "gpus": 4096}, **training)
    document["model"] = model
    document["training"]["compute"]["weight_ms"] = 10
    for sized in ("activation_mb", "gradient_mb"):
        del document["training"][sized]
    return document


def gpu_of(memory_bytes: float) -> Document:
    """Return a GPU that differs only in its memory."""
    return {"id": "small", "memory_gb": memory_bytes / 1e9, "bf16_tflops": 100, "memory_gb_per_s": 1000}


def test_every_part_by_hand():
    first, last = memory(scenario_from(trained(LAYERED, microbatches=3, microbatch_size=2, tensor_parallel=2)))
    parameters = 2 * LAYER_PARAMETERS + HEAD_PARAMETERS
    # Two layers, three microbatches (gpipe) of two sequences: s b h (34 + 5 a s / h) over TP.
    activations = 3 * 2 * (16 * 2 * 8 * (34 + 5 * 2 * 16 / 8) / 2)
    expected = StageMemory(
        stage=0,
        weights_bytes=parameters,
        gradients_bytes=parameters,
        optimizer_bytes=6 * parameters,
        activations_bytes=activations,
        inference_bytes=0,
        capacity_bytes=80e9,
        microbatches_in_flight=3,
    )
    assert first == expected
    assert last.total_bytes == first.total_bytes == 8 * parameters + activations
    assert first.headroom_bytes == 80e9 - first.total_bytes


def test_full_recompute_keeps_only_the_inputs_of_layers():
    first, _ = memory(scenario_from(trained(LAYERED, microbatches=3, tensor_parallel=2, recompute="full")))
    assert first.activations_bytes == 3 * 2 * (2 * 16 * 8)


def test_the_inference_shard_counts():
    document = trained(LAYERED)
    document["inference"] = {
        "model": LAYERED,
        "shards": 2,
        "prefill": {"mode": "table", "table": [[100, 10], [200, 20]]},
        "requests": {"mode": "inline", "inline": []},
    }
    assert memory(scenario_from(document))[0].inference_bytes == 4 * LAYER_PARAMETERS + 2 * HEAD_PARAMETERS


@pytest.mark.parametrize(
    ("schedule", "changes", "in_flight"),
    [
        ("gpipe", {}, [6, 6, 6]),
        ("1f1b", {}, [3, 2, 1]),
        ("1f1b", {"microbatches": 2}, [2, 2, 1]),
        ("zb-h1", {}, [3, 3, 3]),
        ("interleaved-1f1b", {"virtual_stages": 2}, [4, 3, 2]),
    ],
)
def test_in_flight_follows_from_the_order(schedule: str, changes: Document, in_flight: list[float]):
    model = {**LAYERED, "layers": 6}
    document = trained(model, **{"stages": 3, "microbatches": 6, "schedule": schedule, **changes})
    peaks = peak_in_flight(scenario_from(document).training)
    assert peaks == in_flight
    assert peaks == held_in_timeline(scenario_from(document))


def held_in_timeline(scenario: Scenario) -> list[float]:
    """Return the most microbatches held at once by each stage, counted on the timeline."""
    trained_iteration = api.simulate(scenario).timeline.iteration
    releasing = Kind.WEIGHT if scenario.training.schedule == "zb-h1" else Kind.BACKWARD
    peaks = []
    for stage in range(scenario.training.pipeline_stages):
        own = trained_iteration.take(np.flatnonzero(trained_iteration.row == stage))
        takes = [(start, 1) for start in own.start_ns[own.kind == Kind.FORWARD]]
        gives = [(end, -1) for end in own.end_ns[own.kind == releasing]]
        steps = [step for _, step in sorted(takes + gives, key=lambda event: (event[0], event[1]))]
        peaks.append(int(max(np.cumsum(steps))) / scenario.training.virtual_stages)
    return peaks


def test_greedy_keeps_in_flight_what_fits():
    one = memory(scenario_from(trained(LAYERED, schedule="greedy", max_in_flight=1, microbatches=6)))[0]
    gpu = gpu_of(one.fixed_bytes + 4.5 * one.activations_bytes)
    scenario = feasible_scenario(trained(LAYERED, schedule="greedy", microbatches=6, gpu=gpu))
    assert max_in_flight(scenario) == 4
    assert max(held_in_timeline(scenario)) <= 4
    roomy = scenario_from(trained(LAYERED, schedule="greedy", microbatches=6))
    assert max_in_flight(roomy) == 6


def refusal(document: Document) -> tuple[str, str]:
    """Return path and sentence of the one problem of a document that does not fit."""
    with pytest.raises(InfeasibleError) as refused:
        feasible_scenario(document)
    (problem,) = refused.value.problems
    return problem.path, problem.message


def test_what_does_not_fit_names_stage_need_limit_and_a_setting_that_fits():
    one = memory(scenario_from(trained(LAYERED, microbatches=1)))[0]
    gpu = gpu_of(one.fixed_bytes + 5 * one.activations_bytes)
    path, sentence = refusal(trained(LAYERED, microbatches=3, microbatch_size=4, gpu=gpu))
    assert path == "training.microbatch_size"
    assert sentence.startswith("stage 0 needs ")
    assert "activations of 3 microbatches" in sentence
    assert "(1 more stage does not fit either)" in sentence
    assert sentence.endswith("microbatch_size 1 would fit")
    feasible_scenario(trained(LAYERED, microbatches=3, microbatch_size=1, gpu=gpu))


def test_the_offer_is_tried_before_it_is_made():
    path, sentence = refusal(trained({"preset": "llama-3-70b"}, stages=4, schedule="1f1b", recompute="full"))
    assert path == "training.tensor_parallel"
    offered = int(sentence.split("tensor_parallel ")[1].split()[0])
    document = trained({"preset": "llama-3-70b"}, stages=4, schedule="1f1b", recompute="full", tensor_parallel=offered)
    feasible_scenario(document)
    with pytest.raises(InfeasibleError):
        feasible_scenario({**document, "training": {**document["training"], "tensor_parallel": offered // 2}})


def test_nothing_near_fits():
    path, sentence = refusal(trained({"preset": "llama-3-405b"}, stages=1, gpu=gpu_of(1e9), recompute="full"))
    assert path == "training.pipeline_stages"
    assert "no nearby setting fits" in sentence


def peer_document(row: dict[str, Any]) -> Document:
    """Return the document of one row of Calculon: gpipe and friends over the row's parallelism."""
    execution, model = row["execution"], row["model"]
    chunks = execution["pipeline_interleaving"]
    return trained(
        {
            "layers": model["num_blocks"],
            "hidden_size": model["hidden"],
            "attention_heads": model["attn_heads"],
            "ffn_size": model["feedforward"],
            "vocab_size": 1,
            "sequence_length": model["seq_size"],
        },
        stages=execution["pipeline_par"],
        gpu="b200",
        schedule="interleaved-1f1b" if chunks > 1 else "1f1b",
        virtual_stages=chunks,
        tensor_parallel=execution["tensor_par"],
        microbatch_size=execution["microbatch_size"],
        microbatches=execution["batch_size"] // execution["data_par"] // execution["microbatch_size"],
        recompute=execution["activation_recompute"],
    )


@pytest.mark.parametrize("row", calculon_rows())
def test_memory_is_calculons(row: dict[str, Any]):
    first = memory(scenario_from(peer_document(row)))[0]
    assert first.weights_bytes == pytest.approx(row["weight_GiB"] * GIB_BYTES, rel=0.02)
    assert first.optimizer_bytes == pytest.approx(row["optimizer_GiB"] * GIB_BYTES, rel=0.02)
    assert first.activations_bytes == pytest.approx(row["act_checkpoint_GiB"] * GIB_BYTES, rel=0.02)


@pytest.mark.parametrize("row", llm_analysis_rows())
def test_weights_are_llm_analysis(row: dict[str, Any]):
    # It does not divide the embedding over the stages, counts it once and puts it everywhere.
    model, stages = row["model"], row["pp"]
    dealt = trained(
        {
            "layers": model["num_layers"],
            "hidden_size": model["hidden_dim"],
            "attention_heads": model["n_head"],
            "kv_heads": model.get("num_key_value_heads", model["n_head"]),
            "ffn_size": model["ffn_embed_dim"],
            "gated_mlp": model.get("mlp_gated_linear_units", False),
            "vocab_size": model["vocab_size"],
            "sequence_length": model["max_seq_len"],
        },
        stages=stages,
        tensor_parallel=row["tp"],
    )
    first = memory(scenario_from(dealt))[0]
    twice = 2 * model["vocab_size"] * model["hidden_dim"] / row["tp"] if stages == 1 else 0
    assert first.weights_bytes - twice == pytest.approx(row["weight_memory_per_gpu"], rel=0.02)
    if row["zero_stage"] == 0:
        assert first.optimizer_bytes == pytest.approx(row["optimizer_state_memory_per_gpu"], rel=0.02)
