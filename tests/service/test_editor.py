"""The editor on the server: one check for form and text, saving, running, and two people at once."""

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tests.casts import Document
from webapp.accounts.models import User, Workspace
from webapp.engine import parse_text
from webapp.runs.models import Run
from webapp.scenarios.demo_documents import starting_document, three_regions
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import scenario_create, scenario_delete
from webapp.scenarios.yaml_text import yaml_from

pytestmark = pytest.mark.django_db(transaction=True)

CHECK = "/w/engines/scenarios/check"
NEW = "/w/engines/scenarios/new"


@pytest.fixture
def ada(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


@pytest.fixture
def stored(owner: User, workspace: Workspace, document: Document) -> Scenario:
    return scenario_create(workspace=workspace, created_by=owner, text="# mine\n" + yaml_from(document))


def checked(client: Client, text: str, *changes: dict[str, Any]) -> dict[str, Any]:
    """Return the editor's next state."""
    response = client.post(CHECK, json.dumps({"text": text, "changes": changes}), content_type="application/json")
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


def change(path: str, value: str, kind: str = "number") -> dict[str, Any]:
    """Return what the form sends for a field."""
    parts = [int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", path)]
    return {"path": parts, "kind": kind, "value": value}


def state_of(content: bytes) -> dict[str, Any]:
    """Return the state that a page hands to its script."""
    match = re.search(rb'<script id="editor-state" type="application/json">(.*?)</script>', content, re.DOTALL)
    assert match is not None
    state: dict[str, Any] = json.loads(match[1])
    return state


def pane(content: bytes) -> str:
    """Return the text in the YAML pane."""
    match = re.search(r'<textarea id="yaml"[^>]*>\n(.*?)</textarea>', content.decode(), re.DOTALL)
    assert match is not None
    return html.unescape(match[1])


def test_a_new_scenario_can_run_as_it_is(ada: Client, published: list[object]) -> None:
    page = ada.get(NEW)
    assert state_of(page.content)["problems"] == []
    text = pane(page.content)
    assert parse_text(text) == starting_document()
    response = ada.post(NEW, {"text": text, "action": "run", "pace": "max"})
    run = Run.objects.get()
    assert response.headers["Location"] == run.get_absolute_url()
    assert run.scenario == Scenario.objects.get()


def test_a_field_changes_its_value_and_nothing_else(ada: Client) -> None:
    text = "# a note\n" + yaml_from(starting_document()).replace("rtt_ms: 40", "rtt_ms: 40  # measured in May")
    state = checked(ada, text, change("wan.links[0].rtt_ms", "55"))
    assert state["text"] == text.replace("rtt_ms: 40", "rtt_ms: 55")
    assert state["document"]["wan"]["links"][0]["rtt_ms"] == 55
    assert state["problems"] == []


def test_what_is_typed_in_the_text_is_in_the_form(ada: Client) -> None:
    text = yaml_from(starting_document()).replace("microbatches: 16", "microbatches: 24")
    state = checked(ada, text)
    assert state["text"] == text
    assert state["document"]["training"]["microbatches"] == 24


@pytest.mark.parametrize(
    ("path", "typed", "kind", "value"),
    [
        ("datacenters[0].intra_gbps", "10G", "number", 10),
        ("wan.links[0].rtt_ms", "0.08 s", "number", 80),
        ("training.microbatches", "1,024", "number", 1024),
        ("training.transport.connections", "auto", "number", "auto"),
        ("training.compute.forward_ms", "14, 14, 15, 15", "numbers", [14, 14, 15, 15]),
        ("training.compute.forward_ms", "12.5", "numbers", 12.5),
        ("training.transport.sharing", "spatial", "text", "spatial"),
    ],
)
def test_a_field_reads_what_people_paste(ada: Client, path: str, typed: str, kind: str, value: Any) -> None:
    state = checked(ada, yaml_from(starting_document()), change(path, typed, kind))
    node: Any = state["document"]
    for part in re.findall(r"[^.\[\]]+", path):
        node = node[int(part) if part.isdigit() else part]
    assert node == value
    assert parse_text(state["text"]) == state["document"]


def test_what_cannot_be_read_as_a_number_is_a_problem_at_its_field(ada: Client) -> None:
    state = checked(ada, yaml_from(starting_document()), change("datacenters[1].gpus", "many"))
    line = state["text"].split("\n").index("    gpus: many") + 1
    assert [(problem["path"], problem["line"]) for problem in state["problems"]] == [("datacenters[1].gpus", line)]


def test_problems_of_a_scenario_with_thousands_of_requests_keep_their_lines(ada: Client) -> None:
    document = three_regions()
    document["inference"]["requests"]["inline"][1500] = [3.5, -7]
    text = yaml_from(document)
    (problem,) = checked(ada, text)["problems"]
    assert problem["path"] == "inference.requests.inline[1500][1]"
    assert text.split("\n")[problem["line"] - 1].strip() == "- [3.5, -7]"


def test_a_text_that_cannot_be_read_keeps_both_sides_as_they_are(ada: Client) -> None:
    text = "name: [\n  broken"
    state = checked(ada, text, change("seed", "3"))
    assert (state["text"], state["document"]) == (text, None)
    assert len(state["problems"]) == 1
    assert state["problems"][0]["line"] is not None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        '{"text": 1}',
        '{"text": "a: 1", "changes": 7}',
        '{"text": "a: 1", "changes": [{"path": []}]}',
        "[" * 99999,
    ],
)
def test_a_step_that_is_none_is_refused(ada: Client, body: str) -> None:
    assert ada.post(CHECK, body, content_type="application/json").status_code == 400


