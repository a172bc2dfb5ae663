"""What a check finds: rules and sentences."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from simcore.costs.plan import Plan

MAX_PER_RULE = 10
"""Sentences of one rule before the rest is only counted: a shifted timeline breaks a rule everywhere."""

KIND_LETTERS = "FBW"


class Rule(StrEnum):
    """The rules of MODEL.md that a timeline can break."""

    LAYOUT = "layout"
    """Rows are those of the scenario."""
    SEGMENT = "segment"
    """A segment's kind, row and time can be at all."""
    OPERATIONS = "operations"
    """Every F, B and W exactly once."""
    DURATION = "duration"
    """Operations and occupations take what was planned."""
    TRANSFERS = "transfers"
    """Every tensor exactly once, on its channel."""
    DEPENDENCY = "dependency"
    """Nothing starts before what it needs is there."""
    ONE_AT_A_TIME = "one-at-a-time"
    """A worker does one thing at a time."""
    BLOCKED_SEND = "blocked-send"
    """A blocked send lasts from the end of its operation to the arrival."""
    CHANNEL_OCCUPATION = "channel-occupation"
    """A channel sends one tensor at a time."""
    CHANNEL_ORDER = "channel-order"
    """First come, first served; ties by microbatch, pipeline, boundary."""
    CHANNEL_WAITING = "channel-waiting"
    """A free channel with a queue sends."""
    SCHEDULE_ORDER = "schedule-order"
    """A static schedule's list."""
    PRIORITY = "priority"
    """Greedy: the lowest ready B, else the lowest ready F."""
    IN_FLIGHT = "in-flight"
    """Greedy: fewer than `max_in_flight` microbatches before another F."""
    WORKER_WAITING = "worker-waiting"
    """A free worker never waits while an operation it may take is ready."""
    ALL_REDUCE = "all-reduce"
    """After the stage's last operation, on every worker, as long as planned."""
    OPTIMIZER = "optimizer"
    """Right after the all-reduce."""
    ITERATION_LENGTH = "iteration-length"
    """The iteration ends when every stage is through; the horizon has the rounds asked for."""
    PREFILL_PIECES = "prefill-pieces"
    """A served request has one piece per shard, on the workers of one replica, in order."""
    PREFILL_DURATION = "prefill-duration"
    """A piece takes its share of the prompt's time."""
    PREFILL_START = "prefill-start"
    """No piece before arrival and dispatch, or before the hop from the shard before it."""
    PREFILL_OVER_TRAINING = "prefill-over-training"
    """Nothing booked overlaps what occupies the worker for training."""
    PREFILL_OVERLAP = "prefill-overlap"
    """Nor another booking."""
    GUARD = "guard"
    """The guard is left before the gap's end."""
    HORIZON = "horizon"
    """Nothing beyond the last round."""
    ADMISSION = "admission"
    """With admission slo, no TTFT above the SLO."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule."""

    rule: Rule
    sentence: str
    """Where and when, and what would be right."""

    def __str__(self) -> str:
        return f"{self.rule}: {self.sentence}"


class Report:
    """Collects violations, a readable number of each rule."""

    def __init__(self) -> None:
        self._sentences: dict[Rule, list[str]] = {}
        self._counts: dict[Rule, int] = {}

    def add(self, rule: Rule, sentence: str) -> None:
        """Note one violation."""
        self._counts[rule] = self._counts.get(rule, 0) + 1
        sentences = self._sentences.setdefault(rule, [])
        if len(sentences) < MAX_PER_RULE:
            sentences.append(sentence)

    def add_each(self, rule: Rule, broken: NDArray[np.bool_], sentence: Callable[[int], str]) -> None:
        """Note a violation for each true position of a flat mask; sentences are made only if shown."""
        positions = np.flatnonzero(broken)
        for position in positions[:MAX_PER_RULE]:
            self.add(rule, sentence(int(position)))
        if len(positions) > MAX_PER_RULE:
            self._counts[rule] += len(positions) - MAX_PER_RULE

    @property
    def violations(self) -> list[Violation]:
        """Return what was found, rule by rule."""
        result = []
        for rule, sentences in self._sentences.items():
            result += [Violation(rule, sentence) for sentence in sentences]
            if (more := self._counts[rule] - len(sentences)) > 0:
                result.append(Violation(rule, f"and {more:,} more of this kind"))
        return result


def worker_name(pipeline: int, stage: int) -> str:
    """Return how sentences call a worker of the cell."""
    return f"pipeline {pipeline}, stage {stage}"


def channel_name(plan: Plan, channel: int) -> str:
    """Return how sentences call a channel of the cell."""
    ends = plan.layout.channels[channel]
    names = plan.layout.datacenters
    route = f"{names[ends.source_datacenter]} to {names[ends.target_datacenter]}"
    if ends.pipeline_in_cell < 0:
        return f"channel {route}"
    return f"channel {route} (pipeline {ends.pipeline_in_cell}, stage {ends.source_stage} to {ends.target_stage})"


def at(instant_ns: int | np.int64) -> str:
    """Return how sentences write an instant or a duration."""
    return f"{int(instant_ns):,} ns"
