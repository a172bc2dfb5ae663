"""Child processes, the lock of the data folder, and what a wrong setting says."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.live import REPOSITORY, own_environment
from webapp.runs.children import Child
from webapp.runs.supervisor import CannotStartError, InstanceLock, listening_socket

WAIT_S = 20.0
"""How long something that must happen may take on a busy machine."""


def until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not is_so():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(0.02)


def lives(pid: int) -> bool:
    """Return whether the process runs; one that only waits to be collected does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def child_running(program: str, tmp_path: Path) -> Child:
    return Child(
        "test",
        ["-c", program],
        folder=tmp_path,
        stop_signal=signal.SIGTERM,
        orphan_signal=signal.SIGTERM,
    )


FORKING = """
import os, time
if os.fork() == 0:
    open("grandchild", "w").write(str(os.getpid()))
time.sleep(600)
"""


@pytest.fixture
def child(tmp_path: Path) -> Iterator[Child]:
    made = child_running(FORKING, tmp_path)
    made.watch()
    until(lambda: (tmp_path / "grandchild").exists() and (tmp_path / "grandchild").read_text() != "")
    yield made
    made.stop(grace_s=0)


def grandchild_pid(tmp_path: Path) -> int:
    return int((tmp_path / "grandchild").read_text())


def test_a_killed_child_is_started_again_and_its_own_children_are_gone(child: Child, tmp_path: Path) -> None:
    first, orphan = child.pid, grandchild_pid(tmp_path)
    assert first is not None
    os.kill(first, signal.SIGKILL)
    until(lambda: child.pid is None)
    until(lambda: (child.watch(), child.pid is not None)[1])
    assert child.pid != first
    until(lambda: not lives(orphan))


def test_stopping_leaves_nothing_of_the_group(child: Child, tmp_path: Path) -> None:
    pids = [child.pid, grandchild_pid(tmp_path)]
    child.ask_to_stop()
    child.stop(grace_s=WAIT_S)
    for pid in pids:
        assert pid is not None
        until(lambda pid=pid: not lives(pid))
    assert child.pid is None


def test_only_what_the_child_has_forked_is_killed(child: Child, tmp_path: Path) -> None:
    stranger = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    try:
        assert not child.kill_own(stranger.pid)
        assert not child.kill_own(os.getpid())
        assert child.kill_own(grandchild_pid(tmp_path))
        until(lambda: not lives(grandchild_pid(tmp_path)))
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_child_that_keeps_dying_is_started_ever_more_rarely(tmp_path: Path) -> None:
    child = child_running("raise SystemExit(3)", tmp_path)
    pauses_s = []
    for _ in range(3):
        until(lambda: (child.watch(), child.pid is None)[1])
        pauses_s.append(child._pause_s)
        child._start_at_s = 0.0
    assert pauses_s == sorted(pauses_s)
    assert pauses_s[-1] > 0
    child.stop(grace_s=0)


def test_one_data_folder_has_one_supervisor(tmp_path: Path) -> None:
    lock = InstanceLock(tmp_path / "up.lock")
    lock.tell("http://127.0.0.1:8123")
    with pytest.raises(CannotStartError, match=r"already running at http://127\.0\.0\.1:8123"):
        InstanceLock(tmp_path / "up.lock")
    del lock
    InstanceLock(tmp_path / "up.lock")


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotStartError, match=f"port {port} is in use; choose another"):
            listening_socket(port)
    with pytest.raises(CannotStartError, match="port 99999"):
        listening_socket(99_999)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("BOBA_PORT", "99999", "a port number"),
        ("BOBA_WORKERS", "two", "a whole number above 0"),
        ("BOBA_STALE_S", "-1", "a number of seconds above 0"),
        ("BOBA_STALE_S", "nan", "a number of seconds above 0"),
        ("BOBA_DEBUG", "perhaps", "true or false"),
        ("BOBA_LOG_LEVEL", "loud", "DEBUG, INFO, WARNING or ERROR"),
        ("DATABASE_URL", "mysql://127.0.0.1/boba", "postgresql://"),
        ("REDIS_URL", "127.0.0.1:6379", "redis://"),
        ("BOBA_DATA_DIR", "/dev/null/boba", "a folder"),
    ],
)
def test_a_wrong_setting_ends_the_start_with_one_sentence(tmp_path: Path, name: str, value: str, expected: str) -> None:
    ended = manage(tmp_path, "check", **{name: value})
    assert ended.returncode == 1
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stderr.startswith(f"boba: {name} is {value!r}")
    assert expected in ended.stderr


def test_a_password_is_not_shown(tmp_path: Path) -> None:
    ended = manage(tmp_path, "check", DATABASE_URL="postgresql://boba:hunter2@127.0.0.1:port/boba")
    assert ended.stderr.startswith("boba: DATABASE_URL is 'postgresql://...@127.0.0.1:port/boba'; expected")


def manage(tmp_path: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=REPOSITORY,
        env={**own_environment(tmp_path / "data"), **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
