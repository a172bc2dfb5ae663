"""Placement of prefill: every request goes where it finishes first (MODEL section 8)."""

from simcore.kernel.jit import inlined, kernel
from simcore.kernel.prefill_slots import first_with_room, next_slot, previous_slot, take
from simcore.kernel.prefill_state import (
    NEVER_NS,
    NONE,
    Fate,
    Fates,
    Free,
    PlaceExit,
    Replicas,
    Requests,
    Scratch,
    Window,
)

UNPLACEABLE, REJECTED = int(Fate.UNPLACEABLE), int(Fate.REJECTED)
ALL_PLACED, SLICE_FULL, WINDOW_SHORT, POOL_EMPTY = (int(code) for code in PlaceExit)


@inlined
def earliest_fragment(
    free: Free, window: Window, worker: int, length_class: int, class_ns: int, now_ns: int, ready_ns: int, piece_ns: int
) -> int:
    """Return the fragment in which a piece can start earliest from `ready_ns` on, or NONE."""
    first = first_with_room(free, window, worker, length_class, class_ns, now_ns)
    num_slots: int = free.head.shape[1]
    slot = (ready_ns - window.base_ns) >> window.shift
    if first >= num_slots or slot >= num_slots:
        return NONE
    if slot > first:
        # Of the fragments that start in earlier slots only the last can reach this far.
        before = previous_slot(free, worker, slot - 1, piece_ns)
        if before >= first:
            reaching = NONE
            fragment: int = free.head[worker, before]
            while fragment != NONE and free.start_ns[fragment] <= ready_ns:
                reaching = fragment
                fragment = free.following[fragment]
            if reaching != NONE and free.end_ns[reaching] - piece_ns >= ready_ns:
                return reaching
    else:
        slot = first
    if free.longest_ns[worker, num_slots + slot] >= piece_ns:
        fragment = free.head[worker, slot]
        while fragment != NONE:
            if free.end_ns[fragment] - piece_ns >= max(free.start_ns[fragment], ready_ns):
                return fragment
            fragment = free.following[fragment]
    slot = next_slot(free, worker, slot + 1, piece_ns)
    if slot >= num_slots:
        return NONE
    fragment = free.head[worker, slot]
    while free.end_ns[fragment] - free.start_ns[fragment] < piece_ns:
        fragment = free.following[fragment]
    return fragment


@inlined
def finish_bound_ns(
    free: Free, replica: int, shards: int, length_class: int, ready_ns: int, piece_ns: int, hop_ns: int, limit_ns: int
) -> int:
    """Return what a replica's finish cannot come before; NEVER_NS when that is beyond `limit_ns`."""
    time_ns = ready_ns
    for worker in range(replica * shards, (replica + 1) * shards):
        if worker > replica * shards:
            time_ns += hop_ns
        time_ns = max(time_ns, free.bound_ns[length_class, worker])
        if time_ns > limit_ns - piece_ns:
            return NEVER_NS
        time_ns += piece_ns
    return time_ns


@inlined
def finish_ns(
    requests: Requests,
    free: Free,
    window: Window,
    scratch: Scratch,
    request: int,
    replica: int,
    hop_ns: int,
    limit_ns: int,
) -> int:
    """Return a replica's earliest finish; NEVER_NS when that is beyond `limit_ns`."""
    shards = scratch.start_ns.shape[0]
    length_class, piece_ns = requests.length_class[request], requests.piece_ns[request]
    class_ns, now_ns = requests.class_piece_ns[length_class], requests.ready_ns[request]
    time_ns = now_ns
    for shard in range(shards):
        if shard > 0:
            time_ns += hop_ns
        if time_ns > limit_ns:
            return NEVER_NS
        worker = replica * shards + shard
        fragment = earliest_fragment(free, window, worker, length_class, class_ns, now_ns, time_ns, piece_ns)
        if fragment == NONE:
            return NEVER_NS
        time_ns = max(time_ns, free.start_ns[fragment])
        scratch.start_ns[shard], scratch.fragment[shard] = time_ns, fragment
        time_ns += piece_ns
    return time_ns if time_ns <= limit_ns else NEVER_NS


