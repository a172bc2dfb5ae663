"""Reads of API tokens."""

from django.db.models import QuerySet

from webapp.accounts.models import User
from webapp.api.models import ApiToken


def token_list(*, user: User) -> QuerySet[ApiToken]:
    """Return the user's tokens that are not revoked, newest first."""
    return (
        ApiToken.objects.filter(user=user, revoked_at__isnull=True).select_related("workspace").order_by("-created_at")
    )
