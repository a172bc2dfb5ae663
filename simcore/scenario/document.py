"""The scenario document: its fields, ranges and defaults (MODEL section 2).

These frozen pydantic models are the one source of the document's shape: the command line, the
editor, REST and OpenAPI all use them. Rules that tie several fields together live in `checks`.
Field names carry human units (`_ms`, `_gbps`); `simcore.units` converts them at the edge.
"""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

MAX_TIME_MS = 1e9
"""Longest duration a field may state, about 11.6 days: keeps every sum inside 64-bit nanoseconds."""
MAX_COUNT = 1_000_000
MAX_MICROBATCHES = 1_000_000
MAX_STAGES = 4_096
MAX_VIRTUAL_STAGES = 64
MAX_ITERATIONS = 1_000_000
MAX_REQUESTS = 2_000_000

RESERVED_PATHS = frozenset(
    {
        "trouble",
        "placement.pipelines",
        "inference.policy",
        "inference.chunk_tokens",
        "inference.decode",
        "inference.prediction_error",
    }
)
"""Keys with a meaning to come; refused with "not yet" so that nobody thinks they had an effect."""


def _by(choose: Callable[[Any], str]) -> Discriminator:
    """Pick a union member by a tag; tags start with ~ so that error paths can drop them."""
    return Discriminator(choose)


def _mode(value: Any) -> str:
    mode = value.get("mode") if isinstance(value, dict) else getattr(value, "mode", None)
    return f"~{mode}" if isinstance(mode, str) else "~"


def _scalar_or_list(value: Any) -> str:
    return "~each" if isinstance(value, (list, tuple)) else "~one"


def _count_or_auto(value: Any) -> str:
    return "~auto" if isinstance(value, str) else "~count"


def _id_or_inline(value: Any) -> str:
    return "~id" if isinstance(value, str) else "~inline"


def _preset_or_layers(value: Any) -> str:
    has_preset = "preset" in value if isinstance(value, dict) else hasattr(value, "preset")
    return "~preset" if has_preset else "~layers"


class Document(BaseModel):
    """Base of every part: frozen, no unknown keys, no silent conversion, no NaN or infinity."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


Ms = Annotated[float, Field(ge=0, le=MAX_TIME_MS)]
Gbps = Annotated[float, Field(gt=0, le=1e12)]
Megabytes = Annotated[float, Field(ge=0, le=1e12)]
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
Text = Annotated[str, Field(max_length=10_000, pattern=r"^[^\x00]*$")]


PerStageMs = Annotated[
    Annotated[Ms, Tag("~one")]
    | Annotated[tuple[Ms, ...], Field(strict=False, min_length=1, max_length=MAX_STAGES), Tag("~each")],
    _by(_scalar_or_list),
]
PerStageMegabytes = Annotated[
    Annotated[Megabytes, Tag("~one")]
    | Annotated[tuple[Megabytes, ...], Field(strict=False, min_length=1, max_length=MAX_STAGES), Tag("~each")],
    _by(_scalar_or_list),
]


class Gpu(Document):
    """One GPU type, in the shape of the catalogue."""

    id: Name
    memory_gb: float = Field(gt=0, le=1e6)
    bf16_tflops: float = Field(gt=0, le=1e9)
    memory_gb_per_s: float = Field(gt=0, le=1e9)


class Datacenter(Document):
    """GPUs in one place, joined by one intra-datacenter network."""

    name: Name
    gpu: Annotated[Annotated[Name, Tag("~id")] | Annotated[Gpu, Tag("~inline")], _by(_id_or_inline)]
    gpus: int = Field(ge=1, le=MAX_COUNT)
    gpus_per_node: int = Field(default=8, ge=1, le=MAX_COUNT)
    intra_gbps: Gbps = 100
    intra_latency_us: float = Field(default=5, ge=0, le=MAX_TIME_MS)
    usd_per_gpu_hour: float | None = Field(default=None, ge=0, le=1e9)
    latitude_deg: float | None = Field(default=None, ge=-90, le=90)
    longitude_deg: float | None = Field(default=None, ge=-180, le=180)


class WanLink(Document):
    """The wide-area path between two datacenters, alike in both directions."""

    between: Annotated[tuple[Name, Name], Field(strict=False)]
    rtt_ms: Ms
    capacity_gbps: Gbps | None = None
    usd_per_gb: float = Field(default=0, ge=0, le=1e9)


class Wan(Document):
    """What holds for every WAN path, and the paths."""

    tcp_window_mb: float = Field(default=1.5, gt=0, le=1e12)
    node_pair_gbps: Gbps = 5
    links: Annotated[tuple[WanLink, ...], Field(strict=False, max_length=2016)] = ()


class PresetModel(Document):
    """A language model of the catalogue."""

    preset: Name


class LayeredModel(Document):
    """A decoder-only transformer by its dimensions."""

    layers: int = Field(ge=1, le=100_000)
    hidden_size: int = Field(ge=1, le=10_000_000)
    attention_heads: int = Field(ge=1, le=1_000_000)
    kv_heads: int | None = Field(default=None, ge=1, le=1_000_000)
    ffn_size: int | None = Field(default=None, ge=1, le=100_000_000)
    gated_mlp: bool = False
    vocab_size: int = Field(ge=1, le=100_000_000)
    sequence_length: int = Field(ge=1, le=100_000_000)


LanguageModel = Annotated[
    Annotated[PresetModel, Tag("~preset")] | Annotated[LayeredModel, Tag("~layers")],
    _by(_preset_or_layers),
]


class AnalyticCompute(Document):
    """Durations from FLOPs at a share of the GPU's peak."""

    mode: Literal["analytic"] = "analytic"
    mfu: float = Field(default=0.5, gt=0, le=1)


