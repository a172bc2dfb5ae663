"""Pages: what each one shows in every state, who sees it, and how many queries it takes."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.casts import Document
from tests.service.conftest import RunMaker
from webapp.accounts.models import LoginLink, Membership, User, Workspace
from webapp.accounts.services import login_link_create
from webapp.api.models import ApiToken
from webapp.api.services import token_authenticate, token_create
from webapp.runs import tasks
from webapp.runs.models import Run
from webapp.scenarios.demo_documents import DEMOS
from webapp.scenarios.demos import demos_load
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import scenario_create
from webapp.scenarios.yaml_text import yaml_from

pytestmark = pytest.mark.django_db(transaction=True)

QUERY_COUNTS: dict[str, int] = json.loads((Path(__file__).parent / "query_counts.json").read_text())
PAGES = {
    "home": "/",
    "scenario-list": "/w/engines/scenarios",
    "scenario-new": "/w/engines/scenarios/new",
    "scenario-edit": "/w/engines/scenarios/prefill-two-shards/edit",
    "scenario-delete": "/w/engines/scenarios/prefill-two-shards/delete",
    "scenario-import": "/w/engines/scenarios/import",
    "run-list": "/w/engines/runs",
    "api-tokens": "/settings/tokens",
    "api-docs": "/api/docs",
}
REST_LISTS = {"rest-scenarios": "/api/v1/scenarios", "rest-runs": "/api/v1/runs"}
Filler = Callable[[int], None]


@pytest.fixture
def ada(client: Client, owner: User) -> Client:
    client.force_login(owner)
    return client


@pytest.fixture
def stored(owner: User, workspace: Workspace, document: Document) -> Scenario:
    return scenario_create(workspace=workspace, created_by=owner, text=yaml_from(document))


@pytest.fixture
def fill(owner: User, workspace: Workspace, document: Document, make_run: RunMaker) -> Filler:
    """Return what adds scenarios, each with runs, and tokens."""

    def filled(count: int) -> None:
        for number in range(count):
            text = yaml_from({**document, "name": f"number {number}"})
            scenario = scenario_create(workspace=workspace, created_by=owner, text=text, is_demo=number % 2 == 0)
            make_run(document=None, scenario=scenario)
            token_create(user=owner, workspace=workspace, name=f"token {number}", scopes=["read"])

    return filled


def content(client: Client, address: str, status: int = 200) -> str:
    """Return a page's HTML; asserts its status."""
    response = client.get(address)
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.parametrize("name", [*PAGES, *REST_LISTS])
def test_a_page_takes_the_same_queries_however_much_there_is(
    ada: Client, stored: Scenario, fill: Filler, name: str
) -> None:
    counts = []
    address = (PAGES | REST_LISTS)[name]
    for more in (2, 9):
        fill(more)
        with CaptureQueriesContext(connection) as queries:
            content(ada, address)
        counts.append(len(queries))
    assert counts == [QUERY_COUNTS[name]] * 2, "\n".join(query["sql"][:160] for query in queries)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_sends_a_policy_without_inline_scripts_and_keeps_to_it(ada: Client, stored: Scenario, name: str) -> None:
    response = ada.get(PAGES[name])
    policy = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))
    assert policy["script-src"] == "'self'"
    assert policy["default-src"] == "'self'"
    assert (policy["object-src"], policy["base-uri"], policy["frame-ancestors"]) == ("'none'", "'none'", "'none'")
    assert "unsafe-eval" not in response.headers["Content-Security-Policy"]
    html = response.content.decode()
    for tag in re.findall(r"<script\b[^>]*>", html):
        assert "src=" in tag or 'type="application/json"' in tag, f"inline script: {tag}"
    assert not re.search(r"\son[a-z]+=", html), "inline event handler"
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//(?!testserver)", html), "something from elsewhere"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_asks_strangers_to_sign_in_and_brings_them_back(client: Client, stored: Scenario, name: str) -> None:
    response = client.get(PAGES[name])
    assert response.status_code == 302
    assert response.headers["Location"] == f"/accounts/login/?next={PAGES[name]}"


