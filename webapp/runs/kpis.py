"""Key figures of a run: which ones the page shows, their exact values and how people read them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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


def fill_ratio(inference: Figures) -> float | None:
    """Return booked over idle worker time; None while unknown or when nothing is idle."""
    filled_ns, idle_ns = inference.get("filled_ns"), inference.get("idle_ns")
    return filled_ns / idle_ns if filled_ns is not None and idle_ns else None


@dataclass(frozen=True, slots=True)
class Kpi:
    """One figure on the page; `key` is its name for scripts and tests."""

    key: str
    value: float | None
    text: str
    prefix: str = ""

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


def tiles(figures: Figures, *, has_inference: bool) -> list[Tile]:
    """Return the key figures in the order of the page; values not known yet are None."""
    inference: Figures = figures.get("inference") or {}

    def kpi(source: Figures, key: str, text: Callable[[Any], str], prefix: str = "") -> Kpi:
        value = source.get(key)
        return Kpi(key, value, text(value), prefix)

    training = [
        Tile("Iteration time", (kpi(figures, "iteration_time_ns", duration),)),
        Tile("Training utilisation", (kpi(figures, "gpu_utilization_training", share),)),
    ]
    wan = Tile("WAN per iteration", (kpi(figures, "wan_bytes", size),))
    if not has_inference:
        return [*training, wan]
    ratio = fill_ratio(inference)
    return [
        *training,
        Tile("With prefill", (kpi(inference, "gpu_utilization_total", share),)),
        Tile("Filled idle", (Kpi("fill_ratio", ratio, share(ratio)),)),
        wan,
        Tile(
            "Requests served",
            (
                kpi(inference, "served", count),
                kpi(inference, "rejected", count, "rejected"),
                kpi(inference, "unplaceable", count, "unplaceable"),
            ),
        ),
        Tile(
            "TTFT p50",
            (
                kpi(inference, "ttft_p50_ns", duration),
                kpi(inference, "ttft_p95_ns", duration, "p95"),
                kpi(inference, "ttft_p99_ns", duration, "p99"),
            ),
        ),
    ]
