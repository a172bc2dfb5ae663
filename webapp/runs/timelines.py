"""Timelines put together from stored chunks, the last few kept in memory."""

from collections import OrderedDict
from threading import Lock
from typing import Any
from uuid import UUID

from webapp import engine
from webapp.runs.models import Run
from webapp.runs.selectors import frames

KEPT_TIMELINES = 8
MAX_BINS = 1000

_kept: OrderedDict[tuple[UUID, int], engine.Timeline | None] = OrderedDict()
_lock = Lock()


def run_timeline(*, run: Run) -> engine.Timeline | None:
    """Return the run's timeline as far as it is stored; None before its layout is."""
    key = (run.id, run.last_seq)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    timeline = engine.timeline_from(frames(run_id=run.id))
    with _lock:
        _kept[key] = timeline
        for old in [known for known in _kept if known[0] == run.id and known[1] < run.last_seq]:
            del _kept[old]
        while len(_kept) > KEPT_TIMELINES:
            _kept.popitem(last=False)
    return timeline


def run_window(*, run: Run, t0_ns: int, t1_ns: int, first_row: int, last_row: int, px: int) -> bytes | None:
    """Return the frame of a window of the run's timeline; None while nothing is stored."""
    timeline = run_timeline(run=run)
    if timeline is None:
        return None
    return engine.window_frame(
        timeline,
        t0_ns=t0_ns,
        t1_ns=t1_ns,
        first_row=first_row,
        last_row=last_row,
        bins=max(1, min(px, MAX_BINS)),
        partial=is_partial(run=run),
    )


def run_overview(*, run: Run, px: int) -> bytes | None:
    """Return the frame of the run's overview strip; None while nothing is stored."""
    timeline = run_timeline(run=run)
    if timeline is None:
        return None
    return engine.overview_frame(timeline, bins=max(1, min(px, MAX_BINS)), partial=is_partial(run=run))


def run_layout(*, run: Run) -> dict[str, Any] | None:
    """Return rows and extent of the run's timeline; None while nothing is stored."""
    timeline = run_timeline(run=run)
    if timeline is None:
        return None
    return {
        "layout": engine.layout_data(timeline.layout),
        "horizon_ns": timeline.horizon_ns,
        "iteration_time_ns": timeline.iteration_time_ns,
        "num_iterations": timeline.num_iterations,
    }


def is_partial(*, run: Run) -> bool:
    """Return whether more was or is to come than what is stored."""
    return run.partial or not run.is_final
