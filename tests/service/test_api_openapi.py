"""The OpenAPI document: valid in itself, one source with the engine, every status declared."""

import json
from typing import Any

import pytest
from django.test import Client

from tests.casts import Document
from tests.service.conftest import RunMaker
from tests.service.rest import PROBLEM_JSON, Rest
from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.api.openapi import openapi_document
from webapp.runs import tasks

METHODS = ("get", "post", "put", "delete")


@pytest.fixture(scope="module")
def described() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(openapi_document()))
    return document


def operations(described: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """Return path, method and description of every operation."""
    return [
        (path, method, item[method])
        for path, item in described["paths"].items()
        for method in METHODS
        if method in item
    ]


def references(node: Any) -> list[str]:
    """Return every `$ref` below."""
    if isinstance(node, list):
        return [found for item in node for found in references(item)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [found for item in node.values() for found in references(item)]


def test_it_says_version_3_1_and_refers_to_nothing_that_is_not_there(described: dict[str, Any]) -> None:
    assert described["openapi"].startswith("3.1")
    for reference in references(described):
        node: Any = described
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
        assert isinstance(node, dict)


def test_the_scenario_in_bodies_is_the_engines_own(described: dict[str, Any]) -> None:
    schemas = described["components"]["schemas"]
    assert set(schemas["Scenario"]["properties"]) == set(engine.ScenarioDocument.model_fields)
    for name in ("ScenarioIn", "RunIn", "ScenarioUpdateIn"):
        assert "#/components/schemas/Scenario" in references(schemas[name]["properties"]["document"])
    for path, method in (
        ("/api/v1/scenarios", "post"),
        ("/api/v1/runs", "post"),
        ("/api/v1/scenarios/{scenario_id}", "put"),
    ):
        assert described["paths"][path][method]["requestBody"]["required"] is True


def test_every_refusal_is_a_problem_document(described: dict[str, Any]) -> None:
    for path, method, operation in operations(described):
        assert "401" in operation["responses"], (path, method)
        assert operation["summary"], (path, method)
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                schema = response["content"][PROBLEM_JSON]["schema"]
                assert schema == {"$ref": "#/components/schemas/ProblemOut"}, (path, method, status)


def test_anyone_may_read_it_and_it_needs_nothing_from_elsewhere(client: Client) -> None:
    response = client.get("/api/v1/openapi.json")
    assert response.status_code == 200
    assert "http://" not in response.content.decode().replace("http://testserver", "")


@pytest.mark.django_db(transaction=True)
def test_every_status_that_is_answered_is_declared(
    described: dict[str, Any], owner: User, workspace: Workspace, document: Document, make_run: RunMaker
) -> None:
    rest = Rest(owner, workspace)
    reader = Rest(owner, workspace, "read")
    waiting, done = make_run(), make_run()
    tasks.run_execute(str(done.pk))
    made = rest.post("/scenarios", {"document": document}).json()["id"]
    broken = {"document": {**document, "seed": -1}}
    scenario, run = "/scenarios/{scenario_id}", "/runs/{run_id}"
    answers = [
        ("get", "/scenarios", rest.get("/scenarios")),
        ("get", "/scenarios", rest.get("/scenarios?limit=0")),
        ("get", "/scenarios", rest.get("/scenarios?workspace=none")),
        ("post", "/scenarios", rest.post("/scenarios", {"document": document})),
        ("post", "/scenarios", rest.post("/scenarios", broken)),
        ("post", "/scenarios", rest.post("/scenarios", "{")),
        ("post", "/scenarios", reader.post("/scenarios", broken)),
        ("get", scenario, rest.get(f"/scenarios/{made}")),
        ("get", scenario, rest.get("/scenarios/none")),
        ("put", scenario, rest.put(f"/scenarios/{made}", {"document": document, "version": 1})),
        ("put", scenario, rest.put(f"/scenarios/{made}", {"document": document, "version": 1})),
        ("put", scenario, rest.put(f"/scenarios/{made}", {"document": document})),
        ("put", scenario, rest.put(f"/scenarios/{made}", "{")),
        ("delete", scenario, reader.delete(f"/scenarios/{made}")),
        ("delete", scenario, rest.delete(f"/scenarios/{made}")),
        ("delete", scenario, rest.delete(f"/scenarios/{made}")),
        ("get", "/runs", rest.get("/runs")),
        ("get", "/runs", rest.get("/runs?status=done")),
        ("post", "/runs", rest.post("/runs", {"document": document})),
        ("post", "/runs", rest.post("/runs", {"scenario": "none"})),
        ("post", "/runs", rest.post("/runs", broken)),
        ("post", "/runs", reader.post("/runs", broken)),
        ("post", "/runs", rest.post("/runs", "{")),
        ("get", run, rest.get(f"/runs/{done.pk}")),
        ("get", run, rest.get("/runs/x")),
        ("post", f"{run}/cancel", rest.post(f"/runs/{done.pk}/cancel")),
        ("post", f"{run}/cancel", reader.post(f"/runs/{done.pk}/cancel")),
        ("get", "/catalogue", rest.get("/catalogue")),
    ]
    for output in ("result", "layout", "timeline", "export"):
        query = "?format=json" if output == "export" else ""
        template = f"{run}/{output}"
        answers += [("get", template, rest.get(f"/runs/{one.pk}/{output}{query}")) for one in (waiting, done)]
        answers.append(("get", template, rest.get(f"/runs/x/{output}{query}")))
    etag = rest.get(f"/runs/{done.pk}/result").headers["ETag"]
    answers.append(("get", f"{run}/result", rest.get(f"/runs/{done.pk}/result", If_None_Match=etag)))

    for method, path, response in answers:
        declared = described["paths"][f"/api/v1{path}"][method]["responses"]
        assert str(response.status_code) in declared, (method, path, response.status_code)
        assert response.status_code < 500
    called = {(f"/api/v1{path}", method) for method, path, _ in answers}
    assert called == {(path, method) for path, method, _ in operations(described)}, "every operation is tried"
