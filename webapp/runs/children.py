"""Child processes of the supervisor: started, restarted with growing pauses, ended without leftovers."""

import contextlib
import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

logger = logging.getLogger(__name__)

FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
STEADY_S = 60.0
"""A child that lived this long is restarted without a pause again."""
_PR_SET_PDEATHSIG = 1


class Child:
    """One program that is to run as long as its supervisor does.

    It leads a session of its own, so that Ctrl-C in the terminal reaches the supervisor alone, and
    its whole group ends with it.

    Parameters
    ----------
    name : str
        For the log.
    arguments : sequence of str
        Arguments of the Python interpreter.
    stop_signal : int
        Asks the program to finish what it is at and end.
    orphan_signal : int
        Sent by the kernel should the supervisor be killed (Linux only).
    keep_files : sequence of int
        File descriptors that the program inherits.
    is_chatty : bool
        Its standard output is for nobody; what matters goes to the log on standard error.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        folder: Path,
        stop_signal: signal.Signals,
        orphan_signal: signal.Signals,
        keep_files: Sequence[int] = (),
        is_chatty: bool = False,
    ) -> None:
        self.name = name
        self._command = [sys.executable, *arguments]
        self._folder = folder
        self._stop_signal = stop_signal
        self._orphan_signal = orphan_signal
        self._keep_files = keep_files
        self._stdout = subprocess.DEVNULL if is_chatty else None
        self._process: subprocess.Popen[bytes] | None = None
        self._started_s = 0.0
        self._pause_s = 0.0
        self._start_at_s = 0.0

    @property
    def pid(self) -> int | None:
        """Return the program's process id while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    def watch(self) -> None:
        """Start the program if it does not run and its pause is over; clean up after one that died."""
        now_s = time.monotonic()
        if self._process is not None and self._process.poll() is not None:
            self._on_death(now_s)
        if self._process is None and now_s >= self._start_at_s:
            self._started_s = now_s
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and arguments
                self._command,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=self._stdout,
                start_new_session=True,
                pass_fds=self._keep_files,
                preexec_fn=_die_with_parent(self._orphan_signal),
            )

    def _on_death(self, now_s: float) -> None:
        process = self._process
        if process is None:
            return
        self._process = None
        _kill_group(process.pid)
        if now_s - self._started_s >= STEADY_S:
            self._pause_s = 0.0
        self._start_at_s = now_s + self._pause_s
        logger.warning("%s ended with %s; again in %.1f s", self.name, process.returncode, self._pause_s)
        self._pause_s = min(LONGEST_PAUSE_S, max(FIRST_PAUSE_S, 2 * self._pause_s))

    def ask_to_stop(self) -> None:
        """Send the stop signal."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(self._stop_signal)

    def stop(self, *, grace_s: float) -> None:
        """Wait for the end, then see that nothing of the group is left."""
        if self._process is None:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(grace_s)
        _kill_group(self._process.pid)
        self._process.wait()
        self._process = None

    def kill_own(self, pid: int) -> bool:
        """Kill a process that this program has forked; False if it has not."""
        if self.pid is None or _parent_pid(pid) != self.pid:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return True


def _kill_group(leader_pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader_pid, signal.SIGKILL)


def _die_with_parent(number: signal.Signals) -> Callable[[], None] | None:
    """Return what has the kernel send a signal when the supervisor dies (Linux only)."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    return lambda: library.prctl(_PR_SET_PDEATHSIG, int(number))


def _parent_pid(pid: int) -> int | None:
    """Return the parent of a process; None if there is no such process."""
    try:
        output = subprocess.run(  # noqa: S603
            ["ps", "-o", "ppid=", "-p", str(pid)],  # noqa: S607
            capture_output=True,
            check=False,
            timeout=5,
        ).stdout
        return int(output)
    except FileNotFoundError:
        return _parent_pid_from_proc(pid)
    except ValueError:
        return None


def _parent_pid_from_proc(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return int(text.rpartition(")")[2].split()[1])
