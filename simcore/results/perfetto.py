"""Export to the Chrome trace format, which ui.perfetto.dev and chrome://tracing open.

Streamed: the template is repeated while it is sent, so memory does not grow with the horizon.
"""

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simcore import ENGINE_VERSION
from simcore.results.order import display_order, row_ids
from simcore.results.segments import Kind, Segments
from simcore.results.timeline import Layout, Timeline

BLOCK_EVENTS = 8_192
"""Events formatted together: about 1.5 MB of text."""

_OPERATION = '"microbatch":%d,"chunk":%d'
_TENSOR = '"tensor":"%s","microbatch":%d,"pipeline_in_cell":%d,"source_virtual_stage":%d'
_TENSORS = np.array(["activation", "gradient"], dtype=object)
_NAMES_AND_ARGUMENTS: dict[Kind, tuple[str, str]] = {
    Kind.FORWARD: ("F%d", _OPERATION),
    Kind.BACKWARD: ("B%d", _OPERATION),
    Kind.WEIGHT: ("W%d", _OPERATION),
    Kind.RECOMPUTE: ("R%d", _OPERATION),
    Kind.ALL_REDUCE: ("all-reduce", ""),
    Kind.OPTIMIZER: ("optimizer", ""),
    Kind.PREFILL: ("prefill %d", '"request":%d,"shard":%d'),
    Kind.BLOCKED_SEND: ("send %d", _OPERATION),
    Kind.LOCAL_TRANSFER: ("%s %d", _TENSOR),
    Kind.WAN_TRANSFER: ("%s %d", _TENSOR),
}
"""Name of an event and what its `args` say beside its time."""


def category(kind: Kind) -> str:
    """Return how the export calls a kind: `forward`, `wan-transfer`."""
    return kind.name.lower().replace("_", "-")


