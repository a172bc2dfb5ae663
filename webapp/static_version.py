"""The version that every address of a static file carries.

Names stay as they are and the whole tree moves to a new address when any file of it changes, so
scripts may import each other in circles and browsers may keep every file for ever.
"""

import hashlib
from importlib.metadata import version
from pathlib import Path

SOURCES = ("django", "plotly")
"""Packages whose files are served beside our own."""


def static_version(folder: Path) -> str:
    """Return 12 hexadecimal digits that follow from the files in `folder` and the packages' versions."""
    digest = hashlib.sha256()
    for package in SOURCES:
        digest.update(f"{package} {version(package)}\n".encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:12]


def never_changes(path: str, address: str) -> bool:
    """Return whether browsers may keep the file at `address` for ever: all of them, see above."""
    return True
