"""The demo scenarios as documents: three datacenters 40 ms apart, and what becomes of them.

Stages like GPT-A's (14 ms forward, 42 ms backward, 33.6 MB across a boundary) on four A100-80GB in
each of three places. The prefill requests are drawn here, not taken from a trace: arrivals whose
rate swells and ebbs, and log-normal prompt lengths around the median that Patel et al. ("Splitwise",
ISCA 2024) report of conversations.
"""

from typing import Any

import numpy as np

REFERENCE_NAME = "three-regions"
"""The demo that the others are compared with."""
NUM_REQUESTS = 2_000
REQUEST_SPAN_S = 435.0
"""About the length of 300 iterations of the Atlas demo, so that its bubbles see all of them."""
REQUEST_SEED = 20_231_116
MEDIAN_PROMPT_TOKENS = 1_020
PROMPT_SIGMA = 0.65
"""Spread of the logarithm: a mean near 1,250 tokens, one prompt in a hundred above 4,600."""
MAX_PROMPT_TOKENS = 8_192

_PREFILL_TABLE = [[128, 12], [512, 34], [2048, 124], [8192, 565]]
"""Llama-3-8B on one A100-80GB: prompt tokens, milliseconds."""


def conversation_requests(num_requests: int = NUM_REQUESTS, seed: int = REQUEST_SEED) -> list[list[float | int]]:
    """Return `[arrival in seconds, prompt tokens]` rows in order of arrival.

    Parameters
    ----------
    num_requests : int
        Rows to draw. >= 1.
    seed : int
        Same seed, same rows.

    Notes
    -----
    Gaps are exponential around a rate that swells and ebbs three times over the span; lengths are
    log-normal, cut at `MAX_PROMPT_TOKENS`. The last arrival is `REQUEST_SPAN_S`.
    """
    rng = np.random.default_rng(seed)
    phase = np.linspace(0.0, 3 * 2 * np.pi, num_requests)
    gaps_s = rng.exponential(1.0, num_requests) / (1.0 + 0.5 * np.sin(phase))
    arrival_s = np.cumsum(gaps_s)
    arrival_s *= REQUEST_SPAN_S / arrival_s[-1]
    drawn_tokens = rng.lognormal(np.log(MEDIAN_PROMPT_TOKENS), PROMPT_SIGMA, num_requests)
    tokens = np.clip(np.rint(drawn_tokens), 16, MAX_PROMPT_TOKENS).astype(int)
    return [[round(float(at), 6), int(length)] for at, length in zip(arrival_s, tokens, strict=True)]


def three_regions() -> dict[str, Any]:
    """Return Atlas over three regions, with Llama-3-8B prefill in its bubbles."""
    return {
        **_over_three_regions(
            name=REFERENCE_NAME,
            description=(
                "Atlas over three datacenters 40 ms apart: many connections, and a cell's pipelines take turns. "
                "Llama-3-8B prefill requests are booked into the bubbles of 300 iterations."
            ),
            training={
                "system": "atlas",
                "transport": {"connections": "auto", "sharing": "temporal"},
                "schedule": "greedy",
            },
        ),
        "inference": {
            "model": {"preset": "llama-3-8b"},
            "shards": 1,
            "iterations": 300,
            "guard_ms": 1,
            "dispatch_ms": 0.2,
            "slo_ttft_ms": 2000,
            "admission": "slo",
            "hop_bytes_per_token": 8192,
            "prefill": {"mode": "table", "table": [list(row) for row in _PREFILL_TABLE]},
            "requests": {"mode": "inline", "inline": conversation_requests()},
        },
    }


def three_regions_gpipe() -> dict[str, Any]:
    """Return the same job under gpipe with one connection a node pair: what Atlas is measured against."""
    return _over_three_regions(
        name=f"{REFERENCE_NAME} under gpipe",
        description=(
            "The same job, stages and WAN as three-regions, but one TCP connection a node pair and the order of GPipe: "
            "the window over the round-trip time holds every transfer back."
        ),
        training={
            "system": "gpipe",
            "transport": {"connections": 1, "sharing": "spatial"},
            "schedule": "gpipe",
        },
    )


