"""Chunks in the making: what a worker has found and not yet stored, in order."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from webapp import engine
from webapp.runs.models import Chunk

CHUNK_BYTES = 64_000
SEGMENTS_PER_CHUNK = CHUNK_BYTES // engine.SEGMENT_BYTES
HEADER_BYTES = 500
"""Rough size of a frame without columns, for deciding when to write."""


@dataclass(slots=True)
class _Draft:
    """One frame without columns, or segments that become one frame or several."""

    header: dict[str, Any]
    parts: list[engine.Segments] = field(default_factory=list)


class Spool:
    """Frames that wait to be stored; neighbouring segments grow together."""

    def __init__(self) -> None:
        self._drafts: list[_Draft] = []
        self.num_bytes = 0

    def __len__(self) -> int:
        return len(self._drafts)

    def add(self, kind: Chunk.Kind, **header: Any) -> None:
        """Append a frame without columns."""
        self._drafts.append(_Draft({"kind": kind.value, **header}))
        self.num_bytes += HEADER_BYTES

    def add_segments(
        self, segments: engine.Segments, *, scope: str, first: int, simulated_ns: int, horizon_ns: int
    ) -> None:
        """Append segments of `scope`, of which the first is number `first` of the whole emission."""
        known = {"simulated_ns": simulated_ns, "horizon_ns": horizon_ns}
        last = self._drafts[-1] if self._drafts else None
        if last is not None and last.parts and last.header["scope"] == scope:
            last.header.update(known)
            last.parts.append(segments)
        else:
            header = {"kind": Chunk.Kind.SEGMENTS.value, "scope": scope, "first": first, **known}
            self._drafts.append(_Draft(header, [segments]))
        self.num_bytes += len(segments) * engine.SEGMENT_BYTES

    def take(self, *, run_id: UUID, first_seq: int) -> list[Chunk]:
        """Return everything as chunks numbered from `first_seq`, and be empty."""
        chunks: list[Chunk] = []
        for draft in self._drafts:
            for header, segments in _frames(draft):
                seq = first_seq + len(chunks)
                columns = engine.segment_columns(segments) if segments is not None else {}
                payload = engine.encode({**header, "run": str(run_id), "seq": seq}, columns)
                chunks.append(Chunk(run_id=run_id, seq=seq, kind=header["kind"], payload=payload))
        self._drafts.clear()
        self.num_bytes = 0
        return chunks


def _frames(draft: _Draft) -> list[tuple[dict[str, Any], engine.Segments | None]]:
    """Return header and segments of each frame that a draft becomes."""
    if not draft.parts:
        return [(draft.header, None)]
    segments = engine.concatenated(draft.parts)
    frames: list[tuple[dict[str, Any], engine.Segments | None]] = []
    for start in range(0, len(segments), SEGMENTS_PER_CHUNK):
        piece = segments.take(slice(start, start + SEGMENTS_PER_CHUNK))
        frames.append(({**draft.header, "first": draft.header["first"] + start, "n": len(piece)}, piece))
    return frames
