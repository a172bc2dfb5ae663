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

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


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
    """Name of the GPU type."""
    memory_gb: float = Field(gt=0, le=1e6)
    """Memory, 1 GB is 1e9 bytes."""
    bf16_tflops: float = Field(gt=0, le=1e9)
    """Dense BF16 peak, 1e12 operations a second."""
    memory_gb_per_s: float = Field(gt=0, le=1e9)
    """Memory bandwidth."""


class Datacenter(Document):
    """GPUs in one place, joined by one intra-datacenter network."""

    name: Name
    """Unique name."""
    gpu: Annotated[Annotated[Name, Tag("~id")] | Annotated[Gpu, Tag("~inline")], _by(_id_or_inline)]
    """GPU type of the catalogue, or one of its own."""
    gpus: int = Field(ge=1, le=MAX_COUNT)
    """How many GPUs there are."""
    gpus_per_node: int = Field(default=8, ge=1, le=MAX_COUNT)
    """GPUs of one machine."""
    intra_gbps: Gbps = 100
    """Rate from one pipeline's stage to another stage in this datacenter."""
    intra_latency_us: float = Field(default=5, ge=0, le=MAX_TIME_MS)
    """One-way latency inside the datacenter."""
    usd_per_gpu_hour: float | None = Field(default=None, ge=0, le=1e9)
    """Price of a GPU."""
    latitude_deg: float | None = Field(default=None, ge=-90, le=90)
    """Where it is, north positive."""
    longitude_deg: float | None = Field(default=None, ge=-180, le=180)
    """Where it is, east positive."""


class WanLink(Document):
    """The wide-area path between two datacenters, alike in both directions."""

    between: Annotated[tuple[Name, Name], Field(strict=False)]
    """Names of two different datacenters; one link a pair."""
    rtt_ms: Ms
    """Round-trip time; 0 means no window limit."""
    capacity_gbps: Gbps | None = None
    """What all traffic of a direction may take together; absent is unlimited."""
    usd_per_gb: float = Field(default=0, ge=0, le=1e9)
    """Price of traffic."""


class Wan(Document):
    """What holds for every WAN path, and the paths."""

    tcp_window_mb: float = Field(default=1.5, gt=0, le=1e12)
    """Bytes that one TCP connection keeps in flight."""
    node_pair_gbps: Gbps = 5
    """The provider's cap for a pair of nodes."""
    links: Annotated[tuple[WanLink, ...], Field(strict=False, max_length=2016)] = ()
    """The paths between datacenters."""


class PresetModel(Document):
    """A language model of the catalogue."""

    preset: Name
    """A model of the catalogue."""


class LayeredModel(Document):
    """A decoder-only transformer by its dimensions."""

    layers: int = Field(ge=1, le=100_000)
    """Transformer layers."""
    hidden_size: int = Field(ge=1, le=10_000_000)
    """Width."""
    attention_heads: int = Field(ge=1, le=1_000_000)
    """Query heads."""
    kv_heads: int | None = Field(default=None, ge=1, le=1_000_000)
    """Key and value heads; absent is as many as query heads."""
    ffn_size: int | None = Field(default=None, ge=1, le=100_000_000)
    """Width of the feed-forward part."""
    gated_mlp: bool = False
    """Whether the feed-forward part has a gate matrix."""
    vocab_size: int = Field(ge=1, le=100_000_000)
    """Tokens of the vocabulary."""
    sequence_length: int = Field(ge=1, le=100_000_000)
    """Tokens of a training sequence, and the context of inference."""


LanguageModel = Annotated[
    Annotated[PresetModel, Tag("~preset")] | Annotated[LayeredModel, Tag("~layers")],
    _by(_preset_or_layers),
]


class AnalyticCompute(Document):
    """Durations from FLOPs at a share of the GPU's peak."""

    mode: Literal["analytic"] = "analytic"
    """Durations from FLOPs."""
    mfu: float = Field(default=0.5, gt=0, le=1)
    """Share of the GPU's peak that is reached."""


class ExplicitCompute(Document):
    """Durations of a stage's operations on one microbatch, given; one value or one per stage."""

    mode: Literal["explicit"]
    """Durations as given."""
    forward_ms: PerStageMs
    """Forward of all chunks of a stage; one value or one a stage."""
    backward_ms: PerStageMs
    """Backward of input gradients, likewise."""
    weight_ms: PerStageMs = 0.0
    """Backward of weight gradients, likewise; part of B where the schedule does not split it off."""


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
    """TCP connections of a node pair, or auto: as many as reach the provider's cap."""
    sharing: Literal["spatial", "temporal"] = "spatial"
    """spatial: pipelines send side by side; temporal: those of a cell take turns."""
    sends: Literal["overlapped", "blocking"] = "overlapped"
    """overlapped: sending occupies no worker; blocking: the sender waits for the arrival."""


