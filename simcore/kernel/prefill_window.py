"""Opening a window: what is left of the one before, and the gaps of the rounds that come in."""

from simcore.kernel.jit import inlined, kernel
from simcore.kernel.prefill_slots import drawn, slot_of
from simcore.kernel.prefill_state import NONE, Free, Horizon, Replicas, RoundGaps, Window


@inlined
def append(free: Free, window: Window, worker: int, last: int, start_ns: int, end_ns: int) -> int:
    """Hang a fragment behind all others of its worker, of which `last` is the last; return it."""
    fragment = drawn(free, start_ns, end_ns)
    slot = slot_of(window, start_ns)
    if free.head[worker, slot] == NONE:
        free.head[worker, slot] = fragment
    else:
        free.following[last] = fragment
    free.following[fragment] = NONE
    leaf = free.head.shape[1] + slot
    free.longest_ns[worker, leaf] = max(free.longest_ns[worker, leaf], end_ns - start_ns)
    return fragment


@inlined
def append_gap(
    free: Free, window: Window, horizon: Horizon, now_ns: int, worker: int, last: int, start_ns: int, end_ns: int
) -> int:
    """Hang the usable part of a gap behind all others; return the last fragment."""
    horizon_ns = horizon.round_ns * horizon.num_rounds
    if start_ns >= horizon_ns:
        return last
    usable_end_ns = min(end_ns, horizon_ns) - horizon.guard_ns
    if usable_end_ns - max(start_ns, now_ns) < horizon.shortest_ns:
        return last
    return append(free, window, worker, last, start_ns, usable_end_ns)


@kernel
def open_window(
    gaps: RoundGaps,
    replicas: Replicas,
    horizon: Horizon,
    now_ns: int,
    old_free: Free,
    old_window: Window,
    free: Free,
    window: Window,
) -> None:
    """Fill `free`, all of whose fragments are unused, with what requests from `now_ns` on can use.

    `old_free` is left as it is; the window before the first ends at round 0 and holds nothing.
    """
    num_workers, num_slots = free.head.shape
    for fragment in range(free.following.shape[0]):
        free.following[fragment] = fragment + 1
    free.pool[0], free.pool[1] = 0, free.following.shape[0]
    for worker in range(num_workers):
        free.head[worker, :] = NONE
        free.longest_ns[worker, :] = NONE
        last = NONE
        for slot in range(old_free.head.shape[1]):
            fragment = old_free.head[worker, slot]
            while fragment != NONE:
                start_ns, end_ns = old_free.start_ns[fragment], old_free.end_ns[fragment]
                if end_ns - max(start_ns, now_ns) >= horizon.shortest_ns:
                    last = append(free, window, worker, last, start_ns, end_ns)
                fragment = old_free.following[fragment]
        row = replicas.template_row[worker]
        if old_window.end_round == 0 and gaps.lead_ns[row] > 0:
            last = append_gap(free, window, horizon, now_ns, worker, last, 0, gaps.lead_ns[row])
        for round_index in range(max(old_window.end_round, window.first_round - 1), window.end_round):
            offset_ns = round_index * horizon.round_ns
            for gap in range(gaps.first[row], gaps.first[row + 1]):
                last = append_gap(
                    free,
                    window,
                    horizon,
                    now_ns,
                    worker,
                    last,
                    offset_ns + gaps.start_ns[gap],
                    offset_ns + gaps.end_ns[gap],
                )
        for node in range(num_slots - 1, 0, -1):
            free.longest_ns[worker, node] = max(
                free.longest_ns[worker, 2 * node], free.longest_ns[worker, 2 * node + 1]
            )
    free.first_slot[:, :] = 0
    free.bound_ns[:, :] = 0
