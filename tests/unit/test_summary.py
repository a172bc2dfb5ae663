"""A result in words."""

from typing import Any

import pytest

from simcore.results.summary import bytes_text, duration_text, summary

TRAINING: dict[str, Any] = {
    "name": "two regions",
    "iteration_time_ns": 1_234_500_000,
    "gpu_utilization_training": 0.59996,
    "segments": 1200,
    "wan_transfers": 0,
    "wan_bytes": 0.0,
    "num_iterations": 1,
    "horizon_ns": 1_234_500_000,
}
INFERENCE: dict[str, Any] = {
    "groups": 12,
    "served": 4,
    "rejected": 1,
    "unplaceable": 2000,
    "filled_ns": 500_000,
    "idle_ns": 2_000_000,
    "gpu_utilization_total": 0.7,
    "ttft_ns": {},
    "ttft_sum_ns": 10_000,
}


def test_training_alone():
    assert summary(TRAINING).splitlines() == [
        "two regions",
        "  iteration        1.2345 s (1,234,500,000 ns)",
        "  GPU utilisation  60.00 % by training",
        "  operations       1,200 in a cell and iteration",
        "  WAN transfers    0 in a cell and iteration",
        "  WAN traffic      0 bytes an iteration, all cells",
    ]


def test_training_and_prefill():
    figures = {**TRAINING, "num_iterations": 3, "horizon_ns": 3_703_500_000, "inference": INFERENCE}
    lines = summary(figures).splitlines()
    assert lines[2] == "  GPU utilisation      60.00 % by training, 70.00 % with prefill"
    assert lines[6:] == [
        "  horizon              3 iterations, 3.7035 s",
        "  replicas             12",
        "  requests             4 served, 1 rejected, 2,000 unplaceable",
        "  idle time filled     500 us of 2 ms (25.00 %), all workers together",
        "  time to first token  2.5 us on average",
    ]


def test_nothing_served_and_nothing_idle():
    figures = {**TRAINING, "inference": {**INFERENCE, "served": 0, "ttft_sum_ns": 0, "filled_ns": 0, "idle_ns": 0}}
    lines = summary(figures).splitlines()
    assert lines[-1] == "  idle time filled  0 ns of 0 ns, all workers together"


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 us"),
        (1_500_000, "1.5 ms"),
        (10_000_000_000, "10 s"),
        (100_000_000_000_123, "100,000 s"),
    ],
)
def test_durations(duration_ns, text):
    assert duration_text(duration_ns) == text


@pytest.mark.parametrize(
    ("num_bytes", "text"), [(0, "0 bytes"), (1.5, "1.5 bytes"), (2e3, "2 kB"), (3.25e6, "3.25 MB"), (1e15, "1,000 TB")]
)
def test_sizes(num_bytes, text):
    assert bytes_text(num_bytes) == text
