"""What a run gave: result, layout, timeline window, exports."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, Literal, NoReturn
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from ninja import P, Router
from ninja.params import QueryEx

from webapp import engine
from webapp.api.parameters import WindowRows, WindowTime, WindowWidth
from webapp.api.problems import ProblemOut, RequestRefusedError
from webapp.api.routes.runs import document_of, run_data, visible_run
from webapp.api.routes.scenarios import REFUSALS
from webapp.api.schemas import LayoutOut
from webapp.api.streaming import blocks, json_pieces
from webapp.api.windows import pixels_from, window_from
from webapp.runs.models import Result
from webapp.runs.timelines import run_layout, run_overview, run_timeline, run_window

router = Router(tags=["output of runs"])

NOT_THERE = {**REFUSALS, 409: ProblemOut}
_BINARY = {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
_RESULT = {"content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}}}
Overview = QueryEx[Literal["0", "1"], P(description="1: share of all workers' time by kind, over the whole run.")]
_UNCHANGED = {"description": "The ETag you sent still holds."}


def _responses(ok: dict[str, Any], description: str) -> dict[str, Any]:
    return {"responses": {"200": {"description": description, **ok}, "304": _UNCHANGED}}


@router.get(
    "/{run_id}/result",
    response={**NOT_THERE},
    summary="Read the result",
    openapi_extra=_responses(_RESULT, "The object that `simcore run --json -` prints for the document."),
)
def read_result(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """All figures of a run that succeeded."""
    run = visible_run(request, run_id, "read")
    result = Result.objects.filter(run=run).first()
    if result is None:
        raise RequestRefusedError(409, f"The run has no result: it is {run.status}.")
    tag = f'"{hashlib.sha256(result.text.encode()).hexdigest()[:32]}"'
    return _tagged(request, tag, lambda: HttpResponse(result.text, content_type="application/json"))


@router.get("/{run_id}/layout", response={200: LayoutOut, **NOT_THERE}, summary="Read the timeline's rows")
def read_layout(request: HttpRequest, run_id: UUID) -> Any:
    """Datacenters, stages and channels behind the row numbers, and how long the timeline is."""
    layout = run_layout(run=visible_run(request, run_id, "read"))
    if layout is None:
        _nothing_stored()
    return layout


@router.get(
    "/{run_id}/timeline",
    response={**NOT_THERE},
    summary="Read a window of the timeline",
    openapi_extra=_responses(
        _BINARY,
        "A columnar frame: u32 header length, JSON header, 8-byte aligned typed arrays. "
        "Exact segments up to 8,000, above that the dominant kind by row group and bin.",
    ),
)
def read_timeline(
    request: HttpRequest,
    run_id: UUID,
    t0: WindowTime = None,
    t1: WindowTime = None,
    rows: WindowRows = None,
    px: WindowWidth = None,
    overview: Overview = "0",
) -> HttpResponse:
    """One viewport, whatever the size of the run."""
    run = visible_run(request, run_id, "read")
    layout = run_layout(run=run)
    if layout is None:
        _nothing_stored()
    make: Callable[[], bytes | None]
    if overview == "1":
        width = pixels_from(px if px is not None else "1000")
        key, make = f"overview {width}", partial(run_overview, run=run, px=width)
    else:
        extent = {"horizon_ns": layout["horizon_ns"], "num_rows": num_rows(layout["layout"])}
        window = window_from(t0=t0, t1=t1, rows=rows, px=px, extent=extent)
        key, make = f"window {window}", partial(run_window, run=run, **asdict(window))

    def framed() -> HttpResponse:
        return HttpResponse(make() or b"", content_type="application/octet-stream")

    if not run.is_final:
        return framed()
    tag = hashlib.sha256(f"{run.id} {run.last_seq} {key}".encode()).hexdigest()[:32]
    return _tagged(request, f'"{tag}"', framed)


@router.get(
    "/{run_id}/export",
    response={**NOT_THERE},
    summary="Export a run",
    openapi_extra={
        "responses": {
            "200": {
                "description": "json: run, document, result, every segment of one cell's iteration and of the fills. "
                "perfetto: a trace that ui.perfetto.dev and chrome://tracing open.",
                "content": {"application/json": {"schema": {"type": "object", "additionalProperties": True}}},
            }
        }
    },
)
def export_run(request: HttpRequest, run_id: UUID, format: Literal["json", "perfetto"]) -> HttpResponseBase:
    """A download, streamed."""
    run = visible_run(request, run_id, "read")
    timeline = run_timeline(run=run)
    if timeline is None:
        _nothing_stored()
    pieces: Iterator[str]
    if format == "perfetto":
        pieces = engine.perfetto_pieces(timeline, run.name)
    else:
        result = Result.objects.filter(run=run).first()
        head = {
            "run": run_data(run, request),
            "document": document_of(run),
            "result": json.loads(result.text) if result is not None else None,
        }
        pieces = json_pieces(head, timeline)
    response = StreamingHttpResponse(blocks(pieces), content_type="application/json")
    stem = re.sub(r"[^\w.-]+", "-", run.name).strip("-")[:60] or "run"
    response["Content-Disposition"] = f'attachment; filename="{stem}-{str(run.id)[:8]}.{format}.json"'
    return response


def num_rows(layout: dict[str, Any]) -> int:
    """Return how many rows a timeline with this layout shows."""
    num_cells = layout["num_pipelines"] // layout["cell_size"]
    return int(layout["num_pipelines"] * len(layout["stage_datacenter"]) + num_cells * len(layout["channels"]))


def _nothing_stored() -> NoReturn:
    raise RequestRefusedError(409, "Nothing of the run's timeline is stored yet; ask again once it runs.")


def _tagged(request: HttpRequest, tag: str, make: Any) -> HttpResponse:
    sent = [item.strip().removeprefix("W/") for item in request.headers.get("If-None-Match", "").split(",")]
    response = HttpResponse(status=304) if tag in sent or "*" in sent else make()
    response["ETag"] = tag
    response["Cache-Control"] = "private, no-cache"
    return response
