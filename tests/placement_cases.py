"""Small random scenarios with prefill, for comparing the engine's placement with the twin's."""

from typing import Any

import numpy as np

from simcore.bubbletea.controller import Slice, placements
from simcore.costs.plan import cell_plan
from simcore.reference import simulate
from simcore.results.segments import concatenated
from tests.casts import Document, one_region, requests, scenario, three_regions, two_regions
from tests.twin_timeline import Row, rows_of, twin_timeline


def random_document(seed: int) -> Document:
    """Return a scenario of a few workers; guards, hops, ties, tight SLOs and pieces of no length occur."""
    rng = np.random.default_rng(seed)

    def pick(*choices: Any) -> Any:
        return choices[rng.integers(len(choices))]

    cell_size = pick(1, 1, 2)
    stages = pick(1, 2, 3, 4)
    inference: Document = {
        "shards": pick(1, 1, 2, 3),
        "iterations": pick(1, 2, 5, 17),
        "guard_ms": pick(0, 0, 1, 7, 20),
        "dispatch_ms": pick(0, 0, 2),
        "allreduce_blocks": pick(True, False),
        "hop_bytes_per_token": pick(0, 10_000),
        "prefill": {
            "mode": "table",
            "table": pick([[100, 10], [200, 20]], [[100, 1], [300, 60]], [[1, 1e-7], [400, 40]]),
        },
    }
    if pick(False, True):
        inference |= {"slo_ttft_ms": pick(15, 60, 300), "admission": pick("all", "slo")}
    length = pick(1, 50, 3_000)
    arrivals = np.round(rng.uniform(0, pick(1, 200, 1500), size=pick(0, 3, 60)), pick(-1, 0, 2))
    tokens = rng.integers(1, length + 1, size=len(arrivals))
    inference["requests"] = requests(*zip(arrivals.tolist(), tokens.tolist(), strict=True))
    changes: Document = {
        "pipelines": cell_size * pick(1, 2),
        "cell_size": cell_size,
        "microbatches": pick(1, 2, 5),
        "schedule": pick("gpipe", "1f1b", "greedy"),
        "gradient_mb": pick(0, 4),
        "optimizer_ms": pick(0, 3),
        "datacenters": pick({}, {"intra_gbps": 8, "intra_latency_us": 1000}),
        "transport": {"sends": pick("overlapped", "blocking")},
        "compute": {"forward_ms": pick(10, 0, 7)},
        "inference": inference,
    }
    if stages == 1:
        return one_region(pick(1, 2), **changes)
    if stages == 2:
        return two_regions(pick("ew", "we", "eeww", "ewwe"), **changes)
    return three_regions(pick("emw", "eemw", "emmw"), **changes)


def twin_answer(document: Document) -> tuple[list[Row], Document]:
    """Return the twin's pieces by row and start, and its figures of the inference."""
    case = scenario(document)
    result = simulate(case)
    return rows_of(twin_timeline(case, result).fills), result.figures["inference"]


def slices_of(document: Document, **limits: int) -> list[Slice]:
    """Return the engine's slices, over the twin's iteration."""
    case = scenario(document)
    result = simulate(case)
    timeline = twin_timeline(case, result)
    return list(placements(case, cell_plan(case), timeline.iteration, result.iteration_time_ns, **limits))


def rows_of_slices(slices: list[Slice]) -> list[Row]:
    """Return all pieces by row and start."""
    return rows_of(concatenated([each.segments for each in slices]).sorted_by_row())


def figures_of(slices: list[Slice]) -> Document:
    """Return the figures, which the last slice carries."""
    figures = slices[-1].figures
    assert figures is not None
    return figures
