"""Segments by row, searched without looking at all of them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.results.segments import Segments

Positions = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class RowTable:
    """Segments sorted by (row, start), those of a row disjoint, with the bounds of every row."""

    segments: Segments
    first: Positions
    """Position of each row's first segment, and the number of all at the end; shape (num_rows + 1,)."""
    seen_until_ns: NDArray[np.int64]
    """End of each segment; of an empty one a nanosecond later, so that it is seen where it stands."""

    def num_segments(self, rows: Positions) -> Positions:
        """Return how many segments each of `rows` has."""
        return self.first[rows + 1] - self.first[rows]

    def starting_from(self, rows: Positions, instant_ns: Positions | int) -> Positions:
        """Return the position of the first segment of each row that starts at the instant or later."""
        return _first_at_least(self.segments.start_ns, self.first[rows], self.first[rows + 1], instant_ns)

    def seen_after(self, rows: Positions, instant_ns: Positions | int) -> Positions:
        """Return the position of the first segment of each row that is still seen at the instant."""
        return _first_at_least(self.seen_until_ns, self.first[rows], self.first[rows + 1], np.asarray(instant_ns) + 1)


def row_table(segments: Segments, num_rows: int) -> RowTable:
    """Return the table of segments that are sorted by (row, start) and disjoint within a row."""
    first = np.zeros(num_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(segments.row, minlength=num_rows), out=first[1:])
    seen_until_ns = _seen_until_ns(segments)
    falls = (seen_until_ns[1:] < seen_until_ns[:-1]) & (segments.row[1:] == segments.row[:-1])
    if falls.any():  # an empty segment behind a longer one that starts with it
        segments = segments.take(np.lexsort((seen_until_ns, segments.start_ns, segments.row)))
        seen_until_ns = _seen_until_ns(segments)
    return RowTable(segments, first, seen_until_ns)


def _seen_until_ns(segments: Segments) -> NDArray[np.int64]:
    return segments.start_ns + np.maximum(segments.duration_ns, 1)


def _first_at_least(
    values: NDArray[np.int64], low: Positions, high: Positions, bound: NDArray[np.int64] | int
) -> Positions:
    """Return, for slices low:high of sorted values, where the first one >= bound is; `high` if nowhere."""
    low, high, bound = (np.array(each) for each in np.broadcast_arrays(low, high, bound))
    while (searching := low < high).any():
        middle = (low + high) >> 1
        below = searching & (values[np.minimum(middle, len(values) - 1)] < bound)
        high = np.where(searching & ~below, middle, high)
        low = np.where(below, middle + 1, low)
    return low


def slice_blocks(
    low: Positions, high: Positions, block_size: int
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield, for slices low:high one after the other, (which slice, position) in blocks of bounded length."""
    before = np.zeros(len(low) + 1, dtype=np.int64)
    np.cumsum(np.maximum(high - low, 0), out=before[1:])
    for start in range(0, int(before[-1]), block_size):
        running = np.arange(start, min(start + block_size, int(before[-1])))
        owner = np.searchsorted(before, running, side="right") - 1
        yield owner, running - before[owner] + low[owner]
