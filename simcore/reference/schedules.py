"""The order of a worker's operations (MODEL section 5)."""

from typing import NamedTuple

from simcore.scenario.document import Scenario


class Step(NamedTuple):
    """One operation of a worker."""

    kind: str
    microbatch: int
    chunk: int


def static_order(scenario: Scenario, stage: int) -> list[Step]:
    """Return the fixed list of operations of a worker of `stage`; not for greedy."""
    training = scenario.training
    num_stages, num_microbatches, num_chunks = (
        training.pipeline_stages,
        training.microbatches,
        training.virtual_stages,
    )
    forwards = [Step("F", microbatch, 0) for microbatch in range(num_microbatches)]
    backwards = [Step("B", microbatch, 0) for microbatch in range(num_microbatches)]
    if training.schedule == "gpipe":
        return forwards + backwards
    warm_up = min(num_stages - stage - 1, num_microbatches)
    if training.schedule == "1f1b":
        return _one_f_one_b(forwards, backwards, warm_up)
    if training.schedule == "zb-h1":
        return _with_weights(_one_f_one_b(forwards, backwards, warm_up), stage, num_microbatches)
    assert training.schedule == "interleaved-1f1b"
    total = num_microbatches * num_chunks
    forwards, backwards = [], []
    for i in range(total):
        microbatch = i // (num_stages * num_chunks) * num_stages + i % num_stages
        chunk = i // num_stages % num_chunks
        forwards.append(Step("F", microbatch, chunk))
        backwards.append(Step("B", microbatch, num_chunks - 1 - chunk))
    warm_up = min(2 * (num_stages - stage - 1) + (num_chunks - 1) * num_stages, total)
    return _one_f_one_b(forwards, backwards, warm_up)


def _one_f_one_b(forwards: list[Step], backwards: list[Step], warm_up: int) -> list[Step]:
    """Return `warm_up` F, then F and B in turns, then the B that remain."""
    order = forwards[:warm_up]
    for forward, backward in zip(forwards[warm_up:], backwards, strict=False):
        order += [forward, backward]
    return order + backwards[len(forwards) - warm_up :]


def _with_weights(order: list[Step], stage: int, num_microbatches: int) -> list[Step]:
    """Return the order with W(i - stage) after each B(i), and the W that are left at the end."""
    result = []
    for step in order:
        result.append(step)
        if step.kind == "B" and step.microbatch >= stage:
            result.append(Step("W", step.microbatch - stage, 0))
    first_left = max(num_microbatches - stage, 0)
    return result + [Step("W", microbatch, 0) for microbatch in range(first_left, num_microbatches)]
