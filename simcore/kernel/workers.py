"""Workers: what they may start, what they choose, and what follows when an operation ends."""

from simcore.kernel.channels import send, take_arrival
from simcore.kernel.heap import heap_push
from simcore.kernel.jit import inlined
from simcore.kernel.segment_log import KIND_BITS, PART_BITS, PART_MASK, WHAT, write_segment
from simcore.kernel.world import (
    ACTIVATION_IS_THERE,
    BACKWARD_IS_DONE,
    BACKWARD_IS_READY,
    FORWARD_IS_DONE,
    FREE,
    GRADIENT_IS_THERE,
    NO_WAY,
    OPERATION_END,
    Tables,
    World,
)
from simcore.results.segments import Kind

NOTHING = -1
FORWARD = int(Kind.FORWARD)
BACKWARD = int(Kind.BACKWARD)
WEIGHT = int(Kind.WEIGHT)
ALL_REDUCE = int(Kind.ALL_REDUCE)
OPTIMIZER = int(Kind.OPTIMIZER)
BLOCKED_SEND = int(Kind.BLOCKED_SEND)


@inlined
def kind_of(tables: Tables, operation: int) -> int:
    """Return the kind of an operation."""
    if operation < tables.num_units:
        return FORWARD
    return BACKWARD if operation < 2 * tables.num_units else WEIGHT


@inlined
def mark_dirty(world: World, worker: int) -> None:
    """Note that a worker may be able to start something."""
    if not world.is_dirty[worker]:
        world.is_dirty[worker] = True
        world.dirty[world.num_dirty[0]] = worker
        world.num_dirty[0] += 1


@inlined
def add_ready(world: World, kind: int, worker: int, microbatch: int) -> None:
    """Put a microbatch in its place among the ready ones, which mostly is the last."""
    place = world.ready_tail[kind, worker]
    world.ready_tail[kind, worker] = place + 1
    head = world.ready_head[kind, worker]
    ready = world.ready[kind, worker]
    while place > head and ready[place - 1] > microbatch:
        ready[place] = ready[place - 1]
        place -= 1
    ready[place] = microbatch


@inlined
def add_flag(tables: Tables, world: World, worker: int, unit: int, flag: int) -> None:
    """Give a unit of a worker what it may have waited for."""
    flags = world.flags[worker, unit] | flag
    world.flags[worker, unit] = flags
    if tables.is_greedy:
        if flag == ACTIVATION_IS_THERE:
            add_ready(world, FORWARD, worker, unit)
        elif flag != BACKWARD_IS_DONE and flags & BACKWARD_IS_READY == BACKWARD_IS_READY:
            add_ready(world, BACKWARD, worker, unit)


@inlined
def chosen_of_list(tables: Tables, world: World, worker: int) -> int:
    """Return the next operation of a worker's list if it is ready, else NOTHING."""
    taken = world.num_taken[worker]
    if taken == tables.order.shape[1]:
        return NOTHING
    operation = tables.order[tables.worker_stage[worker], taken]
    kind = kind_of(tables, operation)
    unit = operation - kind * tables.num_units
    needed = BACKWARD_IS_DONE
    if kind == FORWARD:
        needed = ACTIVATION_IS_THERE
    elif kind == BACKWARD:
        needed = BACKWARD_IS_READY
    return operation if world.flags[worker, unit] & needed == needed else NOTHING


@inlined
def chosen_greedily(tables: Tables, world: World, worker: int) -> int:
    """Return the ready B of the lowest microbatch, else an F if one more may be in flight."""
    head = world.ready_head[BACKWARD, worker]
    if head < world.ready_tail[BACKWARD, worker]:
        world.ready_head[BACKWARD, worker] = head + 1
        return tables.num_units + int(world.ready[BACKWARD, worker, head])
    head = world.ready_head[FORWARD, worker]
    if head < world.ready_tail[FORWARD, worker] and world.in_flight[worker] < tables.max_in_flight:
        world.ready_head[FORWARD, worker] = head + 1
        world.in_flight[worker] += 1
        return int(world.ready[FORWARD, worker, head])
    return NOTHING


