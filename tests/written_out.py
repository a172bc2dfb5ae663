"""A timeline written out in full, row by row: the plain reading that the fast ones are compared with."""

from simcore.results.segments import Kind, Segments
from simcore.results.timeline import Timeline
from tests.twin_timeline import Row, rows_of, segments_of


def all_rows(timeline: Timeline) -> list[Row]:
    """Return (row id, kind, start, duration, item, part) of the whole horizon, unsorted."""
    layout = timeline.layout
    rows = []
    for iteration in range(timeline.num_iterations):
        shift_ns = iteration * timeline.iteration_time_ns
        for cell in range(layout.num_cells):
            for row, kind, start_ns, *rest in rows_of(timeline.iteration):
                if row < layout.num_cell_workers:
                    row_id = cell * layout.num_cell_workers + row
                else:
                    row_id = layout.num_workers + cell * len(layout.channels) + row - layout.num_cell_workers
                rows.append((row_id, kind, start_ns + shift_ns, *rest))
    return rows + rows_of(timeline.fills)


def is_seen(row: Row, t0_ns: int, t1_ns: int, horizon_ns: int) -> bool:
    """Return whether a segment is in a window; an empty one is where it stands."""
    start_ns, end_ns = row[2], row[2] + row[3]
    until_ns = horizon_ns + 1 if t1_ns >= horizon_ns else t1_ns
    return start_ns < until_ns and (end_ns > t0_ns or start_ns >= t0_ns)


def time_by_kind(rows: list[Row], t0_ns: int, t1_ns: int) -> list[int]:
    """Return the nanoseconds of each kind between two instants."""
    time_ns = [0] * len(Kind)
    for _, kind, start_ns, duration_ns, *_ in rows:
        time_ns[kind] += max(0, min(start_ns + duration_ns, t1_ns) - max(start_ns, t0_ns))
    return time_ns


def one_row(*spans: tuple[Kind, int, int], row: int = 0) -> Segments:
    """Return segments of (kind, start, end) on one row, numbered."""
    rows = [(row, int(kind), start, end - start, item, 0) for item, (kind, start, end) in enumerate(spans)]
    return segments_of(rows)
