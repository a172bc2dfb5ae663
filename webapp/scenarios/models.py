"""Scenarios as people wrote them."""

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from webapp.accounts.models import Workspace


class Scenario(models.Model):
    """A valid scenario document of a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="scenarios")
    slug = models.SlugField(max_length=80)
    name = models.CharField(max_length=200)
    text = models.TextField()
    """YAML or JSON, exactly as its author left it."""
    document = models.TextField()
    """The same as canonical JSON; text, because jsonb would lose the order of keys."""
    outline = models.TextField(default="{}")
    """The few figures that lists show, as JSON, so that they need not read whole documents."""
    version = models.PositiveIntegerField(default=1)
    """Grows with every change; a writer states the version it read."""
    is_demo = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="scenarios"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workspace", "slug"], name="scenario_slug_once")]
        indexes = [models.Index(fields=["workspace", "-updated_at"], name="scenario_recent")]

    def __str__(self) -> str:
        return self.name

    @property
    def outline_data(self) -> dict[str, Any]:
        """Return the figures that lists show; see `webapp.scenarios.outline`."""
        data: dict[str, Any] = json.loads(self.outline)
        return data

    def get_absolute_url(self) -> str:
        """Return the address of the editor."""
        return reverse("scenario-edit", kwargs={"workspace_slug": self.workspace.slug, "slug": self.slug})