@pytest.mark.parametrize("name", [name for name, address in PAGES.items() if address.startswith("/w/")])
def test_a_page_of_another_workspace_does_not_exist(
    client: Client, outsider: User, stored: Scenario, name: str
) -> None:
    client.force_login(outsider)
    html = content(client, PAGES[name], 404)
    assert "There is no such page" in html
    assert "Engines" not in html


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("post", "/w/engines/scenarios/new"),
        ("post", "/w/engines/scenarios/prefill-two-shards/edit"),
        ("post", "/w/engines/scenarios/prefill-two-shards/run"),
        ("post", "/w/engines/scenarios/prefill-two-shards/duplicate"),
        ("post", "/w/engines/scenarios/prefill-two-shards/delete"),
        ("post", "/w/engines/scenarios/import"),
        ("post", "/w/engines/scenarios/demos"),
        ("post", "/w/engines/scenarios/demos/run"),
        ("get", "/w/engines/scenarios/new"),
        ("get", "/w/engines/scenarios/import"),
    ],
)
def test_viewers_look_and_others_see_nothing(
    client: Client, outsider: User, workspace: Workspace, stored: Scenario, method: str, address: str
) -> None:
    client.force_login(outsider)
    assert getattr(client, method)(address).status_code == 404
    Membership.objects.create(workspace=workspace, user=outsider, role=Membership.Role.VIEWER)
    response = getattr(client, method)(address)
    assert response.status_code == 403
    assert "You may not do this" in response.content.decode()
    assert list(Scenario.objects.values_list("slug", "deleted_at")) == [("prefill-two-shards", None)]
    assert not Run.objects.exists()


def test_a_viewer_reads_lists_and_the_editor_without_buttons_that_change(
    client: Client, outsider: User, workspace: Workspace, stored: Scenario
) -> None:
    Membership.objects.create(workspace=workspace, user=outsider, role=Membership.Role.VIEWER)
    client.force_login(outsider)
    library = content(client, PAGES["scenario-list"])
    assert stored.name in library
    assert "New scenario" not in library
    editor = content(client, PAGES["scenario-edit"])
    assert 'data-state="no-permission"' in editor
    assert 'value="save"' not in editor
    assert 'value="run"' not in editor
    assert "readonly" in editor


def test_an_empty_workspace_leads_on(ada: Client) -> None:
    home = content(ada, "/")
    assert "Three steps to a first timeline" in home
    assert reverse("scenario-demos", args=["engines"]) in home
    library = content(ada, PAGES["scenario-list"])
    assert 'data-state="empty"' in library
    assert reverse("scenario-new", args=["engines"]) in library
    runs = content(ada, PAGES["run-list"])
    assert "Nothing has run yet" in runs
    assert PAGES["scenario-list"] in runs
    assert "No tokens yet" in content(ada, PAGES["api-tokens"])


def test_somebody_in_no_workspace_is_told_so(client: Client, db: None) -> None:
    client.force_login(User.objects.create_user("lonely"))
    assert "You are in no workspace yet" in content(client, "/")
    assert client.get("/settings/tokens").status_code == 200


def test_home_shows_what_runs_what_ran_and_how_the_demos_compare(
    ada: Client, owner: User, workspace: Workspace, make_run: RunMaker
) -> None:
    demos = demos_load(workspace, owner)
    runs = [make_run(document=None, scenario=demo) for demo in demos]
    html = content(ada, "/")
    assert "Running now" in html
    assert "data-active" in html
    for run, time_ns in zip(runs, (1_495_266_000, 30_933_168_000, 1_305_000_000), strict=True):
        figures = json.dumps({"iteration_time_ns": time_ns, "gpu_utilization_training": 0.5})
        Run.objects.filter(pk=run.pk).update(status="succeeded", figures=figures)
    html = content(ada, "/")
    assert "Running now" not in html
    assert "data-active" not in html
    assert "20.7×" in html
    assert "1.495 s" in html


