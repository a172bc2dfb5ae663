"""Headless Chromium, signed in to a `manage.py up` of its own that lives as long as the test session.

Tests use pytest-playwright's `page`; addresses are relative (`page.goto("/w/local/scenarios")`).
The workspace is `local` and holds the demo scenarios.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tests.live import LiveBoba
from tests.machine import chromium


@pytest.fixture(scope="session")
def live_boba(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveBoba]:
    """Return the running product; `live_boba.base_url` is its address, `live_boba.log` what it printed."""
    live = LiveBoba(tmp_path_factory.mktemp("boba") / "data")
    live.start()
    yield live
    live.stop()


@pytest.fixture(scope="session")
def base_url(live_boba: LiveBoba) -> str:
    """Return what Playwright puts before relative addresses."""
    return live_boba.base_url


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Use the system's Chromium; its sandbox refuses to work for root."""
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    return {
        **browser_type_launch_args,
        "executable_path": chromium(),
        "args": [*arguments, "--disable-dev-shm-usage", "--force-color-profile=srgb"],
    }


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], live_boba: LiveBoba) -> dict[str, Any]:
    """Sign every context in and give it the size of a laptop's window."""
    cookies = [
        {"name": name, "value": value, "domain": "127.0.0.1", "path": "/"}
        for name, value in live_boba.visitor.cookies.items()
    ]
    return {
        **browser_context_args,
        "viewport": {"width": 1440, "height": 900},
        "storage_state": {"cookies": cookies, "origins": []},
    }
