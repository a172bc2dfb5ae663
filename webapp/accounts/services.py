"""Writes to users, workspaces and login links."""

import hashlib
import secrets
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import LoginLink, Membership, User, Workspace

LINK_LIFETIME = timedelta(hours=12)


def token_digest(token: str) -> str:
    """Return what is stored of a secret; it is random and long, so one hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


@transaction.atomic
def owner_ensure(*, username: str, workspace_slug: str, workspace_name: str) -> tuple[User, Workspace]:
    """Return the user and the workspace that it owns, both made if absent."""
    user, is_new = User.objects.get_or_create(username=username, defaults={"is_staff": True, "is_superuser": True})
    if is_new:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    workspace, _ = Workspace.objects.get_or_create(slug=workspace_slug, defaults={"name": workspace_name})
    Membership.objects.get_or_create(workspace=workspace, user=user, defaults={"role": Membership.Role.OWNER})
    return user, workspace


@transaction.atomic
def login_link_create(*, user: User) -> str:
    """Return the token of a new one-time link; links of the user that are over are removed."""
    now = timezone.now()
    LoginLink.objects.filter(user=user, expires_at__lt=now).delete()
    token = secrets.token_urlsafe(32)
    LoginLink.objects.create(digest=token_digest(token), user=user, expires_at=now + LINK_LIFETIME)
    return token


@transaction.atomic
def login_link_use(*, token: str) -> User | None:
    """Return the link's user, the first time only; None if it is unknown, used or expired."""
    now = timezone.now()
    unused = LoginLink.objects.filter(digest=token_digest(token), used_at__isnull=True, expires_at__gt=now)
    if not unused.filter(user__is_active=True).update(used_at=now):
        return None
    return LoginLink.objects.select_related("user").get(digest=token_digest(token)).user
