"""The scenario library."""

from django.apps import AppConfig


class ScenariosConfig(AppConfig):
    """The scenario library."""

    name = "webapp.scenarios"
