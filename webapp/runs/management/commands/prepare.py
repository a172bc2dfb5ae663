"""`manage.py prepare`: what an installation needs once a version, before its processes start."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from webapp.assets import assets_collect


class Command(BaseCommand):
    """Bring the database up to date and collect this version's static files."""

    help = __doc__ or ""
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate and collect."""
        call_command("migrate", interactive=False, verbosity=options["verbosity"])
        assets_collect()
