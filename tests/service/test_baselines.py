"""The run page beside a baseline: which runs are offered, what the figures say, what is refused."""

import json
import re
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.casts import Document
from tests.service.conftest import RunMaker
from webapp.accounts.models import User
from webapp.runs.models import Run

FIGURES = {
    "iteration_time_ns": 2_000,
    "gpu_utilization_training": 0.5,
    "wan_bytes": 100,
    "num_workers": 4,
    "num_cells": 1,
    "segments": 32,
    "inference": {"served": 7, "unplaceable": 0},
}


@pytest.fixture
def ada(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


def finished(run: Run, **figures: object) -> Run:
    """End a run with these figures beside those of `FIGURES`."""
    Run.objects.filter(pk=run.pk).update(status="succeeded", figures=json.dumps({**FIGURES, **figures}))
    run.refresh_from_db()
    return run


def html(client: Client, run: Run, base: object = "", *, piece: bool = False) -> str:
    response = client.get(run.get_absolute_url() + ("/figures" if piece else ""), {"base": str(base)} if base else {})
    assert response.status_code == 200
    return response.content.decode()


def deltas(page: str) -> dict[str, tuple[str, str]]:
    found = re.findall(r'data-delta="(\w+)" data-sense="(\w+)">([^<]+)<', page)
    return {key: (text, sense) for key, sense, text in found}


def offered(page: str) -> list[str]:
    return re.findall(r'<option value="([0-9a-f-]+)"', page)


@pytest.fixture
def named(make_run: RunMaker, document: Document) -> RunMaker:
    """Return what queues a run of a scenario that differs from all others."""

    def make(microbatches: int, **figures: object) -> Run:
        changed = {**document, "training": {**document["training"], "microbatches": microbatches}}
        return finished(make_run(document=changed), **figures)

    return make


def test_figures_are_compared_with_the_run_that_the_address_names(ada: Client, named: RunMaker) -> None:
    run = named(4)
    base = named(6, iteration_time_ns=41_374, gpu_utilization_training=0.25, inference={"served": 9, "unplaceable": 0})
    for piece in (False, True):
        page = html(ada, run, base.pk, piece=piece)
        assert deltas(page) == {
            "iteration_time_ns": ("20.7× faster", "better"),
            "gpu_utilization_training": ("+25.0 points", "better"),
            "wan_bytes": ("same", "same"),
            "served": ("2 fewer", "worse"),
            "unplaceable": ("same", "same"),
        }
    assert deltas(html(ada, base, run.pk))["iteration_time_ns"] == ("20.7× slower", "worse")
    assert deltas(html(ada, run)) == {}


def test_the_newest_run_of_the_same_job_is_suggested(ada: Client, named: RunMaker) -> None:
    run = named(4)
    named(6, iteration_time_ns=9_000)
    newest = named(7, iteration_time_ns=6_000)
    other = named(8, segments=64)
    page = html(ada, run)
    assert "3× faster than" in " ".join(re.sub(r"<[^>]+>", "", page).split())
    assert f'href="?base={newest.pk}"' in page
    assert "another job" in html(ada, run, other.pk)
    assert f'href="?base={newest.pk}"' not in html(ada, run, other.pk)


def test_each_scenario_is_offered_once_and_the_same_one_never(ada: Client, named: RunMaker) -> None:
    run = named(4)
    named(4)
    older, newer = named(6), named(6)
    assert offered(html(ada, run)) == [str(newer.pk)]
    assert offered(html(ada, run, older.pk)) == [str(older.pk)]


def test_a_baseline_that_cannot_be_used_is_said_and_ignored(
    ada: Client, make_run: RunMaker, named: RunMaker, outsider: User
) -> None:
    run = named(4)
    queued = make_run()
    foreign = named(6)
    Run.objects.filter(pk=foreign.pk).update(workspace=outsider.memberships.get().workspace)
    for base in (uuid4(), "nonsense", queued.pk, run.pk, foreign.pk):
        page = html(ada, run, base)
        assert "is not there, or did not succeed" in page
        assert deltas(page) == {}


def test_a_run_without_figures_yet_can_have_a_baseline(ada: Client, make_run: RunMaker, named: RunMaker) -> None:
    base = named(6)
    page = html(ada, make_run(), base.pk)
    assert deltas(page) == {}
    assert f'<option value="{base.pk}" selected>' in page


def test_a_baseline_without_inference_leaves_its_figures_open(ada: Client, named: RunMaker) -> None:
    run, base = named(4), named(6, inference=None)
    assert set(deltas(html(ada, run, base.pk))) == {"iteration_time_ns", "gpu_utilization_training", "wan_bytes"}


def test_the_figures_of_a_run_are_for_members(client: Client, named: RunMaker, outsider: User) -> None:
    address = named(4).get_absolute_url() + "/figures"
    assert client.get(address).status_code == 302
    client.force_login(outsider)
    assert client.get(address).status_code == 404


def test_a_run_page_takes_the_same_queries_however_many_runs_there_are(ada: Client, named: RunMaker) -> None:
    run, base = named(4), named(6)
    html(ada, run, base.pk)
    counts = []
    for microbatches in (7, 9):
        named(microbatches)
        with CaptureQueriesContext(connection) as queries:
            html(ada, run, base.pk)
        counts.append(len(queries))
    assert counts[0] == counts[1]
