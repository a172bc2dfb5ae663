"""The event loop: one iteration of P=64 stages and M=512 microbatches, the timeline recorded.

Run as `python -m benchmarks.kernel`. Four datacenters of 16 stages, 40 ms apart, every stage alike;
the best of several repetitions counts, because the machine may be shared.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simcore.costs.plan import Plan, cell_plan
from simcore.kernel.cell import CellRun
from simcore.scenario.parse import scenario_from

NUM_STAGES = 64
NUM_MICROBATCHES = 512
NAMES = ("north", "east", "south", "west")


@dataclass(frozen=True, slots=True)
class Case:
    """What is timed, and what it should take at most."""

    schedule: str
    cell_size: int
    sharing: str
    target_s: float
    repetitions: int


CASES = (
    Case("gpipe", 1, "spatial", 0.01, 15),
    Case("1f1b", 1, "spatial", 0.01, 15),
    Case("greedy", 1, "spatial", 0.015, 15),
    Case("greedy", 8, "temporal", 0.15, 5),
)


def document(case: Case) -> dict[str, Any]:
    """Return the scenario document of a case."""
    return {
        "version": 1,
        "name": "kernel benchmark",
        "datacenters": [{"name": name, "gpu": "a100-80gb", "gpus": 4096} for name in NAMES],
        "wan": {"links": [{"between": list(pair), "rtt_ms": 40} for pair in pairwise(NAMES)]},
        "training": {
            "pipeline_stages": NUM_STAGES,
            "pipelines": case.cell_size,
            "cell_size": case.cell_size,
            "microbatches": NUM_MICROBATCHES,
            "schedule": case.schedule,
            "transport": {"connections": "auto", "sharing": case.sharing},
            "compute": {"mode": "explicit", "forward_ms": 10, "backward_ms": 20},
            "activation_mb": 20,
            "gradient_mb": 100,
        },
        "placement": {"mode": "fixed", "stages": [name for name in NAMES for _ in range(NUM_STAGES // len(NAMES))]},
    }


def timed_s(plan: Plan) -> tuple[float, int]:
    """Return the seconds of one iteration in the kernel, and how many segments it recorded."""
    cell = CellRun(plan)
    start_s = time.perf_counter()
    cell.advance(2**62)
    taken_s = time.perf_counter() - start_s
    assert cell.is_done
    return taken_s, len(cell.segments())


def main() -> None:
    """Print the table."""
    print(f"kernel: P={NUM_STAGES} M={NUM_MICROBATCHES}, timeline recorded, best of n")
    print(f"{'case':<32}{'operations':>12}{'transfers':>11}{'segments':>10}{'n':>4}{'best ms':>10}{'target ms':>11}")
    for case in CASES:
        plan = cell_plan(scenario_from(document(case)))
        assert plan.num_operations == 2 * NUM_STAGES * NUM_MICROBATCHES * case.cell_size
        timed_s(plan)
        times_s, num_segments = [], 0
        for _ in range(case.repetitions):
            taken_s, num_segments = timed_s(plan)
            times_s.append(taken_s)
        assert num_segments >= plan.num_operations + plan.num_transfers
        label = f"{case.schedule}, cell of {case.cell_size}, {case.sharing}"
        print(
            f"{label:<32}{plan.num_operations:>12,}{plan.num_transfers:>11,}{num_segments:>10,}{case.repetitions:>4}"
            f"{min(times_s) * 1e3:>10.2f}{case.target_s * 1e3:>11.0f}"
        )


if __name__ == "__main__":
    main()
