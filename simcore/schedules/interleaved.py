"""Interleaved 1F1B: each worker holds several chunks of the model, which shortens the warm-up.

Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters Using
Megatron-LM", SC 2021. Needs `num_microbatches` divisible by `num_stages`.
"""

import numpy as np

from simcore.schedules.order import Codes, forwards_then_turns


def order(num_stages: int, stage: int, num_microbatches: int, num_chunks: int) -> Codes:
    """Return the operation codes of `stage`, shape (2 * num_microbatches * num_chunks,)."""
    num_units = num_microbatches * num_chunks
    position = np.arange(num_units, dtype=np.int32)
    microbatch = position // (num_stages * num_chunks) * num_stages + position % num_stages
    chunk = position // num_stages % num_chunks
    forwards = chunk * num_microbatches + microbatch
    backwards = num_units + (num_chunks - 1 - chunk) * num_microbatches + microbatch
    num_warm_up = min(2 * (num_stages - stage - 1) + (num_chunks - 1) * num_stages, num_units)
    return forwards_then_turns(forwards.astype(np.int32), backwards.astype(np.int32), num_warm_up)