def test_inference_comes_back_as_it_was(ada: Client) -> None:
    text = yaml_from(three_regions())
    without = checked(ada, text, {"path": ["inference"], "remove": True})
    assert "inference" not in without["document"]
    again = checked(ada, without["text"], {"path": ["inference"], "kind": "inference", "value": text})
    assert parse_text(again["text"])["inference"] == three_regions()["inference"]
    fresh = checked(ada, without["text"], {"path": ["inference"], "kind": "inference", "value": ""})
    assert fresh["problems"] == []
    assert fresh["requests"]["count"] > 0


def test_saving_keeps_every_character_and_counts_versions(ada: Client, stored: Scenario) -> None:
    address = stored.get_absolute_url()
    text = stored.text + "# the end, ünïcödé\n"
    response = ada.post(address, {"text": text.replace("\n", "\r\n"), "version": "1", "action": "save"})
    assert response.headers["Location"] == address
    stored.refresh_from_db()
    assert (stored.text, stored.version) == (text, 2)
    assert pane(ada.get(address).content) == text


def test_saving_what_has_not_changed_makes_no_version(ada: Client, stored: Scenario) -> None:
    ada.post(stored.get_absolute_url(), {"text": stored.text, "version": "1", "action": "save"})
    stored.refresh_from_db()
    assert stored.version == 1


def test_what_has_problems_is_not_saved_and_comes_back(ada: Client, stored: Scenario) -> None:
    text = stored.text.replace("seed", "sead") + "surplus: 1\n"
    for address in (stored.get_absolute_url(), NEW):
        response = ada.post(address, {"text": text, "version": "1", "action": "run"})
        assert response.status_code == 422
        assert pane(response.content) == text
        assert "surplus" in [problem["path"] for problem in state_of(response.content)["problems"]]
        assert b"Not saved" in response.content
    assert Scenario.objects.count() == 1
    assert not Run.objects.exists()
    stored.refresh_from_db()
    assert stored.version == 1


@pytest.mark.parametrize(("pace", "custom"), [("custom", "fast"), ("custom", "-1"), ("custom", "1e300"), ("7x", "")])
def test_a_pace_that_cannot_be_used_saves_nothing(ada: Client, pace: str, custom: str) -> None:
    text = yaml_from(starting_document())
    response = ada.post(NEW, {"text": text, "action": "run", "pace": pace, "custom_pace": custom})
    assert response.status_code == 422
    assert b"The pace must be a number" in response.content
    assert pane(response.content) == text
    assert not Scenario.objects.exists()


def test_running_saves_first_and_carries_the_pace(ada: Client, stored: Scenario, published: list[object]) -> None:
    text = stored.text.replace("# mine", "# changed")
    sent = {"text": text, "version": "1", "action": "run", "pace": "custom", "custom_pace": "2.5"}
    ada.post(stored.get_absolute_url(), sent)
    stored.refresh_from_db()
    run = Run.objects.get()
    assert (stored.text, stored.version, run.pace, run.scenario) == (text, 2, 2.5, stored)


