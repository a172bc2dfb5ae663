"""`manage.py up`: database, web server and worker in one go."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.accounts.models import User, Workspace
from webapp.accounts.services import login_link_create, owner_ensure
from webapp.runs.supervisor import ADDRESS, CannotStartError, InstanceLock, Supervisor, listening_socket
from webapp.scenarios.demos import demos_load
from webapp.scenarios.models import Scenario


class Command(BaseCommand):
    """Start Boba on this machine and print the address that signs you in."""

    help = __doc__ or ""
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--port", type=int, default=settings.PORT, help="port on 127.0.0.1")

    def handle(self, *args: Any, **options: Any) -> None:
        """Prepare, start, tell the address, and supervise until stopped."""
        port: int = options["port"]
        try:
            lock = InstanceLock(settings.DATA_DIR / "up.lock")
            listener = listening_socket(port)
        except CannotStartError as error:
            raise CommandError(str(error), returncode=1) from error
        address = f"http://{ADDRESS}:{port}"
        lock.tell(address)
        call_command("prepare", verbosity=0)
        supervisor = Supervisor(listener)
        supervisor.start()
        try:
            owner, workspace = owner_ensure(username="local", workspace_slug="local", workspace_name="Local")
            self._load_demos(workspace, owner)
            supervisor.await_ready()
            self.stdout.write(f"Boba is at {address}/login/{login_link_create(user=owner)}")
            self.stdout.flush()
        except BaseException:
            supervisor.stop()
            raise
        supervisor.run()

    def _load_demos(self, workspace: Workspace, owner: User) -> None:
        """Fill a library that never held anything; demos that somebody deleted do not come back."""
        if not Scenario.objects.filter(workspace=workspace).exists():
            demos_load(workspace, owner)
