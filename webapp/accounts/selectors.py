"""Who may see which workspace."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet
from django.http import Http404

from webapp.accounts.models import Membership, User, Workspace


def workspaces_of(*, user: User | AnonymousUser) -> QuerySet[Workspace]:
    """Return the workspaces that the user belongs to, by name."""
    if not user.is_authenticated:
        return Workspace.objects.none()
    return Workspace.objects.filter(memberships__user_id=user.pk).order_by("name")


def workspace_for(*, user: User | AnonymousUser, slug: str) -> Workspace:
    """Return a workspace of the user; 404 for everyone else, as if it did not exist."""
    try:
        return workspaces_of(user=user).get(slug=slug)
    except Workspace.DoesNotExist:
        raise Http404("no such workspace") from None


def may_edit(*, user: User | AnonymousUser, workspace: Workspace) -> bool:
    """Return whether the user may change scenarios and start or cancel runs."""
    return (
        user.is_authenticated
        and Membership.objects.filter(workspace=workspace, user_id=user.pk)
        .exclude(role=Membership.Role.VIEWER)
        .exists()
    )
