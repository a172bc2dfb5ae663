"""A web process never loads the compiler: it would cost memory and seconds at every start."""

import subprocess
import sys
from pathlib import Path

from tests.live import REPOSITORY, own_environment

WEB_PROCESS = """
import asyncio, sys
from webapp.asgi import application
from django.urls import get_resolver
from asgiref.testing import ApplicationCommunicator

get_resolver().url_patterns  # every view of the site
import simcore.results.window  # what a timeline request loads

async def request():
    scope = {"type": "http", "method": "GET", "path": "/accounts/login/", "query_string": b"",
             "headers": [(b"host", b"127.0.0.1")]}
    page = ApplicationCommunicator(application, scope)
    await page.send_input({"type": "http.request", "body": b""})
    return (await page.receive_output(20))["status"]

assert asyncio.run(request()) == 200
loaded = sorted(name for name in sys.modules if name.partition(".")[0] in ("numba", "llvmlite"))
print("loaded:", *loaded)
"""


def test_a_web_process_never_imports_numba(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WEB_PROCESS],
        cwd=REPOSITORY,
        env=own_environment(tmp_path / "data"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip().splitlines()[-1] == "loaded:"
