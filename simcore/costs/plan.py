"""The plan of one cell's iteration: everything the engine needs, in integers.

This is the only place where seconds become nanoseconds (MODEL section 1): once for each part.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simcore.costs.compute import SPLITTING_SCHEDULES, stage_seconds, tensor_bytes, trained_model
from simcore.costs.layout import Layout
from simcore.costs.memory import max_in_flight
from simcore.costs.network import Network, network, placed_stages
from simcore.errors import InfeasibleError, Problem
from simcore.scenario.document import Scenario
from simcore.units import NS_PER_S, ns_from_s

MAX_HORIZON_NS = 2**62
"""About 146 years; a plan that could take longer is refused before 64-bit sums can overflow."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One iteration of one cell. Stages are `chunk * P + stage` where they are virtual."""

    layout: Layout
    schedule: str
    num_microbatches: int
    num_chunks: int
    max_in_flight: int
    """Microbatches a worker may have in flight under greedy; M elsewhere."""
    splits_weight: bool
    blocking_sends: bool
    forward_ns: NDArray[np.int64]
    """Duration of one chunk's F, shape (P,); likewise B and W."""
    backward_ns: NDArray[np.int64]
    weight_ns: NDArray[np.int64]
    activation_channel: NDArray[np.int32]
    """Channel of the activation a virtual stage sends on, shape (K, V * P); -1 for the last."""
    gradient_channel: NDArray[np.int32]
    """Channel of the gradient a virtual stage sends back, shape (K, V * P); -1 for the first."""
    scatter_ns: NDArray[np.int64]
    """Shape (num_channels,), like the next two."""
    occupation_ns: NDArray[np.int64]
    arrival_ns: NDArray[np.int64]
    """From the end of the occupation to the arrival: latency plus gather."""
    all_reduce_ns: NDArray[np.int64]
    """Shape (P,)."""
    optimizer_ns: int
    tensor_bytes: float
    """Bytes of one activation or gradient that crosses a stage boundary."""

    @property
    def num_workers(self) -> int:
        """Return K * P, workers of the cell."""
        return self.layout.num_cell_workers

    @property
    def num_worker_operations(self) -> int:
        """Return operations of each worker in one iteration."""
        return self.num_microbatches * self.num_chunks * (3 if self.splits_weight else 2)

    @property
    def num_operations(self) -> int:
        """Return operations of the cell in one iteration."""
        return self.num_workers * self.num_worker_operations

    @property
    def num_transfers(self) -> int:
        """Return tensors of the cell in one iteration, inside datacenters and across."""
        return int((self.activation_channel >= 0).sum() + (self.gradient_channel >= 0).sum()) * self.num_microbatches

    @property
    def num_wan_transfers(self) -> int:
        """Return tensors of the cell that cross a WAN link."""
        is_wan = np.array([channel.is_wan for channel in self.layout.channels] + [False])
        crossing = is_wan[self.activation_channel].sum() + is_wan[self.gradient_channel].sum()
        return int(crossing) * self.num_microbatches


def _whole_ns(seconds: Iterable[float]) -> NDArray[np.int64]:
    return np.array([ns_from_s(value) for value in seconds], dtype=np.int64)


def cell_plan(scenario: Scenario) -> Plan:
    """Return the plan of one cell's iteration.

    Raises
    ------
    InfeasibleError
        If the work, done one piece after the other for all iterations, could exceed
        `MAX_HORIZON_NS`.
    """
    training = scenario.training
    durations = stage_seconds(scenario)
    sent_bytes = tensor_bytes(training, trained_model(scenario))
    net = network(scenario, sent_bytes)
    _refuse_endless(scenario, net)
    stage_datacenter = placed_stages(scenario)
    latency_ns, gather_ns = _whole_ns(net.one_way_s), _whole_ns(net.gather_s)
    return Plan(
        layout=Layout(
            datacenters=tuple(datacenter.name for datacenter in scenario.datacenters),
            stage_datacenter=stage_datacenter,
            num_virtual_stages=training.pipeline_stages * training.virtual_stages,
            num_pipelines=training.pipelines,
            cell_size=training.cell_size,
            channels=net.channels,
        ),
        schedule=training.schedule,
        num_microbatches=training.microbatches,
        num_chunks=training.virtual_stages,
        max_in_flight=max_in_flight(scenario),
        splits_weight=training.schedule in SPLITTING_SCHEDULES,
        blocking_sends=training.transport.sends == "blocking",
        forward_ns=_whole_ns(durations.forward_s),
        backward_ns=_whole_ns(durations.backward_s),
        weight_ns=_whole_ns(durations.weight_s),
        activation_channel=net.activation_channel,
        gradient_channel=net.gradient_channel,
        scatter_ns=_whole_ns(net.scatter_s),
        occupation_ns=_whole_ns(net.occupation_s),
        arrival_ns=latency_ns + gather_ns,
        all_reduce_ns=_whole_ns(durations.all_reduce_s),
        optimizer_ns=ns_from_s(durations.optimizer_s),
        tensor_bytes=sent_bytes,
    )


def _refuse_endless(scenario: Scenario, net: Network) -> None:
    """Refuse a plan whose parts, laid end to end, pass the horizon's limit."""
    training, durations = scenario.training, stage_seconds(scenario)
    chunks = training.virtual_stages * training.microbatches * training.cell_size
    work_s = chunks * math.fsum([*durations.forward_s, *durations.backward_s, *durations.weight_s])
    per_tensor_s = net.scatter_s + net.occupation_s + net.one_way_s + net.gather_s
    used = np.concatenate([net.activation_channel.ravel(), net.gradient_channel.ravel()])
    transfers_s = training.microbatches * float(per_tensor_s[used[used >= 0]].sum())
    ends_s = math.fsum(durations.all_reduce_s) + durations.optimizer_s
    iterations = 1 if scenario.inference is None else scenario.inference.iterations
    longest_s = (work_s + transfers_s + ends_s) * iterations
    if not longest_s < MAX_HORIZON_NS / NS_PER_S:
        slow = transfers_s > work_s
        raise InfeasibleError(
            [
                Problem(
                    "wan" if slow else "training.compute",
                    f"one {'tensor after the other' if slow else 'operation after the other'}, this could take "
                    f"{longest_s / (365.25 * 86400):.3g} years of simulated time; at most 146 years are simulated",
                )
            ]
        )
