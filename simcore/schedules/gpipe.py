"""GPipe: all forwards, then all backwards.

Huang et al., "GPipe: Efficient Training of Giant Neural Networks using Pipeline Parallelism",
NeurIPS 2019. Backwards run in the order of the forwards (MODEL section 5).
"""

import numpy as np

from simcore.schedules.order import Codes


def order(num_stages: int, stage: int, num_microbatches: int, num_chunks: int) -> Codes:
    """Return the operation codes of `stage`, shape (2 * num_microbatches,)."""
    return np.arange(2 * num_microbatches, dtype=np.int32)
