"""The cast of the tests: small named scenarios with numbers that can be done in the head.

All are plain documents. A WAN node pair carries 8 Gbps, which is 1 MB a millisecond; links have a
round trip of 10 ms, so 5 ms one way; inside a datacenter nothing takes time unless a test says so.
An activation is 3 MB: 3 ms on the WAN and 5 ms of latency, 8 ms from the end of an operation to the
arrival. F takes 10 ms, B 20 ms.
"""

from typing import Any

from simcore.scenario.document import Scenario
from simcore.scenario.parse import scenario_from

Document = dict[str, Any]

MS = 1_000_000
"""Nanoseconds in a millisecond."""
INSTANT_GBPS = 1e9
"""So fast that the tensors of these scenarios take less than half a nanosecond: none."""


def datacenter(name: str, **changes: Any) -> Document:
    """Return a datacenter with room for everything and an instant network."""
    return {
        "name": name,
        "gpu": "a100-80gb",
        "gpus": 64,
        "gpus_per_node": 1,
        "intra_gbps": INSTANT_GBPS,
        "intra_latency_us": 0,
        **changes,
    }


def link(one: str, other: str, **changes: Any) -> Document:
    """Return a WAN link of 10 ms round trip."""
    return {"between": [one, other], "rtt_ms": 10, **changes}


def scenario_document(
    names: list[str],
    placed: list[str],
    links: list[Document],
    *,
    name: str = "cast",
    transport: Document | None = None,
    compute: Document | None = None,
    datacenters: Document | None = None,
    inference: Document | None = None,
    **training: Any,
) -> Document:
    """Return a document; `datacenters` changes all of them, `training` keys change the training."""
    document: Document = {
        "version": 1,
        "name": name,
        "datacenters": [datacenter(each, **(datacenters or {})) for each in names],
        "wan": {"tcp_window_mb": 1.5, "node_pair_gbps": 8, "links": links},
        "training": {
            "pipeline_stages": len(placed),
            "pipelines": 1,
            "microbatches": 2,
            "schedule": "gpipe",
            "transport": {"connections": "auto", **(transport or {})},
            "compute": {"mode": "explicit", "forward_ms": 10, "backward_ms": 20, **(compute or {})},
            "activation_mb": 3,
            "gradient_mb": 0,
            **training,
        },
        "placement": {"mode": "fixed", "stages": placed},
    }
    if inference is not None:
        document["inference"] = {
            "model": {"preset": "llama-3-8b"},
            "hop_bytes_per_token": 0,
            "prefill": {"mode": "table", "table": [[100, 10], [200, 20]]},
            "requests": {"mode": "inline", "inline": []},
            **inference,
        }
    return document


def one_region(stages: int = 2, **changes: Any) -> Document:
    """Return stages in one datacenter: no WAN."""
    return scenario_document(["east"], ["east"] * stages, [], **changes)


def two_regions(placed: str = "ew", *, link_changes: Document | None = None, **changes: Any) -> Document:
    """Return stages over east and west, by initials: "ew" is one stage in each."""
    names = {"e": "east", "w": "west"}
    links = [link("east", "west", **(link_changes or {}))]
    return scenario_document(["east", "west"], [names[initial] for initial in placed], links, **changes)


def three_regions(placed: str = "emw", **changes: Any) -> Document:
    """Return stages over east, middle and west, neighbours linked: two links."""
    names = {"e": "east", "m": "middle", "w": "west"}
    links = [link("east", "middle"), link("middle", "west")]
    return scenario_document(["east", "middle", "west"], [names[initial] for initial in placed], links, **changes)


def requests(*rows: tuple[float, int]) -> Document:
    """Return inline requests of (arrival in milliseconds, prompt tokens)."""
    return {"mode": "inline", "inline": [[arrival_ms / 1000, tokens] for arrival_ms, tokens in rows]}


def scenario(document: Document) -> Scenario:
    """Return the validated scenario of a cast's document."""
    return scenario_from(document)


GOLDEN_CASTS: dict[str, Document] = {
    "gpipe-two-regions": two_regions(name="gpipe-two-regions", microbatches=3),
    "one-f-one-b-three-regions": three_regions(
        name="one-f-one-b-three-regions",
        schedule="1f1b",
        microbatches=4,
        pipelines=2,
        gradient_mb=[4, 0, 8],
        optimizer_ms=3,
        datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
    ),
    "greedy-turns-in-a-cell": two_regions(
        "eww",
        name="greedy-turns-in-a-cell",
        schedule="greedy",
        microbatches=3,
        pipelines=4,
        cell_size=2,
        transport={"sharing": "temporal"},
        datacenters={"intra_gbps": 8},
    ),
    "greedy-one-in-flight": three_regions(
        name="greedy-one-in-flight", schedule="greedy", microbatches=3, max_in_flight=1
    ),
    "blocking-sends": three_regions(
        "eemw", name="blocking-sends", schedule="1f1b", microbatches=3, transport={"sends": "blocking"}
    ),
    "zero-bubble": two_regions(
        "eeww",
        name="zero-bubble",
        schedule="zb-h1",
        microbatches=5,
        compute={"backward_ms": 10, "weight_ms": 10},
    ),
    "interleaved-wrap": two_regions(
        "eeww", name="interleaved-wrap", schedule="interleaved-1f1b", virtual_stages=2, microbatches=4
    ),
    "prefill-two-shards": two_regions(
        "eeww",
        name="prefill-two-shards",
        schedule="1f1b",
        microbatches=3,
        optimizer_ms=5,
        datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
        inference={
            "shards": 2,
            "iterations": 2,
            "guard_ms": 1,
            "dispatch_ms": 2,
            "slo_ttft_ms": 60,
            "admission": "slo",
            "hop_bytes_per_token": 10_000,
            "requests": requests((0, 100), (0, 200), (40, 400), (90, 100), (100, 3000), (390, 100)),
        },
    ),
}
"""Scenarios whose whole timeline is kept in tests/golden as text."""
