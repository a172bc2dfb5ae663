"""The only door to the simulation library.

Reading, checking and drawing import nothing compiled, so web processes use them freely. `batches`
and `warm` load the kernel and are for workers only.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import yaml

from simcore import ENGINE_VERSION
from simcore.costs.feasibility import feasible_scenario
from simcore.errors import InfeasibleError, Problem, ScenarioError, SimulationError
from simcore.results.batch import Batch, Stage
from simcore.results.columnar import decode, encode, segment_columns, segments_from
from simcore.results.segments import DTYPES, Kind, Segments, concatenated
from simcore.results.timeline import Channel, Layout, Timeline
from simcore.scenario.catalogue import GPUS, MODELS
from simcore.scenario.document import Scenario as ScenarioDocument
from simcore.scenario.parse import read_document, scenario_from
from simcore.scenario.resolve import canonical_json, resolved_document, scenario_hash
from simcore.scenario.systems import SYSTEMS

__all__ = [
    "ENGINE_VERSION",
    "Batch",
    "InfeasibleError",
    "Kind",
    "Layout",
    "Problem",
    "ScenarioDocument",
    "ScenarioError",
    "Segments",
    "SimulationError",
    "Stage",
    "Timeline",
    "canonical_json",
    "concatenated",
    "decode",
    "encode",
    "segment_columns",
]

SEGMENT_BYTES = sum(int(dtype[2:]) for dtype in DTYPES.values())
"""Bytes of one segment in a stored frame."""


# Documents


def parse_text(text: str) -> dict[str, Any]:
    """Return the plain data of a YAML or JSON text; ScenarioError says where it breaks off."""
    return read_document(text)


def document_checked(source: str | dict[str, Any]) -> dict[str, Any]:
    """Return the plain data of a text or document that can run.

    Raises
    ------
    ScenarioError
        Carries every problem.
    """
    document = read_document(source) if isinstance(source, str) else source
    feasible_scenario(document)
    return document


def problems(source: str | dict[str, Any]) -> list[Problem]:
    """Return every problem of a text or document; empty when it can run."""
    try:
        document_checked(source)
    except ScenarioError as error:
        return list(error.problems)
    return []


def problems_json(found: Iterable[Problem]) -> str:
    """Return problems as a JSON list of {path, message}."""
    return json.dumps([{"path": problem.path, "message": problem.message} for problem in found], ensure_ascii=False)


def yaml_text(document: dict[str, Any]) -> str:
    """Return the document as YAML, keys in their order, short lists of numbers on one line."""
    return yaml.dump(document, sort_keys=False, allow_unicode=True, default_flow_style=None, width=110)


def problem_lines(found: Iterable[Problem]) -> str:
    """Return problems as lines of `path: message`."""
    return "\n".join(str(problem) for problem in found)


@dataclass(frozen=True, slots=True)
class Resolved:
    """A valid scenario with every default written out: what a run stores."""

    name: str
    seed: int
    text: str
    """Canonical JSON."""
    hash: str


def resolve(document: dict[str, Any]) -> Resolved:
    """Return the resolved form of a document; ScenarioError carries every problem."""
    scenario = feasible_scenario(document)
    resolved = resolved_document(scenario)
    return Resolved(scenario.name, scenario.seed, canonical_json(resolved), scenario_hash(resolved))


# Catalogue


def gpu_entries() -> list[dict[str, Any]]:
    """Return the built-in GPU types with their sources."""
    return [asdict(entry) for entry in GPUS.values()]


def model_entries() -> list[dict[str, Any]]:
    """Return the built-in language models with their sources."""
    return [asdict(entry) for entry in MODELS.values()]


def system_presets() -> dict[str, dict[str, Any]]:
    """Return what each named system fills into `training`."""
    return SYSTEMS


# Simulation, workers only


def warm() -> None:
    """Load or compile the kernels."""
    from simcore import api

    api.warm()


def batches(text: str) -> Iterator[Batch]:
    """Return the batches of a resolved document (JSON), the same ones every time."""
    from simcore import api

    return api.stream(scenario_from(json.loads(text)))


def figures_text(figures: dict[str, Any]) -> str:
    """Return all figures as JSON, as the command line prints them."""
    return json.dumps(figures, ensure_ascii=False)


def figures_summary(figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures without the list of every request's time to first token."""
    inference = figures.get("inference")
    if not isinstance(inference, dict):
        return figures
    return {**figures, "inference": {key: value for key, value in inference.items() if key != "ttft_ns"}}


