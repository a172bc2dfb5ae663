"""Runs by REST: start, list, read, cancel, and everything they give."""

import asyncio
import json
import threading
import time
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import AsyncClient

from simcore.reference import simulate
from tests.casts import Document, scenario
from tests.service.conftest import RunMaker, claimed
from tests.service.rest import Rest, paths, problem
from tests.twin_timeline import rows_of, twin_timeline
from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.api import streaming
from webapp.runs import tasks
from webapp.runs.models import Result, Run
from webapp.runs.services import run_cancel
from webapp.scenarios.services import scenario_create
from webapp.scenarios.yaml_text import yaml_from

pytestmark = pytest.mark.django_db(transaction=True)

OUTPUTS = ("layout", "timeline", "timeline?overview=1", "export?format=json", "export?format=perfetto")


@pytest.fixture
def rest(owner: User, workspace: Workspace) -> Rest:
    return Rest(owner, workspace)


@pytest.fixture
def finished(make_run: RunMaker) -> Run:
    run = make_run()
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert run.status == Run.Status.SUCCEEDED
    return run


def test_a_document_given_inline_is_run_at_its_pace(rest: Rest, document: Document, published: list[UUID]) -> None:
    response = rest.post("/runs", {"document": document, "pace": 2.5})
    assert response.status_code == 201
    made = response.json()
    assert response.headers["Location"] == f"/api/v1/runs/{made['id']}"
    assert published == [UUID(made["id"])]
    assert (made["status"], made["pace"], made["scenario"], made["partial"]) == ("queued", 2.5, None, False)
    tasks.run_execute(made["id"])
    read = rest.get(f"/runs/{made['id']}").json()
    twin = simulate(scenario(document))
    assert (read["status"], read["attempt"]) == ("succeeded", 1)
    assert read["figures"]["iteration_time_ns"] == twin.iteration_time_ns
    assert read["simulated_ns"] == read["horizon_ns"]
    assert read["finished_at"] is not None


@pytest.mark.parametrize("pace", [None, "max"])
def test_no_pace_is_as_fast_as_it_goes(rest: Rest, document: Document, published: list[UUID], pace: Any) -> None:
    assert rest.post("/runs", {"document": document, "pace": pace}).json()["pace"] is None


def test_a_stored_scenario_is_run_as_it_is_now(
    rest: Rest, owner: User, workspace: Workspace, document: Document, published: list[UUID]
) -> None:
    stored = scenario_create(workspace=workspace, created_by=owner, text=yaml_from(document))
    made = rest.post("/runs", {"scenario": stored.slug}).json()
    assert made["scenario"] == stored.slug
    assert made["requested_by"] == owner.username
    assert [run["id"] for run in rest.get(f"/runs?scenario={stored.slug}").json()["items"]] == [made["id"]]
    rest.delete(f"/scenarios/{stored.slug}")
    assert rest.get(f"/runs/{made['id']}").json()["scenario"] is None, "the run outlives its scenario"


@pytest.mark.parametrize("body", [{}, {"scenario": "a", "document": {}}])
def test_exactly_one_of_scenario_and_document_is_given(rest: Rest, body: Document) -> None:
    assert paths(rest.post("/runs", body)) == ["scenario"]


def test_a_list_is_filtered_and_read_page_by_page(rest: Rest, make_run: RunMaker) -> None:
    runs = [make_run() for _ in range(5)]
    run_cancel(run=runs[2])
    first = rest.get("/runs?limit=3").json()
    second = rest.get(f"/runs?limit=3&cursor={first['next_cursor']}").json()
    listed = [item["id"] for item in first["items"] + second["items"]]
    assert listed == [str(run.pk) for run in reversed(runs)]
    assert second["next_cursor"] is None
    cancelled = rest.get("/runs?status=cancelled").json()["items"]
    assert [item["id"] for item in cancelled] == [str(runs[2].pk)]
    assert rest.get("/runs?q=no-such-name").json()["items"] == []
    assert paths(rest.get("/runs?status=done")) == ["status"]
    assert problem(rest.get("/runs/not-a-number"), 422)["problems"][0]["path"] == "run_id"