def test_of_two_saves_of_one_version_the_second_hears_of_it_and_loses_nothing(
    ada: Client, stored: Scenario, document: Document
) -> None:
    address = stored.get_absolute_url()
    theirs = yaml_from({**document, "seed": 5})
    mine = yaml_from({**document, "seed": 9, "description": "mine"})
    ada.post(address, {"text": theirs, "version": "1", "action": "save"})

    response = ada.post(address, {"text": mine, "version": "1", "action": "save"})
    assert response.status_code == 409
    page = response.content.decode()
    assert "Version 2 was saved by someone else" in page
    assert pane(response.content) == mine
    shown = re.findall(r"<code>([\w.\[\]]+)</code></th><td>(.*?)</td><td>(.*?)</td>", page)
    assert set(shown) == {("seed", "9", "5"), ("description", "mine", "–")}
    stored.refresh_from_db()
    assert stored.text == theirs

    again = ada.post(address, {"text": mine, "version": "1", "current_version": "2", "action": "save"})
    assert again.status_code == 409, "saving again is no answer to the question"

    ada.post(address, {"text": mine, "version": "1", "current_version": "2", "action": "overwrite"})
    stored.refresh_from_db()
    assert (stored.text, stored.version) == (mine, 3)


def test_a_save_over_a_version_that_has_changed_again_is_a_conflict_again(
    ada: Client, stored: Scenario, document: Document
) -> None:
    address = stored.get_absolute_url()
    for version, seed in ((1, 1), (2, 2)):
        ada.post(address, {"text": yaml_from({**document, "seed": seed}), "version": str(version), "action": "save"})
    sent = {"text": yaml_from({**document, "seed": 3}), "version": "1", "current_version": "2", "action": "overwrite"}
    assert ada.post(address, sent).status_code == 409
    stored.refresh_from_db()
    assert json.loads(stored.document)["seed"] == 2


def test_mine_can_become_a_scenario_of_its_own(ada: Client, stored: Scenario, document: Document) -> None:
    mine = yaml_from({**document, "seed": 3})
    response = ada.post(stored.get_absolute_url(), {"text": mine, "version": "0", "action": "copy"})
    copy = Scenario.objects.exclude(pk=stored.pk).get()
    assert response.headers["Location"] == copy.get_absolute_url()
    assert copy.text == mine
    stored.refresh_from_db()
    assert stored.version == 1


def test_a_scenario_deleted_meanwhile_does_not_take_the_text_with_it(
    ada: Client, stored: Scenario, document: Document
) -> None:
    scenario_delete(scenario=stored)
    mine = yaml_from({**document, "seed": 3})
    response = ada.post(stored.get_absolute_url(), {"text": mine, "version": "1", "action": "save"})
    assert response.status_code == 409
    assert b"was deleted while you edited" in response.content
    assert b'value="overwrite"' not in response.content
    assert pane(response.content) == mine
    ada.post(stored.get_absolute_url(), {"text": mine, "version": "1", "action": "copy"})
    assert Scenario.objects.get(deleted_at__isnull=True).text == mine


def test_a_document_is_imported_from_text_and_from_a_file(ada: Client, document: Document, tmp_path: Any) -> None:
    address = reverse("scenario-import", args=["engines"])
    ada.post(address, {"text": "# kept\n" + yaml_from(document)})
    assert Scenario.objects.get().text.startswith("# kept\n")
    path = tmp_path / "document.json"
    path.write_text("\ufeff" + json.dumps(document), encoding="utf-8")
    with path.open("rb") as file:
        response = ada.post(address, {"file": file, "text": ""})
    newest = Scenario.objects.order_by("-pk")[0]
    assert response.headers["Location"] == newest.get_absolute_url()
    assert newest.text == yaml_from(document), "JSON becomes YAML: people read the pane"


def test_an_import_with_problems_lists_them_all_and_keeps_the_text(ada: Client, tmp_path: Any) -> None:
    address = reverse("scenario-import", args=["engines"])
    text = yaml_from({**starting_document(), "seed": -1, "surplus": 1})
    response = ada.post(address, {"text": text})
    assert response.status_code == 422
    page = html.unescape(response.content.decode())
    assert "2 problems" in page
    assert text in page
    path = tmp_path / "latin.yaml"
    path.write_bytes("name: caf\xe9".encode("latin-1"))
    with path.open("rb") as file:
        response = ada.post(address, {"file": file})
    assert b"is not UTF-8 text" in response.content
    assert not Scenario.objects.exists()
