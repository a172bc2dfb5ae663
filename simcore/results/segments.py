"""Segments: what occupies a row of the timeline, as parallel columns."""

from dataclasses import dataclass, fields
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray


class Kind(IntEnum):
    """What a segment is; the numbers are part of the stored format, never reused."""

    FORWARD = 0
    BACKWARD = 1
    WEIGHT = 2
    RECOMPUTE = 3
    ALL_REDUCE = 4
    OPTIMIZER = 5
    PREFILL = 6
    BLOCKED_SEND = 7
    LOCAL_TRANSFER = 8
    WAN_TRANSFER = 9


TRAINING_COMPUTE_KINDS = (Kind.FORWARD, Kind.BACKWARD, Kind.WEIGHT, Kind.RECOMPUTE)


@dataclass(frozen=True, slots=True)
class Segments:
    """Columns of equal length, shape (num_segments,); little-endian, stored as they are."""

    row: NDArray[np.uint32]
    """Row id; see `Layout`."""
    kind: NDArray[np.uint8]
    """`Kind`."""
    start_ns: NDArray[np.int64]
    duration_ns: NDArray[np.int64]
    item: NDArray[np.uint32]
    """Microbatch of an operation, blocked send or transfer; position of a prefill's request in the document."""
    part: NDArray[np.uint32]
    """Chunk of an operation; shard of a prefill; of a transfer `TransferPart.code`."""

    def __len__(self) -> int:
        return len(self.row)

    @property
    def end_ns(self) -> NDArray[np.int64]:
        """Return the first nanosecond after each segment, shape (num_segments,)."""
        return self.start_ns + self.duration_ns

    def take(self, index: NDArray[np.intp] | slice) -> "Segments":
        """Return the segments at `index`, in its order."""
        return Segments(*(getattr(self, field.name)[index] for field in fields(self)))

    def sorted_by_row(self) -> "Segments":
        """Return the segments ordered by (row, start); equal ones keep their order."""
        return self.take(np.lexsort((self.start_ns, self.row)))


DTYPES: dict[str, str] = {
    "row": "<u4",
    "kind": "|u1",
    "start_ns": "<i8",
    "duration_ns": "<i8",
    "item": "<u4",
    "part": "<u4",
}
"""Column name to numpy type string, in stored order."""


def empty_segments() -> Segments:
    """Return no segments, with the right types."""
    return Segments(*(np.empty(0, dtype=dtype) for dtype in DTYPES.values()))


def concatenated(parts: list[Segments]) -> Segments:
    """Return the segments of all parts, one after the other."""
    if not parts:
        return empty_segments()
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in DTYPES}
    return Segments(**{name: column.astype(DTYPES[name], copy=False) for name, column in columns.items()})


@dataclass(frozen=True, slots=True)
class TransferPart:
    """Which tensor of its microbatch a transfer carries, packed in `Segments.part`."""

    pipeline_in_cell: int
    is_gradient: bool
    source_stage: int
    """Virtual stage that sends: chunk * P + stage."""

    def code(self, num_virtual_stages: int) -> int:
        """Return the packed form; `num_virtual_stages` is V * P."""
        return (self.pipeline_in_cell * 2 + self.is_gradient) * num_virtual_stages + self.source_stage

    @staticmethod
    def from_code(code: int, num_virtual_stages: int) -> "TransferPart":
        """Return the unpacked form of `code`."""
        rest, source_stage = divmod(code, num_virtual_stages)
        pipeline_in_cell, is_gradient = divmod(rest, 2)
        return TransferPart(pipeline_in_cell, bool(is_gradient), source_stage)
