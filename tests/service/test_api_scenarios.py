"""Scenarios by REST: list, create, read, change, delete."""

import json

import pytest

from tests.casts import Document
from tests.service.rest import Rest, paths, problem
from webapp.accounts.models import User, Workspace
from webapp.scenarios.models import Scenario
from webapp.scenarios.yaml_text import yaml_from

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def rest(owner: User, workspace: Workspace) -> Rest:
    return Rest(owner, workspace)


def test_a_document_comes_back_as_it_was_sent(rest: Rest, document: Document) -> None:
    made = rest.post("/scenarios", {"document": document})
    assert made.status_code == 201
    assert made.headers["Location"] == f"/api/v1/scenarios/{made.json()['id']}"
    assert made.headers["ETag"] == '"1"'
    read = rest.get(f"/scenarios/{made.json()['id']}")
    assert read.status_code == 200
    assert read.json() == made.json()
    assert read.json()["document"] == document
    assert read.json()["version"] == 1


def test_text_is_kept_to_the_letter(rest: Rest, document: Document) -> None:
    text = "# why these numbers\n" + yaml_from(document)
    made = rest.post("/scenarios", {"text": text}).json()
    assert rest.get(f"/scenarios/{made['id']}").json()["text"] == text
    assert made["document"] == document


@pytest.mark.parametrize("body", [{}, {"document": {}, "text": "a: 1"}])
def test_exactly_one_of_document_and_text_is_given(rest: Rest, body: Document) -> None:
    assert paths(rest.post("/scenarios", body)) == ["document"]


def test_two_scenarios_of_one_name_have_two_ids(rest: Rest, document: Document) -> None:
    ids = {rest.post("/scenarios", {"document": document}).json()["id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(identifier.startswith("prefill-two-shards") for identifier in ids)


def test_a_change_needs_the_version_it_is_based_on(rest: Rest, document: Document) -> None:
    made = rest.post("/scenarios", {"document": document}).json()
    path = f"/scenarios/{made['id']}"
    changed = {**document, "description": "faster"}

    assert paths(rest.put(path, {"document": changed})) == ["version"]
    first = rest.put(path, {"document": changed, "version": 1})
    assert (first.status_code, first.json()["version"], first.headers["ETag"]) == (200, 2, '"2"')
    refused = problem(rest.put(path, {"document": document, "version": 1}), 409)
    assert "version 2, not 1" in refused["detail"]
    assert rest.get(path).json()["document"]["description"] == "faster"
    by_header = rest.put(path, {"document": document}, If_Match='"2"')
    assert (by_header.status_code, by_header.json()["version"]) == (200, 3)


def test_a_change_that_has_problems_changes_nothing(rest: Rest, document: Document) -> None:
    made = rest.post("/scenarios", {"document": document}).json()
    broken = {**document, "seed": -1}
    assert paths(rest.put(f"/scenarios/{made['id']}", {"document": broken, "version": 1})) == ["seed"]
    assert rest.get(f"/scenarios/{made['id']}").json() == made


def test_a_deleted_scenario_is_gone_and_its_id_is_not_given_again(rest: Rest, document: Document) -> None:
    made = rest.post("/scenarios", {"document": document}).json()
    path = f"/scenarios/{made['id']}"
    assert rest.delete(path).status_code == 204
    problem(rest.get(path), 404)
    problem(rest.delete(path), 404)
    problem(rest.put(path, {"document": document, "version": 1}), 404)
    assert rest.get("/scenarios").json()["items"] == []
    assert rest.post("/scenarios", {"document": document}).json()["id"] != made["id"]


def test_a_list_is_read_page_by_page_without_gaps(rest: Rest, document: Document) -> None:
    made = [rest.post("/scenarios", {"document": {**document, "name": f"s {n}"}}).json()["id"] for n in range(7)]
    seen: list[str] = []
    query = "?limit=3"
    sizes = []
    while query:
        page = rest.get(f"/scenarios{query}").json()
        sizes.append(len(page["items"]))
        seen += [item["id"] for item in page["items"]]
        if len(sizes) == 1:
            rest.post("/scenarios", {"document": {**document, "name": "made meanwhile"}})
        query = f"?limit=3&cursor={page['next_cursor']}" if page["next_cursor"] else ""
    assert sizes == [3, 3, 1]
    assert seen == made[::-1]


def test_a_list_is_searched_by_name(rest: Rest, document: Document) -> None:
    for name in ("Alpha one", "beta", "ALPHA two"):
        rest.post("/scenarios", {"document": {**document, "name": name}})
    found = rest.get("/scenarios?q=alpha").json()["items"]
    assert [item["name"] for item in found] == ["ALPHA two", "Alpha one"]
    assert "document" not in found[0], "lists carry no documents"


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("cursor=nonsense", "cursor"),
        ("cursor=WyJ4IiwgMV0", "cursor"),
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=many", "limit"),
        ("q=" + "x" * 201, "q"),
    ],
)
def test_a_parameter_that_cannot_be_used_is_named(rest: Rest, query: str, path: str) -> None:
    assert paths(rest.get(f"/scenarios?{query}")) == [path]


def test_the_catalogue_names_the_source_of_every_entry(rest: Rest) -> None:
    catalogue = rest.get("/catalogue").json()
    assert {gpu["id"] for gpu in catalogue["gpus"]} >= {"a100-80gb"}
    assert all(entry["source"] for entry in [*catalogue["gpus"], *catalogue["models"]])


def test_what_is_stored_is_the_document_and_its_outline(rest: Rest, document: Document) -> None:
    rest.post("/scenarios", {"document": document})
    row = Scenario.objects.get()
    assert json.loads(row.document) == document
    assert row.outline_data["num_gpus"] == sum(datacenter["gpus"] for datacenter in document["datacenters"])
