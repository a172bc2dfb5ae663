"""Channels of one cell and what a tensor takes on them (MODEL section 4)."""

from dataclasses import dataclass

from simcore.reference.durations import stage_datacenters, whole_ns
from simcore.scenario.document import Datacenter, Scenario, WanLink


@dataclass(frozen=True, slots=True)
class ChannelTiming:
    """Parts of a tensor's way, in nanoseconds, each rounded by itself."""

    is_wan: bool
    scatter_ns: int
    occupation_ns: int
    latency_ns: int
    gather_ns: int


class Network:
    """Answers which channel joins two stages of a pipeline, and how slow it is."""

    def __init__(self, scenario: Scenario) -> None:
        training = scenario.training
        assert training.activation_mb is not None
        self.scenario = scenario
        self.tensor_bytes = training.activation_mb * 1e6
        self.datacenters = stage_datacenters(scenario)
        self.takes_turns = training.transport.sharing == "temporal" and training.cell_size > 1

    def channel_name(self, pipeline: int, source: int, target: int) -> tuple[object, ...]:
        """Return the identity of the channel from stage `source` to stage `target`."""
        ends = self.datacenters[source].name, self.datacenters[target].name
        if ends[0] != ends[1] and self.takes_turns:
            return ("shared", *ends)
        return ("own", pipeline, source, target)

    def timing(self, source: int, target: int) -> ChannelTiming:
        """Return what a tensor takes from stage `source` to stage `target`."""
        sender, receiver = self.datacenters[source], self.datacenters[target]
        if sender.name == receiver.name:
            return ChannelTiming(
                is_wan=False,
                scatter_ns=0,
                occupation_ns=whole_ns(self.tensor_bytes / (sender.intra_gbps * 125e6)),
                latency_ns=whole_ns(sender.intra_latency_us * 1e-6),
                gather_ns=0,
            )
        link = self._link(sender, receiver)
        cell_size = self.scenario.training.cell_size
        spread_bytes = self.tensor_bytes * (cell_size - 1) / cell_size if self.takes_turns else 0.0
        return ChannelTiming(
            is_wan=True,
            scatter_ns=whole_ns(spread_bytes / (sender.intra_gbps * 125e6)),
            occupation_ns=whole_ns(self.tensor_bytes / self._wan_rate(link, sender, receiver)),
            latency_ns=whole_ns(link.rtt_ms * 1e-3 / 2),
            gather_ns=whole_ns(spread_bytes / (receiver.intra_gbps * 125e6)),
        )

    def _link(self, one: Datacenter, other: Datacenter) -> WanLink:
        return next(link for link in self.scenario.wan.links if set(link.between) == {one.name, other.name})

    def _wan_rate(self, link: WanLink, sender: Datacenter, receiver: Datacenter) -> float:
        """Return the bytes per second of a channel over `link`."""
        training, wan = self.scenario.training, self.scenario.wan
        node = wan.node_pair_gbps * 125e6
        if training.transport.connections != "auto" and link.rtt_ms > 0:
            node = min(node, training.transport.connections * (wan.tcp_window_mb * 1e6) / (link.rtt_ms * 1e-3))
        nodes = min(
            max(training.tensor_parallel / datacenter.gpus_per_node, 1 / training.pipelines)
            for datacenter in (sender, receiver)
        )
        if self.takes_turns:
            rate, sharers = node * nodes * training.cell_size, training.pipelines / training.cell_size
        else:
            rate, sharers = node * nodes, float(training.pipelines * self._pairs_between(sender, receiver))
        if link.capacity_gbps is None:
            return rate
        return min(rate, link.capacity_gbps * 125e6 / sharers)

    def _pairs_between(self, one: Datacenter, other: Datacenter) -> int:
        """Return how many distinct pairs of a pipeline's workers exchange tensors between two datacenters."""
        training = self.scenario.training
        num_stages, num_virtual = training.pipeline_stages, training.pipeline_stages * training.virtual_stages
        pairs = {frozenset((v % num_stages, (v + 1) % num_stages)) for v in range(num_virtual - 1)}
        ends = {one.name, other.name}
        return sum({self.datacenters[stage].name for stage in pair} == ends for pair in pairs)
