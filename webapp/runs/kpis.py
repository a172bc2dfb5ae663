"""Key figures of a run: which ones the page shows, their exact values and how people read them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from webapp.runs.deltas import Comparison, Delta, of_bad, of_good, of_share, of_time, of_traffic
from webapp.runs.templatetags.units import ABSENT, duration, share

Figures = dict[str, Any]


def count(value: Any) -> str:
    """Return a count in groups of three digits: `1 999`."""
    return f"{value:,.0f}".replace(",", "\u202f") if isinstance(value, (int, float)) else ABSENT


def size(value_bytes: Any) -> str:
    """Return bytes with a fitting decimal unit: `4.3 GB`."""
    if not isinstance(value_bytes, (int, float)):
        return ABSENT
    for factor, unit in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value_bytes >= factor:
            return f"{value_bytes / factor:.4g} {unit}"
    return f"{value_bytes:.0f} B"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of docs/figures.md as the page shows it."""

    key: str
    text: Callable[[Any], str]
    compare: Comparison
    prefix: str = ""


_TRAINING = (
    ("Iteration time", (Measure("iteration_time_ns", duration, of_time),)),
    ("Training utilisation", (Measure("gpu_utilization_training", share, of_share),)),
)
_INFERENCE = (
    ("With prefill", (Measure("gpu_utilization_total", share, of_share),)),
    ("Idle time filled", (Measure("fill_fraction", share, of_share),)),
)
_NETWORK = (("WAN per iteration", (Measure("wan_bytes", size, of_traffic),)),)
_REQUESTS = (
    (
        "Requests served",
        (
            Measure("served", count, of_good),
            Measure("rejected", count, of_bad, "rejected"),
            Measure("unplaceable", count, of_bad, "unplaceable"),
        ),
    ),
    (
        "Time to first token, median",
        (
            Measure("ttft_p50_ns", duration, of_time),
            Measure("ttft_p95_ns", duration, of_time, "p95"),
            Measure("ttft_p99_ns", duration, of_time, "p99"),
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Kpi:
    """One figure on the page; `key` is its name for scripts and tests."""

    key: str
    value: float | None
    text: str
    prefix: str
    base_text: str
    """What the baseline has; empty without a baseline."""
    delta: Delta | None
    """None without a baseline, and where either of the two figures is not there."""

    @property
    def raw(self) -> str:
        """Return the exact value as JSON; empty while unknown."""
        return "" if self.value is None else json.dumps(self.value)


@dataclass(frozen=True, slots=True)
class Tile:
    """Figures that belong together, the first one large."""

    label: str
    kpis: tuple[Kpi, ...]

    @property
    def is_pending(self) -> bool:
        """Return whether the main figure is not known yet."""
        return self.kpis[0].value is None


def tiles(figures: Figures, *, has_inference: bool, baseline: Figures | None = None) -> list[Tile]:
    """Return the key figures in the order of the page; values not known yet are None."""
    here, there = _flat(figures), None if baseline is None else _flat(baseline)
    wanted = [*_TRAINING, *_INFERENCE, *_NETWORK, *_REQUESTS] if has_inference else [*_TRAINING, *_NETWORK]
    return [Tile(label, tuple(_kpi(measure, here, there) for measure in measures)) for label, measures in wanted]


def _flat(figures: Figures) -> Figures:
    return figures | (figures.get("inference") or {})


def _kpi(measure: Measure, here: Figures, there: Figures | None) -> Kpi:
    value = here.get(measure.key)
    base = None if there is None else there.get(measure.key)
    return Kpi(
        key=measure.key,
        value=value,
        text=measure.text(value),
        prefix=measure.prefix,
        base_text="" if there is None else measure.text(base),
        delta=None if value is None or base is None else measure.compare(value, base),
    )
