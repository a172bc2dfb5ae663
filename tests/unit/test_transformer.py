"""Parameters and FLOPs of the models, by hand and against what other tools print for the same models."""

from typing import Any

import pytest

from simcore.costs.transformer import Transformer, transformer
from simcore.scenario.catalogue import MODELS
from simcore.scenario.document import LayeredModel, PresetModel
from tests.peers import calculon_rows, llm_analysis_rows

SMALL = Transformer(
    layers=5,
    hidden_size=8,
    attention_heads=4,
    kv_heads=2,
    ffn_size=16,
    gated_mlp=True,
    vocab_size=100,
    sequence_length=10,
)


def test_parameters_by_hand():
    # Query and output 8x8 each, key and value 8x4 each, three matrices 8x16; two norms of 8.
    assert SMALL.layer_matrix_parameters == 2 * 64 + 2 * 32 + 3 * 128
    assert SMALL.layer_parameters == 576 + 16
    assert SMALL.parameters == 5 * 592 + 2 * 800


def test_remaining_layers_go_to_the_first_stages_the_head_to_the_last():
    assert SMALL.stage_layers(3) == [2, 2, 1]
    assert SMALL.stage_parameters(3) == [2 * 592 + 800, 2 * 592, 592 + 800]
    assert SMALL.stage_parameters(1) == [SMALL.parameters]


def test_flops_by_hand():
    # Three sequences of ten tokens: 2 a token and parameter, and 4 * b * s^2 * h for the scores.
    layer = 2 * 30 * 576 + 4 * 3 * 10**2 * 8
    assert SMALL.layer_forward_flops(3) == layer
    assert SMALL.stage_forward_flops(3, 3) == [2 * layer, 2 * layer, layer + 2 * 30 * 800]


def test_what_a_document_leaves_open_is_filled_in():
    filled = transformer(LayeredModel(layers=2, hidden_size=64, attention_heads=4, vocab_size=10, sequence_length=8))
    assert (filled.kv_heads, filled.ffn_size, filled.gated_mlp) == (4, 256, False)


@pytest.mark.parametrize(
    ("preset", "billions"),
    [
        ("gpt-3-175b", 175),
        ("llama-2-7b", 6.74),
        ("llama-2-13b", 13.02),
        ("llama-2-70b", 68.98),
        ("llama-3-8b", 8.03),
        ("llama-3-70b", 70.55),
        ("llama-3-405b", 405.85),
        ("mistral-7b", 7.24),
        ("qwen2.5-7b", 7.62),
        ("qwen2.5-72b", 72.71),
    ],
)
def test_models_of_the_catalogue_have_their_published_size(preset: str, billions: float):
    assert transformer(PresetModel(preset=preset)).parameters == pytest.approx(billions * 1e9, rel=0.005)


def test_every_model_of_the_catalogue_can_be_dealt():
    for name, entry in MODELS.items():
        model = transformer(PresetModel(preset=name))
        assert sum(model.stage_parameters(entry.layers)) == pytest.approx(model.parameters)


def peer_transformer(model: dict[str, Any]) -> Transformer:
    """Return the dimensions that a row of either tool names, both tools' names understood."""

    def first(*names: str, otherwise: Any = None) -> Any:
        return next((model[name] for name in names if name in model), otherwise)

    heads = first("attn_heads", "n_head")
    return Transformer(
        layers=first("num_blocks", "num_layers"),
        hidden_size=first("hidden", "hidden_dim"),
        attention_heads=heads,
        kv_heads=first("num_key_value_heads", otherwise=heads),
        ffn_size=first("feedforward", "ffn_embed_dim"),
        gated_mlp=first("mlp_gated_linear_units", otherwise=False),
        vocab_size=first("vocab_size", otherwise=0),
        sequence_length=first("seq_size", "max_seq_len"),
    )


@pytest.mark.parametrize("row", calculon_rows())
def test_a_layers_flops_are_calculons(row: dict[str, Any]):
    execution, model = row["execution"], peer_transformer(row["model"])
    flops = model.layer_forward_flops(execution["microbatch_size"]) / execution["tensor_par"]
    assert flops == pytest.approx(row["block_fw_flops_per_proc"], rel=0.02)


@pytest.mark.parametrize("row", llm_analysis_rows())
def test_parameters_and_flops_are_llm_analysis(row: dict[str, Any]):
    model = peer_transformer(row["model"])
    counted = model.parameters - model.embedding_parameters  # It counts a tied embedding once.
    assert counted == pytest.approx(row["num_params_total"], rel=0.02)
    if row["activation_recomputation"] == "FULL":
        # Forward, a backward of two, and the forward again; the head too.
        flops = 4 * sum(model.stage_forward_flops(1, row["micro_batch"]))
        assert flops == pytest.approx(row["num_flops_total_per_micro_batch"], rel=0.02)
