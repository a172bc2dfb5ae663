"""The event loop of one cell's iteration (MODEL section 5)."""

from simcore.kernel.channels import join, queue_the_rest, start_on_free_channels
from simcore.kernel.heap import heap_drop
from simcore.kernel.jit import kernel
from simcore.kernel.workers import on_arrival, on_operation_end, start_operations
from simcore.kernel.world import JOIN, OPERATION_END, ExitCode, Tables, World

MORE = int(ExitCode.MORE)
DONE = int(ExitCode.DONE)
STUCK = int(ExitCode.STUCK)


@kernel
def advance(tables: Tables, world: World, max_events: int) -> int:
    """Let about `max_events` events happen, up to the end of an instant; return an `ExitCode`.

    One instant: everything that ends, joins or arrives; then free channels start their next
    tensor; this repeats until nothing more happens; then free workers choose. Operations of no
    length end in the same instant, and all of it happens again.
    """
    left = max_events
    now_ns = world.clock_ns[0]
    while True:
        happening = True
        while happening:
            happening = False
            while world.num_events[0] > 0 and world.event_ns[0] == now_ns:
                payload, event = world.event[0] >> 2, world.event[0] & 3
                heap_drop(world.event_ns, world.event, world.num_events)
                left -= 1
                if event == OPERATION_END:
                    on_operation_end(tables, world, now_ns, payload)
                elif event == JOIN:
                    join(world, tables.way_channel[payload & ((1 << tables.way_bits) - 1)], payload)
                else:
                    on_arrival(tables, world, now_ns, payload)
            if world.num_touched[0] > 0:
                start_on_free_channels(tables, world, now_ns)
                happening = world.num_events[0] > 0 and world.event_ns[0] == now_ns
        start_operations(tables, world, now_ns)
        if world.num_events[0] > 0 and world.event_ns[0] == now_ns:
            continue
        queue_the_rest(tables, world)
        if world.operations_left[0] == 0:
            return DONE
        if world.num_events[0] == 0:
            return STUCK
        if left <= 0:
            return MORE
        now_ns = world.event_ns[0]
        world.clock_ns[0] = now_ns