def test_run_all_queues_each_demo_once(ada: Client, owner: User, workspace: Workspace, published: list[object]) -> None:
    response = ada.post(reverse("scenario-demos-run", args=["engines"]))
    assert (response.status_code, response.headers["Location"]) == (302, "/?w=engines")
    assert sorted(Run.objects.values_list("name", flat=True)) == sorted(build()["name"] for build in DEMOS)
    assert len(published) == len(DEMOS)


def test_the_library_is_searched_and_paged(ada: Client, owner: User, workspace: Workspace, document: Document) -> None:
    for number in range(53):
        scenario_create(
            workspace=workspace, created_by=owner, text=yaml_from({**document, "name": f"scenario {number:02}"})
        )
    first, second = content(ada, PAGES["scenario-list"]), content(ada, f"{PAGES['scenario-list']}?page=2")
    assert "1–50 of 53" in " ".join(first.split())
    assert "scenario 52" in first
    assert "scenario 00" in second
    found = content(ada, f"{PAGES['scenario-list']}?q=O+07")
    assert "scenario 07" in found
    assert "scenario 08" not in found
    assert "No scenario has that name" in content(ada, f"{PAGES['scenario-list']}?q=%3Cb%3E")
    assert content(ada, f"{PAGES['scenario-list']}?page=nonsense")


def test_the_list_of_runs_is_filtered_and_names_every_status(ada: Client, make_run: RunMaker) -> None:
    runs = {status: make_run() for status in Run.Status.values}
    for status, run in runs.items():
        Run.objects.filter(pk=run.pk).update(status=status, partial=status == "cancelled")
    html = content(ada, PAGES["run-list"])
    for status, run in runs.items():
        assert f'data-status="{status}"' in html
        filtered = content(ada, f"{PAGES['run-list']}?status={status}")
        assert re.findall(r"/runs/([0-9a-f-]{36})", filtered) == [str(run.pk)]
    assert html.count(">partial<") == 1
    assert "No run fits" in content(ada, f"{PAGES['run-list']}?q=nothing")


def test_what_people_typed_is_never_markup(
    ada: Client, owner: User, workspace: Workspace, document: Document, make_run: RunMaker
) -> None:
    evil = "<script>alert(1)</script>\"'&"
    scenario = scenario_create(workspace=workspace, created_by=owner, text=yaml_from({**document, "name": evil}))
    run = make_run(document=None, scenario=scenario)
    tasks.run_execute(str(run.pk))
    addresses = ["/", PAGES["scenario-list"], PAGES["run-list"], scenario.get_absolute_url(), run.get_absolute_url()]
    for address in addresses:
        html = content(ada, address)
        assert "<script>alert" not in html
        assert "&lt;script&gt;alert(1)" in html


def test_a_scenario_is_run_duplicated_and_deleted_from_the_library(
    ada: Client, stored: Scenario, published: list[object]
) -> None:
    response = ada.post(reverse("scenario-run", args=["engines", stored.slug]), {"pace": "10"})
    run = Run.objects.get()
    assert (response.status_code, response.headers["Location"], run.pace) == (302, run.get_absolute_url(), 10.0)

    response = ada.post(reverse("scenario-duplicate", args=["engines", stored.slug]))
    copy = Scenario.objects.exclude(pk=stored.pk).get()
    assert (response.headers["Location"], copy.name) == (copy.get_absolute_url(), f"{stored.name} (copy)")

    assert "Delete" in content(ada, PAGES["scenario-delete"])
    ada.post(PAGES["scenario-delete"])
    assert f'{stored.slug}/edit"' not in content(ada, PAGES["scenario-list"])
    assert ada.get(PAGES["scenario-edit"]).status_code == 404
    assert "(deleted)" in content(ada, PAGES["run-list"]), "its runs stay"


def test_a_pace_that_cannot_be_used_starts_nothing(ada: Client, stored: Scenario) -> None:
    response = ada.post(reverse("scenario-run", args=["engines", stored.slug]), {"pace": "-1"}, follow=True)
    assert "pace: must be a number" in response.content.decode()
    assert not Run.objects.exists()


