"""Free time of the workers that serve prefill, and what is asked of it.

Free time is a set of fragments per worker: [start, end) in which a piece may lie; the guard is off
its end already. Only the fragments that begin within a *window* of rounds are held. The window is
cut into slots of 2**shift nanoseconds; a fragment hangs in the slot in which it starts, in a list
ordered by start. Over the slots of a worker stands a tree whose leaf is the length of the slot's
longest fragment, so that the next fragment of some length is found in logarithmic time.

Fragments only ever shrink and requests come in order of arrival. So for each class of lengths a
worker has a first slot with room, which only moves on: what lies before is never looked at again,
and where it stands is a lower bound for all longer pieces.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Indices = NDArray[np.int32]

NONE = -1
"""No fragment, no slot, no room."""
NEVER_NS = 2**62
"""Later than any horizon, and small enough that a sum of two fits into 64 bits (just below 2**63)."""


class Requests(NamedTuple):
    """What each request asks for, in order of arrival; shape (num_requests,) unless stated."""

    ready_ns: Ints  # arrival plus dispatch
    latest_finish_ns: Ints  # a later one is rejected
    piece_ns: Ints  # on each shard
    length_class: Indices  # index into class_piece_ns
    hop_ns: Ints  # (num_datacenters, num_requests) from shard to shard
    class_piece_ns: Ints  # (num_classes,) shortest piece of each class


class Replicas(NamedTuple):
    """Who serves; a serving worker is numbered replica * shards + shard."""

    datacenter: Indices  # (num_replicas,)
    row: NDArray[np.uint32]  # (num_workers,) of the timeline
    template_row: Indices  # (num_workers,) of the template


class RoundGaps(NamedTuple):
    """Idle gaps that begin in one round, of each template row, in order of start."""

    first: Ints  # (num_rows + 1,) index of each row's first gap
    start_ns: Ints  # (num_gaps,) from the start of the round
    end_ns: Ints  # (num_gaps,) beyond the round's end when the next round begins idle
    lead_ns: Ints  # (num_rows,) length of the gap with which the first round begins; 0 without


class Horizon(NamedTuple):
    """What limits all gaps."""

    round_ns: int
    num_rounds: int
    guard_ns: int  # left before the end of a gap
    shortest_ns: int  # shortest piece of all; less is no use to anyone


class Window(NamedTuple):
    """Which part of time the fragments cover."""

    first_round: int
    end_round: int
    shift: int  # a slot is 2**shift nanoseconds
    base_ns: int  # start of slot 0
    known_until_ns: int  # every fragment that starts before is held; NEVER_NS when all are


class Free(NamedTuple):
    """Fragments of the window."""

    head: Indices  # (num_workers, num_slots) first fragment of each slot
    longest_ns: Ints  # (num_workers, 2 * num_slots) tree over the slots, leaves last; NONE when empty
    start_ns: Ints  # (pool_size,) of each fragment; likewise the next two
    end_ns: Ints
    following: Indices  # next fragment of the slot, or of the unused ones
    pool: Ints  # (2,) first unused fragment, and how many there are
    first_slot: Indices  # (num_classes, num_workers) no room for the class before it
    bound_ns: Ints  # (num_classes, num_workers) no piece of the class can start before


class Fates(NamedTuple):
    """What became of the requests, and the pieces of this slice."""

    finish_ns: Ints  # (num_requests,) or a `Fate`
    piece_request: Ints  # (slice_size,) index of the request; likewise the next two
    piece_worker: Ints  # serving worker
    piece_start_ns: Ints


class Scratch(NamedTuple):
    """Room for one request's search."""

    bound_ns: Ints  # (num_replicas,) lower bound of the finish
    start_ns: Ints  # (shards,) of the replica in hand; likewise the next
    fragment: Indices
    best_start_ns: Ints  # (shards,) of the best replica yet; likewise the next
    best_fragment: Indices


class Fate(IntEnum):
    """In place of a finish."""

    UNPLACEABLE = -1
    REJECTED = -2


class PlaceExit(IntEnum):
    """Why the placement came back."""

    ALL_PLACED = 0
    SLICE_FULL = 1
    WINDOW_SHORT = 2
    """The request in hand may find its place beyond the window."""
    POOL_EMPTY = 3
    """There may be too few unused fragments for the request in hand."""
