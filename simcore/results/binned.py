r"""Time by kind in bins, exact in nanoseconds, however often the template repeats.

Time of a set of segments before an instant x is a sum of ramps,
:math:`A(x) = \sum \max(0, x - start) - \max(0, x - end)`, so between two instants it is a difference
of A. A is needed only at the bins' edges, and in a repeated template only at their phases:
:math:`A(kT + x) = k A(T) + A(x)`. Each template segment is thus looked at once. Rows that appear
together in the same groups are added up before anything else, which leaves a few hundred sets
whatever the number of rows.

Sums wrap around in 64 bits on the way and are right in the end, because the result fits.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simcore.results.order import display_order, one_cell
from simcore.results.row_table import Positions, RowTable, slice_blocks
from simcore.results.segments import Kind
from simcore.results.view import View

_BLOCK_SEGMENTS = 1 << 20
"""Segments looked at together: bounds the memory."""
_BLOCK_SETS = 64
"""Sets of rows added up together: likewise."""

Block = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Start, end and key of some segments."""


def bin_edges_ns(t0_ns: int, t1_ns: int, bins: int) -> NDArray[np.int64]:
    """Return the edges of at most `bins` bins of whole nanoseconds, as equal as they can be; shape (bins + 1,)."""
    span_ns = t1_ns - t0_ns
    bins = min(bins, max(span_ns, 1))
    quotient, remainder = divmod(span_ns, bins)
    steps = np.arange(bins + 1, dtype=np.int64)
    return t0_ns + steps * quotient + steps * remainder // bins


