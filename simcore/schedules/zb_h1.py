"""ZB-H1: 1F1B with the weight gradients split off and moved into the drain.

Qi et al., "Zero Bubble Pipeline Parallelism", ICLR 2024; in the form of MODEL section 5: W of a
microbatch follows `stage` backwards later, so that a worker keeps no more in flight than 1F1B.
"""

import numpy as np

from simcore.schedules import one_f_one_b
from simcore.schedules.order import Codes


def order(num_stages: int, stage: int, num_microbatches: int, num_chunks: int) -> Codes:
    """Return the operation codes of `stage`, shape (3 * num_microbatches,)."""
    base = one_f_one_b.order(num_stages, stage, num_microbatches, num_chunks)
    weights = np.arange(2 * num_microbatches, 3 * num_microbatches, dtype=np.int32)
    num_inside = max(num_microbatches - stage, 0)
    after_backward = np.flatnonzero(base >= num_microbatches + stage) + 1
    return np.concatenate([np.insert(base, after_backward, weights[:num_inside]), weights[num_inside:]])
