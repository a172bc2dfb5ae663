"""Requests in order of arrival, and what the kernel needs to know of them."""

from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from simcore.bubbletea.prefill import LONGEST_NS, hop_ns, prefill_ns, shard_ns, whole_ns
from simcore.kernel.prefill_state import NEVER_NS, Requests
from simcore.scenario.document import Inference, InlineRequests, Scenario, TablePrefill
from simcore.units import S_PER_MS, ns_from_s

Ints = NDArray[np.int64]

MAX_LENGTH_CLASSES = 16
"""More classes bound a search more tightly, fewer learn faster; 16 was best of 4 to 64."""


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Requests in order of arrival, ties by position; each column of shape (num_requests,)."""

    position: Ints
    """In the document."""
    arrival_ns: Ints
    tokens: Ints
    piece_ns: Ints
    """On each shard."""

    def __len__(self) -> int:
        return len(self.position)


def arrivals_of(inference: Inference) -> Arrivals:
    """Return the requests of a document, with what they take."""
    assert isinstance(inference.requests, InlineRequests)
    assert isinstance(inference.prefill, TablePrefill)
    inline = inference.requests.inline
    rows = np.fromiter(chain.from_iterable(inline), dtype=np.float64, count=2 * len(inline)).reshape(-1, 2)
    arrival_ns = whole_ns(rows[:, 0])
    position = np.argsort(arrival_ns, kind="stable")
    tokens = rows[position, 1].astype(np.int64)
    piece_ns = shard_ns(prefill_ns(inference.prefill, tokens), inference.shards)
    return Arrivals(position, arrival_ns[position], tokens, piece_ns)


def length_classes(piece_ns: Ints) -> Ints:
    """Return the shortest piece of each class: every length a class if there are few, else equal shares."""
    lengths = np.unique(piece_ns)
    if len(lengths) <= MAX_LENGTH_CLASSES:
        return lengths
    shares = np.sort(piece_ns)[np.arange(MAX_LENGTH_CLASSES) * len(piece_ns) // MAX_LENGTH_CLASSES]
    return np.unique(shares)


def kernel_requests(
    scenario: Scenario, arrivals: Arrivals, block: slice, classes: Ints, longest_piece_ns: int
) -> Requests:
    """Return the kernel's form of a block of requests.

    A piece longer than `longest_piece_ns`, which no replica can take, becomes `LONGEST_NS`.
    """
    inference = scenario.inference
    assert inference is not None
    arrival_ns, tokens, piece_ns = arrivals.arrival_ns[block], arrivals.tokens[block], arrivals.piece_ns[block]
    if inference.admission == "slo":
        assert inference.slo_ttft_ms is not None
        latest_finish_ns = arrival_ns + ns_from_s(inference.slo_ttft_ms * S_PER_MS)
    else:
        latest_finish_ns = np.full(len(tokens), NEVER_NS, dtype=np.int64)
    hops = [hop_ns(inference, datacenter, tokens) for datacenter in scenario.datacenters]
    return Requests(
        ready_ns=arrival_ns + ns_from_s(inference.dispatch_ms * S_PER_MS),
        latest_finish_ns=latest_finish_ns,
        piece_ns=np.where(piece_ns > longest_piece_ns, LONGEST_NS, piece_ns),
        length_class=np.maximum(np.searchsorted(classes, piece_ns, side="right") - 1, 0).astype(np.int32),
        hop_ns=np.stack(hops),
        class_piece_ns=classes,
    )
