"""Exports as streams: memory stays bounded however long the timeline is.

Under ASGI Django reads a synchronous generator whole before it sends anything, so pieces are
pulled from an asynchronous one, a block at a time, in the thread that owns the database connection.
"""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from asgiref.sync import sync_to_async

from webapp import engine

BLOCK_CHARACTERS = 65_536
_ROWS_AT_A_TIME = 2_048


async def blocks(pieces: Iterator[str]) -> AsyncIterator[bytes]:
    """Yield the pieces joined to blocks of about 64 kB."""
    pull = sync_to_async(_next_block)
    while block := await pull(pieces):
        yield block.encode()


def _next_block(pieces: Iterator[str]) -> str:
    taken: list[str] = []
    length = 0
    for piece in pieces:
        taken.append(piece)
        length += len(piece)
        if length >= BLOCK_CHARACTERS:
            break
    return "".join(taken)


def json_pieces(head: dict[str, Any], timeline: engine.Timeline | None) -> Iterator[str]:
    """Yield a JSON object: the head's keys, then layout and segments of the timeline, row by row.

    Parameters
    ----------
    head : dict
        JSON values; at least one.
    timeline : Timeline or None
        None leaves the timeline's keys out.
    """
    yield json.dumps(head, ensure_ascii=False, default=str)[:-1]
    if timeline is not None:
        extent = {
            "layout": engine.layout_data(timeline.layout),
            "iteration_time_ns": timeline.iteration_time_ns,
            "num_iterations": timeline.num_iterations,
            "kinds": {int(kind): kind.name.lower() for kind in engine.Kind},
            "columns": ["row", "kind", "start_ns", "duration_ns", "item", "part"],
        }
        yield ", " + json.dumps(extent)[1:-1]
        for name, segments in (("iteration", timeline.iteration), ("fills", timeline.fills)):
            yield f', "{name}": ['
            yield from _rows(segments)
            yield "]"
    yield "}\n"


def _rows(segments: engine.Segments) -> Iterator[str]:
    for start in range(0, len(segments), _ROWS_AT_A_TIME):
        part = segments.take(slice(start, start + _ROWS_AT_A_TIME))
        columns = (part.row, part.kind, part.start_ns, part.duration_ns, part.item, part.part)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        yield (",\n" if start else "\n") + ",\n".join(f"[{','.join(map(str, row))}]" for row in rows)
