"""PostgreSQL and Redis of the tests' own, on free ports and in folders that go away with them."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.machine import free_port, lacking, program

START_TIMEOUT_S = 60.0
_POSTGRES_HOW = "install Debian's package postgresql to run the tests on it"
_REDIS_HOW = "install Debian's package redis-server to run the tests on it"


@contextmanager
def process(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends; its output is in `log` of the options' `cwd`."""
    log_path = Path(str(options["cwd"])) / f"{Path(command[0]).name}-{time.monotonic_ns()}.log"
    with log_path.open("wb") as log:
        started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **options)  # type: ignore[call-overload]
        try:
            yield started
        finally:
            started.terminate()
            try:
                started.wait(20)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def await_port(port: int, server: subprocess.Popen[bytes]) -> None:
    """Return once somebody listens on the port."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert server.poll() is None, f"{server.args} ended with {server.returncode}"
            assert time.monotonic() < deadline_s, f"{server.args} does not listen"
            time.sleep(0.05)
        else:
            return


@contextmanager
def postgresql() -> Iterator[str]:
    """Yield the DATABASE_URL of an empty database."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    initdb = program("initdb", folders=folders, how=_POSTGRES_HOW)
    server = program("postgres", folders=folders, how=_POSTGRES_HOW)
    folder = Path(tempfile.mkdtemp(prefix="boba-postgresql-"))
    try:
        user = _unprivileged(folder)
        data, port = folder / "data", free_port()
        subprocess.run(
            [initdb, "-D", str(data), "-U", "boba", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"],
            cwd=folder,
            user=user,
            capture_output=True,
            check=True,
        )
        command = [server, "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", str(folder), "-c", "fsync=off"]
        with process(command, cwd=folder, user=user) as running:
            _await_database(port, running)
            yield f"postgresql://boba@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged(folder: Path) -> str | None:
    """Give the folder to a user that PostgreSQL agrees to run as; None if that is us."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        lacking("user postgres", "PostgreSQL does not run as root; Debian's package postgresql makes that user")
    shutil.chown(folder, "postgres")
    return "postgres"


def _await_database(port: int, server: subprocess.Popen[bytes]) -> None:
    """Return once queries are answered, which is a little after the port is open."""
    import psycopg

    await_port(port, server)
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while True:
        try:
            psycopg.connect(f"host=127.0.0.1 port={port} user=boba dbname=postgres").close()
        except psycopg.OperationalError:
            assert time.monotonic() < deadline_s
            time.sleep(0.05)
        else:
            return


@contextmanager
def redis() -> Iterator[str]:
    """Yield the REDIS_URL of an empty server."""
    server = program("redis-server", how=_REDIS_HOW)
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="boba-redis-") as folder:
        command = [server, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        with process(command, cwd=folder) as running:
            await_port(port, running)
            yield f"redis://127.0.0.1:{port}/0"
