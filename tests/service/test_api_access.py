"""Who may call what: tokens, scopes, roles, and the walls between workspaces."""

import hashlib
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.casts import Document
from tests.service.conftest import RunMaker
from tests.service.rest import Rest, problem
from webapp.accounts.models import Membership, User, Workspace
from webapp.api.models import ApiToken
from webapp.api.services import token_authenticate, token_create, token_revoke
from webapp.runs.models import Run
from webapp.scenarios.models import Scenario
from webapp.scenarios.services import scenario_create
from webapp.scenarios.yaml_text import yaml_from

pytestmark = pytest.mark.django_db(transaction=True)

READS = ("/scenarios", "/runs", "/catalogue")


@pytest.fixture
def stored(owner: User, workspace: Workspace, document: Document) -> Scenario:
    return scenario_create(workspace=workspace, created_by=owner, text=yaml_from(document))


@pytest.mark.parametrize("path", READS)
def test_without_a_token_nothing_is_read(client: Client, path: str) -> None:
    response = client.get(f"/api/v1{path}")
    problem(response, 401)
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("header", ["Bearer boba_nonsense", "Bearer ", "Basic YTpi", "Bearer a\x00b", "boba"])
def test_a_wrong_token_is_refused(client: Client, owner: User, header: str) -> None:
    problem(client.get("/api/v1/scenarios", headers={"Authorization": header}), 401)


def test_only_a_digest_of_a_token_is_kept(owner: User, workspace: Workspace) -> None:
    token, secret = token_create(user=owner, workspace=workspace, name="ci", scopes=["read"])
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert secret not in str(row)
    assert row["digest"] == hashlib.sha256(secret.encode()).hexdigest()
    assert len(row["prefix"]) < len(secret) / 3


def test_a_token_ends_when_it_expires_or_is_revoked_or_its_user_leaves(owner: User, workspace: Workspace) -> None:
    now = timezone.now()
    _, expired = token_create(
        user=owner, workspace=workspace, name="old", scopes=["read"], expires_at=now - timedelta(seconds=1)
    )
    assert token_authenticate(secret=expired) is None
    token, secret = token_create(user=owner, workspace=workspace, name="new", scopes=["read"])
    assert token_authenticate(secret=secret) == token
    token_revoke(token=token)
    assert token_authenticate(secret=secret) is None
    _, secret = token_create(user=owner, workspace=workspace, name="third", scopes=["read"])
    Membership.objects.filter(user=owner, workspace=workspace).delete()
    assert token_authenticate(secret=secret) is None


def test_use_of_a_token_is_recorded(owner: User, workspace: Workspace) -> None:
    rest = Rest(owner, workspace, "read")
    assert rest.token.last_used_at is None
    assert rest.get("/scenarios").status_code == 200
    rest.token.refresh_from_db()
    assert rest.token.last_used_at is not None


def test_scopes_include_the_ones_before(
    owner: User, workspace: Workspace, stored: Scenario, make_run: RunMaker
) -> None:
    run = make_run()
    read, start, write = (Rest(owner, workspace, scope) for scope in ("read", "run", "write"))

    assert read.get(f"/scenarios/{stored.slug}").status_code == 200
    assert "'run'" in problem(read.post("/runs", {"scenario": stored.slug}), 403)["detail"]
    problem(read.post(f"/runs/{run.pk}/cancel"), 403)

    assert start.post("/runs", {"scenario": stored.slug}).status_code == 201
    assert start.post(f"/runs/{run.pk}/cancel").status_code == 202
    problem(start.delete(f"/scenarios/{stored.slug}"), 403)
    problem(start.post("/scenarios", {"text": stored.text}), 403)
    problem(start.put(f"/scenarios/{stored.slug}", {"text": stored.text, "version": 1}), 403)

    assert write.delete(f"/scenarios/{stored.slug}").status_code == 204


def test_a_viewers_token_cannot_change_anything(workspace: Workspace, outsider: User, stored: Scenario) -> None:
    Membership.objects.create(workspace=workspace, user=outsider, role=Membership.Role.VIEWER)
    rest = Rest(outsider, workspace, "write")
    assert rest.get(f"/scenarios/{stored.slug}").status_code == 200
    problem(rest.post("/scenarios", {"text": stored.text}), 403)
    problem(rest.post("/runs", {"scenario": stored.slug}), 403)
    problem(rest.delete(f"/scenarios/{stored.slug}"), 403)
    assert not Run.objects.exists()
    assert Scenario.objects.get().deleted_at is None


def test_what_belongs_to_another_workspace_does_not_exist(
    outsider: User, workspace: Workspace, stored: Scenario, make_run: RunMaker
) -> None:
    run = make_run()
    elsewhere = Workspace.objects.get(slug="elsewhere")
    rest = Rest(outsider, elsewhere)
    for path in ("", "/result", "/layout", "/timeline", "/export?format=json"):
        problem(rest.get(f"/runs/{run.pk}{path}"), 404)
    problem(rest.post(f"/runs/{run.pk}/cancel"), 404)
    problem(rest.get(f"/scenarios/{stored.slug}"), 404)
    problem(rest.put(f"/scenarios/{stored.slug}", {"text": stored.text, "version": 1}), 404)
    problem(rest.delete(f"/scenarios/{stored.slug}"), 404)
    problem(rest.post("/runs", {"scenario": stored.slug}), 404)
    problem(rest.get(f"/scenarios?workspace={workspace.slug}"), 404)
    problem(rest.get(f"/runs?scenario={stored.slug}"), 404)
    assert rest.get("/scenarios").json()["items"] == []
    assert rest.get("/runs").json()["items"] == []
    run.refresh_from_db()
    assert run.cancel_requested_at is None


def test_a_token_opens_its_own_workspace_only(owner: User, workspace: Workspace, make_run: RunMaker) -> None:
    run = make_run()
    second = Workspace.objects.create(slug="second", name="Second")
    Membership.objects.create(workspace=second, user=owner, role=Membership.Role.OWNER)
    rest = Rest(owner, second)
    problem(rest.get(f"/runs/{run.pk}"), 404)
    problem(rest.get(f"/runs?workspace={workspace.slug}"), 404)


def test_the_pages_session_may_call_and_says_which_workspace(client: Client, owner: User, workspace: Workspace) -> None:
    client.force_login(owner)
    assert client.get("/api/v1/scenarios").status_code == 200
    second = Workspace.objects.create(slug="second", name="Second")
    Membership.objects.create(workspace=second, user=owner, role=Membership.Role.OWNER)
    refused = problem(client.get("/api/v1/scenarios"), 422)
    assert refused["problems"] == [{"path": "workspace", "message": "is required; yours are engines, second"}]
    assert client.get("/api/v1/scenarios?workspace=second").status_code == 200


def test_a_session_needs_the_csrf_header_to_write(owner: User, workspace: Workspace, stored: Scenario) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    response = client.delete(f"/api/v1/scenarios/{stored.slug}")
    assert response.status_code == 403
    stored.refresh_from_db()
    assert stored.deleted_at is None


@pytest.mark.parametrize(
    "path",
    ["/scenarios/none-such", "/runs/00000000-0000-0000-0000-000000000000", "/scenarios/a%00b"],
)
def test_what_is_not_there_is_a_problem_document(owner: User, workspace: Workspace, path: str) -> None:
    problem(Rest(owner, workspace).get(path), 404)
