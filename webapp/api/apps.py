"""REST and its tokens."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """REST and its tokens."""

    name = "webapp.api"
