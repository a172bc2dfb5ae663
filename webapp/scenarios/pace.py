"""The pace of a run as people choose it: simulated seconds per second, or as fast as it goes."""

from webapp.engine import Problem, ScenarioError
from webapp.runs.services import MAX_PACE, MIN_PACE

PACES = (
    ("max", "as fast as it goes"),
    ("0.1", "0.1× simulated time"),
    ("1", "1× simulated time"),
    ("10", "10× simulated time"),
    ("30", "30× simulated time"),
    ("100", "100× simulated time"),
    ("custom", "other…"),
)


def pace_from(chosen: str, custom: str = "") -> float | None:
    """Return the pace chosen in a form, None for as fast as it goes.

    Raises
    ------
    ScenarioError
        If it is no number, or out of range.
    """
    text = (custom if chosen == "custom" else chosen).strip()
    if text in ("", "max"):
        return None
    try:
        pace = float(text)
    except ValueError:
        pace = float("nan")
    if not MIN_PACE <= pace <= MAX_PACE:
        sentence = (
            f"must be a number of simulated seconds per second from {MIN_PACE:g} to {MAX_PACE:g}; got {text[:40]!r}"
        )
        raise ScenarioError([Problem("pace", sentence)])
    return pace
