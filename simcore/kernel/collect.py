"""Finding what has been logged since last time."""

import numpy as np
from numpy.typing import NDArray

from simcore.kernel.jit import kernel
from simcore.kernel.segment_log import START


@kernel
def collect(
    emitted: NDArray[np.int64],
    row_end: NDArray[np.int64],
    log: NDArray[np.int64],
    until_ns: int,
    places: NDArray[np.int64],
) -> int:
    """Return how many segments start up to `until_ns` that were not collected before.

    Parameters
    ----------
    emitted, row_end : NDArray[int64], shape (num_rows,)
        Where each row's next segment to collect, and next segment to write, lies; `emitted` moves.
    log : NDArray[int64], shape (num_segments, 3)
    until_ns : int
    places : NDArray[int64]
        Receives where they lie, row by row; at least as long as all that is written and not emitted.
    """
    found = 0
    for row in range(len(emitted)):
        place = emitted[row]
        while place < row_end[row] and log[place, START] <= until_ns:
            places[found] = place
            found += 1
            place += 1
        emitted[row] = place
    return found
