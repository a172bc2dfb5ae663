"""What the static schedules have in common."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Orders = Callable[[int, int, int, int], Codes]
"""(num_stages, stage, num_microbatches, num_chunks) to the codes of a stage's operations."""


def forwards_then_turns(forwards: Codes, backwards: Codes, num_warm_up: int) -> Codes:
    """Return `num_warm_up` forwards, then forward and backward in turns, then the backwards left."""
    num_turns = len(forwards) - num_warm_up
    turns = np.column_stack([forwards[num_warm_up:], backwards[:num_turns]]).ravel()
    return np.concatenate([forwards[:num_warm_up], turns, backwards[num_turns:]])
