"""A binary heap of what will happen, soonest first.

Entries of one instant come out in no particular order: the loop lets all of an instant happen
before anything depends on it.
"""

import numpy as np
from numpy.typing import NDArray

from simcore.kernel.jit import inlined

Integers = NDArray[np.int64]
NEVER_NS = np.iinfo(np.int64).max


@inlined
def heap_push(instants_ns: Integers, codes: Integers, size: Integers, instant_ns: int, code: int) -> None:
    """Add one entry; `size` has shape (1,), the others room for one more than the most entries."""
    hole = size[0]
    size[0] = hole + 1
    while hole > 0:
        parent = (hole - 1) >> 1
        above_ns = instants_ns[parent]
        if above_ns <= instant_ns:
            break
        instants_ns[hole] = above_ns
        codes[hole] = codes[parent]
        hole = parent
    instants_ns[hole] = instant_ns
    codes[hole] = code


@inlined
def heap_drop(instants_ns: Integers, codes: Integers, size: Integers) -> None:
    """Remove the first entry of a heap that has one."""
    last = size[0] - 1
    size[0] = last
    instant_ns = instants_ns[last]
    code = codes[last]
    instants_ns[last] = NEVER_NS
    hole = 0
    child = 1
    # Down to a leaf along the sooner children, by arithmetic because a branch would be mispredicted
    # half of the time; then up, which is short: the last entry mostly belongs near the bottom.
    while child < last:
        child += int(instants_ns[child + 1] < instants_ns[child])
        instants_ns[hole] = instants_ns[child]
        codes[hole] = codes[child]
        hole = child
        child = 2 * hole + 1
    while hole > 0:
        parent = (hole - 1) >> 1
        above_ns = instants_ns[parent]
        if above_ns <= instant_ns:
            break
        instants_ns[hole] = above_ns
        codes[hole] = codes[parent]
        hole = parent
    instants_ns[hole] = instant_ns
    codes[hole] = code