@inlined
def start_operations(tables: Tables, world: World, now_ns: int) -> None:
    """Let the free workers among those marked choose, and start what they chose."""
    for position in range(world.num_dirty[0]):
        worker = world.dirty[position]
        world.is_dirty[worker] = False
        if world.current[worker] != FREE:
            continue
        if tables.is_greedy:
            operation = chosen_greedily(tables, world, worker)
        else:
            operation = chosen_of_list(tables, world, worker)
        if operation == NOTHING:
            continue
        world.num_taken[worker] += 1
        world.current[worker] = operation
        kind = kind_of(tables, operation)
        unit = operation - kind * tables.num_units
        duration_ns = tables.duration_ns[kind, worker]
        write_segment(world, worker, kind, now_ns, duration_ns, tables.unit_microbatch[unit], tables.unit_chunk[unit])
        heap_push(world.event_ns, world.event, world.num_events, now_ns + duration_ns, worker * 4 + OPERATION_END)
    world.num_dirty[0] = 0


@inlined
def on_operation_end(tables: Tables, world: World, now_ns: int, worker: int) -> None:
    """Send what the operation made, and free the worker unless its send blocks it."""
    operation = world.current[worker]
    kind = kind_of(tables, operation)
    unit = operation - kind * tables.num_units
    way = NO_WAY
    if kind == FORWARD:
        add_flag(tables, world, worker, unit, FORWARD_IS_DONE)
        way = tables.sent_way[FORWARD, worker, tables.unit_chunk[unit]]
    elif kind == BACKWARD:
        add_flag(tables, world, worker, unit, BACKWARD_IS_DONE)
        world.in_flight[worker] -= 1
        way = tables.sent_way[BACKWARD, worker, tables.unit_chunk[unit]]
    if way != NO_WAY:
        tensor = int(tables.unit_microbatch[unit]) << tables.way_bits | way
        send(tables, world, now_ns, tables.way_channel[way], tensor)
        if tables.is_blocking:
            world.blocked_since_ns[worker] = now_ns
            return
    finish_operation(tables, world, now_ns, worker)


@inlined
def on_arrival(tables: Tables, world: World, now_ns: int, channel: int) -> None:
    """Hand a channel's next tensor over, and free its sender if the send blocked it."""
    place = take_arrival(tables, world, channel)
    what = world.log[place, WHAT] >> KIND_BITS
    microbatch = what >> PART_BITS
    way = tables.part_way[what & PART_MASK]
    receiver = tables.way_receiver[way]
    flag = GRADIENT_IS_THERE if way & 1 else ACTIVATION_IS_THERE
    add_flag(tables, world, receiver, tables.way_unit[way] + microbatch, flag)
    if world.current[receiver] == FREE:
        mark_dirty(world, receiver)
    if tables.is_blocking:
        sender = tables.way_sender[way]
        since_ns = world.blocked_since_ns[sender]
        operation = world.current[sender]
        chunk = tables.unit_chunk[operation - kind_of(tables, operation) * tables.num_units]
        write_segment(world, sender, BLOCKED_SEND, since_ns, now_ns - since_ns, microbatch, chunk)
        finish_operation(tables, world, now_ns, sender)


@inlined
def finish_operation(tables: Tables, world: World, now_ns: int, worker: int) -> None:
    """Free a worker; the last of its stage starts the all-reduce, which the optimizer follows."""
    world.current[worker] = FREE
    mark_dirty(world, worker)
    world.operations_left[0] -= 1
    stage = tables.worker_stage[worker]
    left = world.stage_operations_left[stage] - 1
    world.stage_operations_left[stage] = left
    if left > 0:
        return
    world.stage_done_ns[stage] = now_ns
    all_reduce_ns = tables.all_reduce_ns[stage]
    for pipeline in range(tables.num_pipelines):
        row = pipeline * tables.num_stages + stage
        if all_reduce_ns > 0:
            write_segment(world, row, ALL_REDUCE, now_ns, all_reduce_ns, 0, 0)
        if tables.optimizer_ns > 0:
            write_segment(world, row, OPTIMIZER, now_ns + all_reduce_ns, tables.optimizer_ns, 0, 0)
