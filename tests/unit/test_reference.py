"""The twin against numbers worked out by hand; the algebra is beside them."""

import pytest

from simcore.reference import ReferenceResult, simulate
from simcore.reference.network import Network
from simcore.reference.prefill import idle_gaps, prefill_ns
from simcore.reference.schedules import static_order
from tests.casts import MS, Document, one_region, requests, scenario, two_regions


def run(document: Document) -> ReferenceResult:
    return simulate(scenario(document))


def operations_ms(result: ReferenceResult, stage: int, pipeline: int = 0) -> list[str]:
    """Return a worker's operations as text, "F0 0-10"."""
    return [
        f"{each.kind}{each.microbatch} {each.start_ns / MS:g}-{each.end_ns / MS:g}"
        for each in result.operations
        if (each.stage, each.pipeline) == (stage, pipeline)
    ]


def order_of(document: Document, stage: int) -> str:
    return " ".join(f"{step.kind}{step.microbatch}" for step in static_order(scenario(document), stage))


def test_gpipe_over_one_wan_link():
    # An activation is under way for 3 ms + 5 ms; so is a gradient.
    result = run(two_regions())
    assert operations_ms(result, 0) == ["F0 0-10", "F1 10-20", "B0 66-86", "B1 86-106"]
    assert operations_ms(result, 1) == ["F0 18-28", "F1 28-38", "B0 38-58", "B1 58-78"]
    assert result.figures == {
        "iteration_time_ns": 106 * MS,
        "gpu_utilization_training": 2 * 60 / (2 * 106),
        "segments": 8,
        "wan_transfers": 4,
        "wan_bytes": 12e6,
    }
    assert [(each.queued_ns, each.start_ns, each.end_ns, each.arrival_ns) for each in result.transfers[:2]] == [
        (10 * MS, 10 * MS, 13 * MS, 18 * MS),
        (20 * MS, 20 * MS, 23 * MS, 28 * MS),
    ]


