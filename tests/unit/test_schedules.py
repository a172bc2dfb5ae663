"""Static schedules as lists of operations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.schedules import gpipe, interleaved, one_f_one_b, stage_orders, zb_h1

NAMES = "FBW"


def text(codes: np.ndarray, num_microbatches: int, num_chunks: int = 1) -> str:
    """Return codes as `F0 B0`, with a chunk behind a dot where there are several."""
    words = []
    for code in codes.tolist():
        kind, unit = divmod(code, num_microbatches * num_chunks)
        chunk, microbatch = divmod(unit, num_microbatches)
        words.append(f"{NAMES[kind]}{microbatch}" + (f".{chunk}" if num_chunks > 1 else ""))
    return " ".join(words)


def test_gpipe():
    assert text(gpipe.order(2, 0, 3, 1), 3) == "F0 F1 F2 B0 B1 B2"


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        (0, "F0 F1 F2 B0 F3 B1 B2 B3"),
        (1, "F0 F1 B0 F2 B1 F3 B2 B3"),
        (2, "F0 B0 F1 B1 F2 B2 F3 B3"),
    ],
)
def test_one_f_one_b(stage: int, expected: str):
    assert text(one_f_one_b.order(3, stage, 4, 1), 4) == expected


def test_one_f_one_b_with_fewer_microbatches_than_stages():
    assert text(one_f_one_b.order(8, 0, 2, 1), 2) == "F0 F1 B0 B1"


def test_zb_h1_lags_the_weights_by_the_stage():
    assert text(zb_h1.order(3, 0, 3, 1), 3) == "F0 F1 F2 B0 W0 B1 W1 B2 W2"
    assert text(zb_h1.order(3, 2, 3, 1), 3) == "F0 B0 F1 B1 F2 B2 W0 W1 W2"
    assert text(zb_h1.order(3, 1, 3, 1), 3) == "F0 F1 B0 F2 B1 W0 B2 W1 W2"


def test_interleaved():
    # Two stages, two chunks, two microbatches: the first stage warms up with 2 * 1 + 2 forwards.
    assert text(interleaved.order(2, 0, 2, 2), 2, 2) == "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0"
    assert text(interleaved.order(2, 1, 2, 2), 2, 2) == "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0"


@given(
    num_stages=st.integers(1, 6),
    num_rounds=st.integers(1, 4),
    num_chunks=st.integers(1, 3),
    order=st.sampled_from([gpipe.order, one_f_one_b.order, interleaved.order, zb_h1.order]),
)
def test_every_operation_once_and_each_after_what_it_needs_here(num_stages, num_rounds, num_chunks, order):
    num_chunks = num_chunks if order is interleaved.order else 1
    num_microbatches = num_stages * num_rounds
    num_units = num_microbatches * num_chunks
    kinds = 3 if order is zb_h1.order else 2
    for stage in range(num_stages):
        codes = order(num_stages, stage, num_microbatches, num_chunks)
        assert sorted(codes.tolist()) == list(range(kinds * num_units))
        place = np.argsort(codes)
        for kind in range(1, kinds):
            before, after = place[(kind - 1) * num_units : kind * num_units], place[kind * num_units :][:num_units]
            assert (before < after).all()


def test_greedy_has_no_list():
    assert stage_orders("greedy", 3, 8, 1).shape == (3, 0)
