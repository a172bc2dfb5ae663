"""Prefill placement: 100,000 requests over 64 replicas, 100 iterations of 32 gaps a worker.

Three shapes of gaps and prompts, since what a load means depends on them:

- `long`: half of an iteration's idle time is one gap, as between two pipeline flushes; the other
  31 share the rest. Requests come all through the horizon.
- `mixed`: gap lengths are exponential, so that a longer piece finds fewer gaps. Likewise.
- `short`: as `mixed`, but pieces of a third of a mean gap, all of which come early enough to make up
  the load while they come.

Load is the work offered per idle time of the serving workers while requests come. Run as
`python -m benchmarks.placement`; counts of a smaller instance are checked against a plain count first.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.bubbletea.controller import Slice, placements
from simcore.costs.plan import cell_plan
from simcore.results.segments import Kind, Segments
from simcore.scenario.document import InlineRequests, Scenario
from simcore.scenario.parse import scenario_from
from simcore.units import NS_PER_S

NUM_REPLICAS = 64
NUM_REQUESTS = 100_000
NUM_ITERATIONS = 100
NUM_GAPS = 32
IDLE_NS = 400_000_000
"""Of each worker and iteration, which takes a second."""
TARGET_REQUESTS_PER_S = {1: 200_000, 2: 50_000}
SHAPES = ("long", "mixed", "short")
LOADS = (0.9, 2.0)


@dataclass(frozen=True)
class Instance:
    """A scenario, and an iteration made up for it."""

    scenario: Scenario
    iteration: Segments

    def slices(self) -> Iterator[Slice]:
        """Return the placement, to be run."""
        return placements(self.scenario, cell_plan(self.scenario), self.iteration, NS_PER_S)


def gap_ns(shape: str, num_workers: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return lengths of gaps, shape (num_workers, NUM_GAPS)."""
    share = rng.exponential(size=(num_workers, NUM_GAPS)) + 0.01
    if shape == "long":
        share[:, 0] = share[:, 1:].sum(axis=1)
        share = rng.permuted(share, axis=1)
    lengths_ns: NDArray[np.int64] = (share / share.sum(axis=1, keepdims=True) * IDLE_NS).astype(np.int64)
    return lengths_ns


