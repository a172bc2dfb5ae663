"""Windows of a timeline: exact where little is in view, binned where much is.

The template of one iteration of one cell is never written out: counting takes two binary searches
a row, and binning looks at each template segment once, however often it repeats.
"""

from typing import Any

import numpy as np

from simcore.results.binned import bin_edges_ns, binned_time_ns
from simcore.results.columnar import encode, segment_columns
from simcore.results.order import display_order
from simcore.results.timeline import Timeline
from simcore.results.view import View, view_of

EXACT_SEGMENTS = 8_000
"""Most segments sent one by one; about what a browser draws at once without stuttering."""
MAX_GROUPS = 256
"""Most groups of rows in a binned window."""
IDLE = 255
"""Dominant kind of a bin in which nothing takes more time than idleness."""


def window(timeline: Timeline, t0_ns: int, t1_ns: int, first_row: int, last_row: int, bins: int) -> bytes:
    """Return the frame of a window of the timeline.

    Parameters
    ----------
    timeline : Timeline
        Segments of a row are disjoint, except that prefill may lie over an all-reduce that does not
        block it.
    t0_ns, t1_ns : int
        From t0 up to but without t1; 0 <= t0 <= t1. An empty segment is in the window that has its
        instant; the horizon's last instant is in the window that ends there.
    first_row, last_row : int
        Display indices (see `simcore.results.order.display_order`), both included.
    bins : int
        Bins over the window, >= 1; no more than the window has nanoseconds come back.

    Returns
    -------
    bytes
        A frame of `simcore.results.columnar`. Its header has `level`, `total` (segments of these
        rows that overlap the window), `shown` (how many of them are sent one by one), `t0_ns`,
        `t1_ns`, `first_row`, `last_row`.

        Level "L2", with at most `EXACT_SEGMENTS` in the window: the columns of segments, with row
        ids, by (display index, start). Level "L1": also `bins` in the header; columns `dominant`
        and `busy`, u1, shape (groups, bins): the kind that takes most of the rows' time in the bin
        (`IDLE` if idleness takes more; the lower of two kinds that take the same), and how many
        255ths of it are not idle; `group_first`, u4, the display index of each group's first row.

    Raises
    ------
    ValueError
        If the window is not one.
    """
    num_rows = timeline.layout.num_rows
    if not 0 <= t0_ns <= t1_ns:
        raise ValueError(f"a window needs 0 <= t0_ns <= t1_ns; got {t0_ns} and {t1_ns}")
    if not 0 <= first_row <= last_row < num_rows:
        raise ValueError(f"a window needs 0 <= first_row <= last_row < {num_rows}; got {first_row} and {last_row}")
    if bins < 1:
        raise ValueError(f"a window needs at least one bin; got {bins}")
    view = view_of(timeline, t0_ns, t1_ns, display_order(timeline.layout)[first_row : last_row + 1])
    total = view.num_segments()
    header = {"total": total, "t0_ns": t0_ns, "t1_ns": t1_ns, "first_row": first_row, "last_row": last_row}
    if total <= EXACT_SEGMENTS:
        return encode({"level": "L2", "shown": total, **header}, segment_columns(view.segments()))
    return _binned_frame(view, {"level": "L1", "shown": 0, **header}, first_row, bins)


def _binned_frame(view: View, header: dict[str, Any], first_row: int, bins: int) -> bytes:
    num_rows = len(view.rows)
    num_groups = min(num_rows, MAX_GROUPS)
    group_first = np.arange(num_groups) * num_rows // num_groups
    group_rows = np.diff(np.append(group_first, num_rows))
    edges_ns = bin_edges_ns(view.t0_ns, view.t1_ns, bins)
    time_ns = binned_time_ns(view, np.repeat(np.arange(num_groups), group_rows), num_groups, edges_ns)
    whole_ns = group_rows[:, None] * np.diff(edges_ns).astype(np.float64)
    busy_ns, most_ns = time_ns.sum(axis=1), time_ns.max(axis=1)
    wins = (most_ns > 0) & (most_ns >= whole_ns - busy_ns)
    share = np.divide(busy_ns, whole_ns, out=np.zeros_like(busy_ns), where=whole_ns > 0)
    return encode(
        {**header, "bins": len(edges_ns) - 1},
        {
            "dominant": np.where(wins, time_ns.argmax(axis=1), IDLE).astype("|u1"),
            "busy": np.rint(255 * np.minimum(share, 1)).astype("|u1"),
            "group_first": (first_row + group_first).astype("<u4"),
        },
    )


def overview(timeline: Timeline, bins: int) -> bytes:
    """Return the frame of the whole horizon in brief: how the workers share their time.

    Parameters
    ----------
    timeline : Timeline
    bins : int
        Bins over the horizon, >= 1; no more than it has nanoseconds come back.

    Returns
    -------
    bytes
        Header: `level` "L0", `t0_ns`, `t1_ns`, `bins`. Column `share`, f4, shape (num_kinds, bins):
        the time of each kind over that of all workers, 0..1; together below 1 where they idle, above
        it where prefill lies over an all-reduce.
    """
    if bins < 1:
        raise ValueError(f"an overview needs at least one bin; got {bins}")
    horizon_ns, num_workers = timeline.horizon_ns, timeline.layout.num_workers
    edges_ns = bin_edges_ns(0, horizon_ns, bins)
    workers = np.arange(num_workers, dtype=np.int64)
    time_ns = binned_time_ns(view_of(timeline, 0, horizon_ns, workers), np.zeros_like(workers), 1, edges_ns)[0]
    whole_ns = np.maximum(num_workers * np.diff(edges_ns).astype(np.float64), 1)
    header = {"level": "L0", "t0_ns": 0, "t1_ns": horizon_ns, "bins": len(edges_ns) - 1}
    return encode(header, {"share": (time_ns / whole_ns).astype("<f4")})
