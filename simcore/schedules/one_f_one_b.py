"""1F1B, also PipeDream-flush: as few microbatches in flight as the pipeline is deep.

Narayanan et al., "Memory-Efficient Pipeline-Parallel DNN Training", ICML 2021.
"""

import numpy as np

from simcore.schedules.order import Codes, forwards_then_turns


def order(num_stages: int, stage: int, num_microbatches: int, num_chunks: int) -> Codes:
    """Return the operation codes of `stage`, shape (2 * num_microbatches,)."""
    forwards = np.arange(num_microbatches, dtype=np.int32)
    num_warm_up = min(num_stages - stage - 1, num_microbatches)
    return forwards_then_turns(forwards, forwards + np.int32(num_microbatches), num_warm_up)
