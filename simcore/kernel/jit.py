"""The one place that configures numba.

`kernel` is for what Python calls, `inlined` for the handlers that kernels are made of: they are
pasted into their callers before types are inferred. Passing whole records to them costs nothing,
and compiling takes less than half as long as with each handler compiled for itself.

Counting the references to the arrays of a record took nine tenths of the loop's time, so it is
off: kernels allocate nothing, their callers hand them every array.

Numba's disk cache does not notice edits in a file other than the function's own. The cache folder
therefore carries a hash of all kernel sources, and lies where this user can write.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def sources_hash(folder: Path) -> str:
    """Return a hash of the names and contents of the Python files of `folder`."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def cache_folder(sources: str) -> Path:
    """Return a writable folder for the compiled form of `sources`, a hash.

    `BOBA_CACHE_DIR` if set, else the user's cache folder, else one of this user in the system's
    temporary folder.
    """
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    choices = [home / "boba", Path(tempfile.gettempdir()) / f"boba-{os.getuid()}"]
    if given := os.environ.get("BOBA_CACHE_DIR"):
        choices.insert(0, Path(given))
    for base in choices:
        folder = base / f"kernels-{sources}"
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        # The cache is code: a folder that somebody else made in a shared place is not trusted.
        if folder.stat().st_uid == os.getuid() and os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="boba-kernels-"))


_OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}

_configuration: Any = numba.config
_configuration.CACHE_DIR = str(cache_folder(sources_hash(Path(__file__).parent)))


def kernel(function: Function) -> Function:
    """Return `function` compiled on first call, with its machine code kept on disk."""
    return cast(Function, numba.njit(cache=True, nogil=True, **_OPTIONS)(function))


def inlined(function: Function) -> Function:
    """Return `function` as a part of the kernels that call it."""
    return cast(Function, numba.njit(inline="always", **_OPTIONS)(function))
