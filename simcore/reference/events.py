"""One iteration of one cell, instant by instant (MODEL sections 4 and 5)."""

import heapq

from simcore.reference.durations import StageDurations, splits_weight
from simcore.reference.network import Network
from simcore.reference.records import Blocked, Operation, Transfer
from simcore.reference.schedules import Step, static_order
from simcore.reference.state import Arrival, Channel, ChannelEnd, Happening, Join, OperationEnd, Tensor, Worker
from simcore.scenario.document import Scenario


class CellSimulation:
    """Runs one iteration; `run` fills the lists."""

    def __init__(self, scenario: Scenario, durations: list[StageDurations]) -> None:
        training = scenario.training
        self.durations = durations
        self.network = Network(scenario)
        self.num_stages = training.pipeline_stages
        self.num_microbatches = training.microbatches
        self.num_virtual = training.pipeline_stages * training.virtual_stages
        self.max_in_flight = training.max_in_flight or training.microbatches
        self.blocking = training.transport.sends == "blocking"
        kinds = 3 if splits_weight(scenario) else 2
        self.num_operations = training.cell_size * self.num_virtual * self.num_microbatches * kinds
        greedy = training.schedule == "greedy"
        self.workers = {
            (pipeline, stage): Worker(pipeline, stage, order=None if greedy else static_order(scenario, stage))
            for pipeline in range(training.cell_size)
            for stage in range(self.num_stages)
        }
        self.channels: dict[tuple[object, ...], Channel] = {}
        for pipeline in range(training.cell_size):
            for boundary in range(self.num_virtual - 1):
                one, other = boundary % self.num_stages, (boundary + 1) % self.num_stages
                for source, target in ((one, other), (other, one)):
                    name = self.network.channel_name(pipeline, source, target)
                    self.channels.setdefault(name, Channel(self.network.timing(source, target)))
        self.operations: list[Operation] = []
        self.transfers: list[Transfer] = []
        self.blocked: list[Blocked] = []
        self._agenda: list[tuple[int, int, Happening]] = []
        self._noted = 0

    def run(self) -> None:
        """Simulate until nothing happens any more."""
        now = 0
        self._settle(now)
        while self._agenda:
            now = self._agenda[0][0]
            self._settle(now)
        assert len(self.operations) == self.num_operations, "the workers wait for each other"

    def _settle(self, now: int) -> None:
        """Let everything of this instant happen, in the order that section 5 demands."""
        while True:
            while self._ending_and_joining(now) or self._channels_starting(now):
                pass
            self._workers_choosing(now)
            if not self._agenda or self._agenda[0][0] > now:
                return

    def _note(self, instant: int, happening: Happening) -> None:
        """Remember what will happen; the running number only keeps the heap from comparing happenings."""
        self._noted += 1
        heapq.heappush(self._agenda, (instant, self._noted, happening))

    def _ending_and_joining(self, now: int) -> bool:
        """Let everything end, arrive or join a queue that does so now."""
        happened = False
        while self._agenda and self._agenda[0][0] == now:
            _, _, happening = heapq.heappop(self._agenda)
            happened = True
            if isinstance(happening, OperationEnd):
                self._operation_ends(now, happening)
            elif isinstance(happening, Join):
                heapq.heappush(self._channel(happening.tensor).queue, happening.tensor)
            elif isinstance(happening, ChannelEnd):
                happening.channel.free = True
            else:
                self._tensor_arrives(now, happening.tensor)
        return happened

    def _channels_starting(self, now: int) -> bool:
        """Let every free channel start the next tensor of its queue."""
        started = False
        for channel in self.channels.values():
            if not channel.free or not channel.queue:
                continue
            tensor, timing = heapq.heappop(channel.queue), channel.timing
            channel.free, started = False, True
            end = now + timing.occupation_ns
            arrival = end + timing.latency_ns + timing.gather_ns
            self._note(end, ChannelEnd(channel))
            self._note(arrival, Arrival(tensor))
            self.transfers.append(
                Transfer(
                    source_stage=tensor.virtual_source % self.num_stages,
                    target_stage=tensor.virtual_target % self.num_stages,
                    pipeline=tensor.pipeline,
                    microbatch=tensor.microbatch,
                    is_gradient=tensor.is_gradient,
                    virtual_source=tensor.virtual_source,
                    queued_ns=tensor.joined_ns,
                    start_ns=now,
                    end_ns=end,
                    arrival_ns=arrival,
                    is_wan=timing.is_wan,
                )
            )
        return started

    def _workers_choosing(self, now: int) -> None:
        """Let every free worker start an operation, if one is ready."""
        for worker in self.workers.values():
            step = self._choice(worker) if worker.free else None
            if step is None:
                continue
            if worker.order is not None:
                worker.order.pop(0)
            worker.free = False
            worker.started.add(step)
            durations = self.durations[worker.stage]
            duration = {"F": durations.forward_ns, "B": durations.backward_ns, "W": durations.weight_ns}[step.kind]
            self.operations.append(
                Operation(step.kind, worker.pipeline, worker.stage, step.microbatch, step.chunk, now, now + duration)
            )
            self._note(now + duration, OperationEnd(worker, step))

    def _choice(self, worker: Worker) -> Step | None:
        """Return the operation that a free worker takes now."""
        if worker.order is not None:
            return worker.order[0] if worker.order and self._is_ready(worker, worker.order[0]) else None
        for microbatch in range(self.num_microbatches):
            step = Step("B", microbatch, 0)
            if step not in worker.started and self._is_ready(worker, step):
                return step
        started = sum(step.kind == "F" for step in worker.started)
        finished = sum(step.kind == "B" for step in worker.done)
        if started - finished >= self.max_in_flight:
            return None
        for microbatch in range(self.num_microbatches):
            step = Step("F", microbatch, 0)
            if step not in worker.started and self._is_ready(worker, step):
                return step
        return None

    def _is_ready(self, worker: Worker, step: Step) -> bool:
        virtual = step.chunk * self.num_stages + worker.stage
        key = step.microbatch, step.chunk
        if step.kind == "F":
            return virtual == 0 or key in worker.activations
        if step.kind == "B":
            received = virtual == self.num_virtual - 1 or key in worker.gradients
            return received and step._replace(kind="F") in worker.done
        return step._replace(kind="B") in worker.done

    def _operation_ends(self, now: int, ending: OperationEnd) -> None:
        worker, step = ending
        worker.done.add(step)
        virtual = step.chunk * self.num_stages + worker.stage
        sends_activation = step.kind == "F" and virtual < self.num_virtual - 1
        sends_gradient = step.kind == "B" and virtual > 0
        if not sends_activation and not sends_gradient:
            worker.free = True
            return
        boundary = virtual if sends_activation else virtual - 1
        tensor = Tensor(now, step.microbatch, worker.pipeline, boundary, sends_gradient, produced_ns=now)
        joined = now + self._channel(tensor).timing.scatter_ns
        self._note(joined, Join(tensor._replace(joined_ns=joined)))
        if not self.blocking:
            worker.free = True

    def _tensor_arrives(self, now: int, tensor: Tensor) -> None:
        chunk, stage = divmod(tensor.virtual_target, self.num_stages)
        receiver = self.workers[tensor.pipeline, stage]
        arrived = receiver.gradients if tensor.is_gradient else receiver.activations
        arrived.add((tensor.microbatch, chunk))
        if not self.blocking:
            return
        chunk, stage = divmod(tensor.virtual_source, self.num_stages)
        self.workers[tensor.pipeline, stage].free = True
        kind = "B" if tensor.is_gradient else "F"
        self.blocked.append(Blocked(tensor.pipeline, stage, tensor.microbatch, chunk, kind, tensor.produced_ns, now))

    def _channel(self, tensor: Tensor) -> Channel:
        source, target = tensor.virtual_source % self.num_stages, tensor.virtual_target % self.num_stages
        return self.channels[self.network.channel_name(tensor.pipeline, source, target)]
