"""`manage.py owner`: a first user with a workspace, and a link that signs in once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.urls import reverse

from webapp.accounts.services import login_link_create, owner_ensure


class Command(BaseCommand):
    """Make a user that owns a workspace, where absent, and print the path of a one-time login link."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        parser.add_argument("username")
        parser.add_argument("--workspace", default="team", help="last part of the workspace's address")
        parser.add_argument("--name", default="Team", help="the workspace's name on screen")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make both and print the path; put the site's address before it."""
        user, _ = owner_ensure(
            username=options["username"], workspace_slug=options["workspace"], workspace_name=options["name"]
        )
        self.stdout.write(reverse("login-link", args=[login_link_create(user=user)]))
