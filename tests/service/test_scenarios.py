"""The library's services, the demo scenarios, and the YAML they are written in."""

import json
import random
import statistics
from typing import Any

import pytest
import yaml

from simcore.scenario.parse import problems_of, scenario_from
from tests.casts import GOLDEN_CASTS, Document
from webapp.accounts.models import User, Workspace
from webapp.engine import ScenarioError, parse_text
from webapp.scenarios.demo_documents import (
    DEMOS,
    MAX_PROMPT_TOKENS,
    MEDIAN_PROMPT_TOKENS,
    NUM_REQUESTS,
    REQUEST_SPAN_S,
    conversation_requests,
    starting_document,
    starting_inference,
    three_regions,
    three_regions_gpipe,
)
from webapp.scenarios.demos import demos_load
from webapp.scenarios.differences import differences
from webapp.scenarios.folding import fold, parsed
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import ScenarioConflictError, scenario_create, scenario_update
from webapp.scenarios.yaml_edit import Change, edited, lines_of
from webapp.scenarios.yaml_text import yaml_from

TEXT = """\
# Two regions and what joins them.
version: 1
name: "two: regions"   # quoted, because of the colon

datacenters:
  - name: east   # first
    gpu: a100-80gb
    gpus: 8
  - {name: west, gpu: a100-80gb, gpus: 8}   # in one line
wan:
  # round trips as measured
  links:
    - between: [east, west]
      rtt_ms: 40
training: {pipeline_stages: 2, pipelines: 1}
"""


# Demos


@pytest.mark.parametrize("build", DEMOS)
def test_a_demo_can_run_and_reads_back_from_its_own_text(build: Any) -> None:
    document = build()
    assert problems_of(document) == []
    assert parse_text(yaml_from(document)) == document


def test_the_two_of_the_published_comparison_differ_in_transport_and_schedule_only() -> None:
    atlas, gpipe = scenario_from(three_regions()), scenario_from(three_regions_gpipe())
    assert atlas.datacenters == gpipe.datacenters
    assert atlas.wan == gpipe.wan
    assert atlas.placement == gpipe.placement
    same = {"system", "schedule", "transport"}
    assert atlas.training.model_dump(exclude=same) == gpipe.training.model_dump(exclude=same)
    assert (atlas.training.schedule, atlas.training.transport.connections) == ("greedy", "auto")
    assert (gpipe.training.schedule, gpipe.training.transport.connections) == ("gpipe", 1)


def test_requests_are_drawn_the_same_every_time_and_as_stated() -> None:
    rows = conversation_requests()
    assert rows == conversation_requests()
    assert rows != conversation_requests(seed=1)
    assert len(rows) == NUM_REQUESTS
    arrivals = [at for at, _ in rows]
    assert arrivals == sorted(arrivals)
    assert arrivals[-1] == REQUEST_SPAN_S
    tokens = [length for _, length in rows]
    assert all(16 <= length <= MAX_PROMPT_TOKENS for length in tokens)
    assert statistics.median(tokens) == pytest.approx(MEDIAN_PROMPT_TOKENS, rel=0.05)


def test_what_the_editor_starts_from_can_run_with_and_without_inference() -> None:
    assert problems_of(starting_document()) == []
    assert problems_of({**starting_document(), "inference": starting_inference()}) == []


@pytest.mark.django_db
def test_demos_are_loaded_once_and_edited_ones_stay(owner: User, workspace: Workspace) -> None:
    first = demos_load(workspace, owner)
    assert [scenario.name for scenario in first] == [build()["name"] for build in DEMOS]
    changed = scenario_update(scenario=first[0], text=first[0].text + "# mine\n", expected_version=1)
    assert demos_load(workspace, owner) == first
    changed.refresh_from_db()
    assert changed.text.endswith("# mine\n")
    assert Scenario.objects.count() == len(DEMOS)


# Services


