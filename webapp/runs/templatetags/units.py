"""Template filters that give numbers their unit; templates do no arithmetic."""

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone

register = template.Library()

_DURATION_UNITS = (
    (3_600_000_000_000, "h"),
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1_000, "µs"),
)
ABSENT = "–"


@register.filter
def duration(value_ns: Any) -> str:
    """Return nanoseconds with a fitting unit, four digits: `1.495 s`.

    Examples
    --------
    >>> duration(1_495_266_000), duration(30_933_168_000), duration(0), duration(None)
    ('1.495 s', '30.93 s', '0 s', '–')
    """
    if not isinstance(value_ns, (int, float)):
        return ABSENT
    if value_ns == 0:
        return "0 s"
    for factor, unit in _DURATION_UNITS:
        if abs(value_ns) >= factor:
            return f"{value_ns / factor:.4g} {unit}"
    return f"{value_ns} ns"


@register.filter
def share(fraction: Any) -> str:
    """Return a fraction as hundredths: `59.9 %`."""
    return f"{100 * fraction:.1f} %" if isinstance(fraction, (int, float)) else ABSENT


@register.filter
def times(ratio: Any) -> str:
    """Return a ratio with three digits, a large one in whole: `20.7×`, `1 250×`."""
    if not isinstance(ratio, (int, float)):
        return ABSENT
    return f"{ratio:.3g}×" if ratio < 1_000 else f"{ratio:,.0f}×".replace(",", "\u202f")


@register.filter
def pace(value: Any) -> str:
    """Return simulated seconds per second: `10×`, or `max`."""
    return f"{value:g}×" if isinstance(value, (int, float)) else "max"


@register.filter
def ago(moment: datetime | None) -> str:
    """Return how long ago something was, in one unit: `3 min ago`."""
    if moment is None:
        return ABSENT
    seconds = (timezone.now() - moment).total_seconds()
    if seconds < 10:
        return "just now"
    for limit, factor, unit in ((60, 1, "s"), (3_600, 60, "min"), (86_400, 3_600, "h"), (30 * 86_400, 86_400, "d")):
        if seconds < limit:
            return f"{int(seconds // factor)} {unit} ago"
    return moment.strftime("%-d %b %Y")


@register.filter
def slice_id(run_id: Any) -> str:
    """Return the first characters of an id, enough to tell rows apart."""
    return str(run_id)[:8]
