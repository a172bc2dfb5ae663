"""The order in which a worker takes its operations (MODEL section 5), one file a schedule.

A static schedule is a fixed list of operation codes for each stage; `greedy` chooses as it goes
and has no list. An operation's code is `kind * (V * M) + chunk * M + microbatch`, with the numbers
of `Kind.FORWARD`, `Kind.BACKWARD` and `Kind.WEIGHT`.
"""

import numpy as np

from simcore.schedules import gpipe, interleaved, one_f_one_b, zb_h1
from simcore.schedules.order import Codes, Orders

GREEDY = "greedy"
_ORDERS: dict[str, Orders] = {
    "gpipe": gpipe.order,
    "1f1b": one_f_one_b.order,
    "interleaved-1f1b": interleaved.order,
    "zb-h1": zb_h1.order,
}


def stage_orders(schedule: str, num_stages: int, num_microbatches: int, num_chunks: int) -> Codes:
    """Return the operation codes of each stage in their order.

    Returns
    -------
    NDArray[int32], shape (num_stages, operations of a worker)
        Shape (num_stages, 0) when workers choose as they go.
    """
    if schedule == GREEDY:
        return np.empty((num_stages, 0), dtype=np.int32)
    order = _ORDERS[schedule]
    return np.stack([order(num_stages, stage, num_microbatches, num_chunks) for stage in range(num_stages)])
