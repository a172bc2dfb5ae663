"""What holds for every test: nothing touches a developer's data folder, broker or database."""

import atexit
import shutil
import tempfile
from pathlib import Path

import pytest
from django.conf import settings
from hypothesis import settings as hypothesis_settings

ORDER = ("unit", "property", "golden", "reference_cases", "project", "service", "chaos", "browser")
"""Folders in the order in which they run; Playwright's event loop stays until the end, so its tests come last."""
MARKED = ("service", "browser", "chaos")
"""Folders whose tests carry the marker of the same name."""
TESTS = Path(__file__).resolve().parent

_scratch = Path(tempfile.mkdtemp(prefix="boba-tests-"))
atexit.register(shutil.rmtree, _scratch, ignore_errors=True)
settings.CELERY_BROKER_URL = "memory://localhost"
settings.CELERY_BROKER_TRANSPORT = None
settings.CELERY_BROKER_TRANSPORT_OPTIONS = {}
if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # A file, as in production: a shared in-memory database has other locks and no `data_version`.
    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = str(_scratch / "test.sqlite3")


# The same examples on every machine, however slow: a red run can be run again, and no test asserts a time.
hypothesis_settings.register_profile("boba", deadline=None, derandomize=True, print_blob=True)
hypothesis_settings.load_profile("boba")


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(TESTS).parts[0] if item.path.is_relative_to(TESTS) else ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their folder and run the cheap ones first."""
    for item in items:
        if _folder(item) in MARKED:
            item.add_marker(getattr(pytest.mark, _folder(item)))
    items.sort(key=lambda item: ORDER.index(_folder(item)) if _folder(item) in ORDER else 0)