def test_a_token_is_shown_once_and_revoked(ada: Client, workspace: Workspace) -> None:
    sent = {"name": "nightly", "scope": "run", "days": "30", "workspace": "engines"}
    html = ada.post("/settings/tokens", sent).content.decode()
    secret = re.search(r"boba_[\w-]{40,}", html)
    assert secret is not None
    token = token_authenticate(secret=secret[0])
    assert token is not None
    assert (token.name, token.scopes, token.workspace) == ("nightly", "run", workspace)
    listed = content(ada, "/settings/tokens")
    assert secret[0] not in listed
    assert token.prefix in listed
    ada.post(reverse("api-token-revoke", args=[token.pk]))
    assert token_authenticate(secret=secret[0]) is None
    assert token.prefix not in content(ada, "/settings/tokens")


def test_a_token_that_cannot_be_made_names_the_fields(ada: Client) -> None:
    sent = {"name": "", "scope": "admin", "days": "9999", "workspace": "elsewhere"}
    response = ada.post("/settings/tokens", sent)
    assert response.status_code == 422
    assert response.content.decode().count("field-error") == 4
    assert not ApiToken.objects.exists()


def test_nobody_revokes_or_sees_the_token_of_another(
    client: Client, owner: User, outsider: User, workspace: Workspace
) -> None:
    token, secret = token_create(user=owner, workspace=workspace, name="mine", scopes=["read"])
    client.force_login(outsider)
    assert client.post(reverse("api-token-revoke", args=[token.pk])).status_code == 404
    assert token.prefix not in content(client, "/settings/tokens")
    assert token_authenticate(secret=secret) == token


def test_a_login_link_works_once(client: Client, owner: User) -> None:
    link = f"/login/{login_link_create(user=owner)}"
    response = client.get(link)
    assert (response.status_code, response.headers["Location"]) == (302, "/")
    assert client.get("/").status_code == 200
    other = Client()
    assert "This link is over" in content(other, link, 410)
    assert other.get("/").status_code == 302
    assert client.get(link).headers["Location"] == "/", "whoever is signed in is not bothered"


def test_a_login_link_that_is_too_old_or_of_nobody_active_is_over(client: Client, owner: User) -> None:
    link = f"/login/{login_link_create(user=owner)}"
    User.objects.filter(pk=owner.pk).update(is_active=False)
    content(client, link, 410)
    User.objects.filter(pk=owner.pk).update(is_active=True)
    LoginLink.objects.update(expires_at="2020-01-01T00:00:00Z")
    content(client, link, 410)
    assert client.get("/").status_code == 302


@pytest.mark.parametrize(
    ("following", "lands"),
    [
        ("/w/engines/runs", "/w/engines/runs"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
def test_signing_in_leads_only_to_our_own_pages(client: Client, owner: User, following: str, lands: str) -> None:
    owner.set_password("correct horse")
    owner.save()
    sent = {"username": owner.username, "password": "correct horse", "next": following}
    response = client.post("/accounts/login/", sent)
    assert (response.status_code, response.headers["Location"]) == (302, lands)


def test_a_wrong_password_is_told_and_does_not_say_which_part(client: Client, owner: User) -> None:
    response = client.post("/accounts/login/", {"username": owner.username, "password": "x", "next": "/w/engines/runs"})
    assert response.status_code == 200
    html = response.content.decode()
    assert 'role="alert"' in html
    assert 'value="/w/engines/runs"' in html, "where the person wanted to go is kept"


def test_signing_out_needs_a_post(ada: Client) -> None:
    assert ada.get("/accounts/logout/").status_code == 405
    assert ada.post("/accounts/logout/").headers["Location"] == "/accounts/login/"
    assert ada.get("/").status_code == 302


def test_a_form_of_another_site_is_refused_on_a_page_of_ours(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    response = client.post(reverse("scenario-demos", args=["engines"]))
    assert response.status_code == 403
    assert "This form cannot be used any more" in response.content.decode()
    assert not Scenario.objects.exists()


def test_an_error_of_ours_is_a_page_that_says_so(
    ada: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something private")

    monkeypatch.setattr("webapp.scenarios.views.library_page", broken)
    ada.raise_request_exception = False
    html = content(ada, PAGES["scenario-list"], 500)
    assert "Something broke on our side" in html
    assert "something private" not in html
