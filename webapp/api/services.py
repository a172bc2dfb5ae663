"""Writes to API tokens."""

import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from webapp.accounts.models import Membership, User, Workspace
from webapp.accounts.services import token_digest
from webapp.api.models import ApiToken

SECRET_PREFIX = "boba_"  # noqa: S105 - a mark by which leaked tokens are recognised, no secret
SHOWN_CHARACTERS = 11
USE_RECORDED_EVERY = timedelta(minutes=1)


def token_create(
    *, user: User, workspace: Workspace, name: str, scopes: Iterable[str], expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Return a new token and its secret, which cannot be read again.

    Raises
    ------
    ValueError
        If a scope is unknown, or none is given.
    """
    wanted = list(dict.fromkeys(scopes))
    unknown = [scope for scope in wanted if scope not in ApiToken.Scope.values]
    if unknown or not wanted:
        raise ValueError(f"scopes are some of {', '.join(ApiToken.Scope.values)}; got {', '.join(unknown) or 'none'}")
    secret = SECRET_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        workspace=workspace,
        name=name,
        prefix=secret[:SHOWN_CHARACTERS],
        digest=token_digest(secret),
        scopes=" ".join(wanted),
        expires_at=expires_at,
    )
    return token, secret


def token_revoke(*, token: ApiToken) -> None:
    """End a token; its row stays for the record."""
    ApiToken.objects.filter(pk=token.pk, revoked_at__isnull=True).update(revoked_at=timezone.now())


def token_authenticate(*, secret: str) -> ApiToken | None:
    """Return the live token with this secret, while its user still belongs to the workspace."""
    now = timezone.now()
    token = (
        ApiToken.objects.select_related("user", "workspace")
        .filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))
        .filter(digest=token_digest(secret), revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if token is None or not Membership.objects.filter(workspace=token.workspace, user=token.user).exists():
        return None
    if token.last_used_at is None or now - token.last_used_at > USE_RECORDED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token