class Training(Document):
    """The training job: parallelism, schedule, transport, durations and tensor sizes."""

    system: Literal["gpipe", "megatron", "varuna", "atlas"] | None = None
    """Fills what is not given explicitly."""
    pipeline_stages: int = Field(ge=1, le=MAX_STAGES)
    """P, stages of a pipeline."""
    pipelines: int = Field(ge=1, le=MAX_COUNT)
    """D, replicas of the pipeline."""
    microbatches: int = Field(ge=1, le=MAX_MICROBATCHES)
    """M, of a pipeline and iteration."""
    cell_size: int = Field(default=1, ge=1, le=MAX_COUNT)
    """K, pipelines that take turns; divides pipelines."""
    tensor_parallel: int = Field(default=1, ge=1, le=MAX_COUNT)
    """TP, GPUs of a stage."""
    microbatch_size: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Sequences of a microbatch."""
    virtual_stages: int = Field(default=1, ge=1, le=MAX_VIRTUAL_STAGES)
    """V, chunks of a stage; above 1 for interleaved-1f1b only."""
    schedule: Literal["gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "greedy"] = "1f1b"
    """Order of operations."""
    recompute: Literal["none", "full"] = "none"
    """Whether activations are computed again for the backward."""
    max_in_flight: int | None = Field(default=None, ge=1, le=MAX_MICROBATCHES)
    """Microbatches a worker may have in flight; greedy only; absent is no limit."""
    transport: Transport = Transport()
    """Connections, turns and sends over the WAN."""
    compute: Compute = AnalyticCompute()
    """How long operations take."""
    activation_mb: Megabytes | None = None
    """Bytes that cross a stage boundary; absent is from the model."""
    gradient_mb: PerStageMegabytes | None = None
    """Bytes all-reduced by a stage, one value or one a stage; absent is from the model."""
    optimizer_ms: Ms = 0.0
    """Optimizer step of a stage after its all-reduce."""


class FixedPlacement(Document):
    """Each stage's datacenter, by name, first stage first."""

    mode: Literal["fixed"]
    """As given."""
    stages: Annotated[tuple[Name, ...], Field(strict=False, min_length=1, max_length=MAX_STAGES)]
    """Each stage's datacenter, first stage first."""


class AutoPlacement(Document):
    """Let the planner deal the stages out."""

    mode: Literal["auto"] = "auto"
    """By the planner."""


Placement = Annotated[
    Annotated[FixedPlacement, Tag("~fixed")] | Annotated[AutoPlacement, Tag("~auto")],
    _by(_mode),
]


class TablePrefill(Document):
    """Prefill times by prompt length, interpolated: rows of [tokens, milliseconds]."""

    mode: Literal["table"]
    """Times as given."""
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
    """Rows of [tokens, milliseconds], tokens increasing; linear between rows."""


class AnalyticPrefill(Document):
    """Prefill times from the model's FLOPs and the GPU's constants."""

    mode: Literal["analytic"]
    """Times from FLOPs."""
    margin: float = Field(default=0.15, ge=0, le=10)
    """Share added to be on the safe side."""


Prefill = Annotated[
    Annotated[TablePrefill, Tag("~table")] | Annotated[AnalyticPrefill, Tag("~analytic")],
    _by(_mode),
]


class InlineRequests(Document):
    """Requests as rows of [arrival in seconds, prompt tokens], in any order."""

    mode: Literal["inline"]
    """As given."""
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
    """Rows of [arrival in seconds, prompt tokens], in any order."""


class PoissonRequests(Document):
    """Requests drawn with exponential gaps and one prompt length."""

    mode: Literal["poisson"]
    """Drawn."""
    rate_per_s: float = Field(gt=0, le=1e9)
    """Mean arrivals a second."""
    prompt_tokens: int = Field(ge=1, le=1_000_000_000)
    """Length of every prompt."""


class TraceRequests(Document):
    """Requests of a stored trace."""

    mode: Literal["trace"]
    """Of a stored trace."""
    trace: Name
    """Name of the trace."""


Requests = Annotated[
    Annotated[InlineRequests, Tag("~inline")]
    | Annotated[PoissonRequests, Tag("~poisson")]
    | Annotated[TraceRequests, Tag("~trace")],
    _by(_mode),
]


class Inference(Document):
    """BubbleTea: prefill work offered to the training job's bubbles."""

    model: LanguageModel
    """The model whose prompts are processed."""
    shards: int = Field(default=1, ge=1, le=MAX_COUNT)
    """Workers that one replica is spread over."""
    iterations: int = Field(default=1, ge=1, le=MAX_ITERATIONS)
    """Iterations of training that the horizon holds."""
    guard_ms: Ms = 0.0
    """Time left free before the end of a gap."""
    dispatch_ms: Ms = 0.0
    """From the arrival to the earliest start."""
    slo_ttft_ms: Ms | None = None
    """Time to first token that is promised."""
    admission: Literal["all", "slo"] = "all"
    """all: whatever fits; slo: only what keeps slo_ttft_ms."""
    allreduce_blocks: bool = True
    """Whether all-reduces keep prefill off their workers."""
    hop_bytes_per_token: float | None = Field(default=None, ge=0, le=1e12)
    """Bytes sent between shards; absent is 2 * hidden_size of the model."""
    prefill: Prefill
    """How long a prompt takes."""
    requests: Requests
    """The prompts."""


class Scenario(Document):
    """Everything one simulation depends on."""

    version: Literal[1]
    """Version of the document."""
    name: Name
    """What people call it."""
    description: Text = ""
    """What people should know about it."""
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    """Seed of everything random."""
    datacenters: Annotated[tuple[Datacenter, ...], Field(strict=False, min_length=1, max_length=64)]
    """Where the GPUs are."""
    wan: Wan = Wan()
    """The network between them."""
    model: LanguageModel | None = None
    """The model that is trained; may be absent when durations and sizes are given."""
    training: Training
    """The training job."""
    placement: Placement = AutoPlacement()
    """Which stage goes where."""
    inference: Inference | None = None
    """Prefill in the bubbles; absent is training alone."""
