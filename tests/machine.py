"""What the machine that runs the tests has, and what follows when it lacks something."""

import os
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import pytest

IS_CI = os.environ.get("CI", "").lower() in ("true", "1")


def lacking(what: str, how: str) -> None:
    """Skip the test by the name of what is missing; on a CI machine that is a failure."""
    sentence = f"{what} is missing: {how}"
    if IS_CI:
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def program(*names: str, folders: Sequence[Path] = (), how: str) -> str:
    """Return the path of the first of these programs that is installed."""
    for name in names:
        for place in [shutil.which(name), *(str(folder / name) for folder in folders)]:
            if place is not None and os.access(place, os.X_OK):
                return place
    lacking(names[0], how)
    raise AssertionError("not reached")


def chromium() -> str:
    """Return the path of the system's Chromium."""
    return program(
        "chromium",
        "chromium-browser",
        "google-chrome",
        how="install Debian's package chromium to run the browser tests",
    )


def free_port() -> int:
    """Return a port of the loopback address that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