# Timelines


def layout_data(layout: Layout) -> dict[str, Any]:
    """Return a layout as plain data, the form that frames and REST carry."""
    return {
        "datacenters": list(layout.datacenters),
        "stage_datacenter": list(layout.stage_datacenter),
        "num_virtual_stages": layout.num_virtual_stages,
        "num_pipelines": layout.num_pipelines,
        "cell_size": layout.cell_size,
        "channels": [
            [
                channel.source_datacenter,
                channel.target_datacenter,
                channel.pipeline_in_cell,
                channel.source_stage,
                channel.target_stage,
            ]
            for channel in layout.channels
        ],
    }


def layout_from(data: dict[str, Any]) -> Layout:
    """Return the layout that `layout_data` wrote."""
    return Layout(
        datacenters=tuple(data["datacenters"]),
        stage_datacenter=tuple(data["stage_datacenter"]),
        num_virtual_stages=data["num_virtual_stages"],
        num_pipelines=data["num_pipelines"],
        cell_size=data["cell_size"],
        channels=tuple(Channel(*channel) for channel in data["channels"]),
    )


def timeline_from(frames: Iterable[bytes]) -> Timeline | None:
    """Return the timeline that a run's frames add up to; None before its layout is stored.

    A run that ended within its first iteration counts as one iteration as long as what is there.
    """
    layout: Layout | None = None
    parts: dict[str, list[Segments]] = {"iteration": [], "horizon": []}
    iteration_time_ns, num_iterations = 0, 1
    for frame in frames:
        header, columns = decode(frame)
        if header["kind"] == "layout":
            layout = layout_from(header["layout"])
        elif header["kind"] == "segments":
            parts[header["scope"]].append(segments_from(columns))
        elif header["kind"] == "metric":
            iteration_time_ns = header["figures"].get("iteration_time_ns", iteration_time_ns)
            num_iterations = header["figures"].get("num_iterations", num_iterations)
    if layout is None:
        return None
    iteration = concatenated(parts["iteration"]).sorted_by_row()
    if not iteration_time_ns and len(iteration):
        iteration_time_ns = int(iteration.end_ns.max())
    return Timeline(
        layout=layout,
        iteration_time_ns=iteration_time_ns,
        num_iterations=num_iterations,
        iteration=iteration,
        fills=concatenated(parts["horizon"]).sorted_by_row(),
    )


def window_frame(
    timeline: Timeline, *, t0_ns: int, t1_ns: int, first_row: int, last_row: int, bins: int, partial: bool
) -> bytes:
    """Return the frame of a window of the timeline, exact or binned by how much is in it."""
    from simcore.results.window import window

    header, columns = decode(window(timeline, t0_ns, t1_ns, first_row, last_row, bins))
    return encode({**header, "partial": partial}, columns)


def overview_frame(timeline: Timeline, *, bins: int, partial: bool) -> bytes:
    """Return the frame of the overview strip."""
    from simcore.results.window import overview

    header, columns = decode(overview(timeline, bins))
    return encode({**header, "partial": partial}, columns)


def perfetto_pieces(timeline: Timeline, name: str) -> Iterator[str]:
    """Return the pieces of a Chrome/Perfetto JSON document, in order."""
    from simcore.results.perfetto import trace_events

    return trace_events(timeline, name)
