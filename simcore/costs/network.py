"""Channels of one cell and their timing (MODEL section 4).

A channel sends one tensor at a time. Every tensor of a scenario has the same size, so a channel's
scatter, occupation, latency and gather are one number each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.costs.layout import Channel
from simcore.scenario.document import Datacenter, FixedPlacement, Scenario, WanLink
from simcore.units import S_PER_MS, S_PER_US, bytes_from_mb, bytes_per_s_from_gbps


@dataclass(frozen=True, slots=True)
class Network:
    """Channels of a cell, and which one carries what."""

    channels: tuple[Channel, ...]
    activation_channel: NDArray[np.int32]
    """Channel of the activation that a virtual stage sends on, shape (K, V * P); -1 for the last."""
    gradient_channel: NDArray[np.int32]
    """Channel of the gradient that a virtual stage sends back, shape (K, V * P); -1 for the first."""
    scatter_s: NDArray[np.float64]
    """Before a tensor joins the queue, shape (num_channels,)."""
    occupation_s: NDArray[np.float64]
    """How long a tensor occupies the channel, shape (num_channels,)."""
    one_way_s: NDArray[np.float64]
    """From the end of the occupation to the arrival of the last byte, shape (num_channels,)."""
    gather_s: NDArray[np.float64]
    """After the arrival, shape (num_channels,)."""
    tensor_bytes: float


def placed_stages(scenario: Scenario) -> tuple[int, ...]:
    """Return the datacenter index of each stage, shape (P,)."""
    assert isinstance(scenario.placement, FixedPlacement)
    index = {datacenter.name: position for position, datacenter in enumerate(scenario.datacenters)}
    return tuple(index[name] for name in scenario.placement.stages)


def exchanging_pairs(num_stages: int, num_chunks: int) -> list[tuple[int, int]]:
    """Return the unordered pairs of stages of a pipeline that exchange tensors, the wrap included."""
    pairs = {(stage, stage + 1) for stage in range(num_stages - 1)}
    if num_chunks > 1 and num_stages > 1:
        pairs.add((0, num_stages - 1))
    return sorted(pairs)


def node_rate_bytes_per_s(scenario: Scenario, link: WanLink) -> float:
    """Return what one pair of nodes carries over `link`.

    `connections` TCP connections move one window each a round trip, up to the provider's cap;
    with `auto` connections, or no round-trip time, the cap is what counts.
    """
    cap = bytes_per_s_from_gbps(scenario.wan.node_pair_gbps)
    connections = scenario.training.transport.connections
    if connections == "auto" or link.rtt_ms == 0:
        return cap
    return min(cap, connections * bytes_from_mb(scenario.wan.tcp_window_mb) / (link.rtt_ms * S_PER_MS))


def nodes_per_pipeline(scenario: Scenario, ends: tuple[Datacenter, Datacenter]) -> float:
    """Return over how many nodes a pipeline's stage sends; a fraction when pipelines share one."""
    training = scenario.training
    return min(max(training.tensor_parallel / end.gpus_per_node, 1 / training.pipelines) for end in ends)


def takes_turns(scenario: Scenario) -> bool:
    """Return whether the pipelines of a cell take turns on the WAN."""
    return scenario.training.transport.sharing == "temporal" and scenario.training.cell_size > 1


class _Builder:
    """Numbers the channels as they are first needed."""

    def __init__(self, scenario: Scenario, tensor_bytes: float) -> None:
        self.scenario = scenario
        self.tensor_bytes = tensor_bytes
        self.stage_datacenter = placed_stages(scenario)
        self.links = {frozenset(link.between): link for link in scenario.wan.links}
        self.channels: dict[Channel, int] = {}
        self.timing: list[tuple[float, float, float, float]] = []
        pairs = exchanging_pairs(scenario.training.pipeline_stages, scenario.training.virtual_stages)
        self.pairs_between: dict[frozenset[int], int] = {}
        for pair in pairs:
            ends = frozenset(self.stage_datacenter[stage] for stage in pair)
            self.pairs_between[ends] = self.pairs_between.get(ends, 0) + 1

    def channel(self, pipeline_in_cell: int, source: int, target: int) -> int:
        """Return the number of the channel from stage `source` to stage `target`."""
        source_dc, target_dc = self.stage_datacenter[source], self.stage_datacenter[target]
        if source_dc != target_dc and takes_turns(self.scenario):
            key = Channel(source_dc, target_dc, -1, -1, -1)
        else:
            key = Channel(source_dc, target_dc, pipeline_in_cell, source, target)
        if key not in self.channels:
            self.channels[key] = len(self.channels)
            self.timing.append(self._timing(key))
        return self.channels[key]

    def _timing(self, channel: Channel) -> tuple[float, float, float, float]:
        source = self.scenario.datacenters[channel.source_datacenter]
        target = self.scenario.datacenters[channel.target_datacenter]
        if not channel.is_wan:
            rate = bytes_per_s_from_gbps(source.intra_gbps)
            return 0.0, self.tensor_bytes / rate, source.intra_latency_us * S_PER_US, 0.0
        link = self.links[frozenset((source.name, target.name))]
        training = self.scenario.training
        rate = node_rate_bytes_per_s(self.scenario, link) * nodes_per_pipeline(self.scenario, (source, target))
        capacity = None if link.capacity_gbps is None else bytes_per_s_from_gbps(link.capacity_gbps)
        one_way_s = link.rtt_ms * S_PER_MS / 2
        if channel.pipeline_in_cell >= 0:
            if capacity is not None:
                pairs = self.pairs_between[frozenset((channel.source_datacenter, channel.target_datacenter))]
                rate = min(rate, capacity / (training.pipelines * pairs))
            return 0.0, self.tensor_bytes / rate, one_way_s, 0.0
        size = training.cell_size
        rate *= size
        if capacity is not None:
            rate = min(rate, capacity / (training.pipelines / size))
        spread_bytes = self.tensor_bytes * (size - 1) / size
        scatter_s = spread_bytes / bytes_per_s_from_gbps(source.intra_gbps)
        gather_s = spread_bytes / bytes_per_s_from_gbps(target.intra_gbps)
        return scatter_s, self.tensor_bytes / rate, one_way_s, gather_s


def network(scenario: Scenario, tensor_bytes: float) -> Network:
    """Return the channels of one cell for tensors of `tensor_bytes` bytes."""
    training = scenario.training
    num_stages, num_virtual = training.pipeline_stages, training.pipeline_stages * training.virtual_stages
    builder = _Builder(scenario, tensor_bytes)
    shape = (training.cell_size, num_virtual)
    activation_channel = np.full(shape, -1, dtype=np.int32)
    gradient_channel = np.full(shape, -1, dtype=np.int32)
    for pipeline in range(training.cell_size):
        for virtual in range(num_virtual - 1):
            source, target = virtual % num_stages, (virtual + 1) % num_stages
            activation_channel[pipeline, virtual] = builder.channel(pipeline, source, target)
            gradient_channel[pipeline, virtual + 1] = builder.channel(pipeline, target, source)
    timing = np.array(builder.timing, dtype=np.float64).reshape(-1, 4)
    scatter_s, occupation_s, one_way_s, gather_s = (np.ascontiguousarray(column) for column in timing.T)
    return Network(
        channels=tuple(builder.channels),
        activation_channel=activation_channel,
        gradient_channel=gradient_channel,
        scatter_s=scatter_s,
        occupation_s=occupation_s,
        one_way_s=one_way_s,
        gather_s=gather_s,
        tensor_bytes=tensor_bytes,
    )
