"""Reads the parameters of a timeline window and says what is wrong with them, all at once."""

import re
from dataclasses import dataclass
from typing import Any

from webapp.api.problems import RequestRefusedError
from webapp.engine import Problem

MAX_PX = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """A valid window of a timeline: times, display rows (both ends included) and width."""

    t0_ns: int
    t1_ns: int
    first_row: int
    last_row: int
    px: int


def pixels_from(text: str | None) -> int:
    """Return the width in pixels; a problem if it is out of range."""
    found: list[Problem] = []
    px = _whole(found, "px", text, 1, MAX_PX)
    _refuse(found)
    return px or 1


def window_from(*, t0: str | None, t1: str | None, rows: str | None, px: str | None, extent: dict[str, Any]) -> Window:
    """Return the window that the query names.

    Parameters
    ----------
    t0, t1, rows, px : str or None
        As sent; absent times and rows mean the whole.
    extent : dict
        `horizon_ns` and `num_rows` of the run.
    """
    found: list[Problem] = []
    horizon_ns, num_rows = extent["horizon_ns"], extent["num_rows"]
    t0_ns = _whole(found, "t0", t0 if t0 is not None else "0", 0, max(horizon_ns - 1, 0))
    t1_ns = _whole(found, "t1", t1 if t1 is not None else str(horizon_ns), min(1, horizon_ns), horizon_ns)
    if t0_ns is not None and t1_ns is not None and t0_ns >= t1_ns and horizon_ns:
        found.append(Problem("t1", f"must be after t0 ({t0_ns}); got {t1_ns}"))
    first_row, last_row = 0, max(num_rows - 1, 0)
    if rows is not None:
        match = re.fullmatch(r"(\d{1,9})-(\d{1,9})", rows)
        if match is None:
            found.append(Problem("rows", f"must be first-last, as 0-63; got {rows[:40]!r}"))
        else:
            first_row, last_row = int(match[1]), int(match[2])
            if not first_row <= last_row < num_rows:
                found.append(Problem("rows", f"must lie within 0-{num_rows - 1}, first not after last; got {rows}"))
    width = _whole(found, "px", px if px is not None else "1000", 1, MAX_PX)
    _refuse(found)
    return Window(t0_ns or 0, t1_ns or 0, first_row, last_row, width or 1)


def _whole(found: list[Problem], name: str, text: str | None, least: int, most: int) -> int | None:
    if text is None or not re.fullmatch(r"-?\d{1,19}", text):
        found.append(Problem(name, f"must be a whole number; got {(text or '')[:40]!r}"))
        return None
    value = int(text)
    if not least <= value <= most:
        found.append(Problem(name, f"must be between {least:,} and {most:,}; got {value:,}"))
        return None
    return value


def _refuse(found: list[Problem]) -> None:
    if found:
        raise RequestRefusedError(422, "The window cannot be shown: " + "; ".join(map(str, found)) + ".", found)
