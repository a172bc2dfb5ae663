"""`manage.py up` as a person starts it, in a data folder and on a port of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.machine import free_port
from tests.visitor import Visitor

REPOSITORY = Path(__file__).resolve().parent.parent
START_TIMEOUT_S = 90.0
"""Long enough for a machine that compiles the kernels first; nothing is asserted about it."""
STOP_TIMEOUT_S = 40.0
_ANNOUNCED = re.compile(r"^Boba is at (http://\S+)/login/(\S+)$", re.MULTILINE)


def own_environment(data_dir: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a process that shares nothing with a developer's installation."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOBA_")}
    for name in ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
        kept.pop(name, None)
    return {**kept, "BOBA_DATA_DIR": str(data_dir), "PYTHONUNBUFFERED": "1", **variables}


class LiveBoba:
    """The whole product while it runs; its output is in `log_path`."""

    def __init__(self, data_dir: Path, **variables: str) -> None:
        self.data_dir = data_dir
        self.log_path = data_dir.with_name(f"{data_dir.name}.log")
        self.environment = own_environment(data_dir, **variables)
        self.base_url = ""
        self.visitor = Visitor("")
        """The local owner, signed in by the one-time link."""
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, wait until the link is printed, and sign in by it."""
        port = free_port()
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "manage.py", "up", "--port", str(port)],
                cwd=REPOSITORY,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self.base_url, token = self._await_announcement()
            self.visitor = Visitor(self.base_url)
            self.visitor.sign_in(f"/login/{token}")
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Return the process id of the supervisor."""
        assert self._process is not None
        return self._process.pid

    def process_ids(self) -> dict[int, str]:
        """Return the command of every process that has this data folder in its environment."""
        mark = f"BOBA_DATA_DIR={self.data_dir}".encode()
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue
        return {pid: command for pid, command in found.items() if command}

    @property
    def log(self) -> str:
        """Return everything printed so far."""
        return self.log_path.read_text(errors="replace")

    def manage(self, *arguments: str) -> str:
        """Return what a command of `manage.py` prints in the same data folder."""
        finished = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)

    def wait(self) -> int:
        """Return the exit code once the supervisor has ended."""
        assert self._process is not None
        return self._process.wait(STOP_TIMEOUT_S)

    def stop(self) -> None:
        """Press Ctrl-C and wait; a supervisor that does not end is killed, upon which its children end."""
        if self._process is None:
            return
        self.interrupt()
        try:
            self.wait()
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise

    def _await_announcement(self) -> tuple[str, str]:
        deadline_s = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline_s:
            found = _ANNOUNCED.search(self.log)
            if found is not None:
                return found[1], found[2]
            assert self._process is not None
            assert self._process.poll() is None, f"manage.py up ended by itself:\n{self.log}"
            time.sleep(0.05)
        raise AssertionError(f"manage.py up printed no address within {START_TIMEOUT_S} s:\n{self.log}")
