"""Channels: serial senders that serve by the instant of joining, then by tensor code.

What joined at earlier instants has been given its start already, so a channel is one number, the
end of its last tensor, and the tensors that joined at this very instant. Those wait until the
instant is over, because operations of no length can still send a tensor that goes before them.
"""

from simcore.kernel.heap import heap_push
from simcore.kernel.jit import inlined
from simcore.kernel.segment_log import DURATION, START, write_segment
from simcore.kernel.world import ARRIVAL, JOIN, NO_TENSOR, Tables, World


@inlined
def send(tables: Tables, world: World, now_ns: int, channel: int, tensor: int) -> None:
    """Scatter a tensor and let it join its channel's queue."""
    scatter_ns = tables.scatter_ns[channel]
    if scatter_ns > 0:
        heap_push(world.event_ns, world.event, world.num_events, now_ns + scatter_ns, tensor * 4 + JOIN)
    else:
        join(world, channel, tensor)


@inlined
def join(world: World, channel: int, tensor: int) -> None:
    """Put a tensor in its place among those of this instant."""
    last = world.pending_last[channel]
    if last == NO_TENSOR:
        world.touched[world.num_touched[0]] = channel
        world.num_touched[0] += 1
        world.pending_first[channel] = tensor
        world.pending_last[channel] = tensor
        world.pending_next[tensor] = NO_TENSOR
    elif last < tensor:
        world.pending_next[last] = tensor
        world.pending_last[channel] = tensor
        world.pending_next[tensor] = NO_TENSOR
    elif tensor < world.pending_first[channel]:
        world.pending_next[tensor] = world.pending_first[channel]
        world.pending_first[channel] = tensor
    else:
        before = world.pending_first[channel]
        while world.pending_next[before] < tensor:
            before = world.pending_next[before]
        world.pending_next[tensor] = world.pending_next[before]
        world.pending_next[before] = tensor


@inlined
def note_arrival(tables: Tables, world: World, channel: int, end_ns: int) -> None:
    """Note when the tensor whose occupation ends at `end_ns` arrives.

    Tensors arrive in the order in which they were sent, so only the next of a channel is noted.
    """
    arrival_ns = end_ns + tables.arrival_ns[channel]
    heap_push(world.event_ns, world.event, world.num_events, arrival_ns, channel * 4 + ARRIVAL)


@inlined
def take_arrival(tables: Tables, world: World, channel: int) -> int:
    """Return the segment place of the tensor that arrives now, and note the channel's next arrival."""
    place = world.next_arrival[channel]
    world.next_arrival[channel] = place + 1
    if place + 1 < world.row_end[len(world.current) + channel]:
        note_arrival(tables, world, channel, world.log[place + 1, START] + world.log[place + 1, DURATION])
    return int(place)


@inlined
def start_first(tables: Tables, world: World, start_ns: int, channel: int) -> None:
    """Give the first pending tensor of a channel its start."""
    tensor = world.pending_first[channel]
    following = world.pending_next[tensor]
    world.pending_first[channel] = following
    if following == NO_TENSOR:
        world.pending_last[channel] = NO_TENSOR
    occupation_ns = tables.occupation_ns[channel]
    end_ns = start_ns + occupation_ns
    world.free_at_ns[channel] = end_ns
    microbatch = tensor >> tables.way_bits
    way = tensor & ((1 << tables.way_bits) - 1)
    row = len(world.current) + channel
    if world.next_arrival[channel] == world.row_end[row]:
        note_arrival(tables, world, channel, end_ns)
    write_segment(world, row, tables.transfer_kind[channel], start_ns, occupation_ns, microbatch, tables.way_part[way])


@inlined
def start_on_free_channels(tables: Tables, world: World, now_ns: int) -> None:
    """Let free channels start their next tensor; one that takes no time is followed by another."""
    kept = 0
    for position in range(world.num_touched[0]):
        channel = world.touched[position]
        while world.pending_first[channel] != NO_TENSOR and world.free_at_ns[channel] <= now_ns:
            start_first(tables, world, now_ns, channel)
        if world.pending_first[channel] != NO_TENSOR:
            world.touched[kept] = channel
            kept += 1
    world.num_touched[0] = kept


@inlined
def queue_the_rest(tables: Tables, world: World) -> None:
    """At the end of an instant, give the tensors that still wait their start behind what is sent."""
    for position in range(world.num_touched[0]):
        channel = world.touched[position]
        while world.pending_first[channel] != NO_TENSOR:
            start_first(tables, world, world.free_at_ns[channel], channel)
    world.num_touched[0] = 0
