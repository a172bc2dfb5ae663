"""One-time login links, workspaces and who belongs to them."""

import re
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.http import Http404
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import LoginLink, Membership, User, Workspace
from webapp.accounts.selectors import may_edit, workspace_for, workspaces_of
from webapp.accounts.services import login_link_create, login_link_use, owner_ensure

pytestmark = pytest.mark.django_db


def test_a_link_signs_in_once(owner: User) -> None:
    path = f"/login/{login_link_create(user=owner)}"
    first, second = Client(), Client()
    assert first.get(path).headers["Location"] == "/"
    assert int(first.session["_auth_user_id"]) == owner.pk
    assert second.get(path).status_code == 410
    assert "_auth_user_id" not in second.session
    assert first.get(path).headers["Location"] == "/", "who is signed in already just goes on"


def test_a_used_link_and_an_unknown_one_look_alike(owner: User) -> None:
    token = login_link_create(user=owner)
    login_link_use(token=token)
    used, unknown = Client().get(f"/login/{token}"), Client().get("/login/nonsense")
    assert (used.status_code, used.content) == (unknown.status_code, unknown.content)
    assert "no-store" in used.headers["Cache-Control"]


def test_a_link_expires(owner: User) -> None:
    token = login_link_create(user=owner)
    LoginLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert login_link_use(token=token) is None


def test_a_link_of_somebody_locked_out_does_nothing(owner: User) -> None:
    token = login_link_create(user=owner)
    User.objects.filter(pk=owner.pk).update(is_active=False)
    assert login_link_use(token=token) is None


def test_the_token_itself_is_not_stored(owner: User) -> None:
    token = login_link_create(user=owner)
    assert token not in str(list(LoginLink.objects.values()))


def test_an_owner_is_made_once(owner: User, workspace: Workspace) -> None:
    again = owner_ensure(username="ada", workspace_slug="engines", workspace_name="Renamed")
    assert again == (owner, workspace)
    assert (User.objects.count(), Workspace.objects.count(), Membership.objects.count()) == (1, 1, 1)
    assert not owner.has_usable_password()


def test_an_outsider_finds_no_workspace(owner: User, workspace: Workspace, outsider: User) -> None:
    assert workspace_for(user=owner, slug="engines") == workspace
    with pytest.raises(Http404):
        workspace_for(user=outsider, slug="engines")
    assert workspace not in workspaces_of(user=outsider)
    assert not may_edit(user=outsider, workspace=workspace)


def test_a_viewer_looks_and_changes_nothing(workspace: Workspace, outsider: User) -> None:
    Membership.objects.create(workspace=workspace, user=outsider, role=Membership.Role.VIEWER)
    assert workspace_for(user=outsider, slug="engines") == workspace
    assert not may_edit(user=outsider, workspace=workspace)
    Membership.objects.filter(user=outsider, workspace=workspace).update(role=Membership.Role.EDITOR)
    assert may_edit(user=outsider, workspace=workspace)


def test_the_command_makes_an_owner_and_prints_a_link() -> None:
    printed = StringIO()
    call_command("owner", "grace", "--workspace", "navy", "--name", "Navy", stdout=printed)
    path = printed.getvalue().strip()
    assert re.fullmatch(r"/login/[\w-]{40,}", path)
    client = Client()
    assert client.get(path).status_code == 302
    assert workspace_for(user=User.objects.get(username="grace"), slug="navy").name == "Navy"
