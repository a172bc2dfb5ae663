"""The catalogue: GPUs and language models that scenarios can name."""

from typing import Any

from django.http import HttpRequest
from ninja import Router

from webapp import engine
from webapp.api.auth import Caller
from webapp.api.problems import ProblemOut
from webapp.api.schemas import CatalogueOut

router = Router(tags=["catalogue"])


@router.get("", response={200: CatalogueOut, 401: ProblemOut, 403: ProblemOut}, summary="Read the catalogue")
def read_catalogue(request: HttpRequest) -> Any:
    """Built-in GPUs and models, every entry with its source."""
    caller: Caller = request.auth  # type: ignore[attr-defined]
    caller.needs("read")
    return {"gpus": engine.gpu_entries(), "models": engine.model_entries()}
