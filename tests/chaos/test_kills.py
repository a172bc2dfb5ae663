"""`manage.py up` while its processes are killed: nobody watching loses or sees twice a single chunk."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from uuid import UUID

import pytest

from tests.casts import GOLDEN_CASTS
from tests.live import LiveBoba
from tests.visitor import REPLY_TIMEOUT_S, Follower

DOCUMENT = GOLDEN_CASTS["prefill-two-shards"]
SLOW_PACE = 0.1
"""Simulated seconds per second: the document takes some four seconds."""


@pytest.fixture
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveBoba]:
    made = LiveBoba(tmp_path_factory.mktemp("chaos") / "data", BOBA_STALE_S="2", BOBA_WORKERS="1")
    made.start()
    yield made
    made.stop()
    assert made.process_ids() == {}, "processes are left behind"


def stored(live: LiveBoba, run_id: str, field: str) -> object:
    """Return a field of a run, read beside the product."""
    with sqlite3.connect(live.data_dir / "boba.sqlite3") as connection:
        row = connection.execute(f"select {field} from runs_run where id = ?", [UUID(run_id).hex]).fetchone()
    return row[0]


def worker_pid(live: LiveBoba, run_id: str) -> int:
    pid = stored(live, run_id, "worker_pid")
    assert isinstance(pid, int)
    return pid


def pid_of(live: LiveBoba, word: str) -> int:
    """Return the first process whose command has the word."""
    return min(pid for pid, command in live.process_ids().items() if word in command)


def assert_undisturbed(live: LiveBoba, run_id: str, follower: Follower) -> None:
    """Assert that run and follower ended as if nothing had happened."""
    assert follower.end is not None
    assert follower.end["status"] == "succeeded"
    assert follower.seqs == list(range(1, follower.end["last_seq"] + 1))
    undisturbed = live.visitor.start_run(DOCUMENT)
    watcher = Follower(live.visitor, undisturbed)
    watcher.until_end()
    assert follower.columns() == watcher.columns()
    assert live.visitor.result(run_id) == live.visitor.result(undisturbed)


def follow_and_disturb(live: LiveBoba, disturb: Callable[[str], None]) -> tuple[str, Follower]:
    """Return a slow run and its follower; `disturb` is called once a few segments have been seen."""
    run_id = live.visitor.start_run(DOCUMENT, pace=SLOW_PACE)
    follower = Follower(live.visitor, run_id)
    is_disturbed = False
    for message in follower.messages():
        if not is_disturbed and message.get("kind") == "segments" and message["first"] > 5:
            disturb(run_id)
            is_disturbed = True
    assert is_disturbed, "the run was over before it could be disturbed"
    return run_id, follower


def test_the_process_that_computes_is_killed_in_mid_run(live: LiveBoba) -> None:
    run_id, follower = follow_and_disturb(live, lambda run_id: os.kill(worker_pid(live, run_id), signal.SIGKILL))
    assert stored(live, run_id, "attempt") == 2
    assert follower.num_connections == 1
    assert_undisturbed(live, run_id, follower)


def test_the_whole_worker_is_killed_in_mid_run(live: LiveBoba) -> None:
    run_id, follower = follow_and_disturb(live, lambda _: os.kill(pid_of(live, "celery"), signal.SIGKILL))
    assert stored(live, run_id, "attempt") == 2
    assert_undisturbed(live, run_id, follower)


def test_the_web_process_is_killed_in_mid_run(live: LiveBoba) -> None:
    run_id, follower = follow_and_disturb(live, lambda _: os.kill(pid_of(live, "uvicorn"), signal.SIGKILL))
    assert stored(live, run_id, "attempt") == 1
    assert follower.num_connections == 2
    assert_undisturbed(live, run_id, follower)


def test_ctrl_c_cancels_what_runs_and_leaves_no_process(live: LiveBoba) -> None:
    running, queued = (live.visitor.start_run(DOCUMENT, pace=0.001) for _ in range(2))
    live.visitor.await_run(running, "running")
    deadline_s = time.monotonic() + REPLY_TIMEOUT_S
    while not stored(live, running, "emitted_segments"):
        assert time.monotonic() < deadline_s
        time.sleep(0.05)
    live.interrupt()
    assert live.wait() == 0
    assert live.process_ids() == {}
    assert [stored(live, run_id, "status") for run_id in (running, queued)] == ["cancelled", "cancelled"]
    assert [stored(live, run_id, "partial") for run_id in (running, queued)] == [1, 0]


def test_a_killed_supervisor_takes_its_children_along(live: LiveBoba) -> None:
    os.kill(live.pid, signal.SIGKILL)
    live.wait()
    deadline_s = time.monotonic() + REPLY_TIMEOUT_S
    while live.process_ids():
        assert time.monotonic() < deadline_s, live.process_ids()
        time.sleep(0.1)