@pytest.mark.django_db
def test_what_has_problems_is_not_stored(owner: User, workspace: Workspace) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario_create(workspace=workspace, created_by=owner, text="version: 2\nname: x")
    assert {problem.path for problem in caught.value.problems} >= {"version", "datacenters", "training"}
    assert not Scenario.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "slug"), [("Zürich → Genève", "zurich-geneve"), ("東京", "scenario"), ("new", "new-2")]
)
def test_any_name_has_an_address(owner: User, workspace: Workspace, document: Document, name: str, slug: str) -> None:
    text = yaml_from({**document, "name": name})
    assert scenario_create(workspace=workspace, created_by=owner, text=text).slug == slug


@pytest.mark.django_db
def test_an_update_of_an_older_version_changes_nothing(owner: User, workspace: Workspace, document: Document) -> None:
    scenario = scenario_create(workspace=workspace, created_by=owner, text=yaml_from(document))
    scenario_update(scenario=scenario, text=yaml_from({**document, "seed": 1}), expected_version=1)
    with pytest.raises(ScenarioConflictError) as caught:
        scenario_update(scenario=scenario, text=yaml_from({**document, "seed": 2}), expected_version=1)
    assert caught.value.current_version == 2
    assert json.loads(Scenario.objects.get().document)["seed"] == 1


# YAML


@pytest.mark.parametrize("name", sorted(GOLDEN_CASTS))
def test_documents_read_back_from_their_yaml(name: str) -> None:
    assert parse_text(yaml_from(GOLDEN_CASTS[name])) == GOLDEN_CASTS[name]


@pytest.mark.parametrize(
    "value",
    [
        *(
            "",
            " ",
            "yes",
            "null",
            "~",
            "1e3",
            "0x1f",
            "1_000",
            "12:30:00",
            "2020-01-01",
            "a: b",
            "a #b",
            "- a",
            "*a",
            "&a",
        ),
        *("!t", "%", "@", "`", "'", '"', "\\", "a\nb", "\t", "\u2028", "\x7f", "\x9f", "\ufeff", "é", "😀", "=", "<<"),
        *(".5", "-", "?", "{", "[", ",", "|", "\uffff"),
    ],
)
def test_any_text_survives_yaml(value: str) -> None:
    assert yaml.safe_load(yaml_from({"key": value, value or "empty": 1}))["key"] == value


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ([Change(("datacenters", 0, "gpus"), 4)], "    gpus: 8\n", "    gpus: 4\n"),
        ([Change(("datacenters", 1, "gpus"), 4)], "a100-80gb, gpus: 8}", "a100-80gb, gpus: 4}"),
        ([Change(("name",), "plain")], '"two: regions"   #', "plain   #"),
        ([Change(("wan", "links", 0, "rtt_ms"), 12.5)], "rtt_ms: 40", "rtt_ms: 12.5"),
        ([Change(("training", "pipelines"), remove=True)], ", pipelines: 1}", "}"),
        ([Change(("training", "microbatches"), 4)], "pipelines: 1}", "pipelines: 1, microbatches: 4}"),
        ([Change(("wan", "tcp_window_mb"), 2)], "      rtt_ms: 40\n", "      rtt_ms: 40\n  tcp_window_mb: 2\n"),
        ([Change(("seed",), 7)], "pipelines: 1}\n", "pipelines: 1}\nseed: 7\n"),
        ([Change(("datacenters", 0), remove=True)], "  - name: east   # first\n    gpu: a100-80gb\n    gpus: 8\n", ""),
        ([Change(("nothing", "here"), remove=True)], "", ""),
    ],
)
def test_a_change_leaves_every_other_character(changes: list[Change], before: str, after: str) -> None:
    text, document = edited(TEXT, parse_text(TEXT), changes)
    assert text == TEXT.replace(before, after, 1)
    assert parse_text(text) == document


