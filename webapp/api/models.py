"""Tokens by which programs use the REST interface."""

from django.conf import settings
from django.db import models

from webapp.accounts.models import Workspace


class ApiToken(models.Model):
    """A bearer token of one user in one workspace; only a digest of the secret is kept."""

    class Scope(models.TextChoices):
        """What a token may do; each scope includes the ones before it."""

        READ = "read"
        RUN = "run"
        WRITE = "write"
        ADMIN = "admin"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    """First characters of the secret, by which people recognise it."""
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.CharField(max_length=60, default=Scope.READ)
    """Scopes separated by spaces."""
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}...)"

    def allows(self, scope: str) -> bool:
        """Return whether one of the token's scopes includes `scope`."""
        order = list(self.Scope.values)
        return any(order.index(own) >= order.index(scope) for own in self.scopes.split() if own in order)