def one_region_baseline() -> dict[str, Any]:
    """Return the same job in a single datacenter under 1F1B: how fast it is without a WAN."""
    document = _over_three_regions(
        name="single datacenter baseline",
        description="The same stages and pipelines in one datacenter under 1F1B: the iteration without any WAN.",
        training={"system": "megatron", "transport": {"connections": 1, "sharing": "spatial"}, "schedule": "1f1b"},
    )
    document["datacenters"] = [{**document["datacenters"][0], "gpus": 12}]
    document["wan"] = {"tcp_window_mb": 1.5, "node_pair_gbps": 5, "links": []}
    document["training"]["cell_size"] = 1
    document["placement"]["stages"] = ["east"] * 6
    return document


def starting_document() -> dict[str, Any]:
    """Return what a new scenario starts from: two datacenters, four stages, ready to run."""
    place = {"gpu": "a100-80gb", "gpus": 4, "gpus_per_node": 1, "intra_gbps": 100, "intra_latency_us": 5}
    return {
        "version": 1,
        "name": "Untitled scenario",
        "datacenters": [{"name": "us-east", **place}, {"name": "us-west", **place}],
        "wan": {
            "tcp_window_mb": 1.5,
            "node_pair_gbps": 5,
            "links": [{"between": ["us-east", "us-west"], "rtt_ms": 40}],
        },
        "training": {
            "system": "atlas",
            "pipeline_stages": 4,
            "pipelines": 2,
            "cell_size": 2,
            "microbatches": 16,
            "activation_mb": 33.6,
            "gradient_mb": 400,
            "optimizer_ms": 5,
            "compute": {"mode": "explicit", "forward_ms": 14, "backward_ms": 42},
        },
        "placement": {"mode": "fixed", "stages": ["us-east", "us-east", "us-west", "us-west"]},
    }


def starting_inference() -> dict[str, Any]:
    """Return what the editor adds when inference is switched on: a prefill table and a burst of requests."""
    return {
        "model": {"preset": "llama-3-8b"},
        "shards": 1,
        "iterations": 10,
        "guard_ms": 1,
        "dispatch_ms": 0.2,
        "admission": "all",
        "hop_bytes_per_token": 8192,
        "prefill": {"mode": "table", "table": [list(row) for row in _PREFILL_TABLE]},
        "requests": {
            "mode": "inline",
            "inline": [[round(0.25 * index, 2), 256 + 128 * (index % 8)] for index in range(40)],
        },
    }


def _over_three_regions(*, name: str, description: str, training: dict[str, Any]) -> dict[str, Any]:
    place = {"gpu": "a100-80gb", "gpus": 4, "gpus_per_node": 1, "intra_gbps": 100, "intra_latency_us": 5}
    return {
        "version": 1,
        "name": name,
        "description": description,
        "datacenters": [{"name": region, **place} for region in ("east", "central", "west")],
        "wan": {
            "tcp_window_mb": 1.5,
            "node_pair_gbps": 5,
            "links": [
                {"between": ["east", "central"], "rtt_ms": 40},
                {"between": ["central", "west"], "rtt_ms": 40},
            ],
        },
        "training": {
            "system": training["system"],
            "pipeline_stages": 6,
            "pipelines": 2,
            "cell_size": 2,
            "tensor_parallel": 1,
            "microbatches": 16,
            "schedule": training["schedule"],
            "activation_mb": 33.6,
            "gradient_mb": 400,
            "optimizer_ms": 5,
            "transport": training["transport"],
            "compute": {"mode": "explicit", "forward_ms": 14, "backward_ms": 42},
        },
        "placement": {"mode": "fixed", "stages": ["east", "east", "central", "central", "west", "west"]},
    }


DEMOS = (three_regions, three_regions_gpipe, one_region_baseline)
