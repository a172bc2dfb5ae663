"""The factors between the units people write and the units the engine uses.

Inside the engine time is integer nanoseconds, sizes are bytes, rates bytes per second.
Human units exist only in the scenario document and on the screen.
"""

import math

NS_PER_S = 1_000_000_000
S_PER_MS = 1e-3
S_PER_US = 1e-6
BYTES_PER_MB = 1e6
BYTES_PER_S_PER_GBPS = 125e6


def ns_from_s(seconds: float) -> int:
    """Return a duration as whole nanoseconds, halves rounded up (MODEL section 1).

    Parameters
    ----------
    seconds : float
        Duration in seconds. >= 0 and below 2**63 nanoseconds.

    Examples
    --------
    >>> ns_from_s(14 * S_PER_MS)
    14000000
    """
    return math.floor(seconds * 1e9 + 0.5)


def bytes_per_s_from_gbps(gbps: float) -> float:
    """Return a rate in bytes per second; 1 Gbps is 125e6 bytes/s."""
    return gbps * BYTES_PER_S_PER_GBPS


def bytes_from_mb(megabytes: float) -> float:
    """Return a size in bytes; 1 MB is 1e6 bytes."""
    return megabytes * BYTES_PER_MB
