"""Bad documents and bodies: every fault with its path, a sentence for a person, nothing half-saved."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator

from tests.casts import Document
from tests.service.rest import PROBLEM_JSON, Rest, paths, problem
from webapp.accounts.models import User, Workspace
from webapp.asgi import application
from webapp.runs.models import Run
from webapp.scenarios.demo_documents import three_regions
from webapp.scenarios.models import Scenario

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rest(owner: User, workspace: Workspace) -> Iterator[Rest]:
    yield Rest(owner, workspace)
    assert not Scenario.objects.exists(), "nothing may be half-saved"
    assert not Run.objects.exists(), "nothing may be half-saved"


def changed(path: list[Any], value: Any) -> Document:
    """Return the three-regions demo with one value changed."""
    document = copy.deepcopy(three_regions())
    node: Any = document
    for part in path[:-1]:
        node = node[part]
    node[path[-1]] = value
    return document


def test_ten_faults_are_ten_problems_each_with_its_path(rest: Rest) -> None:
    document = copy.deepcopy(three_regions())
    document["surprise"] = 1
    document["seed"] = -3
    document["datacenters"][0]["gpus"] = "four"
    document["datacenters"][1]["intra_gbps"] = float("nan")
    document["wan"]["links"][0]["rtt_ms"] = -40
    document["wan"]["links"].append({"between": ["central", "atlantis"], "rtt_ms": 40})
    document["training"]["cell_size"] = 3
    document["training"]["transport"]["sharing"] = "sometimes"
    document["training"]["optimizer_ms"] = float("inf")
    del document["inference"]["prefill"]["table"]
    expected = {
        "surprise",
        "seed",
        "datacenters[0].gpus",
        "datacenters[1].intra_gbps",
        "wan.links[0].rtt_ms",
        "wan.links[2].between",
        "training.cell_size",
        "training.transport.sharing",
        "training.optimizer_ms",
        "inference.prefill.table",
    }
    for response in (rest.post("/scenarios", {"document": document}), rest.post("/runs", {"document": document})):
        refused = problem(response, 422)
        assert {fault["path"] for fault in refused["problems"]} == expected
        assert len(refused["problems"]) == 10
        assert all(len(fault["message"]) > 8 for fault in refused["problems"])


@pytest.mark.parametrize(
    ("path", "value", "named", "sentence"),
    [
        (["training", "pipelines"], "two", "training.pipelines", "whole number"),
        (["training", "microbatchs"], 4, "training.microbatchs", "did you mean 'microbatches'"),
        (["training", "optimizer_ms"], float("nan"), "training.optimizer_ms", "finite"),
        (["wan", "tcp_window_mb"], float("inf"), "wan.tcp_window_mb", "finite"),
        (["inference", "guard_ms"], -1, "inference.guard_ms", "at least 0"),
        (["wan", "links", 0, "between"], ["east", "moon"], "wan.links[0].between", "unknown datacenter 'moon'"),
        (["training", "cell_size"], 4, "training.cell_size", "must divide pipelines"),
        (["datacenters", 2, "gpus"], 3, "datacenters[2].gpus", "need 4"),
        (["training", "microbatches"], 10**9, "training.microbatches", "at most 1,000,000"),
        (["version"], 2, "version", "1"),
        (["name"], "", "name", "empty"),
        (["name"], "a\x00b", "name", "control characters"),
        (["datacenters"], [], "datacenters", "at least 1"),
        (["trouble"], {}, "trouble", "not yet"),
        (["placement"], {"mode": "auto"}, "placement.mode", "not yet"),
    ],
)
def test_a_fault_is_named_and_explained(rest: Rest, path: list[Any], value: Any, named: str, sentence: str) -> None:
    faults = problem(rest.post("/scenarios", {"document": changed(path, value)}), 422)["problems"]
    assert sentence in {fault["path"]: fault["message"] for fault in faults}[named]


def test_more_operations_than_are_simulated_are_refused_before_anything_is_allocated(rest: Rest) -> None:
    document = changed(["training", "microbatches"], 1_000_000)
    document["training"]["pipeline_stages"] = 4096
    assert "training.microbatches" in paths(rest.post("/runs", {"document": document}))


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ("", 400, "not valid JSON"),
        ("{", 400, "line 1, column 2"),
        (b"\xff\xfe", 400, "UTF-8"),
        ("[" * 100_000, 400, "nested too deep"),
        ('{"text": "\\ud800"}', 400, "half of a character"),
        ("1" * 5_000, 400, "not valid JSON"),
        ("[]", 422, "form"),
        ("null", 422, "form"),
        ('"text"', 422, "form"),
        ('{"document": 7}', 422, "form"),
        ('{"document": {}, "extra": 1}', 422, "form"),
    ],
)
def test_a_body_that_is_no_request_is_refused(rest: Rest, body: str | bytes, status: int, sentence: str) -> None:
    assert sentence in problem(rest.post("/scenarios", body), status)["detail"]


def test_a_body_of_the_wrong_form_names_its_fields(rest: Rest) -> None:
    body = {"document": 7, "text": 8, "surplus": True}
    assert sorted(paths(rest.post("/scenarios", body))) == ["document", "surplus", "text"]


@pytest.mark.parametrize("pace", [0, -1, "fast", 1e300, True])
def test_a_pace_that_cannot_be_used_is_named(rest: Rest, pace: Any) -> None:
    assert set(paths(rest.post("/runs", {"document": three_regions(), "pace": pace}))) == {"pace"}


def test_a_pace_of_nan_is_refused(rest: Rest) -> None:
    body = json.dumps({"document": three_regions(), "pace": 1})[:-2] + "NaN}"
    assert set(paths(rest.post("/runs", body))) == {"pace"}


@pytest.mark.parametrize(
    "text", ["a: [", "- 1", "&a [*a]", "x: !!python/object:os.system {}", "a: 1\na: 2", "\x00", ""]
)
def test_a_text_that_is_no_document_is_one_problem_with_its_place(rest: Rest, text: str) -> None:
    refused = problem(rest.post("/scenarios", {"text": text}), 422)
    assert refused["problems"]


def test_yaml_that_grows_out_of_aliases_is_refused(rest: Rest) -> None:
    lines = ["a0: &a0 [1,1,1,1,1,1,1,1,1,1]"]
    lines += [f"a{n}: &a{n} [{','.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    problem(rest.post("/scenarios", {"text": "\n".join(lines)}), 422)


async def exchange(headers: list[tuple[bytes, bytes]], bodies: list[bytes], path: str = "/api/v1/scenarios") -> Any:
    """Return status, headers and body of a POST through the whole ASGI application."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"localhost"), *headers],
        "server": ("localhost", 80),
        "client": ("127.0.0.1", 1),
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }
    communicator = ApplicationCommunicator(application, scope)
    for index, body in enumerate(bodies):
        more = index < len(bodies) - 1
        await communicator.send_input({"type": "http.request", "body": body, "more_body": more})
    start = await communicator.receive_output(10)
    body = b""
    more = True
    while more:
        message = await communicator.receive_output(10)
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return start["status"], dict(start["headers"]), body


@pytest.mark.parametrize("declared", [True, False])
async def test_fifty_megabytes_are_refused(declared: bool) -> None:
    piece, count = b"x" * 5_000_000, 10
    headers = [(b"content-type", b"application/json")]
    if declared:
        headers.append((b"content-length", str(len(piece) * count).encode()))
    status, answered, body = await exchange(headers, [piece] * count)
    assert status == 413
    assert answered[b"content-type"] == PROBLEM_JSON.encode()
    document = json.loads(body)
    assert "33 MB" in document["detail"]
    assert document["problems"][0]["message"]


async def test_a_person_who_uploads_too_much_gets_a_page() -> None:
    headers = [(b"accept", b"text/html,*/*"), (b"content-length", b"50000000")]
    status, answered, body = await exchange(headers, [b"x" * 50_000_000], "/w/engines/scenarios/import")
    assert status == 413
    assert answered[b"content-type"].startswith(b"text/html")
    assert b"33 MB" in body
