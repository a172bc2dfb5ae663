"""Differences from a baseline in words."""

import pytest

from webapp.runs.deltas import Comparison, of_bad, of_good, of_share, of_time, of_traffic
from webapp.runs.templatetags.units import times


@pytest.mark.parametrize(
    ("compare", "value", "base", "text", "sense"),
    [
        # 30,933,168,000 / 1,495,266,000 = 20.687
        (of_time, 1_495_266_000, 30_933_168_000, "20.7× faster", "better"),
        (of_time, 30_933_168_000, 1_495_266_000, "20.7× slower", "worse"),
        (of_time, 1000, 1001, "barely faster", "better"),
        (of_time, 0, 5, "faster", "better"),
        (of_time, 7, 7, "same", "same"),
        (of_share, 0.599, 0.029, "+57.0 points", "better"),
        (of_share, 0.1, 0.2, "−10.0 points", "worse"),
        (of_share, 0.5, 0.5001, "−<0.1 points", "worse"),
        (of_good, 1999, 999, "1\u202f000 more", "better"),
        (of_good, 0, 2, "2 fewer", "worse"),
        (of_bad, 3, 1, "2 more", "worse"),
        (of_bad, 1, 3, "2 fewer", "better"),
        (of_traffic, 100, 250, "2.5× less", "better"),
        (of_traffic, 1, 0, "more", "worse"),
        (of_traffic, 0, 0, "same", "same"),
    ],
)
def test_a_difference_says_how_much_and_which_is_better(
    compare: Comparison, value: float, base: float, text: str, sense: str
) -> None:
    delta = compare(value, base)
    assert (delta.text, delta.sense) == (text, sense)


def test_large_ratios_are_whole_numbers() -> None:
    assert [times(1.5), times(999.4), times(12_345.6), times(None)] == ["1.5×", "999×", "12\u202f346×", "–"]
