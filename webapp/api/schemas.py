"""What the REST interface takes and gives, apart from the scenario document itself."""

import math
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, field_validator

SCENARIO_MARK = "x-scenario-document"
"""In the OpenAPI document a schema with this key becomes a reference to the engine's scenario model."""
_A_SCENARIO: dict[str, Any] = {SCENARIO_MARK: True}

RunStatus = Literal["queued", "running", "succeeded", "failed", "errored", "cancelled"]


class ScenarioIn(BaseModel):
    """A scenario, as data or as the text of a YAML or JSON document; exactly one of the two."""

    model_config = ConfigDict(extra="forbid")

    document: dict[str, Any] | None = Field(default=None, json_schema_extra=_A_SCENARIO)
    text: str | None = Field(default=None, description="YAML or JSON; kept exactly as sent.")


class ScenarioUpdateIn(ScenarioIn):
    """A changed scenario and the version it is based on, unless If-Match says it."""

    version: int | None = Field(default=None, ge=1)


class ScenarioSummaryOut(BaseModel):
    """A scenario in a list."""

    id: str = Field(description="Unique in its workspace.")
    workspace: str
    name: str
    version: int
    is_demo: bool
    created_at: datetime
    updated_at: datetime
    url: str = Field(description="The editor's page.")


class ScenarioOut(ScenarioSummaryOut):
    """A scenario with its document and the text its author wrote."""

    document: dict[str, Any] = Field(json_schema_extra=_A_SCENARIO)
    text: str


class ScenarioListOut(BaseModel):
    """A page of scenarios, last changed first."""

    items: list[ScenarioSummaryOut]
    next_cursor: str | None = Field(description="Give it back as `cursor` for the next page; null on the last.")


class RunIn(BaseModel):
    """What to run, a stored scenario or a document, and how fast to show it."""

    model_config = ConfigDict(extra="forbid")

    scenario: str | None = Field(default=None, description="Id of a stored scenario.")
    document: dict[str, Any] | None = Field(default=None, json_schema_extra=_A_SCENARIO)
    pace: float | Literal["max"] | None = Field(
        default=None, description="Simulated seconds per second, above 0; null or max is as fast as it goes."
    )

    @field_validator("pace", mode="before")
    @classmethod
    def _pace_is_a_number_or_max(cls, value: Any) -> Any:
        """Say in one sentence what pydantic would say in one for each member of the union."""
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if is_number or value in (None, "max"):
            return value
        raise ValueError("must be a number of simulated seconds per second, above 0, or max")


class RunOut(BaseModel):
    """A run and where it stands."""

    id: UUID
    workspace: str
    name: str
    scenario: str | None = Field(description="Id of the stored scenario it came from.")
    status: RunStatus
    pace: float | None
    partial: bool = Field(description="It ended early; what it had computed is kept.")
    simulated_ns: int
    horizon_ns: int = Field(description="0 until the length of the iteration is known.")
    figures: dict[str, Any] = Field(description="Latest figures; keys as in the result.")
    problems: list[dict[str, str]]
    scenario_hash: str
    engine_version: str
    seed: int
    attempt: int
    requested_by: str | None
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    url: str = Field(description="The run's page.")


class RunListOut(BaseModel):
    """A page of runs, newest first."""

    items: list[RunOut]
    next_cursor: str | None = Field(description="Give it back as `cursor` for the next page; null on the last.")


class LayoutOut(BaseModel):
    """The rows of a run's timeline and its length."""

    layout: dict[str, Any]
    horizon_ns: int
    iteration_time_ns: int
    num_iterations: int


class GpuOut(BaseModel):
    """A GPU of the catalogue."""

    id: str
    memory_gb: float
    bf16_tflops: float
    memory_gb_per_s: float
    source: str


class ModelOut(BaseModel):
    """A language model of the catalogue."""

    id: str
    layers: int
    hidden_size: int
    attention_heads: int
    kv_heads: int
    ffn_size: int
    gated_mlp: bool
    vocab_size: int
    sequence_length: int
    source: str


class CatalogueOut(BaseModel):
    """What scenarios can name."""

    gpus: list[GpuOut]
    models: list[ModelOut]
