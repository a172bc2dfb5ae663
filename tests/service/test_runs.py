"""From a queued run to its stored result, cancels on the way, and who sees it."""

import json
from uuid import UUID

import pytest
from django.http import Http404
from kombu.exceptions import OperationalError as BrokerError

from simcore.reference import simulate
from tests.casts import Document, scenario
from tests.service.conftest import RunMaker, claimed
from tests.service.stored import assert_whole, headers, segment_bytes
from tests.twin_timeline import rows_of, twin_timeline
from webapp import engine
from webapp.accounts.models import User, Workspace
from webapp.accounts.selectors import workspace_for
from webapp.runs import tasks
from webapp.runs.models import Chunk, Result, Run
from webapp.runs.selectors import run_get, run_list
from webapp.runs.services import run_cancel, run_claim, run_enqueue, run_heartbeat
from webapp.runs.timelines import run_timeline
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import scenario_create

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_run_goes_from_the_queue_to_its_result(make_run: RunMaker, document: Document, published: list[UUID]) -> None:
    run = make_run()
    assert (run.status, run.attempt, published) == (Run.Status.QUEUED, 0, [run.pk])

    tasks.run_execute(str(run.pk))

    run.refresh_from_db()
    assert run.status == Run.Status.SUCCEEDED
    assert (run.attempt, run.partial, run.problem, run.traceback) == (1, False, "", "")
    assert run.finished_at is not None
    assert_whole(run)
    twin = simulate(scenario(document))
    figures = json.loads(Result.objects.get(run=run).text)
    assert figures["iteration_time_ns"] == twin.iteration_time_ns == run.figures_data["iteration_time_ns"]
    assert figures["inference"]["ttft_ns"]
    assert "ttft_ns" not in run.figures_data["inference"], "lists must not carry a figure for every request"
    timeline = run_timeline(run=run)
    expected = twin_timeline(scenario(document), twin)
    assert timeline is not None
    assert timeline.layout == expected.layout
    assert timeline.horizon_ns == expected.horizon_ns == run.horizon_ns == run.simulated_ns
    assert rows_of(timeline.iteration) == rows_of(expected.iteration)
    assert rows_of(timeline.fills) == rows_of(expected.fills)


def test_the_same_document_gives_the_same_bytes(make_run: RunMaker) -> None:
    one, other = make_run(), make_run()
    for run in (one, other):
        tasks.run_execute(str(run.pk))
    assert segment_bytes(one) == segment_bytes(other)
    assert Result.objects.get(run=one).text == Result.objects.get(run=other).text
    assert Run.objects.get(pk=one.pk).scenario_hash == Run.objects.get(pk=other.pk).scenario_hash


def test_chunks_tell_layout_iteration_figures_fills_result(make_run: RunMaker) -> None:
    run = make_run()
    tasks.run_execute(str(run.pk))
    told = [(header["kind"], header.get("scope")) for header in headers(run) if header["kind"] != "progress"]
    assert list(dict.fromkeys(told)) == [
        ("layout", None),
        ("segments", "iteration"),
        ("metric", None),
        ("segments", "horizon"),
    ]
    assert told[-1] == ("metric", None), "the last chunk carries the whole result's figures"
    for header in headers(run):
        assert header["run"] == str(run.pk)


def test_a_document_that_cannot_run_leaves_nothing_behind(
    owner: User, workspace: Workspace, document: Document
) -> None:
    broken = {**document, "version": 7, "surplus": 1}
    with pytest.raises(engine.ScenarioError) as caught:
        run_enqueue(workspace=workspace, requested_by=owner, document=broken)
    assert {problem.path for problem in caught.value.problems} >= {"version", "surplus"}
    assert not Run.objects.exists()


@pytest.mark.parametrize("pace", [0.0, -1.0, float("nan"), float("inf"), 1e10])
def test_a_pace_out_of_range_is_refused(make_run: RunMaker, pace: float) -> None:
    with pytest.raises(engine.ScenarioError, match="pace: must be between"):
        make_run(pace=pace)
    assert not Run.objects.exists()


def test_a_run_keeps_the_document_of_its_scenario_as_it_was(
    owner: User, workspace: Workspace, document: Document, published: list[UUID]
) -> None:
    scenario_row = scenario_create(workspace=workspace, created_by=owner, text=json.dumps(document))
    run = run_enqueue(workspace=workspace, requested_by=owner, scenario=scenario_row)
    Scenario.objects.filter(pk=scenario_row.pk).update(document="{}", name="changed")
    run.refresh_from_db()
    assert json.loads(run.document)["name"] == document["name"] == run.name