class ExplicitCompute(Document):
    """Durations of a stage's operations on one microbatch, given; one value or one per stage."""

    mode: Literal["explicit"]
    forward_ms: PerStageMs
    backward_ms: PerStageMs
    weight_ms: PerStageMs = 0.0


Compute = Annotated[
    Annotated[AnalyticCompute, Tag("~analytic")] | Annotated[ExplicitCompute, Tag("~explicit")],
    _by(_mode),
]


class Transport(Document):
    """How tensors cross the WAN."""

    connections: Annotated[
        Annotated[int, Field(ge=1, le=MAX_COUNT), Tag("~count")] | Annotated[Literal["auto"], Tag("~auto")],
        _by(_count_or_auto),
    ] = 1
    sharing: Literal["spatial", "temporal"] = "spatial"
    sends: Literal["overlapped", "blocking"] = "overlapped"


class Training(Document):
    """The training job: parallelism, schedule, transport, durations and tensor sizes."""

    system: Literal["gpipe", "megatron", "varuna", "atlas"] | None = None
    pipeline_stages: int = Field(ge=1, le=MAX_STAGES)
    pipelines: int = Field(ge=1, le=MAX_COUNT)
    microbatches: int = Field(ge=1, le=MAX_MICROBATCHES)
    cell_size: int = Field(default=1, ge=1, le=MAX_COUNT)
    tensor_parallel: int = Field(default=1, ge=1, le=MAX_COUNT)
    microbatch_size: int = Field(default=1, ge=1, le=MAX_COUNT)
    virtual_stages: int = Field(default=1, ge=1, le=MAX_VIRTUAL_STAGES)
    schedule: Literal["gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "greedy"] = "1f1b"
    recompute: Literal["none", "full"] = "none"
    max_in_flight: int | None = Field(default=None, ge=1, le=MAX_MICROBATCHES)
    transport: Transport = Transport()
    compute: Compute = AnalyticCompute()
    activation_mb: Megabytes | None = None
    gradient_mb: PerStageMegabytes | None = None
    optimizer_ms: Ms = 0.0


class FixedPlacement(Document):
    """Each stage's datacenter, by name, first stage first."""

    mode: Literal["fixed"]
    stages: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=MAX_STAGES)]


class AutoPlacement(Document):
    """Let the planner deal the stages out."""

    mode: Literal["auto"] = "auto"


Placement = Annotated[
    Annotated[FixedPlacement, Tag("~fixed")] | Annotated[AutoPlacement, Tag("~auto")],
    _by(_mode),
]


class TablePrefill(Document):
    """Prefill times by prompt length, interpolated: rows of [tokens, milliseconds]."""

    mode: Literal["table"]
    table: Annotated[
        tuple[
            Annotated[
                tuple[Annotated[int, Field(ge=0, le=1_000_000_000)], Annotated[float, Field(gt=0, le=MAX_TIME_MS)]],
                Field(strict=False),
            ],
            ...,
        ],
        Field(strict=False, min_length=1, max_length=10_000),
    ]


class AnalyticPrefill(Document):
    """Prefill times from the model's FLOPs and the GPU's constants."""

    mode: Literal["analytic"]
    margin: float = Field(default=0.15, ge=0, le=10)


Prefill = Annotated[
    Annotated[TablePrefill, Tag("~table")] | Annotated[AnalyticPrefill, Tag("~analytic")],
    _by(_mode),
]


class InlineRequests(Document):
    """Requests as rows of [arrival in seconds, prompt tokens], in any order."""

    mode: Literal["inline"]
    inline: Annotated[
        tuple[
            Annotated[
                tuple[
                    Annotated[float, Field(ge=0, le=MAX_TIME_MS)],
                    Annotated[int, Field(ge=1, le=1_000_000_000)],
                ],
                Field(strict=False),
            ],
            ...,
        ],
        Field(strict=False, max_length=MAX_REQUESTS),
    ]


class PoissonRequests(Document):
    """Requests drawn with exponential gaps and one prompt length."""

    mode: Literal["poisson"]
    rate_per_s: float = Field(gt=0, le=1e9)
    prompt_tokens: int = Field(ge=1, le=1_000_000_000)


class TraceRequests(Document):
    """Requests of a stored trace."""

    mode: Literal["trace"]
    trace: Name


Requests = Annotated[
    Annotated[InlineRequests, Tag("~inline")]
    | Annotated[PoissonRequests, Tag("~poisson")]
    | Annotated[TraceRequests, Tag("~trace")],
    _by(_mode),
]


class Inference(Document):
    """BubbleTea: prefill work offered to the training job's bubbles."""

    model: LanguageModel
    shards: int = Field(default=1, ge=1, le=MAX_COUNT)
    iterations: int = Field(default=1, ge=1, le=MAX_ITERATIONS)
    guard_ms: Ms = 0.0
    dispatch_ms: Ms = 0.0
    slo_ttft_ms: Ms | None = None
    admission: Literal["all", "slo"] = "all"
    allreduce_blocks: bool = True
    hop_bytes_per_token: float | None = Field(default=None, ge=0, le=1e12)
    prefill: Prefill
    requests: Requests


class Scenario(Document):
    """Everything one simulation depends on."""

    version: Literal[1]
    name: Name
    description: Text = ""
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    datacenters: Annotated[tuple[Datacenter, ...], Field(strict=False, min_length=1, max_length=64)]
    wan: Wan = Wan()
    model: LanguageModel | None = None
    training: Training
    placement: Placement = AutoPlacement()
    inference: Inference | None = None
