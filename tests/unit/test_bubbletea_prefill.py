"""How long prompts take, by hand."""

import numpy as np
import pytest

from simcore.bubbletea.prefill import LONGEST_NS, hop_ns, kv_bytes_per_token, prefill_ns, shard_ns, whole_ns
from simcore.reference.prefill import prefill_ns as twin_prefill_ns
from simcore.scenario.document import Inference, TablePrefill
from tests.casts import MS, Document, one_region, scenario


def table(*rows: tuple[int, float]) -> TablePrefill:
    return TablePrefill(mode="table", table=rows)


def inference_of(**inference: object) -> Inference:
    part = scenario(one_region(1, inference=inference)).inference
    assert part is not None
    return part


def test_a_table_interpolates_holds_below_and_extends_above():
    tokens = np.array([50, 100, 150, 200, 300, 400, 800])
    # Slopes: 0.1 ms a token up to 200, 0.2 from there on.
    got = prefill_ns(table((100, 10.0), (200, 20.0), (400, 60.0)), tokens)
    assert got.tolist() == [10 * MS, 10 * MS, 15 * MS, 20 * MS, 40 * MS, 60 * MS, 140 * MS]


def test_one_row_is_a_constant():
    assert prefill_ns(table((100, 7.0)), np.array([1, 100, 10**9])).tolist() == [7 * MS] * 3


def test_halves_are_those_of_the_order_of_operations():
    # Lengths at which the exact value is half a nanosecond off a whole one: floating point decides.
    rows = ((128, 13.997), (1024, 46.655), (8192, 419.899))
    tokens = np.arange(1, 20_000)
    assert prefill_ns(table(*rows), tokens).tolist() == [twin_prefill_ns(rows, count) for count in tokens.tolist()]


def test_halves_are_rounded_up():
    assert whole_ns(np.array([0.5e-9, 1.5e-9, 2.49e-9, 0.0])).tolist() == [1, 2, 2, 0]


def test_what_does_not_fit_into_64_bits_is_longer_than_any_horizon():
    # 1e9 ms a token for 1e9 tokens: 1e24 ns.
    assert prefill_ns(table((1, 1.0), (2, 1e9)), np.array([10**9])).tolist() == [LONGEST_NS]
    assert whole_ns(np.array([np.inf])).tolist() == [LONGEST_NS]


@pytest.mark.parametrize(("whole", "shards", "each"), [(10, 1, 10), (10, 3, 4), (9, 3, 3), (1, 8, 1), (0, 2, 0)])
def test_a_shard_takes_its_part_rounded_up(whole: int, shards: int, each: int):
    assert shard_ns(np.array([whole]), shards).tolist() == [each]


@pytest.mark.parametrize(
    ("inference", "expected_ns"),
    [
        # 1 MB a millisecond, 1 ms of latency; 200 tokens.
        pytest.param({"hop_bytes_per_token": 10_000}, 3 * MS, id="2 MB take 2 ms"),
        pytest.param({"hop_bytes_per_token": 0}, 1 * MS, id="nothing to hand over takes the latency"),
        pytest.param({"hop_bytes_per_token": None}, 2_638_400, id="2 x 4096 bytes: 1.6384 MB"),
    ],
)
def test_a_hop_takes_bytes_and_latency(inference: Document, expected_ns: int):
    case = scenario(one_region(1, datacenters={"intra_gbps": 8, "intra_latency_us": 1000}))
    assert hop_ns(inference_of(**inference), case.datacenters[0], np.array([200])).tolist() == [expected_ns]


def test_keys_and_values_of_a_token():
    # llama-3-8b: 32 layers, 8 key-value heads of 4096 / 32 = 128 numbers, two bytes each.
    assert kv_bytes_per_token(inference_of()) == 2 * 2 * 32 * 8 * 128
    layers = {"layers": 2, "hidden_size": 10, "attention_heads": 3, "vocab_size": 10, "sequence_length": 10}
    assert kv_bytes_per_token(inference_of(model=layers)) is None
    assert kv_bytes_per_token(inference_of(model={**layers, "attention_heads": 5})) == 2 * 2 * 2 * 5 * 2
