"""The log of segments: one record after the other in each row's own stretch.

A record is three words: start, duration, and `(item << 32 | part) << 4 | kind`. One array of
records instead of six columns keeps a row's writes in one place of the memory.
"""

import numpy as np
from numpy.typing import NDArray

from simcore.kernel.jit import inlined
from simcore.kernel.world import World
from simcore.results.segments import Segments

START, DURATION, WHAT = range(3)
KIND_BITS = 4
PART_BITS = 32
KIND_MASK = 2**KIND_BITS - 1
PART_MASK = 2**PART_BITS - 1


@inlined
def write_segment(world: World, row: int, kind: int, start_ns: int, duration_ns: int, item: int, part: int) -> None:
    """Append a segment to its row; a row's segments come in order of their start."""
    place = world.row_end[row]
    world.row_end[row] = place + 1
    world.log[place, START] = start_ns
    world.log[place, DURATION] = duration_ns
    world.log[place, WHAT] = (item << PART_BITS | part) << KIND_BITS | kind


def segments_of_log(log: NDArray[np.int64], row: NDArray[np.uint32]) -> Segments:
    """Return records of the log, shape (num_segments, 3), as segments of their rows."""
    what = log[:, WHAT]
    return Segments(
        row=row,
        kind=(what & KIND_MASK).astype(np.uint8),
        start_ns=log[:, START].copy(),
        duration_ns=log[:, DURATION].copy(),
        item=(what >> (KIND_BITS + PART_BITS)).astype(np.uint32),
        part=(what >> KIND_BITS & PART_MASK).astype(np.uint32),
    )
