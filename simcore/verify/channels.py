"""Channels: one tensor at a time, first come first served, never idle with a queue."""

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan
from simcore.verify.report import Report, Rule, at, channel_name
from simcore.verify.tables import Tables, tensor_name

Index = NDArray[np.intp]


def check_channels(plan: Plan, tables: Tables, report: Report) -> None:
    """Report tensors that start too early, too late, or before their turn."""
    num_microbatches = plan.num_microbatches
    channel = np.repeat(tables.channel.ravel(), num_microbatches)
    position = np.flatnonzero(channel >= 0)
    channel = channel[position]
    pipeline, is_gradient, virtual, microbatch = np.unravel_index(position, tables.sent_ns.shape)
    start_ns, end_ns = tables.sent_ns.ravel()[position], tables.sent_end_ns.ravel()[position]
    produced_ns = tables.end_ns[pipeline, is_gradient, virtual, microbatch]
    join_ns = produced_ns + plan.scatter_ns[channel]
    # A tensor of an operation of no length may join after the channel chose in that very instant.
    instant = (tables.start_ns[pipeline, is_gradient, virtual, microbatch] == join_ns) & (plan.scatter_ns[channel] == 0)
    report.add_each(
        Rule.DEPENDENCY,
        start_ns < join_ns,
        lambda i: (
            f"{tensor_name(plan, int(position[i]))} starts at {at(start_ns[i])}, but joins its queue only at "
            f"{at(join_ns[i])}"
        ),
    )
    boundary = virtual - is_gradient
    order = np.lexsort((boundary, pipeline, microbatch, join_ns, start_ns, channel))
    before, after = order[:-1], order[1:]
    same = channel[before] == channel[after]
    report.add_each(
        Rule.CHANNEL_OCCUPATION,
        same & (start_ns[after] < end_ns[before]),
        lambda i: (
            f"{channel_name(plan, int(channel[after[i]]))}: {tensor_name(plan, int(position[after[i]]))} starts at "
            f"{at(start_ns[after[i]])}, while it is occupied until {at(end_ns[before[i]])}"
        ),
    )
    free_ns = np.zeros(len(order), dtype=np.int64)
    free_ns[after] = np.where(same, end_ns[before], 0)
    report.add_each(
        Rule.CHANNEL_WAITING,
        start_ns > np.maximum(join_ns, free_ns),
        lambda i: (
            f"{channel_name(plan, int(channel[i]))}: {tensor_name(plan, int(position[i]))} starts at "
            f"{at(start_ns[i])}, but could at {at(max(join_ns[i], free_ns[i]))}"
        ),
    )
    tie = join_ns[before] == join_ns[after]
    lower = _is_lower((microbatch, pipeline, boundary), after, before)
    excused = instant[after] & (start_ns[before] == join_ns[before])
    occupies = plan.occupation_ns[channel[after]] > 0
    out_of_turn = (join_ns[after] < join_ns[before]) | (tie & lower & ~excused)
    report.add_each(
        Rule.CHANNEL_ORDER,
        same & occupies & out_of_turn,
        lambda i: (
            f"{channel_name(plan, int(channel[after[i]]))}: {tensor_name(plan, int(position[after[i]]))} joined at "
            f"{at(join_ns[after[i]])} and must go before {tensor_name(plan, int(position[before[i]]))}, which joined "
            f"at {at(join_ns[before[i]])} and starts at {at(start_ns[before[i]])}"
        ),
    )


def _is_lower(columns: tuple[Index, ...], one: Index, other: Index) -> NDArray[np.bool_]:
    """Return whether tensors `one` precede tensors `other` in a tie, by the columns in their order."""
    lower, equal = np.zeros(len(one), dtype=np.bool_), np.ones(len(one), dtype=np.bool_)
    for column in columns:
        lower |= equal & (column[one] < column[other])
        equal &= column[one] == column[other]
    return lower