def iteration_of(gaps: NDArray[np.int64]) -> Segments:
    """Return operations of equal length between the gaps, an operation at each end of the round."""
    num_workers, num_gaps = gaps.shape
    duration = np.full((num_workers, num_gaps + 1), 0, dtype=np.int64)
    duration[:] = ((NS_PER_S - gaps.sum(axis=1)) // (num_gaps + 1))[:, None]
    start = np.concatenate(
        [np.zeros((num_workers, 1), dtype=np.int64), np.cumsum(duration[:, :-1] + gaps, axis=1)], axis=1
    )
    duration[:, -1] = NS_PER_S - start[:, -1]
    count = start.size
    return Segments(
        row=np.repeat(np.arange(num_workers, dtype=np.uint32), num_gaps + 1),
        kind=np.full(count, Kind.FORWARD, dtype=np.uint8),
        start_ns=start.ravel(),
        duration_ns=duration.ravel(),
        item=np.zeros(count, dtype=np.uint32),
        part=np.zeros(count, dtype=np.uint32),
    )


def document_of(shards: int, requests: list[list[float]], num_replicas: int, num_iterations: int) -> dict[str, Any]:
    """Return a document in which a prompt of n tokens takes n microseconds on each shard."""
    return {
        "version": 1,
        "name": "placement",
        "datacenters": [{"name": "here", "gpu": "a100-80gb", "gpus": num_replicas * shards}],
        "training": {
            "pipeline_stages": num_replicas * shards,
            "pipelines": 1,
            "microbatches": 1,
            "schedule": "gpipe",
            "compute": {"mode": "explicit", "forward_ms": 1, "backward_ms": 1},
            "activation_mb": 0,
            "gradient_mb": 0,
        },
        "placement": {"mode": "fixed", "stages": ["here"] * (num_replicas * shards)},
        "inference": {
            "model": {"preset": "llama-3-8b"},
            "shards": shards,
            "iterations": num_iterations,
            "guard_ms": 0.1,
            "prefill": {"mode": "table", "table": [[1, 0.001 * shards], [1_000_000, 1000 * shards]]},
            "requests": {"mode": "inline", "inline": requests},
        },
    }


def instance(
    shape: str,
    load: float,
    shards: int,
    *,
    num_requests: int = NUM_REQUESTS,
    num_replicas: int = NUM_REPLICAS,
    num_iterations: int = NUM_ITERATIONS,
) -> Instance:
    """Return an instance; the same arguments give the same."""
    rng = np.random.default_rng(7)
    num_workers = num_replicas * shards
    gaps = gap_ns(shape, num_workers, rng)
    idle_s = num_workers * IDLE_NS / NS_PER_S
    if shape == "short":
        piece_s = IDLE_NS / NS_PER_S / NUM_GAPS / 3
        span_s = num_requests * shards * piece_s / (load * idle_s)
    else:
        piece_s = load * num_iterations * idle_s / (num_requests * shards)
        span_s = float(num_iterations)
    spread = rng.lognormal(sigma=0.8, size=num_requests)
    tokens = np.maximum(spread / spread.mean() * piece_s * 1e6, 1).astype(np.int64)
    arrival_s = np.sort(rng.uniform(0, span_s, size=num_requests))
    rows = [[arrival, count] for arrival, count in zip(arrival_s.tolist(), tokens.tolist(), strict=True)]
    scenario = scenario_from(document_of(shards, rows, num_replicas, num_iterations))
    return Instance(scenario, iteration_of(gaps))


def plain_counts(case: Instance) -> tuple[int, int]:
    """Return how many requests are placed and how many are not, by going through all free time for each."""
    scenario, iteration = case.scenario, case.iteration
    inference = scenario.inference
    assert inference is not None
    assert isinstance(inference.requests, InlineRequests)
    shards, num_rows = inference.shards, scenario.training.pipeline_stages
    free: list[list[tuple[int, int]]] = []
    for row in range(num_rows):
        ours = iteration.row == row
        starts, ends = iteration.start_ns[ours].tolist(), iteration.end_ns[ours].tolist()
        free.append(
            [
                (end + at, start + at - 100_000)
                for at in range(0, inference.iterations * NS_PER_S, NS_PER_S)
                for end, start in zip(ends[:-1], starts[1:], strict=True)
            ]
        )
    placed = 0
    hop_ns = [round((4096 * 2 * count / 12.5e9 + 5e-6) * 1e9) for _, count in inference.requests.inline]
    for (arrival_s, count), hop in zip(inference.requests.inline, hop_ns, strict=True):
        best: tuple[int, list[tuple[int, int]]] | None = None
        for replica in range(num_rows // shards):
            now, taken = int(arrival_s * 1e9 + 0.5), []
            for row in range(replica * shards, (replica + 1) * shards):
                fits = [max(now, a) for a, b in free[row] if b - max(now, a) >= count * 1000]
                if not fits:
                    break
                taken.append((row, min(fits)))
                now = min(fits) + count * 1000 + hop
            else:
                if best is None or now < best[0]:
                    best = now, taken
        if best is None:
            continue
        placed += 1
        for row, start in best[1]:
            end = start + count * 1000
            hole = next((a, b) for a, b in free[row] if a <= start and end <= b)
            free[row].remove(hole)
            free[row] += [(a, b) for a, b in ((hole[0], start), (end, hole[1])) if a < b]
    return placed, len(inference.requests.inline) - placed


def check_counts() -> None:
    """Compare small instances of every case with the plain count."""
    for shape in SHAPES:
        for load in LOADS:
            for shards in TARGET_REQUESTS_PER_S:
                case = instance(shape, load, shards, num_requests=300, num_replicas=3, num_iterations=5)
                *_, last = case.slices()
                assert last.figures is not None
                got = last.figures["served"], last.figures["unplaceable"]
                expected = plain_counts(case)
                assert got == expected, (shape, load, shards, got, expected)


def main() -> None:
    """Check the counts, then print the table."""
    check_counts()
    print(f"{'case':28}{'requests':>10}{'placed':>9}{'unplaceable':>13}{'seconds':>9}{'requests/s':>12}{'target':>10}")
    for shards, target in TARGET_REQUESTS_PER_S.items():
        for shape in SHAPES:
            for load in LOADS:
                case = instance(shape, load, shards)
                begin = time.perf_counter()
                slices = list(case.slices())
                seconds = time.perf_counter() - begin
                figures = slices[-1].figures
                assert figures is not None
                placed, unplaceable = figures["served"], figures["unplaceable"]
                assert placed + unplaceable == slices[-1].num_requests == NUM_REQUESTS
                assert sum(len(each.segments) for each in slices) == placed * shards
                name = f"{shape}, load {load}, {shards} shard{'s' if shards > 1 else ''}"
                rate = NUM_REQUESTS / seconds
                print(f"{name:28}{NUM_REQUESTS:10,}{placed:9,}{unplaceable:13,}{seconds:9.3f}{rate:12,.0f}{target:10,}")


if __name__ == "__main__":
    main()