def trace_events(timeline: Timeline, name: str) -> Iterator[str]:
    """Yield the pieces of one JSON document that has every segment of the horizon.

    Parameters
    ----------
    timeline : Timeline
    name : str
        Of the run; kept in `otherData`.

    Yields
    ------
    str
        Joined, they are an object with `traceEvents`: a process for each datacenter with workers and
        one for the network, a thread for each worker or channel in display order, a complete event
        for each segment. `ts` and `dur` are microseconds with three decimals; `args` has the exact
        nanoseconds. Events are not sorted by time; the format does not ask for it.
    """
    head = {
        "displayTimeUnit": "ns",
        "otherData": {
            "name": name,
            "engine_version": ENGINE_VERSION,
            "iteration_time_ns": timeline.iteration_time_ns,
            "num_iterations": timeline.num_iterations,
        },
    }
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "traceEvents": [\n'
    tracks = _Tracks(timeline.layout)
    yield tracks.process_names()
    yield from tracks.thread_names()
    for kind in Kind:
        for segments, is_repeated in ((timeline.iteration, True), (timeline.fills, False)):
            of_kind = np.flatnonzero(segments.kind == kind)
            for first in range(0, len(of_kind), BLOCK_EVENTS):
                block = segments.take(of_kind[first : first + BLOCK_EVENTS])
                yield from _repeated(block, kind, timeline, tracks) if is_repeated else _once(block, kind, tracks)
    yield "\n]}\n"


class _Tracks:
    """Where the events of each row go: a process for each datacenter, one for the network."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.order = display_order(layout)
        self.thread_id = np.empty(len(self.order), dtype=np.int64)
        """Thread of each row id: its place on screen, from 1."""
        self.thread_id[self.order] = np.arange(1, len(self.order) + 1)
        stage_datacenter = np.array(layout.stage_datacenter, dtype=np.int64)
        self.process_id = np.full(len(self.order), len(layout.datacenters) + 1, dtype=np.int64)
        """Process of each row id: its datacenter, from 1; the network after them."""
        self.process_id[: layout.num_workers] = 1 + np.tile(stage_datacenter, layout.num_pipelines)

    def process_names(self) -> str:
        """Return the events that name the processes that have rows."""
        names = [*self.layout.datacenters, "network"]
        used = np.unique(self.process_id).tolist()
        return ",\n".join(_metadata("process", process, 0, names[process - 1], process) for process in used)

    def thread_names(self) -> Iterator[str]:
        """Yield the events that name the threads, each after a comma."""
        for first in range(0, len(self.order), BLOCK_EVENTS):
            rows = self.order[first : first + BLOCK_EVENTS].tolist()
            places = zip(rows, self.process_id[rows].tolist(), self.thread_id[rows].tolist(), strict=True)
            yield "".join(
                ",\n" + _metadata("thread", process, thread, self._row_name(row), thread)
                for row, process, thread in places
            )

    def _row_name(self, row: int) -> str:
        layout = self.layout
        if row < layout.num_workers:
            pipeline, stage = divmod(row, layout.num_stages)
            return f"pipeline {pipeline}, stage {stage}"
        cell, number = divmod(row - layout.num_workers, len(layout.channels))
        channel = layout.channels[number]
        source, target = layout.datacenters[channel.source_datacenter], layout.datacenters[channel.target_datacenter]
        route = f"{source} to {target}" if channel.is_wan else source
        if channel.pipeline_in_cell < 0:
            return f"{route}, cell {cell}"
        pipeline = cell * layout.cell_size + channel.pipeline_in_cell
        return f"{route}, pipeline {pipeline}, stage {channel.source_stage} to {channel.target_stage}"


def _metadata(what: str, process: int, thread: int, name: str, place: int) -> str:
    """Return the two events that name and place a process or thread."""
    head = f'{{"ph":"M","pid":{process},"tid":{thread},"name":"{what}_'
    named = f'{head}name","args":{{"name":{json.dumps(name, ensure_ascii=False)}}}}}'
    return f'{named},\n{head}sort_index","args":{{"sort_index":{place}}}}}'


def _once(segments: Segments, kind: Kind, tracks: _Tracks) -> Iterator[str]:
    """Yield the events of segments that stand at their rows and instants."""
    heads = _heads(segments, kind, tracks.layout)
    yield from _events(heads, segments.row.astype(np.int64), segments.start_ns, tracks)


def _repeated(segments: Segments, kind: Kind, timeline: Timeline, tracks: _Tracks) -> Iterator[str]:
    """Yield the events of template segments in every cell and iteration."""
    layout = timeline.layout
    heads = _heads(segments, kind, layout)
    template_rows = segments.row.astype(np.int64)
    num_copies = layout.num_cells * timeline.num_iterations
    copies_at_once = max(1, BLOCK_EVENTS // len(segments))
    for first in range(0, num_copies, copies_at_once):
        iteration, cell = np.divmod(np.arange(first, min(first + copies_at_once, num_copies)), layout.num_cells)
        start_ns = segments.start_ns + iteration[:, None] * timeline.iteration_time_ns
        rows = row_ids(layout, template_rows, cell[:, None])
        yield from _events(heads * len(cell), rows.ravel(), start_ns.ravel(), tracks)


def _heads(segments: Segments, kind: Kind, layout: Layout) -> list[str]:
    """Return what does not change when the segments are repeated: everything but place and start."""
    name, arguments = _NAMES_AND_ARGUMENTS[kind]
    item = segments.item.tolist()
    durations_ns, of_segment = np.unique(segments.duration_ns, return_inverse=True)
    texts = [f'"dur":{ns // 1000}.{ns % 1000:03d},"args":{{"duration_ns":{ns},' for ns in durations_ns.tolist()]
    duration = np.array(texts, dtype=object)[of_segment].tolist()
    form = f'{{"name":"{name}","cat":"{category(kind)}","ph":"X",%s{arguments}{"," if arguments else ""}"start_ns":'
    if not arguments:
        return [form % text for text in duration]
    if arguments != _TENSOR:
        return [form % values for values in zip(item, duration, item, segments.part.tolist(), strict=True)]
    rest, source = np.divmod(segments.part.astype(np.int64), layout.num_virtual_stages)
    pipeline, is_gradient = np.divmod(rest, 2)
    tensor = _TENSORS[is_gradient].tolist()
    return [
        form % values
        for values in zip(tensor, item, duration, tensor, item, pipeline.tolist(), source.tolist(), strict=True)
    ]


def _events(heads: list[str], rows: NDArray[np.int64], start_ns: NDArray[np.int64], tracks: _Tracks) -> Iterator[str]:
    """Yield one piece with an event for each head, each after a comma."""
    microseconds, rest_ns = np.divmod(start_ns, 1000)
    columns = (start_ns, tracks.process_id[rows], tracks.thread_id[rows], microseconds, rest_ns)
    values = zip(heads, *(column.tolist() for column in columns), strict=True)
    yield "".join(map(',\n%s%d},"pid":%d,"tid":%d,"ts":%d.%03d}'.__mod__, values))