def test_a_queued_run_is_cancelled_and_a_final_one_stays(rest: Rest, make_run: RunMaker, finished: Run) -> None:
    run = make_run()
    response = rest.post(f"/runs/{run.pk}/cancel")
    assert (response.status_code, response.json()["status"]) == (202, "cancelled")
    assert rest.post(f"/runs/{run.pk}/cancel").json()["status"] == "cancelled"
    assert rest.post(f"/runs/{finished.pk}/cancel").json()["status"] == "succeeded"


def test_before_anything_is_computed_outputs_are_a_conflict(rest: Rest, make_run: RunMaker) -> None:
    run = make_run()
    for output in ("result", *OUTPUTS):
        problem(rest.get(f"/runs/{run.pk}/{output}"), 409)


def test_a_cancelled_run_keeps_what_it_had_computed(rest: Rest, make_run: RunMaker) -> None:
    run = make_run(pace=1e-3)  # an iteration of about 100 ms takes minutes
    claim = claimed(run)

    def cancel_once_something_is_stored() -> None:
        while not Run.objects.filter(pk=run.pk, last_seq__gte=2).exists():
            time.sleep(0.02)
        assert rest.post(f"/runs/{run.pk}/cancel").json()["status"] == "running", "its worker stops by itself"
        connection.close()

    canceller = threading.Thread(target=cancel_once_something_is_stored)
    canceller.start()
    tasks.run_compute(claim)
    canceller.join()
    read = rest.get(f"/runs/{run.pk}").json()
    assert (read["status"], read["partial"]) == ("cancelled", True)
    problem(rest.get(f"/runs/{run.pk}/result"), 409)
    assert rest.get(f"/runs/{run.pk}/layout").status_code == 200
    header, _ = engine.decode(rest.get(f"/runs/{run.pk}/timeline").content)
    assert header["partial"] is True


def test_the_result_is_what_the_engine_found_to_the_byte(rest: Rest, finished: Run, document: Document) -> None:
    response = rest.get(f"/runs/{finished.pk}/result")
    assert response.content.decode() == Result.objects.get(run=finished).text
    assert response.json()["inference"]["ttft_ns"].keys() == {
        str(position) for position in simulate(scenario(document)).figures["inference"]["ttft_ns"]
    }
    again = rest.get(f"/runs/{finished.pk}/result", If_None_Match=response.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")


def test_the_layout_says_what_the_rows_are(rest: Rest, finished: Run, document: Document) -> None:
    data = rest.get(f"/runs/{finished.pk}/layout").json()
    twin = twin_timeline(scenario(document), simulate(scenario(document)))
    assert data["layout"] == engine.layout_data(twin.layout)
    assert (data["horizon_ns"], data["num_iterations"]) == (twin.horizon_ns, twin.num_iterations)


def test_the_whole_timeline_is_one_exact_frame(rest: Rest, finished: Run, document: Document) -> None:
    response = rest.get(f"/runs/{finished.pk}/timeline?px=900")
    assert response.headers["Content-Type"] == "application/octet-stream"
    header, columns = engine.decode(response.content)
    twin = twin_timeline(scenario(document), simulate(scenario(document)))
    num_cells = twin.layout.num_pipelines // twin.layout.cell_size
    expected = len(twin.iteration) * num_cells * twin.num_iterations + len(twin.fills)
    assert header["level"] == "L2"
    assert header["total"] == header["shown"] == len(columns["row"]) == expected
    again = rest.get(f"/runs/{finished.pk}/timeline?px=900", If_None_Match=response.headers["ETag"])
    assert (again.status_code, again.content) == (304, b"")
    other = rest.get(f"/runs/{finished.pk}/timeline?px=901", If_None_Match=response.headers["ETag"])
    assert other.status_code == 200


def test_a_window_holds_what_overlaps_it(rest: Rest, finished: Run) -> None:
    whole = engine.decode(rest.get(f"/runs/{finished.pk}/timeline").content)[1]
    t0, t1 = 10_000_000, 40_000_000
    header, columns = engine.decode(rest.get(f"/runs/{finished.pk}/timeline?t0={t0}&t1={t1}&rows=0-1").content)
    assert (header["t0_ns"], header["t1_ns"], header["first_row"], header["last_row"]) == (t0, t1, 0, 1)
    ends = columns["start_ns"] + columns["duration_ns"]
    assert 0 < len(columns["row"]) < len(whole["row"])
    assert (columns["start_ns"] < t1).all()
    assert (ends > t0).all()


def test_the_overview_adds_up_to_all_busy_time(rest: Rest, finished: Run, document: Document) -> None:
    header, columns = engine.decode(rest.get(f"/runs/{finished.pk}/timeline?overview=1&px=50").content)
    assert header["bins"] == 50
    twin = twin_timeline(scenario(document), simulate(scenario(document)))
    num_workers = twin.layout.num_pipelines * len(twin.layout.stage_datacenter)
    num_cells = twin.layout.num_pipelines // twin.layout.cell_size
    busy_ns = sum(
        int(part.duration_ns[part.row < num_workers].sum()) * times
        for part, times in ((twin.iteration, num_cells * twin.num_iterations), (twin.fills, 1))
    )
    assert columns["share"].sum() / 50 * twin.horizon_ns * num_workers == pytest.approx(busy_ns, rel=1e-4)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("t0=-1", ["t0"]),
        ("t0=x&t1=y&rows=z&px=q", ["t0", "t1", "rows", "px"]),
        ("t0=5&t1=5", ["t1"]),
        ("t1=99999999999999999", ["t1"]),
        ("rows=0-99999", ["rows"]),
        ("rows=3-1", ["rows"]),
        ("px=0", ["px"]),
        ("px=100000", ["px"]),
        ("overview=yes", ["overview"]),
    ],
)
def test_every_fault_of_a_window_is_named(rest: Rest, finished: Run, query: str, named: list[str]) -> None:
    assert paths(rest.get(f"/runs/{finished.pk}/timeline?{query}")) == named


