"""What the twin's simulation of a cell keeps, and what can happen in it."""

from dataclasses import dataclass, field
from typing import NamedTuple

from simcore.reference.network import ChannelTiming
from simcore.reference.schedules import Step


class Tensor(NamedTuple):
    """An activation or a gradient on its way; compares by the channel's order of ties."""

    joined_ns: int
    microbatch: int
    pipeline: int
    boundary: int
    """Between virtual stages `boundary` and `boundary + 1`."""
    is_gradient: bool
    produced_ns: int

    @property
    def virtual_source(self) -> int:
        """Return the virtual stage that sends."""
        return self.boundary + 1 if self.is_gradient else self.boundary

    @property
    def virtual_target(self) -> int:
        """Return the virtual stage that receives."""
        return self.boundary if self.is_gradient else self.boundary + 1


@dataclass(slots=True)
class Channel:
    """A serial sender and its queue."""

    timing: ChannelTiming
    free: bool = True
    queue: list[Tensor] = field(default_factory=list)


@dataclass(slots=True)
class Worker:
    """One stage of one pipeline."""

    pipeline: int
    stage: int
    free: bool = True
    order: list[Step] | None = None
    """Operations still to come; None when the worker chooses by itself."""
    activations: set[tuple[int, int]] = field(default_factory=set)
    """(microbatch, chunk) whose activation has arrived; likewise below."""
    gradients: set[tuple[int, int]] = field(default_factory=set)
    started: set[Step] = field(default_factory=set)
    done: set[Step] = field(default_factory=set)


class OperationEnd(NamedTuple):
    """A worker's operation ends."""

    worker: Worker
    step: Step


class Join(NamedTuple):
    """A tensor joins its channel's queue."""

    tensor: Tensor


class ChannelEnd(NamedTuple):
    """A channel has sent its tensor and is free."""

    channel: Channel


class Arrival(NamedTuple):
    """A tensor has arrived, whole."""

    tensor: Tensor


Happening = OperationEnd | Join | ChannelEnd | Arrival
