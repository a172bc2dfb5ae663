"""The same code on PostgreSQL and Redis: two web processes, a worker and the reaper, as a team runs them."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.casts import GOLDEN_CASTS
from tests.live import REPOSITORY, own_environment
from tests.machine import free_port
from tests.service.servers import await_port, postgresql, process, redis
from tests.visitor import REPLY_TIMEOUT_S, Follower, Visitor

DOCUMENT = {**GOLDEN_CASTS["prefill-two-shards"], "name": "Größe λ: prefill on two shards"}
SLOW_PACE = 0.1
GRACE_S = 1.0


class Team:
    """An installation of several processes."""

    def __init__(self, folder: Path, database_url: str, redis_url: str) -> None:
        self.database_url = database_url
        self.environment = own_environment(
            folder / "data",
            DATABASE_URL=database_url,
            REDIS_URL=redis_url,
            BOBA_STALE_S="3",
            BOBA_CANCEL_GRACE_S=str(GRACE_S),
        )
        self.visitors: list[Visitor] = []

    def manage(self, *arguments: str) -> str:
        """Return what a command prints."""
        ended = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=REPOSITORY,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    def stored(self, run_id: str, field: str) -> Any:
        """Return a field of a run, read beside the product."""
        with psycopg.connect(self.database_url) as connection:
            row = connection.execute(f"select {field} from runs_run where id = %s", [run_id]).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return row[0]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team")
    with ExitStack() as stack:
        made = Team(folder, stack.enter_context(postgresql()), stack.enter_context(redis()))
        made.manage("prepare")

        def start(*arguments: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", *arguments]
            environment = {**made.environment, "PYTHONPATH": str(REPOSITORY)}
            return stack.enter_context(process(command, cwd=folder, env=environment))

        start("celery", "--app", "webapp.celery", "worker", "--concurrency", "2", "--loglevel", "INFO")
        stack.enter_context(
            process(
                [sys.executable, str(REPOSITORY / "manage.py"), "reap", "--interval-s", "0.5"],
                cwd=folder,
                env=made.environment,
            )
        )
        for _ in range(2):
            port = free_port()
            web = start("uvicorn", "webapp.asgi:application", "--port", str(port), "--log-level", "warning")
            await_port(port, web)
            visitor = Visitor(f"http://127.0.0.1:{port}")
            visitor.sign_in(made.manage("owner", "ada"))
            made.visitors.append(visitor)
        yield made


def until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + REPLY_TIMEOUT_S
    while not is_so():
        assert time.monotonic() < deadline_s, "it did not happen"
        time.sleep(0.05)


def test_a_run_is_followed_through_another_process_while_its_worker_is_killed(team: Team) -> None:
    here, there = team.visitors
    undisturbed = here.start_run(DOCUMENT)
    early = Follower(there, undisturbed)
    assert early.until_end()["status"] == "succeeded"

    run_id = here.start_run(DOCUMENT, pace=SLOW_PACE)
    follower = Follower(there, run_id)
    is_killed = False
    for message in follower.messages():
        if not is_killed and message.get("kind") == "segments" and message["first"] > 5:
            os.kill(team.stored(run_id, "worker_pid"), signal.SIGKILL)
            is_killed = True
    assert is_killed

    assert follower.end is not None
    assert follower.end["status"] == "succeeded"
    assert team.stored(run_id, "attempt") == 2
    assert follower.seqs == list(range(1, follower.end["last_seq"] + 1))
    assert follower.columns() == early.columns()
    assert here.result(run_id) == there.result(undisturbed)
    assert there.run(run_id)["name"] == DOCUMENT["name"]

    late = Follower(here, run_id)
    late.until_end()
    assert late.frames == follower.frames


def test_a_cancel_reaches_the_worker(team: Team) -> None:
    here, there = team.visitors
    run_id = here.start_run(DOCUMENT, pace=0.001)
    follower = Follower(there, run_id)
    for message in follower.messages():
        if message.get("kind") == "segments":
            here.post(f"/api/v1/runs/{run_id}/cancel", {})
    assert follower.end is not None
    assert follower.end["status"] == "cancelled"
    assert team.stored(run_id, "partial") is True


def test_a_worker_that_ignores_a_cancel_is_killed(team: Team) -> None:
    here, _ = team.visitors
    run_id = here.start_run(DOCUMENT, pace=0.001)
    until(lambda: team.stored(run_id, "emitted_segments") > 0)
    stuck = team.stored(run_id, "worker_pid")
    os.kill(stuck, signal.SIGSTOP)
    here.post(f"/api/v1/runs/{run_id}/cancel", {})
    here.await_run(run_id, "cancelled")
    until(lambda: not Path(f"/proc/{stuck}").exists())
    assert here.await_run(here.start_run(DOCUMENT), "succeeded", "failed", "errored")["status"] == "succeeded"