def test_a_blocked_send_holds_its_worker_until_the_tensor_is_there():
    # Stage 0 cannot start F1 before 18, nor B1 (arrived at 94 + 8) before 102.
    result = run(two_regions(transport={"sends": "blocking"}))
    assert operations_ms(result, 0) == ["F0 0-10", "F1 18-28", "B0 74-94", "B1 102-122"]
    assert operations_ms(result, 1) == ["F0 18-28", "F1 36-46", "B0 46-66", "B1 74-94"]
    assert [(each.stage, each.kind, each.start_ns // MS, each.end_ns // MS) for each in result.blocked] == [
        (0, "F", 10, 18),
        (0, "F", 28, 36),
        (1, "B", 66, 74),
        (1, "B", 94, 102),
    ]


def test_a_stage_whose_last_tensor_is_blocked_ends_when_that_has_arrived():
    result = run(two_regions(transport={"sends": "blocking"}, optimizer_ms=1))
    assert result.stage_done_ns == [122 * MS, 102 * MS]


def test_pipelines_of_a_cell_take_turns():
    # Both nodes send together: 3 MB at 2 MB/ms take 1.5 ms. Half the tensor is scattered inside the
    # sending datacenter and gathered in the receiving one, 1.5 MB at 1 MB/ms: 1.5 ms each.
    result = run(
        two_regions(
            pipelines=2,
            cell_size=2,
            microbatches=1,
            transport={"sharing": "temporal"},
            datacenters={"intra_gbps": 8},
        )
    )
    activations = [each for each in result.transfers if not each.is_gradient]
    assert [(t.pipeline, t.queued_ns / MS, t.start_ns / MS, t.end_ns / MS, t.arrival_ns / MS) for t in activations] == [
        (0, 11.5, 11.5, 13, 19.5),
        (1, 11.5, 13, 14.5, 21),
    ]


def test_a_full_channel_serves_by_arrival_then_microbatch_then_pipeline():
    # 6 ms a tensor, F takes 4 ms: at 4 both pipelines join with microbatch 0, at 8 with microbatch 1.
    result = run(
        two_regions(
            pipelines=2,
            cell_size=2,
            activation_mb=12,
            transport={"sharing": "temporal"},
            compute={"forward_ms": [4, 1]},
        )
    )
    activations = [(t.microbatch, t.pipeline, t.start_ns // MS) for t in result.transfers if not t.is_gradient]
    assert activations == [(0, 0, 4), (0, 1, 10), (1, 0, 16), (1, 1, 22)]


@pytest.mark.parametrize(
    ("changes", "occupation_ms"),
    [
        pytest.param({}, 3, id="node pair: 3 MB at 1 MB/ms"),
        pytest.param({"transport": {"connections": 1}}, 20, id="one window of 1.5 MB in 10 ms: 0.15 MB/ms"),
        pytest.param({"transport": {"connections": 2}}, 10, id="two windows"),
        pytest.param({"transport": {"connections": 100}}, 3, id="the cap of the node pair"),
        pytest.param({"transport": {"connections": 1}, "link_changes": {"rtt_ms": 0}}, 3, id="no round trip, no limit"),
        pytest.param({"tensor_parallel": 4}, 0.75, id="four nodes a stage"),
        pytest.param(
            {"pipelines": 4, "datacenters": {"gpus_per_node": 8}}, 12, id="a quarter of a node: 4 pipelines share it"
        ),
        pytest.param(
            {"tensor_parallel": 2, "pipelines": 8, "datacenters": {"gpus_per_node": 8}}, 12, id="2 of 8 GPUs of a node"
        ),
        pytest.param({"pipelines": 2, "link_changes": {"capacity_gbps": 8}}, 6, id="half the link"),
        pytest.param(
            {"placed": "ewe", "pipelines": 2, "link_changes": {"capacity_gbps": 8}}, 12, id="two pairs of stages: c = 2"
        ),
        pytest.param(
            {
                "placed": "ewe",
                "pipelines": 4,
                "cell_size": 2,
                "link_changes": {"capacity_gbps": 8},
                "transport": {"sharing": "temporal"},
            },
            6,
            id="two cells take half each, whatever the number of pairs",
        ),
        pytest.param(
            {"placed": "eewe", "pipelines": 1, "link_changes": {"capacity_gbps": 8}}, 6, id="pairs inside do not count"
        ),
    ],
)
def test_occupation_of_a_wan_channel(changes: Document, occupation_ms: float):
    document = two_regions(**changes)
    first = next(i for i, name in enumerate(document["placement"]["stages"]) if name == "west")
    assert Network(scenario(document)).timing(first - 1, first).occupation_ns == occupation_ms * MS


def test_the_wrap_of_interleaving_is_a_pair_of_its_own():
    # e e w w with two chunks: stages 1-2 and the wrap 3-0 cross the link, so each gets 0.5 MB/ms.
    document = two_regions(
        "eeww",
        schedule="interleaved-1f1b",
        virtual_stages=2,
        microbatches=4,
        link_changes={"capacity_gbps": 8},
    )
    network = Network(scenario(document))
    assert network.timing(1, 2).occupation_ns == network.timing(3, 0).occupation_ns == 6 * MS


def test_static_orders():
    assert order_of(one_region(3, microbatches=3), 0) == "F0 F1 F2 B0 B1 B2"
    flush = one_region(3, microbatches=3, schedule="1f1b")
    assert [order_of(flush, stage) for stage in range(3)] == [
        "F0 F1 F2 B0 B1 B2",
        "F0 F1 B0 F2 B1 B2",
        "F0 B0 F1 B1 F2 B2",
    ]
    assert order_of(one_region(4, microbatches=1, schedule="1f1b"), 0) == "F0 B0"


def test_zero_bubble_lags_its_weights_by_the_stage():
    document = one_region(2, microbatches=3, schedule="zb-h1")
    assert order_of(document, 0) == "F0 F1 B0 W0 F2 B1 W1 B2 W2"
    assert order_of(document, 1) == "F0 B0 F1 B1 W0 F2 B2 W1 W2"


def test_interleaved_chunks():
    document = one_region(2, microbatches=2, schedule="interleaved-1f1b", virtual_stages=2)
    steps = static_order(scenario(document), 1)
    # 2 (2 - 1 - 1) + (2 - 1) 2 = 2 warm-up F.
    assert [f"{step.kind}{step.microbatch}.{step.chunk}" for step in steps] == (
        ["F0.0", "F1.0", "F0.1", "B0.1", "F1.1", "B1.1", "B0.0", "B1.0"]
    )


def test_greedy_takes_a_gradient_before_an_activation():
    result = run(one_region(1, schedule="greedy", microbatches=3))
    assert operations_ms(result, 0) == ["F0 0-10", "B0 10-30", "F1 30-40", "B1 40-60", "F2 60-70", "B2 70-90"]


def test_greedy_keeps_its_limit():
    # With one in flight stage 0 waits for B0, whose gradient is there at 10 + 8 + 30 + 8 = 56.
    result = run(two_regions(schedule="greedy", max_in_flight=1))
    assert operations_ms(result, 0) == ["F0 0-10", "B0 56-76", "F1 76-86", "B1 132-152"]


def test_a_gradient_that_arrives_as_its_worker_gets_free_goes_first():
    # Stage 1 needs 10 + 20 for a microbatch: its gradient is back at 10 + 30 = 40, when stage 0 ends F3.
    result = run(one_region(2, schedule="greedy", microbatches=5))
    assert operations_ms(result, 0)[3:6] == ["F3 30-40", "B0 40-60", "F4 60-70"]


def test_operations_of_no_length_choose_again_in_the_same_instant():
    result = run(one_region(1, schedule="gpipe", compute={"forward_ms": 0}))
    assert operations_ms(result, 0) == ["F0 0-0", "F1 0-0", "B0 0-20", "B1 20-40"]


def test_all_reduce_waits_for_every_pipeline_then_the_optimizer_runs():
    # Ring over two: 2 (1/2) 4 MB at 1 MB/ms + 2 * 1 ms = 6 ms.
    result = run(
        one_region(
            1,
            pipelines=2,
            gradient_mb=4,
            optimizer_ms=3,
            datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
        )
    )
    assert result.all_reduce_ns == [6 * MS]
    assert result.iteration_time_ns == (60 + 6 + 3) * MS


@pytest.mark.parametrize(
    ("tokens", "milliseconds"), [(50, 10), (100, 10), (150, 15), (200, 20), (300, 30)], ids=lambda value: str(value)
)
def test_prefill_table_interpolates_holds_below_and_extends_above(tokens: int, milliseconds: int):
    assert prefill_ns(((100, 10.0), (200, 20.0)), tokens) == milliseconds * MS
    assert prefill_ns(((100, 7.0),), tokens) == 7 * MS


def test_gaps_touch_across_rounds_and_ignore_operations_of_no_length():
    assert idle_gaps([(2, 3), (5, 5), (7, 8)], 10, 2) == [(0, 2), (3, 7), (8, 12), (13, 17), (18, 20)]


def test_prefill_takes_the_earliest_finish_and_keeps_the_guard():
    # Gaps: stage 0 20-66, then 126-172; stage 1 0-18, 78-124, 184-212 (two rounds of 106).
    # 45 ms and 1 ms of guard fill a gap of 46 exactly.
    result = run(
        two_regions(
            inference={
                "iterations": 2,
                "guard_ms": 1,
                "requests": requests((0, 450), (0, 450), (0, 450), (0, 450), (0, 170)),
            }
        )
    )
    assert [(piece.request, piece.stage, piece.start_ns // MS) for piece in result.prefills] == [
        (0, 0, 20),
        (1, 1, 78),
        (2, 0, 126),
        (4, 1, 0),
    ]
    inference = result.figures["inference"]
    assert (inference["served"], inference["unplaceable"]) == (4, 1)
    assert inference["idle_ns"] == 2 * (2 * 106 - 120) * MS
    assert inference["filled_ns"] == (3 * 45 + 17) * MS
    assert inference["ttft_ns"] == {"0": 65 * MS, "1": 123 * MS, "2": 171 * MS, "4": 17 * MS}


def test_a_prompt_goes_through_the_shards_in_turn():
    # One replica of both stages: 20 ms of prefill are 10 on each, 200 tokens of 10 kB at 1 MB/ms + 1 ms
    # of latency are 3 ms between; dispatch takes 2. Stage 1 is idle at first, stage 0 from 20 on.
    result = run(
        one_region(
            2,
            activation_mb=0,
            datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
            inference={
                "shards": 2,
                "dispatch_ms": 2,
                "hop_bytes_per_token": 10_000,
                "requests": requests((19, 200)),
                "iterations": 3,
            },
        )
    )
    # F0 0-10, 11-21 on stage 1; B0 31-51, 52-72 on stage 0: the gap there is 20-52, on stage 1 71-103.
    assert [(piece.stage, piece.start_ns // MS, piece.duration_ns // MS) for piece in result.prefills] == [
        (0, 21, 10),
        (1, 71, 10),
    ]
    assert result.figures["inference"]["ttft_ns"] == {"0": 62 * MS}


def test_a_prompt_too_late_for_the_slo_books_nothing():
    inference = {"admission": "slo", "slo_ttft_ms": 49, "requests": requests((0, 300), (0, 290))}
    result = run(two_regions(inference=inference))
    # Stage 0 offers 20-66: 30 ms end at 50, too late; 29 ms end at 49, in time.
    assert result.figures["inference"]["rejected"] == 1
    assert [(piece.request, piece.start_ns // MS) for piece in result.prefills] == [(1, 20)]


@pytest.mark.parametrize(("blocks", "idle_ms"), [(True, 0), (False, 2 * 6)])
def test_an_all_reduce_can_be_used_for_prefill(blocks: bool, idle_ms: int):
    # Two pipelines of one stage: 60 ms of work, 6 ms of all-reduce, 3 ms of optimizer, nothing else.
    document = one_region(
        1,
        pipelines=2,
        gradient_mb=4,
        optimizer_ms=3,
        datacenters={"intra_gbps": 8, "intra_latency_us": 1000},
        inference={"allreduce_blocks": blocks},
    )
    assert run(document).figures["inference"]["idle_ns"] == idle_ms * MS


def test_workers_left_over_serve_nothing():
    # Three workers in the east (one stage of three pipelines) make one replica of two shards.
    document = two_regions("ew", pipelines=3, inference={"shards": 2, "requests": requests((0, 100))})
    assert run(document).figures["inference"]["groups"] == 2


def test_a_tie_goes_to_the_first_datacenter_of_the_document():
    # Stage 0 is in the west and idle 10-56, stage 1 in the east, which comes first, and idle 0-18.
    prefill = {"mode": "table", "table": [[100, 5]]}
    inference = {"prefill": prefill, "requests": requests((11, 100))}
    result = run(two_regions("we", microbatches=1, inference=inference))
    assert [(piece.stage, piece.start_ns // MS) for piece in result.prefills] == [(1, 11)]


def test_requests_are_served_by_arrival_then_by_position():
    # Stage 0 is idle 20-66, stage 1 from 78 on: later requests of 20 ms queue on stage 0.
    inference = {"requests": requests((22, 200), (20, 200), (20, 200))}
    result = run(two_regions(inference=inference))
    assert [(piece.request, piece.start_ns // MS) for piece in result.prefills] == [(1, 20), (2, 40), (0, 78)]
