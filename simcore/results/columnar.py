"""The wire and storage form of columns: u32 header length, JSON header, 8-byte aligned arrays.

A browser reads it without copying or parsing numbers: each column is a typed-array view. The
header lists `columns` as {name, dtype, shape, offset}; offsets count from the end of the padded
header. Everything is little-endian.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simcore.results.segments import DTYPES, Segments

_ALIGNMENT_BYTES = 8


def _padding(num_bytes: int) -> bytes:
    return b"\0" * (-num_bytes % _ALIGNMENT_BYTES)


def encode(header: dict[str, Any], columns: dict[str, NDArray[Any]]) -> bytes:
    """Return one frame.

    Parameters
    ----------
    header : dict
        JSON values; must not have a key `columns`.
    columns : dict of arrays
        Any shape; stored C-ordered in the array's own type.
    """
    offset = 0
    described = []
    parts: list[bytes] = []
    for name, array in columns.items():
        data = np.ascontiguousarray(array).tobytes()
        described.append({"name": name, "dtype": array.dtype.str, "shape": list(array.shape), "offset": offset})
        data += _padding(len(data))
        parts.append(data)
        offset += len(data)
    text = json.dumps({**header, "columns": described}, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % _ALIGNMENT_BYTES)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])


def decode(frame: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and columns of a frame; the arrays are read-only views of its bytes."""
    header_bytes = int.from_bytes(frame[:4], "little")
    header: dict[str, Any] = json.loads(frame[4 : 4 + header_bytes])
    start = 4 + header_bytes
    columns = {}
    for column in header.pop("columns"):
        count = int(np.prod(column["shape"], dtype=np.int64))
        array = np.frombuffer(frame, dtype=column["dtype"], count=count, offset=start + column["offset"])
        columns[column["name"]] = array.reshape(column["shape"])
    return header, columns


def segment_columns(segments: Segments) -> dict[str, NDArray[Any]]:
    """Return the columns of `segments` in stored order and type."""
    return {name: getattr(segments, name).astype(dtype, copy=False) for name, dtype in DTYPES.items()}


def segments_from(columns: dict[str, NDArray[Any]]) -> Segments:
    """Return the segments that `segment_columns` wrote."""
    return Segments(**{name: columns[name] for name in DTYPES})
