"""Runs: queue, worker, stored chunks, live view."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    """Runs: queue, worker, stored chunks, live view."""

    name = "webapp.runs"
