"""Runs, the chunks a worker stored of them, and their results."""

import json
import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse

from webapp.accounts.models import Workspace
from webapp.scenarios.models import Scenario


class Run(models.Model):
    """One simulation of one resolved scenario; can be repeated to the same bytes."""

    class Status(models.TextChoices):
        """Where a run stands; the last four are final."""

        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        """The scenario cannot run; its author can put it right."""
        ERRORED = "errored"
        """Our fault; the traceback is kept."""
        CANCELLED = "cancelled"

    ACTIVE = (Status.QUEUED, Status.RUNNING)
    FINAL = (Status.SUCCEEDED, Status.FAILED, Status.ERRORED, Status.CANCELLED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    scenario = models.ForeignKey(Scenario, on_delete=models.SET_NULL, null=True, related_name="runs")
    name = models.CharField(max_length=200)
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="runs"
    )
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.QUEUED)
    pace = models.FloatField(null=True)
    """Simulated seconds per wall second; null is as fast as it goes."""

    document = models.TextField()
    """Resolved scenario as canonical JSON."""
    scenario_hash = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=40)
    seed = models.BigIntegerField(default=0)

    attempt = models.PositiveIntegerField(default=0)
    """How often a worker has claimed the run; the fencing token of everything it writes."""
    worker_host = models.CharField(max_length=255, default="")
    worker_pid = models.BigIntegerField(null=True)
    last_seq = models.PositiveBigIntegerField(default=0)
    emitted_segments = models.PositiveBigIntegerField(default=0)
    """Segments stored so far; a new attempt skips as many of the same sequence."""
    simulated_ns = models.PositiveBigIntegerField(default=0)
    horizon_ns = models.PositiveBigIntegerField(default=0)
    figures = models.TextField(null=True)
    """Latest figures as JSON, without the long list of prefill times."""
    partial = models.BooleanField(default=False)
    """The run ended early; what it had stored is all there is."""
    problem = models.TextField(default="")
    """JSON list of {path, message} when failed or errored."""
    traceback = models.TextField(default="")

    cancel_requested_at = models.DateTimeField(null=True)
    heartbeat_at = models.DateTimeField(null=True)
    queued_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True)
    """When the broker was last told of it."""
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["queued", "running", "succeeded", "failed", "errored", "cancelled"]),
                name="run_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(pace__isnull=True) | models.Q(pace__gt=0), name="run_pace_above_0"
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "-queued_at"], name="run_recent"),
            models.Index(fields=["scenario", "-queued_at"], name="run_recent_of_scenario"),
            models.Index(fields=["queued_at"], condition=models.Q(status__in=["queued", "running"]), name="run_active"),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.status})"

    def get_absolute_url(self) -> str:
        """Return the address of the run's page."""
        return reverse("run-detail", kwargs={"workspace_slug": self.workspace.slug, "run_id": self.id})

    @property
    def is_final(self) -> bool:
        """Return whether nothing will change any more."""
        return self.status in self.FINAL

    @property
    def figures_data(self) -> dict[str, Any]:
        """Return the latest figures; empty while there are none."""
        data: dict[str, Any] = json.loads(self.figures) if self.figures else {}
        return data

    @property
    def problems(self) -> list[dict[str, str]]:
        """Return what was wrong, as {path, message}."""
        data: list[dict[str, str]] = json.loads(self.problem) if self.problem else []
        return data


class Chunk(models.Model):
    """One stored frame of a run, sent to browsers as it is."""

    class Kind(models.TextChoices):
        """What the frame's header says in `kind`."""

        LAYOUT = "layout"
        SEGMENTS = "segments"
        METRIC = "metric"
        PROGRESS = "progress"
        LOG = "log"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    seq = models.PositiveBigIntegerField()
    """From 1, without gaps."""
    kind = models.CharField(max_length=10, choices=Kind.choices)
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="chunk_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.seq} of run {self.run_id}"


class Result(models.Model):
    """The whole result of a run that succeeded."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="result", primary_key=True)
    text = models.TextField()
    """JSON, the object that the command line prints for the same document."""

    def __str__(self) -> str:
        return f"result of run {self.run_id}"
