"""Users, workspaces and who belongs where."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    """Users, workspaces and who belongs where."""

    name = "webapp.accounts"
