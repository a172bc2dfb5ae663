"""What a faulty document is told: every fault, each with its path and what is allowed."""

import copy
import math
import time
from itertools import pairwise
from typing import Any

import pytest

from simcore.costs.plan import cell_plan
from simcore.errors import InfeasibleError, Problem, ScenarioError
from simcore.scenario.parse import problems_of, read_document, scenario_from
from tests.casts import one_region, requests, three_regions, two_regions


def changed(document: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return the document with the value at a dotted path (indices as numbers) replaced."""
    result = copy.deepcopy(document)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    place: Any = result
    for part in parents:
        place = place[part]
    place[last] = value
    return result


def with_inference(**changes: Any) -> dict[str, Any]:
    return one_region(inference={"requests": requests((0, 100)), **changes})


@pytest.mark.parametrize(
    ("path", "value", "at", "says"),
    [
        ("training.microbatches", "many", "training.microbatches", "whole number; got 'many'"),
        ("training.microbatches", 2.5, "training.microbatches", "2.5"),
        ("training.microbatches", True, "training.microbatches", "true"),
        ("training.microbatches", 10**9, "training.microbatches", "1,000,000"),
        ("training.microbatches", 0, "training.microbatches", "at least 1"),
        ("training.pipelines", 10**6 + 1, "training.pipelines", "1,000,000"),
        ("training.schedul", "gpipe", "training.schedul", "schedule"),
        ("training.schedule", "fastest", "training.schedule", "gpipe"),
        ("training.cell_size", 2, "training.cell_size", "divide pipelines (1)"),
        ("training.compute.forward_ms", math.nan, "training.compute.forward_ms", "nan"),
        ("training.compute.forward_ms", math.inf, "training.compute.forward_ms", "inf"),
        ("training.compute.backward_ms", -1, "training.compute.backward_ms", "-1"),
        ("training.compute.forward_ms", [1, 2, 3], "training.compute.forward_ms", "2 stages; got 3"),
        ("training.compute.forward_ms", [1, -2], "training.compute.forward_ms[1]", "-2"),
        ("training.transport.connections", "lots", "training.transport.connections", "auto"),
        ("training.transport.connections", 0, "training.transport.connections", "at least 1"),
        ("training.virtual_stages", 2, "training.virtual_stages", "interleaved"),
        ("training.max_in_flight", 2, "training.max_in_flight", "greedy"),
        ("wan.links.0.between", ["east", "nowhere"], "wan.links[0].between", "unknown datacenter 'nowhere'"),
        ("wan.links.0.between", ["east", "east"], "wan.links[0].between", "two different"),
        ("wan.links.0.rtt_ms", -5, "wan.links[0].rtt_ms", "-5"),
        ("wan.links", [], "wan.links", "no link between east and west"),
        ("datacenters.0.gpus", 0, "datacenters[0].gpus", "at least 1"),
        ("datacenters.0.gpu", "abacus", "datacenters[0].gpu", "abacus"),
        ("placement.stages", ["east", "moon"], "placement.stages[1]", "unknown datacenter 'moon'"),
        ("placement.stages", ["east"], "placement.stages", "each of the 2 stages; got 1"),
        ("version", 2, "version", "1"),
        ("name", "", "name", "empty"),
        ("seed", -1, "seed", "-1"),
    ],
)
def test_a_fault_is_named_with_its_path(path: str, value: Any, at: str, says: str):
    found = problems_of(changed(two_regions(), path, value))
    assert [problem.path for problem in found] == [at], found
    assert says in found[0].message


@pytest.mark.parametrize(
    ("document", "at"),
    [
        (changed(one_region(), "placement", {"mode": "auto"}), "placement.mode"),
        (changed(one_region(), "trouble", []), "trouble"),
        (changed(one_region(), "placement", {"mode": "fixed", "pipelines": []}), "placement.pipelines"),
        (with_inference(policy="best-fit"), "inference.policy"),
        (with_inference(chunk_tokens=512), "inference.chunk_tokens"),
        (with_inference(decode={}), "inference.decode"),
        (with_inference(prediction_error=0.1), "inference.prediction_error"),
        (with_inference(prefill={"mode": "analytic"}), "inference.prefill.mode"),
        (
            with_inference(requests={"mode": "poisson", "rate_per_s": 3, "prompt_tokens": 100}),
            "inference.requests.mode",
        ),
        (with_inference(requests={"mode": "trace", "trace": "mine"}), "inference.requests.mode"),
    ],
)
def test_what_is_not_computed_yet_is_refused_not_ignored(document: dict[str, Any], at: str):
    found = {problem.path: problem.message for problem in problems_of(document)}
    assert at in found
    assert "not yet" in found[at]


def test_ten_faults_are_ten_problems():
    document = three_regions(pipelines=4)
    document["datacenters"][0]["gpus"] = 2
    document["datacenters"][1]["intra_gbps"] = 0
    document["wan"]["links"][0]["rtt_ms"] = math.nan
    document["wan"]["links"][1]["between"] = ["middle", "moon"]
    document["training"]["cell_size"] = 3
    document["training"]["microbatches"] = 10**9
    document["training"]["compute"]["forward_ms"] = -1
    document["training"]["transport"]["sharing"] = "fair"
    document["training"]["colour"] = "blue"
    document["seed"] = "seven"
    assert sorted(problem.path for problem in problems_of(document)) == [
        "datacenters[0].gpus",
        "datacenters[1].intra_gbps",
        "seed",
        "training.cell_size",
        "training.colour",
        "training.compute.forward_ms",
        "training.microbatches",
        "training.transport.sharing",
        "wan.links[0].rtt_ms",
        "wan.links[1].between",
    ]


def test_a_name_given_twice():
    document = two_regions()
    document["datacenters"].append({**document["datacenters"][0]})
    assert problems_of(document) == [Problem("datacenters[2].name", "must be unique; 'east' is taken")]


def test_a_missing_field_is_named():
    document = two_regions()
    del document["training"]["pipeline_stages"]
    del document["wan"]["links"][0]["rtt_ms"]
    assert [problem.path for problem in problems_of(document)] == ["wan.links[0].rtt_ms", "training.pipeline_stages"]


def test_more_stages_than_gpus_says_what_fits():
    found = problems_of(one_region(4, datacenters={"gpus": 3}))
    assert found == [
        Problem(
            "datacenters[0].gpus",
            "east has 3 GPUs, but its 4 stages x 1 pipelines x tensor_parallel 1 need 4; at most 3 stages fit there",
        )
    ]


def test_a_size_is_refused_before_anything_is_allocated():
    document = one_region(datacenters={"gpus": 1_000_000}, microbatches=1_000_000, pipelines=100, cell_size=100)
    started_s = time.process_time()
    found = problems_of(document)
    assert len(found) == 1
    assert "operations" in found[0].message
    assert time.process_time() - started_s < 60, "only a guard against a hang"


def test_an_endless_horizon_is_infeasible():
    document = one_region(
        microbatches=1_000_000,
        compute={"forward_ms": 1e9, "backward_ms": 1e9},
        inference={"iterations": 1_000_000, "requests": requests((0, 100))},
    )
    with pytest.raises(InfeasibleError, match="146 years"):
        cell_plan(scenario_from(document))


def test_a_million_faulty_rows_are_counted_not_listed():
    found = problems_of(with_inference(requests={"mode": "inline", "inline": [[-1.0, 0]] * 10_000}))
    assert len(found) <= 201


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "mapping"),
        ("- 1\n- 2\n", "mapping"),
        ("a: [1", "not valid YAML"),
        ('{"a": 1,}', "not valid JSON"),
        ('{"a": 1, "a": 2}', "'a' is given twice"),
        ("a: 1\na: 2\n", "line 2: the key 'a' is given twice"),
        (
            "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
            + "".join(f"{y}: &{y} [{','.join(f'*{x}' for _ in range(10))}]\n" for x, y in pairwise("abcdefghi")),
            "values",
        ),
        ("[" * 100_000, "JSON|deep|levels"),
        ("a: !!python/object/apply:os.system ['true']\n", "YAML"),
        ("x" * 33_000_000, "MB"),
    ],
    ids=["empty", "list", "yaml", "json", "json-twice", "yaml-twice", "bomb", "deep", "python-tag", "33-MB"],
)
def test_a_text_that_cannot_be_read_gets_a_sentence(text: str, says: str):
    with pytest.raises(ScenarioError, match=says):
        read_document(text)


def test_yaml_and_json_read_alike():
    yaml_text = "version: 1\nname: x\nrate: 1e9\nsmall: 5e-3\nwhen: 2020-01-01\nyes_no: true\n"
    json_text = '{"version": 1, "name": "x", "rate": 1e9, "small": 5e-3, "when": "2020-01-01", "yes_no": true}'
    assert read_document(yaml_text) == read_document(json_text)
