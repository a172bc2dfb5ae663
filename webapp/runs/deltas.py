"""How a figure differs from a baseline's, in words that say which of the two is better."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from webapp.runs.templatetags.units import times

TOO_CLOSE = 1.005
"""A ratio below it would be written as 1×."""


class Sense(StrEnum):
    """Whether a figure is better than the baseline's."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Delta:
    """A difference in words; `sense` gives it its colour."""

    text: str
    sense: Sense


Comparison = Callable[[float, float], Delta]
"""From a figure and the baseline's."""

_SAME = Delta("same", Sense.SAME)


def of_time(value_ns: float, base_ns: float) -> Delta:
    """Return how many times faster or slower a duration is.

    Examples
    --------
    >>> of_time(1_495_266_000, 30_933_168_000).text, of_time(200, 100).text
    ('20.7× faster', '2× slower')
    """
    if value_ns == base_ns:
        return _SAME
    is_better = value_ns < base_ns
    word = "faster" if is_better else "slower"
    sense = Sense.BETTER if is_better else Sense.WORSE
    return Delta(f"{_factor(value_ns, base_ns)} {word}".strip(), sense)


def of_share(value: float, base: float) -> Delta:
    """Return by how many hundredths a share differs; more is better.

    Examples
    --------
    >>> of_share(0.599, 0.029).text
    '+57.0 points'
    """
    if value == base:
        return _SAME
    points = 100 * abs(value - base)
    amount = f"{points:.1f} points" if points >= 0.05 else "<0.1 points"
    return Delta(f"+{amount}", Sense.BETTER) if value > base else Delta(f"\N{MINUS SIGN}{amount}", Sense.WORSE)


def of_good(value: float, base: float) -> Delta:
    """Return by how much a count of something wanted differs."""
    return _of_count(value, base, Sense.BETTER, Sense.WORSE)


def of_bad(value: float, base: float) -> Delta:
    """Return by how much a count of something unwanted differs."""
    return _of_count(value, base, Sense.WORSE, Sense.BETTER)


def of_traffic(value_bytes: float, base_bytes: float) -> Delta:
    """Return how many times more or fewer bytes are sent; fewer are better."""
    if value_bytes == base_bytes:
        return _SAME
    is_better = value_bytes < base_bytes
    word = "less" if is_better else "more"
    sense = Sense.BETTER if is_better else Sense.WORSE
    return Delta(f"{_factor(value_bytes, base_bytes)} {word}".strip(), sense)


def _of_count(value: float, base: float, if_more: Sense, if_fewer: Sense) -> Delta:
    if value == base:
        return _SAME
    amount = f"{abs(value - base):,.0f}".replace(",", "\u202f")
    return Delta(f"{amount} more", if_more) if value > base else Delta(f"{amount} fewer", if_fewer)


def _factor(value: float, base: float) -> str:
    """Return the larger over the smaller; nothing when that is infinite."""
    smaller, larger = sorted((value, base))
    if smaller <= 0:
        return ""
    ratio = larger / smaller
    return times(ratio) if ratio >= TOO_CLOSE else "barely"
