"""The trace that Perfetto opens, read back and compared with the timeline written out in full."""

import json
from typing import Any

import pytest

from simcore.reference import simulate
from simcore.results.order import display_order
from simcore.results.perfetto import BLOCK_EVENTS, category, trace_events
from simcore.results.segments import Kind, empty_segments
from simcore.results.timeline import Channel, Layout, Timeline
from tests.casts import GOLDEN_CASTS, MS, scenario, two_regions
from tests.twin_timeline import twin_timeline
from tests.written_out import all_rows, one_row


def timeline_of(document: dict[str, Any]) -> Timeline:
    valid = scenario(document)
    return twin_timeline(valid, simulate(valid))


def trace(timeline: Timeline, name: str = "a run") -> dict[str, Any]:
    return json.loads("".join(trace_events(timeline, name)))


def complete(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for event in document["traceEvents"] if event["ph"] == "X"]


def named(document: dict[str, Any], what: str) -> list[tuple[int, int, str]]:
    return [
        (event["pid"], event["tid"], event["args"]["name"])
        for event in document["traceEvents"]
        if event["name"] == f"{what}_name"
    ]


@pytest.mark.parametrize("name", GOLDEN_CASTS)
def test_every_segment_of_the_horizon_is_one_event(name):
    timeline = timeline_of(GOLDEN_CASTS[name])
    order = display_order(timeline.layout).tolist()
    found = [
        (order[event["tid"] - 1], event["cat"], event["args"]["start_ns"], event["args"]["duration_ns"])
        for event in complete(trace(timeline))
    ]
    expected = [(row, category(Kind(kind)), start, duration) for row, kind, start, duration, *_ in all_rows(timeline)]
    assert sorted(found) == sorted(expected)


def test_times_are_microseconds_and_exact_nanoseconds_beside():
    timeline = Timeline(
        Layout(("east",), (0,), 1, 1, 1, ()), 5_000_000, 2, one_row((Kind.FORWARD, 1_002, 4_000_005)), empty_segments()
    )
    text = "".join(trace_events(timeline, ""))
    assert '"ts":1.002' in text
    assert '"dur":3999.003' in text
    assert '"ts":5001.002' in text
    args = {"duration_ns": 3_999_003, "microbatch": 0, "chunk": 0, "start_ns": 1_002}
    assert complete(json.loads(text))[0] == {
        "name": "F0",
        "cat": "forward",
        "ph": "X",
        "dur": 3999.003,
        "args": args,
        "pid": 1,
        "tid": 1,
        "ts": 1.002,
    }


def test_datacenters_are_processes_and_rows_are_threads_in_display_order():
    document = trace(timeline_of(GOLDEN_CASTS["greedy-turns-in-a-cell"]))
    assert named(document, "process") == [(1, 0, "east"), (2, 0, "west"), (3, 0, "network")]
    threads = named(document, "thread")
    # Four workers in east, eight in west; two cells take turns on a channel each way; inside west
    # each of four pipelines has a channel each way.
    assert [(process, thread) for process, thread, _ in threads] == [
        *((1, thread) for thread in range(1, 5)),
        *((2, thread) for thread in range(5, 13)),
        *((3, thread) for thread in range(13, 25)),
    ]
    assert [name for *_, name in threads][3:6] == ["pipeline 3, stage 0", "pipeline 0, stage 1", "pipeline 0, stage 2"]
    assert [name for *_, name in threads][12:18] == [
        "east to west, cell 0",
        "west to east, cell 0",
        "east to west, cell 1",
        "west to east, cell 1",
        "west, pipeline 0, stage 1 to 2",
        "west, pipeline 0, stage 2 to 1",
    ]
    places = [event for event in document["traceEvents"] if event["name"] == "thread_sort_index"]
    assert all(event["args"]["sort_index"] == event["tid"] for event in places)
    assert len(places) == 24


def test_a_transfer_says_which_tensor_it_carries():
    events = complete(trace(timeline_of(GOLDEN_CASTS["greedy-turns-in-a-cell"])))
    sent = [event for event in events if event["cat"] == "wan-transfer" and event["args"]["microbatch"] == 2]
    said = {
        (
            event["name"],
            event["args"]["tensor"],
            event["args"]["pipeline_in_cell"],
            event["args"]["source_virtual_stage"],
        )
        for event in sent
    }
    # Activations leave stage 0, gradients come back from stage 1, for both pipelines of the cell.
    assert said == {
        *(("activation 2", "activation", pipeline, 0) for pipeline in (0, 1)),
        *(("gradient 2", "gradient", pipeline, 1) for pipeline in (0, 1)),
    }
    assert len(sent) == 2 * len(said)  # two cells


def test_prefill_says_request_and_shard():
    events = complete(trace(timeline_of(GOLDEN_CASTS["prefill-two-shards"])))
    prefill = [event for event in events if event["cat"] == "prefill"]
    assert {(event["args"]["request"], event["args"]["shard"]) for event in prefill} >= {(0, 0), (0, 1)}
    assert {event["name"] for event in prefill} == {f"prefill {event['args']['request']}" for event in prefill}


def test_every_kind_has_its_category():
    names = {event["cat"] for name in GOLDEN_CASTS for event in complete(trace(timeline_of(GOLDEN_CASTS[name])))}
    assert names == {category(kind) for kind in Kind} - {"recompute"}
    recompute = Timeline(
        Layout(("east",), (0,), 1, 1, 1, ()), MS, 1, one_row((Kind.RECOMPUTE, 0, MS)), empty_segments()
    )
    assert complete(trace(recompute))[0]["cat"] == "recompute"


def test_names_that_need_escapes():
    layout = Layout(('"north"\\', "süd"), (0, 1), 2, 1, 1, (Channel(0, 1, 0, 0, 1),))
    timeline = Timeline(layout, MS, 1, one_row((Kind.WAN_TRANSFER, 0, MS), row=2), empty_segments())
    document = trace(timeline, 'a "quoted" name')
    assert document["otherData"]["name"] == 'a "quoted" name'
    assert [name for *_, name in named(document, "process")] == ['"north"\\', "süd", "network"]
    assert named(document, "thread")[2] == (3, 3, '"north"\\ to süd, pipeline 0, stage 0 to 1')


def test_many_iterations_come_in_pieces_of_bounded_length():
    timeline = Timeline(
        Layout(("east",), (0,), 1, 1, 1, ()), MS, 30_000, one_row((Kind.FORWARD, 0, MS)), empty_segments()
    )
    pieces = list(trace_events(timeline, "long"))
    assert max(piece.count('"ph":"X"') for piece in pieces) == BLOCK_EVENTS
    assert [event["args"]["start_ns"] for event in complete(json.loads("".join(pieces)))] == [
        iteration * MS for iteration in range(30_000)
    ]


def test_an_empty_timeline_is_a_document_all_the_same():
    document = trace(Timeline(Layout(("east",), (0,), 1, 1, 1, ()), 0, 1, empty_segments(), empty_segments()))
    assert complete(document) == []
    assert named(document, "thread") == [(1, 1, "pipeline 0, stage 0")]


def test_a_blocked_send_names_its_microbatch():
    document = two_regions(transport={"sends": "blocking"})
    blocked = [event for event in complete(trace(timeline_of(document))) if event["cat"] == "blocked-send"]
    assert sorted(event["name"] for event in blocked) == ["send 0", "send 0", "send 1", "send 1"]
