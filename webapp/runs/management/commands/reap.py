"""`manage.py reap`: the reaper as a process of its own, for installations with Redis."""

import logging
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, close_old_connections

from webapp.runs.reaper import runs_reap, worker_revoke

logger = logging.getLogger(__name__)


class Command(BaseCommand):
    """Look after lost workers, lost messages and unheeded cancels until stopped."""

    help = __doc__ or ""

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--interval-s", type=float, default=5.0, help="seconds between two rounds")
        parser.add_argument("--once", action="store_true", help="one round, then end")

    def handle(self, *args: Any, **options: Any) -> None:
        """Reap in rounds."""
        is_over = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: is_over.set())
        while True:
            try:
                runs_reap(kill=worker_revoke)
            except (DatabaseError, InterfaceError):
                logger.exception("the database is away")
            if options["once"] or is_over.wait(options["interval_s"]):
                return
            close_old_connections()