@kernel
def place(
    requests: Requests,
    replicas: Replicas,
    window: Window,
    horizon_ns: int,
    shortest_ns: int,
    free: Free,
    fates: Fates,
    scratch: Scratch,
    request: int,
    num_pieces: int,
    work_limit: int,
) -> tuple[int, int, int, int]:
    """Place requests from number `request` on until the slice is full.

    `work_limit` counts searches of one worker's free time, and scans of eight replicas' bounds.

    Returns
    -------
    tuple of int
        A `PlaceExit`, the next request to place, pieces in the slice, work done.
    """
    num_requests = requests.ready_ns.shape[0]
    num_replicas, shards = replicas.datacenter.shape[0], scratch.start_ns.shape[0]
    limit_ns = min(horizon_ns, window.known_until_ns)
    work = 0
    while request < num_requests:
        if num_pieces > 0 and num_pieces + shards > fates.piece_request.shape[0]:
            return SLICE_FULL, request, num_pieces, work
        if work >= work_limit:
            return SLICE_FULL, request, num_pieces, work
        if free.pool[1] < shards:
            return POOL_EMPTY, request, num_pieces, work
        piece_ns, now_ns = requests.piece_ns[request], requests.ready_ns[request]
        length_class = requests.length_class[request]

        least_ns, likely = NEVER_NS, NONE
        if piece_ns <= limit_ns and now_ns <= limit_ns:
            for replica in range(num_replicas):
                hop_ns = requests.hop_ns[replicas.datacenter[replica], request]
                bound_ns = finish_bound_ns(free, replica, shards, length_class, now_ns, piece_ns, hop_ns, limit_ns)
                scratch.bound_ns[replica] = bound_ns
                if bound_ns < least_ns:
                    least_ns, likely = bound_ns, replica
        work += 1 + (num_replicas * shards >> 3)

        best_ns, best = NEVER_NS, NONE
        if likely != NONE:
            # The likely one first; then, in order, whoever can still be earlier than the best.
            for turn in range(-1, num_replicas):
                replica = likely if turn < 0 else turn
                if turn == likely or scratch.bound_ns[replica] == NEVER_NS or scratch.bound_ns[replica] > best_ns:
                    continue
                if scratch.bound_ns[replica] == best_ns and replica > best:
                    continue
                hop_ns = requests.hop_ns[replicas.datacenter[replica], request]
                finish = finish_ns(requests, free, window, scratch, request, replica, hop_ns, min(limit_ns, best_ns))
                work += shards
                if finish < best_ns or (finish == best_ns and finish != NEVER_NS and replica < best):
                    best_ns, best = finish, replica
                    for shard in range(shards):
                        scratch.best_start_ns[shard] = scratch.start_ns[shard]
                        scratch.best_fragment[shard] = scratch.fragment[shard]
                    if best_ns == least_ns and best == likely:
                        break

        if best == NONE:
            if limit_ns < horizon_ns and piece_ns <= horizon_ns and now_ns <= horizon_ns:
                return WINDOW_SHORT, request, num_pieces, work
            fates.finish_ns[request] = UNPLACEABLE
        elif best_ns > requests.latest_finish_ns[request]:
            fates.finish_ns[request] = REJECTED
        else:
            fates.finish_ns[request] = best_ns
            for shard in range(shards):
                worker, start_ns = best * shards + shard, scratch.best_start_ns[shard]
                take(free, window, worker, scratch.best_fragment[shard], start_ns, piece_ns, now_ns, shortest_ns)
                fates.piece_request[num_pieces] = request
                fates.piece_worker[num_pieces] = worker
                fates.piece_start_ns[num_pieces] = start_ns
                num_pieces += 1
        request += 1
    return ALL_PLACED, request, num_pieces, work