def test_random_changes_mean_the_same_in_text_and_data() -> None:
    random_source = random.Random(7)
    paths: list[tuple[str | int, ...]] = [
        ("name",), ("seed",), ("description",), ("datacenters", 0, "gpus"), ("datacenters", 1), ("datacenters", 2),
        ("wan", "links", 0, "rtt_ms"), ("wan", "links"), ("wan",), ("training", "transport", "connections"),
        ("training",), ("placement", "stages"), ("placement", "stages", 0), ("inference", "prefill", "table", 0, 1),
    ]  # fmt: skip
    values: list[Any] = [1, 2.5, "a: b", "", None, True, [1, 2], ["x"], {"a": 1}, [{"a": [1]}, 2], {}, []]
    for _ in range(300):
        text, document = TEXT, parse_text(TEXT)
        for _ in range(4):
            path = random_source.choice(paths)
            change = Change(path, random_source.choice(values), remove=random_source.random() < 0.25)
            text, document = edited(text, document, [change])
            assert parse_text(text) == document


def test_lines_of_paths_are_those_a_person_counts() -> None:
    paths = [
        ("name",),
        ("datacenters", 0, "gpus"),
        ("datacenters", 1, "gpus"),
        ("wan", "links", 0, "rtt_ms"),
        ("wan", "x"),
    ]
    assert lines_of(TEXT, paths) == [3, 8, 9, 14, 10]


# Long runs of rows


def test_thousands_of_rows_read_the_same_as_by_the_parser_alone() -> None:
    text = yaml_from(three_regions())
    assert len(fold(text).text) < len(text) / 10
    assert parsed(text) == parse_text(text) == three_regions()


@pytest.mark.parametrize(
    "row", ["[1, 2]", "[1.50, 2]", "[1e3, 2]", "[-0, 2]", "[0.1e-3, -2]", "[12345678901234567, 1]"]
)
def test_rows_of_any_number_are_the_numbers_that_yaml_reads(row: str) -> None:
    text = "a:\n" + f"  - {row}\n" * 40
    assert fold(text).runs
    assert repr(parsed(text)) == repr(parse_text(text))


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n" + "  - [1, 2]\n" * 40,
        "a:\n" + "  - [01, 2]\n" * 40,
        "a:\n" + "  - [1, 2]\n" * 40 + "b: folded-rows-0\n",
        "a:\n  - [1, 2]\n" + "  # a note\n" * 3 + "  - [3, 4]\n" * 40 + "b: 1\n",
        "a:\n" + "  - [1, 2]\n" * 40 + "b:\n" + "- [3, 4]\n" * 33,
    ],
)
def test_rows_in_unusual_places_read_the_same(text: str) -> None:
    assert parsed(text) == parse_text(text)


def test_an_edit_beside_folded_rows_leaves_them_to_the_letter() -> None:
    rows = "".join(f"    - [{n}, {n}]\n" for n in range(50))
    text = f"seed: 1\nlist:\n  inline:\n{rows}  more: 2  # here\nlast: 3\n"
    after, document = edited(text, parse_text(text), [Change(("seed",), 9), Change(("list", "more"), 4)])
    assert after == text.replace("seed: 1", "seed: 9").replace("more: 2", "more: 4")
    assert document == parse_text(after)
    assert lines_of(after, [("list", "inline", 49), ("last",), ("list", "inline", 0, 1)]) == [53, 55, 4]


def test_differences_name_both_values() -> None:
    mine = {"a": 1, "b": {"c": [1, 2]}, "only": "x" * 100, "list": [1]}
    theirs = {"a": 2, "b": {"c": [1, 3]}, "list": [1, 2], "new": None}
    found = {entry.path: (entry.mine, entry.theirs) for entry in differences(mine, theirs)}
    assert found["a"] == ("1", "2")
    assert found["b.c[1]"] == ("2", "3")
    assert found["list"] == ("[1]", "[1, 2]")
    assert found["new"] == ("–", "null")
    assert found["only"][1] == "–"
    assert len(found["only"][0]) == 60
    assert differences(mine, mine) == []
