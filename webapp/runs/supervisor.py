"""`manage.py up`: the whole product on one machine, one process tree, nothing left behind."""

import contextlib
import errno
import fcntl
import http.client
import logging
import signal
import socket
import threading
import time
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.utils import timezone

from webapp.runs.children import Child
from webapp.runs.models import Run
from webapp.runs.reaper import runs_reap
from webapp.runs.services import HAS_SEGMENTS, run_cancel

logger = logging.getLogger(__name__)

WATCH_INTERVAL_S = 0.1
REAP_INTERVAL_S = 2.5
READY_TIMEOUT_S = 30.0
STOP_GRACE_S = 5.0
WORKER_GRACE_S = 1.0
"""Its runs are over by then, and an idle Celery worker takes seconds to fold up in order."""
ADDRESS = "127.0.0.1"


class CannotStartError(Exception):
    """Why the product does not start, in one line."""


class InstanceLock:
    """Lets one supervisor have a data folder, and tells a second one where the first is."""

    def __init__(self, path: Path) -> None:
        self._file = open(path, "a+")  # noqa: SIM115 - held until the process ends
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.seek(0)
            address = self._file.read().strip() or "an address it has not told yet"
            raise CannotStartError(f"Boba is already running at {address}") from None

    def tell(self, address: str) -> None:
        """Leave the address for whoever comes second."""
        self._file.truncate(0)
        self._file.write(address)
        self._file.flush()


def listening_socket(port: int) -> socket.socket:
    """Return a socket that listens; it outlives every restart of the web process."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((ADDRESS, port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = (
            "is in use" if isinstance(error, OSError) and error.errno == errno.EADDRINUSE else f"is no use: {error}"
        )
        raise CannotStartError(f"port {port} {reason}; choose another with --port or BOBA_PORT") from None
    listener.listen(512)
    return listener


class Supervisor:
    """Keeps a web process and a worker alive, and looks after the runs."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._is_stopping = threading.Event()
        self._web = Child(
            "web",
            [
                *("-m", "uvicorn", "webapp.asgi:application", "--fd", str(listener.fileno())),
                *("--ws-per-message-deflate", "false", "--no-access-log", "--log-level", "warning"),
                *("--timeout-graceful-shutdown", "2"),
            ],
            folder=settings.BASE_DIR,
            stop_signal=signal.SIGTERM,
            orphan_signal=signal.SIGTERM,
            keep_files=[listener.fileno()],
        )
        self._worker = Child(
            "worker",
            [
                *("-W", "ignore:You're running the worker with superuser privileges"),
                *("-m", "celery", "--app", "webapp.celery", "--quiet", "worker", "--pool", "prefork"),
                *("--concurrency", str(settings.WORKERS), "--loglevel", "WARNING"),
                *("--without-gossip", "--without-mingle", "--without-heartbeat"),
            ],
            folder=settings.BASE_DIR,
            stop_signal=signal.SIGTERM,
            orphan_signal=signal.SIGQUIT,
            is_chatty=True,
        )

    def start(self) -> None:
        """Start web process and worker; SIGINT and SIGTERM end `run` from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: self._is_stopping.set())
        self._web.watch()
        self._worker.watch()

    def await_ready(self) -> None:
        """Return once a page is served, or somebody wants to stop."""
        deadline_s = time.monotonic() + READY_TIMEOUT_S
        while time.monotonic() < deadline_s and not self._is_stopping.is_set():
            if _is_served(self._listener.getsockname()[1]):
                return
            self._web.watch()
            time.sleep(WATCH_INTERVAL_S)

    def run(self) -> None:
        """Watch until told to stop, then cancel what runs and end everything."""
        reap_at_s = time.monotonic()
        try:
            while not self._is_stopping.wait(WATCH_INTERVAL_S):
                self._web.watch()
                self._worker.watch()
                if time.monotonic() >= reap_at_s:
                    self._reap()
                    reap_at_s = time.monotonic() + REAP_INTERVAL_S
        finally:
            self.stop()

    def stop(self) -> None:
        """Cancel active runs, giving workers a moment to do it themselves, and end both children."""
        try:
            for run in Run.objects.filter(status__in=Run.ACTIVE):
                run_cancel(run=run)
            deadline_s = time.monotonic() + STOP_GRACE_S
            while Run.objects.filter(status=Run.Status.RUNNING).exists() and time.monotonic() < deadline_s:
                time.sleep(WATCH_INTERVAL_S)
        except (DatabaseError, InterfaceError):
            logger.exception("runs could not be cancelled")
        self._worker.ask_to_stop()
        self._web.ask_to_stop()
        self._web.stop(grace_s=STOP_GRACE_S)
        self._worker.stop(grace_s=WORKER_GRACE_S)
        with contextlib.suppress(DatabaseError, InterfaceError):
            runs_abandon()

    def _reap(self) -> None:
        try:
            close_old_connections()
            runs_reap(kill=self._kill)
        except (DatabaseError, InterfaceError):
            logger.exception("the database is away")

    def _kill(self, run: Run) -> None:
        """End the worker of a run if it is a process of ours."""
        if run.worker_host != socket.gethostname() or run.worker_pid is None:
            return
        if not self._worker.kill_own(run.worker_pid):
            logger.warning("worker is not ours or gone run_id=%s pid=%s", run.pk, run.worker_pid)


def runs_abandon() -> None:
    """Mark runs cancelled whose worker was ended with the supervisor."""
    active = Run.objects.filter(status__in=Run.ACTIVE, cancel_requested_at__isnull=False)
    active.update(status=Run.Status.CANCELLED, finished_at=timezone.now(), partial=HAS_SEGMENTS)


def _is_served(port: int) -> bool:
    connection = http.client.HTTPConnection(ADDRESS, port, timeout=5)
    try:
        connection.request("HEAD", "/accounts/login/")
        connection.getresponse()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return True