def binned_time_ns(
    view: View, group: NDArray[np.int64], num_groups: int, edges_ns: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the time of each group of rows by kind and bin, in nanoseconds.

    Parameters
    ----------
    view : View
        Its window is the one that the edges span.
    group : NDArray[int64], shape (num_rows,)
        Group of each row of the view, 0 to num_groups - 1.
    num_groups : int
    edges_ns : NDArray[int64], shape (bins + 1,)

    Returns
    -------
    NDArray[float64], shape (num_groups, num_kinds, bins)
        Whole numbers, exact below 2**53.
    """
    time_ns = np.zeros((num_groups, len(Kind), len(edges_ns) - 1))
    _add_training(time_ns, view, group, edges_ns)
    _add_fills(time_ns, view, group, edges_ns)
    return time_ns


def _add_fills(time_ns: NDArray[np.float64], view: View, group: NDArray[np.int64], edges_ns: NDArray[np.int64]) -> None:
    low, high = view.fill_slices()
    if not (high > low).any():
        return
    fills = view.fills.segments
    blocks = (
        (fills.start_ns[position], fills.end_ns[position], group[owner])
        for owner, position in slice_blocks(low, high, _BLOCK_SEGMENTS)
    )
    time_ns[:, Kind.PREFILL] += np.diff(_time_before_ns(blocks, len(time_ns), edges_ns), axis=1)


def _add_training(
    time_ns: NDArray[np.float64], view: View, group: NDArray[np.int64], edges_ns: NDArray[np.int64]
) -> None:
    period_ns, num_iterations = view.timeline.iteration_time_ns, view.timeline.num_iterations
    if period_ns == 0 or len(view.template.segments) == 0:
        return
    iteration = np.minimum(edges_ns // period_ns, num_iterations)
    phase_ns = np.where(iteration < num_iterations, edges_ns - iteration * period_ns, 0)
    points_ns, at = np.unique(np.append(phase_ns, period_ns), return_inverse=True)
    rows, set_of_row, copies = _row_sets(view, group, len(time_ns))
    low, high = view.template.first[rows], view.template.first[rows + 1]
    if view.t1_ns <= (int(iteration[0]) + 1) * period_ns:  # one iteration: what is outside the window adds nothing
        low = view.template.seen_after(rows, phase_ns[0])
        high = view.template.starting_from(rows, view.t1_ns - int(iteration[0]) * period_ns)
    kinds = np.flatnonzero(np.bincount(view.template.segments.kind, minlength=len(Kind)))
    for first_set in range(0, copies.shape[1], _BLOCK_SETS):
        sets = slice(first_set, first_set + _BLOCK_SETS)
        chosen = np.flatnonzero((set_of_row >= sets.start) & (set_of_row < sets.stop))
        weights = copies[:, sets]
        num_keys = weights.shape[1] * len(kinds)
        blocks = _keyed_blocks(view.template, low[chosen], high[chosen], set_of_row[chosen] - sets.start, kinds)
        before_ns = _time_before_ns(blocks, num_keys, points_ns)
        edge_ns = (iteration - iteration[0]) * before_ns[:, at[-1:]] + before_ns[:, at[:-1]]
        in_bins_ns = np.diff(edge_ns, axis=1).reshape(weights.shape[1], -1)
        touched = np.flatnonzero(weights.any(axis=1))
        added = _weighted(weights[touched], in_bins_ns).reshape(len(touched), len(kinds), -1)
        time_ns[touched[:, None], kinds] += added


def _weighted(weights: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the matrix product; rows with one weight only are looked up."""
    product: NDArray[np.float64]
    if (np.count_nonzero(weights, axis=1) == 1).all():
        only = weights.argmax(axis=1)
        product = (values[only] * weights.max(axis=1, keepdims=True)).astype(np.float64)
    else:
        product = weights.astype(np.float64) @ values.astype(np.float64)
    return product


def _keyed_blocks(
    template: RowTable, low: Positions, high: Positions, row_set: NDArray[np.int64], kinds: NDArray[np.intp]
) -> Iterable[Block]:
    """Yield segments with the key set * len(kinds) + kind."""
    number_of_kind = np.zeros(len(Kind), dtype=np.int64)
    number_of_kind[kinds] = np.arange(len(kinds))
    for owner, position in slice_blocks(low, high, _BLOCK_SEGMENTS):
        segments = template.segments
        key = row_set[owner] * len(kinds) + number_of_kind[segments.kind[position]]
        start_ns = segments.start_ns[position]
        yield start_ns, start_ns + segments.duration_ns[position], key


def _time_before_ns(blocks: Iterable[Block], num_keys: int, points_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the time of each key's segments before each of the ascending points, shape (num_keys, num_points)."""
    width = len(points_ns) + 1
    ramps = np.zeros(num_keys * width, dtype=np.int64)
    offsets = np.zeros(num_keys * width, dtype=np.int64)
    for start_ns, end_ns, key in blocks:
        for sign, instant_ns in ((1, start_ns), (-1, end_ns)):
            cell = key * width + np.searchsorted(points_ns, instant_ns)
            ramps += sign * np.bincount(cell, minlength=len(ramps))
            np.add.at(offsets, cell, sign * instant_ns)
    ramps = np.cumsum(ramps.reshape(num_keys, width)[:, :-1], axis=1)
    offsets = np.cumsum(offsets.reshape(num_keys, width)[:, :-1], axis=1)
    return ramps * points_ns - offsets


def _row_sets(
    view: View, group: NDArray[np.int64], num_groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return template rows in view, the set of each, and how often each set is in each group.

    Template rows are taken in display order; one that is as often in each group as the one before
    it joins its set. Groups are runs of the display order, so there are few sets.

    Returns
    -------
    rows, set_of_row : NDArray[int64], shape (num_template_rows,)
    copies : NDArray[int64], shape (num_groups, num_sets)
    """
    order = display_order(one_cell(view.timeline.layout))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    entries, counts = np.unique(rank[view.template_row] * num_groups + group, return_counts=True)
    entry_rank, entry_group = np.divmod(entries, num_groups)
    opens_row = np.diff(entry_rank, prepend=-1) != 0
    row_first = np.flatnonzero(opens_row)
    row_length = np.diff(np.append(row_first, len(entries)))
    row_number = np.cumsum(opens_row) - 1
    twin = np.arange(len(entries)) - np.repeat(np.append(0, row_length[:-1]), row_length)
    alike = (entry_group == entry_group[twin]) & (counts == counts[twin])
    same_length = np.diff(row_length, prepend=-1) == 0
    joins = same_length & np.logical_and.reduceat(alike, row_first)
    joins[0] = False
    set_of_row = np.cumsum(~joins) - 1
    copies = np.zeros((num_groups, int(set_of_row[-1]) + 1), dtype=np.int64)
    copies[entry_group, set_of_row[row_number]] = counts
    return order[entry_rank[row_first]], set_of_row, copies
