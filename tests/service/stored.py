"""What is stored of a run, decoded, for comparing runs with each other."""

from typing import Any

import numpy as np

from webapp import engine
from webapp.runs.models import Chunk, Run

Header = dict[str, Any]


def headers(run: Run, kind: str | None = None) -> list[Header]:
    """Return the headers of the run's chunks in order."""
    found = [engine.decode(bytes(chunk.payload))[0] for chunk in Chunk.objects.filter(run=run).order_by("seq")]
    return [header for header in found if kind in (None, header["kind"])]


def segment_bytes(run: Run) -> dict[str, bytes]:
    """Return every segment's columns in the order stored, each scope and column as one string of bytes."""
    parts: dict[str, list[bytes]] = {}
    for chunk in Chunk.objects.filter(run=run, kind="segments").order_by("seq"):
        header, columns = engine.decode(bytes(chunk.payload))
        for name, column in columns.items():
            parts.setdefault(f"{header['scope']}.{name}", []).append(np.ascontiguousarray(column).tobytes())
    return {name: b"".join(pieces) for name, pieces in parts.items()}


def assert_whole(run: Run) -> None:
    """Assert that chunks are numbered without gaps and segments counted without gaps or repeats."""
    seqs = list(Chunk.objects.filter(run=run).order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(1, run.last_seq + 1))
    position = 0
    for header in headers(run, "segments"):
        assert header["first"] == position
        position += header["n"]
    assert position == run.emitted_segments