async def download(rest: Rest, run: Run, form: str) -> tuple[list[bytes], str]:
    """Return the pieces in which an export arrives, and its file name."""
    headers = {"Authorization": f"Bearer {rest.secret}"}
    response = await AsyncClient().get(f"/api/v1/runs/{run.pk}/export?format={form}", headers=headers)
    assert response.status_code == 200
    assert response.is_async, "a synchronous stream is read whole under ASGI before it is sent"
    return [piece async for piece in response], response.headers["Content-Disposition"]  # type: ignore[union-attr]


def test_the_json_export_is_complete_and_comes_in_pieces(
    rest: Rest, finished: Run, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streaming, "BLOCK_CHARACTERS", 200)
    pieces, disposition = asyncio.run(download(rest, finished, "json"))
    assert len(pieces) > 3
    assert "attachment" in disposition
    data = json.loads(b"".join(pieces))
    twin = twin_timeline(scenario(document), simulate(scenario(document)))
    assert data["run"]["id"] == str(finished.pk)
    assert data["document"]["name"] == document["name"]
    assert data["result"] == json.loads(Result.objects.get(run=finished).text)
    assert data["layout"] == engine.layout_data(twin.layout)
    for name, segments in (("iteration", twin.iteration), ("fills", twin.fills)):
        exported = sorted(tuple(row) for row in data[name])
        assert exported == sorted(rows_of(segments))


def test_the_perfetto_export_is_a_trace(rest: Rest, finished: Run) -> None:
    pieces, disposition = asyncio.run(download(rest, finished, "perfetto"))
    assert ".perfetto.json" in disposition
    trace = json.loads(b"".join(pieces))
    whole = engine.decode(rest.get(f"/runs/{finished.pk}/timeline").content)[0]
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    assert len(slices) == whole["total"]
    assert all(event["dur"] >= 0 for event in slices)


def test_an_unknown_export_format_is_named(rest: Rest, finished: Run) -> None:
    assert paths(rest.get(f"/runs/{finished.pk}/export?format=csv")) == ["format"]
    assert paths(rest.get(f"/runs/{finished.pk}/export")) == ["format"]
