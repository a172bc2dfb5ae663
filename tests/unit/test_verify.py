"""Every rule of `verify`: a right timeline passes, one broken in one place is caught by that rule."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from simcore.costs.plan import cell_plan
from simcore.reference import simulate
from simcore.results.segments import Kind, Segments, TransferPart, concatenated
from simcore.results.timeline import Timeline
from simcore.verify import Rule, violations
from simcore.verify.report import MAX_PER_RULE
from tests.casts import GOLDEN_CASTS, MS, Document, requests, scenario, two_regions
from tests.twin_timeline import Row, rows_of, segments_of, twin_timeline

Mutation = Callable[[Timeline], Timeline]

SLOW = two_regions("eww", microbatches=4, transport={"connections": 1})
"""A tensor occupies the WAN for 20 ms and comes every 10 ms: a queue."""
TURNS = two_regions(
    pipelines=2, cell_size=2, activation_mb=12, transport={"sharing": "temporal"}, compute={"forward_ms": [4, 1]}
)
"""Both pipelines of a cell queue for one channel; a tensor takes 6 ms."""
GREEDY = two_regions("eww", schedule="greedy", microbatches=4)
BLOCKING = GOLDEN_CASTS["blocking-sends"]
ENDING = GOLDEN_CASTS["one-f-one-b-three-regions"]
PREFILL = GOLDEN_CASTS["prefill-two-shards"]
FILLED = two_regions(inference={"iterations": 2, "guard_ms": 1, "requests": requests((0, 450), (0, 100), (60, 170))})


def timeline_of(document: Document) -> Timeline:
    valid = scenario(document)
    return twin_timeline(valid, simulate(valid))


def _rows(change: Callable[[list[Row]], list[Row]], where: str = "iteration") -> Mutation:
    """Return a mutation of the segments as a list of rows."""

    def mutation(timeline: Timeline) -> Timeline:
        rows = change(rows_of(getattr(timeline, where)))
        return replace(timeline, **{where: segments_of(rows)})

    return mutation


def _changed(where: str, matches: Callable[[Row], bool], **changes: Callable[[Row], int]) -> Mutation:
    """Return a mutation of the first segment that matches; each change computes one of its numbers."""
    names = ("row", "kind", "start_ns", "duration_ns", "item", "part")

    def change(rows: list[Row]) -> list[Row]:
        index = next(i for i, row in enumerate(rows) if matches(row))
        row = list(rows[index])
        for name, value in changes.items():
            row[names.index(name)] = value(rows[index])
        return [*rows[:index], tuple(row), *rows[index + 1 :]]

    return _rows(change, where)


def _is(kind: Kind, row: int | None = None, item: int | None = None) -> Callable[[Row], bool]:
    return lambda each: each[1] == kind and row in (None, each[0]) and item in (None, each[4])


def _dropped(matches: Callable[[Row], bool], where: str = "iteration") -> Mutation:
    def change(rows: list[Row]) -> list[Row]:
        index = next(i for i, row in enumerate(rows) if matches(row))
        return rows[:index] + rows[index + 1 :]

    return _rows(change, where)


def _doubled(matches: Callable[[Row], bool], where: str = "iteration") -> Mutation:
    return _rows(lambda rows: [*rows, next(row for row in rows if matches(row))], where)


def _shifted(matches: Callable[[Row], bool], by_ns: int, where: str = "iteration") -> Mutation:
    return _changed(where, matches, start_ns=lambda row: row[2] + by_ns)


def _swapped(kind: Kind, row: int, values: tuple[int, int], key: int = 4) -> Mutation:
    """Return a mutation in which two segments of a row, told apart by a number, exchange item and part."""

    def change(rows: list[Row]) -> list[Row]:
        one, other = (
            next(i for i, each in enumerate(rows) if each[:2] == (row, kind) and each[key] == value) for value in values
        )
        result = [list(each) for each in rows]
        for column in (4, 5):
            result[one][column], result[other][column] = result[other][column], result[one][column]
        return [tuple(each) for each in result]

    return _rows(change)


def _with(**fields: object) -> Mutation:
    return lambda timeline: replace(timeline, **fields)


def _with_fill(*row: int) -> Mutation:
    return _rows(lambda rows: [*rows, row], "fills")


SLOW_EASTWARD = cell_plan(scenario(SLOW)).num_workers + int(cell_plan(scenario(SLOW)).activation_channel[0, 0])
TURNS_EASTWARD = cell_plan(scenario(TURNS)).num_workers + int(cell_plan(scenario(TURNS)).activation_channel[0, 0])
"""Rows of the channels that are full."""
F, B, WAN = Kind.FORWARD, Kind.BACKWARD, Kind.WAN_TRANSFER

CASES: list[tuple[Rule, str, Document, Mutation]] = [
    (
        Rule.LAYOUT,
        "stages elsewhere",
        SLOW,
        lambda t: replace(t, layout=replace(t.layout, stage_datacenter=(1, 1, 1))),
    ),
    (Rule.SEGMENT, "a transfer on a worker", SLOW, _changed("iteration", _is(F), kind=lambda row: WAN)),
    (Rule.SEGMENT, "an operation on a channel", SLOW, _changed("iteration", _is(WAN), kind=lambda row: F)),
    (Rule.SEGMENT, "a row beyond all", SLOW, _changed("iteration", _is(WAN), row=lambda row: 99)),
    (Rule.SEGMENT, "before the start", SLOW, _shifted(_is(F), -1)),
    (Rule.SEGMENT, "past the end", SLOW, _shifted(_is(B, row=0, item=3), 1)),
    (
        Rule.SEGMENT,
        "longer than 64 bits add up to",
        SLOW,
        _changed("iteration", _is(F, item=1), duration_ns=lambda row: 2**63 - 1),
    ),
    (Rule.SEGMENT, "a fill of a request that is not there", FILLED, _with_fill(0, Kind.PREFILL, 0, 1, 99, 0)),
    (Rule.OPERATIONS, "one missing", SLOW, _dropped(_is(F, row=1, item=2))),
    (Rule.OPERATIONS, "one twice", SLOW, _doubled(_is(B, row=1, item=2))),
    (Rule.OPERATIONS, "a microbatch too many", SLOW, _changed("iteration", _is(F, item=3), item=lambda row: 4)),
    (Rule.OPERATIONS, "a chunk too many", SLOW, _changed("iteration", _is(F, item=3), part=lambda row: 1)),
    (
        Rule.OPERATIONS,
        "W of a schedule without",
        SLOW,
        _rows(lambda rows: [*rows, (0, Kind.WEIGHT, 0, 0, 0, 0)]),
    ),
    (Rule.DURATION, "an operation", SLOW, _changed("iteration", _is(F, item=1), duration_ns=lambda row: row[3] - 1)),
    (Rule.DURATION, "a tensor", SLOW, _changed("iteration", _is(WAN, item=1), duration_ns=lambda row: row[3] - 1)),
    (Rule.TRANSFERS, "one missing", SLOW, _dropped(_is(WAN, item=2))),
    (Rule.TRANSFERS, "one twice", SLOW, _doubled(_is(WAN, item=2))),
    (Rule.TRANSFERS, "on another channel", SLOW, _changed("iteration", _is(WAN), row=lambda row: row[0] + 1)),
    (
        Rule.TRANSFERS,
        "said to be local",
        SLOW,
        _changed("iteration", _is(WAN), kind=lambda row: Kind.LOCAL_TRANSFER),
    ),
    (
        Rule.TRANSFERS,
        "a gradient from the first stage",
        SLOW,
        _changed("iteration", _is(WAN), part=lambda row: TransferPart(0, True, 0).code(3)),
    ),
    (Rule.DEPENDENCY, "F before its activation", SLOW, _shifted(_is(F, row=1, item=0), -1)),
    (Rule.DEPENDENCY, "B before its gradient", SLOW, _shifted(_is(B, row=0, item=0), -1)),
    (
        Rule.DEPENDENCY,
        "B before its F",
        SLOW,
        _changed("iteration", _is(B, row=2, item=3), start_ns=lambda row: 50 * MS),
    ),
    (Rule.DEPENDENCY, "W before its B", GOLDEN_CASTS["zero-bubble"], _shifted(_is(Kind.WEIGHT, row=0, item=0), -1)),
    (Rule.DEPENDENCY, "a tensor before it is made", SLOW, _shifted(_is(WAN, item=0), -1)),
    (
        Rule.DEPENDENCY,
        "a tensor before it is scattered",
        GOLDEN_CASTS["greedy-turns-in-a-cell"],
        _shifted(_is(WAN, item=0), -1),
    ),
    (Rule.ONE_AT_A_TIME, "two operations", SLOW, _shifted(_is(F, row=0, item=1), -1)),
    (Rule.ONE_AT_A_TIME, "an operation in a blocked send", BLOCKING, _shifted(_is(F, row=0, item=1), -1)),
    (Rule.ONE_AT_A_TIME, "the optimizer in the all-reduce", ENDING, _shifted(_is(Kind.OPTIMIZER), -1)),
    (Rule.BLOCKED_SEND, "one missing", BLOCKING, _dropped(lambda row: row[1] == Kind.BLOCKED_SEND and row[3] > 0)),
    (
        Rule.BLOCKED_SEND,
        "one too short",
        BLOCKING,
        _changed(
            "iteration", lambda row: row[1] == Kind.BLOCKED_SEND and row[3] > 1, duration_ns=lambda row: row[3] - 1
        ),
    ),
    (
        Rule.BLOCKED_SEND,
        "one where sends overlap",
        SLOW,
        _rows(lambda rows: [*rows, (0, Kind.BLOCKED_SEND, 40 * MS, 5 * MS, 3, 0)]),
    ),
    (Rule.CHANNEL_OCCUPATION, "two tensors at once", SLOW, _shifted(_is(WAN, item=1), -1)),
    (
        Rule.CHANNEL_ORDER,
        "the later first",
        SLOW,
        _swapped(WAN, SLOW_EASTWARD, (2, 3)),
    ),
    (
        Rule.CHANNEL_ORDER,
        "the higher pipeline first in a tie",
        TURNS,
        _swapped(WAN, TURNS_EASTWARD, (TransferPart(0, False, 0).code(2), TransferPart(1, False, 0).code(2)), key=5),
    ),
    (Rule.CHANNEL_WAITING, "a free channel", SLOW, _shifted(_is(WAN, item=3), 1)),
    (Rule.SCHEDULE_ORDER, "F1 before F0", SLOW, _swapped(F, 0, (0, 1))),
    (Rule.SCHEDULE_ORDER, "B1 before B0", ENDING, _swapped(B, 2, (0, 1))),
    (Rule.WORKER_WAITING, "a worker with a list", SLOW, _shifted(_is(F, row=2, item=3), 1)),
    (Rule.WORKER_WAITING, "a greedy worker", GREEDY, _shifted(_is(F, row=0, item=3), 1)),
    (Rule.PRIORITY, "F1 before F0", GREEDY, _swapped(F, 0, (0, 1))),
    (Rule.PRIORITY, "B1 before B0", GREEDY, _swapped(B, 0, (2, 3))),
    (Rule.PRIORITY, "F before a ready B", GREEDY, lambda t: _forward_before_backward(t)),
    (Rule.ALL_REDUCE, "one missing", ENDING, _dropped(_is(Kind.ALL_REDUCE))),
    (Rule.ALL_REDUCE, "one twice", ENDING, _doubled(_is(Kind.ALL_REDUCE))),
    (Rule.ALL_REDUCE, "one too late", ENDING, _shifted(_is(Kind.ALL_REDUCE, row=2), 1)),
    (Rule.ALL_REDUCE, "too short", ENDING, _changed("iteration", _is(Kind.ALL_REDUCE), duration_ns=lambda row: 1)),
    (
        Rule.ALL_REDUCE,
        "one of a stage without gradients",
        ENDING,
        _changed("iteration", _is(Kind.ALL_REDUCE, row=0), row=lambda row: 1),
    ),
    (Rule.OPTIMIZER, "one missing", ENDING, _dropped(_is(Kind.OPTIMIZER, row=1))),
    (Rule.OPTIMIZER, "one too late", ENDING, _shifted(_is(Kind.OPTIMIZER, row=1), 1)),
    (Rule.ITERATION_LENGTH, "too long", SLOW, lambda t: replace(t, iteration_time_ns=t.iteration_time_ns + 1)),
    (Rule.ITERATION_LENGTH, "a round too many", FILLED, _with(num_iterations=3)),
    (Rule.PREFILL_PIECES, "a shard missing", PREFILL, _dropped(lambda row: row[5] == 1, "fills")),
    (Rule.PREFILL_PIECES, "a shard twice", PREFILL, _doubled(lambda row: row[5] == 1, "fills")),
    (
        Rule.PREFILL_PIECES,
        "on the other shard's worker",
        PREFILL,
        _changed("fills", lambda row: row[5] == 1, row=lambda row: row[0] - 1),
    ),
    (
        Rule.PREFILL_PIECES,
        "on another replica",
        PREFILL,
        _changed("fills", lambda row: row[5] == 1, row=lambda row: (row[0] + 2) % 4),
    ),
    (Rule.PREFILL_PIECES, "without inference", SLOW, _with_fill(0, Kind.PREFILL, 0, 1, 0, 0)),
    (
        Rule.PREFILL_DURATION,
        "too short",
        FILLED,
        _changed("fills", _is(Kind.PREFILL), duration_ns=lambda row: row[3] - 1),
    ),
    (
        Rule.PREFILL_START,
        "before the arrival",
        FILLED,
        _changed("fills", _is(Kind.PREFILL, item=2), row=lambda row: 1, start_ns=lambda row: 0),
    ),
    (Rule.PREFILL_START, "before the dispatch", PREFILL, _shifted(_is(Kind.PREFILL, item=3), -MS, "fills")),
    (
        Rule.PREFILL_START,
        "before the hop",
        PREFILL,
        lambda t: _second_shard_early(t),
    ),
    (Rule.PREFILL_OVER_TRAINING, "into the gap's end", FILLED, _shifted(_is(Kind.PREFILL, item=0), 2 * MS, "fills")),
    (Rule.PREFILL_OVER_TRAINING, "before the gap", FILLED, _shifted(_is(Kind.PREFILL, item=0), -1, "fills")),
    (
        Rule.PREFILL_OVER_TRAINING,
        "in a later round",
        FILLED,
        _shifted(_is(Kind.PREFILL, item=0), 106 * MS - 1, "fills"),
    ),
    (
        Rule.PREFILL_OVERLAP,
        "two requests",
        FILLED,
        _rows(lambda rows: [*rows, (*rows[0][:2], rows[0][2] + 1, *rows[0][3:])], "fills"),
    ),
    (Rule.GUARD, "a nanosecond of it", FILLED, _shifted(_is(Kind.PREFILL, item=0), 1, "fills")),
    (
        Rule.GUARD,
        "before the horizon",
        FILLED,
        _changed("fills", _is(Kind.PREFILL, item=1), row=lambda row: 1, start_ns=lambda row: 202 * MS),
    ),
    (
        Rule.HORIZON,
        "past the last round",
        FILLED,
        _changed("fills", _is(Kind.PREFILL, item=1), row=lambda row: 1, start_ns=lambda row: 203 * MS),
    ),
]


def _forward_before_backward(timeline: Timeline) -> Timeline:
    """Exchange a B of the last stage with the F it runs next, and keep all lengths."""
    rows = rows_of(timeline.iteration)
    backward = next(row for row in rows if row[:2] == (2, B) and row[4] == 0)
    forward = next(row for row in rows if row[:2] == (2, F) and row[2] == backward[2] + backward[3])
    others = [row for row in rows if row not in (backward, forward)]
    moved_forward = (*forward[:2], backward[2], *forward[3:])
    moved_backward = (*backward[:2], backward[2] + forward[3], *backward[3:])
    return replace(timeline, iteration=segments_of([*others, moved_forward, moved_backward]))


def _second_shard_early(timeline: Timeline) -> Timeline:
    """Let the second shard of request 0 start as the first one ends, without a hop."""
    first = next(row for row in rows_of(timeline.fills) if row[4] == 0 and row[5] == 0)
    change = _changed("fills", lambda row: row[4:] == (0, 1), start_ns=lambda row: first[2] + first[3])
    return change(timeline)


@pytest.mark.parametrize("name", GOLDEN_CASTS)
def test_a_right_timeline_breaks_nothing(name: str):
    assert violations(scenario(GOLDEN_CASTS[name]), timeline_of(GOLDEN_CASTS[name])) == []


@pytest.mark.parametrize(
    ("rule", "document", "mutation"),
    [pytest.param(rule, document, change, id=f"{rule}: {what}") for rule, what, document, change in CASES],
)
def test_a_broken_rule_is_reported(rule: Rule, document: Document, mutation: Mutation):
    right = timeline_of(document)
    assert violations(scenario(document), right) == []
    assert rule in {violation.rule for violation in violations(scenario(document), mutation(right))}


def test_more_in_flight_than_allowed():
    allowed = scenario({**GREEDY, "training": {**GREEDY["training"], "max_in_flight": 2}})
    found = violations(allowed, timeline_of(GREEDY))
    assert Rule.IN_FLIGHT in {violation.rule for violation in found}


def test_a_ttft_above_the_slo():
    promised = two_regions(inference={**FILLED["inference"], "admission": "slo", "slo_ttft_ms": 40})
    found = violations(scenario(promised), timeline_of(FILLED))
    assert [violation.rule for violation in found] == [Rule.ADMISSION]
    # Request 0 finds its 45 ms in stage 0's gap from 20 on.
    assert "ends 65,000,000 ns after the arrival; the SLO is 40,000,000 ns" in found[0].sentence


def test_every_rule_has_a_timeline_that_breaks_it():
    assert {rule for rule, *_ in CASES} | {Rule.IN_FLIGHT, Rule.ADMISSION} == set(Rule)


def test_a_sentence_says_where_and_when():
    found = violations(scenario(SLOW), _shifted(_is(F, row=2, item=3), 1)(timeline_of(SLOW)))
    sentence = next(each.sentence for each in found if each.rule is Rule.WORKER_WAITING)
    assert sentence == "pipeline 0, stage 2: F of microbatch 3 starts at 105,000,001 ns, but could at 105,000,000 ns"


def test_many_violations_are_counted_not_listed():
    document = two_regions(microbatches=50)
    timeline = timeline_of(document)
    iteration = timeline.iteration
    is_forward = iteration.kind == Kind.FORWARD
    broken = replace(iteration, duration_ns=np.where(is_forward, iteration.duration_ns - 1, iteration.duration_ns))
    found = violations(scenario(document), replace(timeline, iteration=broken))
    durations = [str(violation) for violation in found if violation.rule is Rule.DURATION]
    assert len(durations) == MAX_PER_RULE + 1
    assert durations[-1] == "duration: and 90 more of this kind"


def test_an_empty_timeline_misses_every_operation():
    timeline = timeline_of(SLOW)
    empty: Segments = concatenated([])
    found = violations(scenario(SLOW), replace(timeline, iteration=empty))
    assert {violation.rule for violation in found} == {Rule.OPERATIONS, Rule.TRANSFERS}
