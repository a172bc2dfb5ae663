"""Rules that tie several fields together: feasibility is part of validation (MODEL section 2).

A rule is a generator over a document (a `Scenario`, or a `View` of a faulty one) that yields
problems. Reading an unsound part ends the rule; the other rules go on.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from operator import attrgetter
from typing import Any

from simcore.errors import Problem
from simcore.scenario.catalogue import GPUS, MODELS
from simcore.scenario.lenient import UnsoundError
from simcore.scenario.sentences import NOT_YET

MAX_OPERATIONS = 20_000_000
"""Operations of one cell in one iteration; about 2 GB while it runs."""
MAX_WORKERS = 1_000_000
"""Workers over all cells: rows of the timeline."""

Rule = Callable[[Any], Iterator[Problem]]
_RULES: list[Rule] = []


def _rule(rule: Rule) -> Rule:
    _RULES.append(rule)
    return rule


def rule_problems(document: Any) -> list[Problem]:
    """Return every broken rule that can be judged, in the order of the rules."""
    problems: list[Problem] = []
    for rule in _RULES:
        try:
            problems.extend(rule(document))
        except UnsoundError:
            continue
        except (TypeError, AttributeError):
            continue
    return problems


@_rule
def _unique_datacenters(document: Any) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, datacenter in enumerate(_sound(document.datacenters)):
        if datacenter.name in seen:
            yield Problem(f"datacenters[{index}].name", f"must be unique; {datacenter.name!r} is taken")
        seen.add(datacenter.name)


@_rule
def _known_gpus(document: Any) -> Iterator[Problem]:
    for index, datacenter in enumerate(_sound(document.datacenters)):
        gpu = _read(datacenter, "gpu")
        if isinstance(gpu, str) and gpu not in GPUS:
            yield Problem(f"datacenters[{index}].gpu", f"unknown GPU {gpu!r}; the catalogue has {', '.join(GPUS)}")


@_rule
def _links_join_two_known_datacenters(document: Any) -> Iterator[Problem]:
    names = _names(document)
    first_index: dict[frozenset[str], int] = {}
    for index, link in enumerate(document.wan.links):
        between = _read(link, "between")
        if between is None:
            continue
        path = f"wan.links[{index}].between"
        for name in dict.fromkeys(between):
            if name not in names:
                yield Problem(path, f"unknown datacenter {name!r}; there are {', '.join(names)}")
        if between[0] == between[1]:
            yield Problem(path, f"must name two different datacenters; got {between[0]!r} twice")
        elif (pair := frozenset(between)) in first_index:
            yield Problem(path, f"{between[0]} and {between[1]} are already linked by wan.links[{first_index[pair]}]")
        else:
            first_index[pair] = index


@_rule
def _cells_divide_pipelines(document: Any) -> Iterator[Problem]:
    cell_size, pipelines = document.training.cell_size, document.training.pipelines
    if pipelines % cell_size:
        divisors = [size for size in range(1, min(pipelines, 1000) + 1) if pipelines % size == 0]
        nearest = min(divisors, key=lambda size: abs(size - cell_size))
        yield Problem(
            "training.cell_size",
            f"must divide pipelines ({pipelines}); got {cell_size}, the nearest that does is {nearest}",
        )


@_rule
def _one_value_per_stage(document: Any) -> Iterator[Problem]:
    training, stages = document.training, document.training.pipeline_stages
    owners = (
        ("training", "gradient_mb"),
        *(("training.compute", f"{name}_ms") for name in ("forward", "backward", "weight")),
    )
    for owner, field in owners:
        holder = training if owner == "training" else _read(training, "compute")
        value = _read(holder, field)
        if isinstance(value, (tuple, list)) and len(value) != stages:
            yield Problem(
                f"{owner}.{field}", f"needs one value, or one for each of the {stages} stages; got {len(value)}"
            )


@_rule
def _tensor_sizes_known(document: Any) -> Iterator[Problem]:
    if document.model is not None:
        return
    for field in ("activation_mb", "gradient_mb"):
        if _read(document.training, field, otherwise=False) is None:
            yield Problem(f"training.{field}", "is required when the document has no model")


@_rule
def _analytic_compute_needs_a_model(document: Any) -> Iterator[Problem]:
    if document.training.compute.mode == "analytic" and document.model is None:
        sentence = "analytic needs a model to count the FLOPs of; give one, or explicit forward_ms and backward_ms"
        yield Problem("training.compute.mode", sentence)


@_rule
def _models_known(document: Any) -> Iterator[Problem]:
    inference_model = _read(document, "inference.model")
    for path, model in (("model", document.model), ("inference.model", inference_model)):
        preset = getattr(model, "preset", None)
        if preset is not None and preset not in MODELS:
            yield Problem(f"{path}.preset", f"unknown model {preset!r}; the catalogue has {', '.join(MODELS)}")


@_rule
def _a_layer_for_each_stage(document: Any) -> Iterator[Problem]:
    model = document.model
    if model is None:
        return
    preset = getattr(model, "preset", None)
    layers = MODELS[preset].layers if preset in MODELS else _read(model, "layers")
    chunks = document.training.pipeline_stages * document.training.virtual_stages
    if layers is not None and chunks > layers:
        of_chunks = "" if document.training.virtual_stages == 1 else " times virtual_stages"
        yield Problem(
            "training.pipeline_stages",
            f"{chunks} stages{of_chunks} for a model of {layers} layers; at most one a layer",
        )


@_rule
def _placement_not_yet(document: Any) -> Iterator[Problem]:
    if document.placement.mode == "auto":
        yield Problem("placement.mode", f"{NOT_YET}; use mode fixed and name each stage's datacenter")


@_rule
def _stages_placed(document: Any) -> Iterator[Problem]:
    placed, names = document.placement.stages, _names(document)
    for index, name in enumerate(placed):
        if isinstance(name, str) and name not in names:
            yield Problem(f"placement.stages[{index}]", f"unknown datacenter {name!r}; there are {', '.join(names)}")
    if len(placed) != (stages := document.training.pipeline_stages):
        yield Problem(
            "placement.stages", f"must name one datacenter for each of the {stages} stages; got {len(placed)}"
        )


@_rule
def _enough_gpus(document: Any) -> Iterator[Problem]:
    training = document.training
    counts = Counter(name for name in document.placement.stages if isinstance(name, str))
    for index, datacenter in enumerate(_sound(document.datacenters)):
        gpus = _read(datacenter, "gpus")
        stages = counts[datacenter.name]
        needed = stages * training.pipelines * training.tensor_parallel
        if gpus is not None and needed > gpus:
            fits = gpus // (training.pipelines * training.tensor_parallel)
            yield Problem(
                f"datacenters[{index}].gpus",
                f"{datacenter.name} has {gpus:,} GPUs, but its {stages} stages x {training.pipelines:,} pipelines x "
                f"tensor_parallel {training.tensor_parallel:,} need {needed:,}; at most {fits} stages fit there",
            )


@_rule
def _neighbours_linked(document: Any) -> Iterator[Problem]:
    names, placed = _names(document), document.placement.stages
    linked = {frozenset(link.between) for link in document.wan.links}
    if any(len(pair) < 2 or not pair <= set(names) for pair in linked):
        return  # A link with a misspelt end may be the very one.
    crossings = [(index, index + 1) for index in range(len(placed) - 1)]
    if _read(document, "training.schedule") == "interleaved-1f1b" and len(placed) > 1:
        crossings.append((len(placed) - 1, 0))
    missing: dict[frozenset[str], tuple[int, int]] = {}
    for source, target in crossings:
        pair = frozenset((placed[source], placed[target]))
        if len(pair) == 2 and pair <= set(names) and pair not in linked:
            missing.setdefault(pair, (source, target))
    for source, target in missing.values():
        yield Problem(
            "wan.links",
            f"no link between {placed[source]} and {placed[target]}, but stages {source} and {target} "
            "exchange tensors over it",
        )


@_rule
def _chunks_need_interleaving(document: Any) -> Iterator[Problem]:
    training = document.training
    chunks, interleaved = training.virtual_stages, training.schedule == "interleaved-1f1b"
    if chunks > 1 and not interleaved:
        yield Problem("training.virtual_stages", f"above 1 needs the schedule interleaved-1f1b; got {chunks}")
    elif chunks > 1 and training.pipeline_stages == 1:
        yield Problem("training.virtual_stages", f"above 1 needs more than one pipeline stage; got {chunks}")


@_rule
def _interleaving_divides(document: Any) -> Iterator[Problem]:
    training = document.training
    stages, microbatches = training.pipeline_stages, training.microbatches
    if training.schedule == "interleaved-1f1b" and microbatches % stages:
        nearest = max(stages, round(microbatches / stages) * stages)
        yield Problem(
            "training.microbatches",
            f"must be divisible by pipeline_stages ({stages}) for interleaved-1f1b; got {microbatches}, "
            f"the nearest is {nearest}",
        )


@_rule
def _in_flight_is_greedys(document: Any) -> Iterator[Problem]:
    training = document.training
    if training.max_in_flight is not None and training.schedule != "greedy":
        yield Problem(
            "training.max_in_flight", f"belongs to the schedule greedy; this document uses {training.schedule}"
        )


@_rule
def _size_limits(document: Any) -> Iterator[Problem]:
    training = document.training
    kinds = 3 if training.schedule == "zb-h1" else 2
    operations = training.pipeline_stages * training.cell_size * training.microbatches * training.virtual_stages * kinds
    if operations > MAX_OPERATIONS:
        yield Problem(
            "training.microbatches",
            f"{operations:,} operations in one cell (stages x cell_size x microbatches x virtual_stages x {kinds}); "
            f"at most {MAX_OPERATIONS:,} are simulated",
        )
    workers = training.pipelines * training.pipeline_stages
    if workers > MAX_WORKERS:
        yield Problem(
            "training.pipelines", f"{workers:,} workers (pipelines x stages); at most {MAX_WORKERS:,} are simulated"
        )


@_rule
def _slo_given(document: Any) -> Iterator[Problem]:
    inference = document.inference
    if inference is not None and inference.admission == "slo" and inference.slo_ttft_ms is None:
        yield Problem("inference.slo_ttft_ms", "is required with admission slo")


@_rule
def _prefill_table(document: Any) -> Iterator[Problem]:
    if document.inference is None or document.inference.prefill.mode != "table":
        return
    table = document.inference.prefill.table
    for index, (before, after) in enumerate(pairwise(table), start=1):
        if after[0] <= before[0]:
            yield Problem(
                f"inference.prefill.table[{index}]", f"prompt lengths must increase; {after[0]:,} follows {before[0]:,}"
            )
            return
    if len(table) < 2 or document.inference.requests.mode != "inline":
        return
    (x0, y0), (x1, y1) = table[-2], table[-1]
    longest = max((tokens for _, tokens in document.inference.requests.inline), default=0)
    if longest > x1 and y0 + (y1 - y0) * (longest - x0) / (x1 - x0) <= 0:
        yield Problem(
            "inference.prefill.table",
            f"its last slope falls: it gives a prompt of {longest:,} tokens no time at all; "
            "add a row beyond that length",
        )


@_rule
def _inference_not_yet(document: Any) -> Iterator[Problem]:
    if document.inference is None:
        return
    prefill = _read(document, "inference.prefill.mode")
    if prefill == "analytic":
        yield Problem("inference.prefill.mode", f"{NOT_YET}; give a table of [tokens, ms]")
    requests = _read(document, "inference.requests.mode")
    if requests in ("poisson", "trace"):
        yield Problem("inference.requests.mode", f"{NOT_YET}; give the requests inline as [seconds, prompt tokens]")


def _names(document: Any) -> list[str]:
    """Return the datacenters' names; unsound when one of them is."""
    return [datacenter.name for datacenter in document.datacenters]


def _sound(parts: Any) -> list[Any]:
    """Return the parts that can be read at all."""
    return [part for part in parts if not isinstance(part, UnsoundError)]


def _read(owner: Any, path: str, otherwise: Any = None) -> Any:
    """Return the attribute at a dotted path, or `otherwise` where a part of it is missing or wrong."""
    try:
        return attrgetter(path)(owner)
    except (UnsoundError, AttributeError):
        return otherwise
