"""Slots of one worker's free time: finding the next with room, and taking a piece out."""

from simcore.kernel.jit import inlined
from simcore.kernel.prefill_state import NONE, Free, Window


@inlined
def next_slot(free: Free, worker: int, slot: int, length_ns: int) -> int:
    """Return the first slot from `slot` on that has a fragment of `length_ns`; num_slots when none has."""
    num_slots: int = free.head.shape[1]
    if slot >= num_slots:
        return num_slots
    node = num_slots + slot
    if free.longest_ns[worker, node] < length_ns:
        # Up until a subtree to the right has one.
        while True:
            if node == 1:
                return num_slots
            if node & 1 == 0 and free.longest_ns[worker, node + 1] >= length_ns:
                node += 1
                break
            node >>= 1
        while node < num_slots:
            node <<= 1
            if free.longest_ns[worker, node] < length_ns:
                node += 1
    return node - num_slots


@inlined
def previous_slot(free: Free, worker: int, slot: int, length_ns: int) -> int:
    """Return the last slot up to `slot` that has a fragment of `length_ns`, or NONE."""
    num_slots: int = free.head.shape[1]
    node = num_slots + slot
    if free.longest_ns[worker, node] < length_ns:
        while True:
            if node == 1:
                return NONE
            if node & 1 == 1 and free.longest_ns[worker, node - 1] >= length_ns:
                node -= 1
                break
            node >>= 1
        while node < num_slots:
            node = 2 * node + 1
            if free.longest_ns[worker, node] < length_ns:
                node -= 1
    return node - num_slots


@inlined
def first_with_room(free: Free, window: Window, worker: int, length_class: int, class_ns: int, now_ns: int) -> int:
    """Return the first slot with a fragment for pieces of `class_ns` from `now_ns` on; num_slots when none has."""
    num_slots: int = free.head.shape[1]
    slot: int = free.first_slot[length_class, worker]
    while slot < num_slots:
        fragment = free.head[worker, slot]
        while fragment != NONE:
            latest_ns = free.end_ns[fragment] - class_ns
            if latest_ns >= now_ns and latest_ns >= free.start_ns[fragment]:
                free.first_slot[length_class, worker] = slot
                free.bound_ns[length_class, worker] = free.start_ns[fragment]
                return slot
            fragment = free.following[fragment]
        slot = next_slot(free, worker, slot + 1, class_ns)
    free.first_slot[length_class, worker] = num_slots
    free.bound_ns[length_class, worker] = window.known_until_ns
    return num_slots


@inlined
def slot_of(window: Window, start_ns: int) -> int:
    """Return the slot in which a fragment hangs; what started before the window hangs in the first."""
    return max(start_ns - window.base_ns, 0) >> window.shift


@inlined
def drawn(free: Free, start_ns: int, end_ns: int) -> int:
    """Return a fragment out of the pool."""
    fragment: int = free.pool[0]
    free.pool[0] = free.following[fragment]
    free.pool[1] -= 1
    free.start_ns[fragment], free.end_ns[fragment] = start_ns, end_ns
    return fragment


@inlined
def relink(free: Free, worker: int, slot: int) -> None:
    """Bring the tree up to date with the fragments of a slot."""
    longest_ns = NONE
    fragment = free.head[worker, slot]
    while fragment != NONE:
        longest_ns = max(longest_ns, free.end_ns[fragment] - free.start_ns[fragment])
        fragment = free.following[fragment]
    node = free.head.shape[1] + slot
    while free.longest_ns[worker, node] != longest_ns:
        free.longest_ns[worker, node] = longest_ns
        if node == 1:
            return
        longest_ns = max(longest_ns, free.longest_ns[worker, node ^ 1])
        node >>= 1


@inlined
def insert(free: Free, window: Window, worker: int, fragment: int) -> None:
    """Hang a fragment into its slot, in order of start."""
    slot = slot_of(window, free.start_ns[fragment])
    before, after = NONE, free.head[worker, slot]
    while after != NONE and free.start_ns[after] < free.start_ns[fragment]:
        before, after = after, free.following[after]
    free.following[fragment] = after
    if before == NONE:
        free.head[worker, slot] = fragment
    else:
        free.following[before] = fragment
    relink(free, worker, slot)


@inlined
def remove(free: Free, window: Window, worker: int, fragment: int) -> None:
    """Take a fragment out of its slot and put it back into the pool."""
    slot = slot_of(window, free.start_ns[fragment])
    if free.head[worker, slot] == fragment:
        free.head[worker, slot] = free.following[fragment]
    else:
        before = free.head[worker, slot]
        while free.following[before] != fragment:
            before = free.following[before]
        free.following[before] = free.following[fragment]
    free.following[fragment] = free.pool[0]
    free.pool[0] = fragment
    free.pool[1] += 1
    relink(free, worker, slot)


@inlined
def take(
    free: Free, window: Window, worker: int, fragment: int, start_ns: int, piece_ns: int, now_ns: int, shortest_ns: int
) -> None:
    """Take a piece out of the fragment that it fits in; keep what a later request may use.

    What is shorter than the shortest piece is let go, and so is what ends too soon for it.
    """
    fragment_start_ns, fragment_end_ns = free.start_ns[fragment], free.end_ns[fragment]
    end_ns = start_ns + piece_ns
    keeps_left = start_ns > fragment_start_ns and start_ns - max(fragment_start_ns, now_ns) >= shortest_ns
    keeps_right = fragment_end_ns > end_ns and fragment_end_ns - end_ns >= shortest_ns
    if keeps_left:
        free.end_ns[fragment] = start_ns
        relink(free, worker, slot_of(window, fragment_start_ns))
    else:
        remove(free, window, worker, fragment)
    if keeps_right:
        insert(free, window, worker, drawn(free, end_ns, fragment_end_ns))