def test_a_scenario_of_another_workspace_is_not_run(
    owner: User, workspace: Workspace, outsider: User, document: Document
) -> None:
    elsewhere = workspace_for(user=outsider, slug="elsewhere")
    foreign = scenario_create(workspace=elsewhere, created_by=outsider, text=json.dumps(document))
    with pytest.raises(ValueError, match="another workspace"):
        run_enqueue(workspace=workspace, requested_by=owner, scenario=foreign)


def test_a_run_is_claimed_once(make_run: RunMaker) -> None:
    run = make_run()
    claim = claimed(run)
    assert claim.attempt == 1
    assert run_claim(run_id=run.pk, host="here", pid=2) is None
    run.refresh_from_db()
    assert (run.status, run.worker_pid) == (Run.Status.RUNNING, 1)


def test_a_second_message_of_a_run_changes_nothing(make_run: RunMaker) -> None:
    run = make_run()
    tasks.run_execute(str(run.pk))
    chunks = Chunk.objects.filter(run=run).count()
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.attempt, Chunk.objects.filter(run=run).count()) == (Run.Status.SUCCEEDED, 1, chunks)


def test_a_heartbeat_of_an_older_attempt_is_refused(make_run: RunMaker) -> None:
    run = make_run()
    old = claimed(run)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.QUEUED)
    new = claimed(run, pid=2)
    assert not run_heartbeat(claim=old)
    assert run_heartbeat(claim=new)


def test_a_queued_run_is_cancelled_at_once(make_run: RunMaker) -> None:
    run = run_cancel(run=make_run())
    assert (run.status, run.partial) == (Run.Status.CANCELLED, False)
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.last_seq) == (Run.Status.CANCELLED, 0)


def test_a_running_run_is_flagged_and_its_worker_stops(make_run: RunMaker) -> None:
    run = make_run()
    claim = claimed(run)
    assert run_cancel(run=run).status == Run.Status.RUNNING
    tasks.run_compute(claim)
    run.refresh_from_db()
    assert run.status == Run.Status.CANCELLED
    assert headers(run)[-1]["message"] == "run cancelled"
    assert not Result.objects.filter(run=run).exists()
    assert_whole(run)


def test_a_finished_run_is_not_cancelled(make_run: RunMaker) -> None:
    run = make_run()
    tasks.run_execute(str(run.pk))
    run = run_cancel(run=Run.objects.get(pk=run.pk))
    assert (run.status, run.cancel_requested_at) == (Run.Status.SUCCEEDED, None)


def test_a_fault_of_ours_is_kept_with_its_traceback(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> list[engine.Batch]:
        raise engine.SimulationError("two operations at a time")

    monkeypatch.setattr(engine, "batches", broken)
    run = make_run()
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.partial) == (Run.Status.ERRORED, False)
    assert "two operations at a time" in run.problems[0]["message"]
    assert "in broken" in run.traceback


def test_a_fault_of_the_author_is_kept_as_problems(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    def infeasible(text: str) -> list[engine.Batch]:
        raise engine.InfeasibleError([engine.Problem("placement.stages", "do not fit")])

    monkeypatch.setattr(engine, "batches", infeasible)
    run = make_run()
    tasks.run_execute(str(run.pk))
    run.refresh_from_db()
    assert (run.status, run.traceback) == (Run.Status.FAILED, "")
    assert run.problems == [{"path": "placement.stages", "message": "do not fit"}]


def test_a_broker_that_is_away_leaves_the_run_queued(make_run: RunMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise BrokerError("connection refused")

    monkeypatch.setattr(tasks.run_execute, "apply_async", refuse)
    run = make_run()
    run.refresh_from_db()
    assert (run.status, run.published_at) == (Run.Status.QUEUED, None)


def test_nobody_outside_the_workspace_sees_a_run(
    make_run: RunMaker, owner: User, outsider: User, workspace: Workspace
) -> None:
    run = make_run()
    assert run_get(run_id=run.pk, visible_to=owner) == run
    with pytest.raises(Run.DoesNotExist):
        run_get(run_id=run.pk, visible_to=outsider)
    assert list(run_list(workspace=workspace)) == [run]
    assert not run_list(workspace=workspace_for(user=outsider, slug="elsewhere")).exists()
    with pytest.raises(Http404):
        workspace_for(user=outsider, slug=workspace.slug)
