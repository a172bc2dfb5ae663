"""The OpenAPI 3.1 document: ninja's, with the engine's own scenario schema as the body."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from webapp import engine
from webapp.api.interface import api
from webapp.api.problems import CONTENT_TYPE, ProblemOut
from webapp.api.schemas import SCENARIO_MARK, RunIn, ScenarioIn, ScenarioUpdateIn

_BODIES: tuple[type[BaseModel], ...] = (ScenarioIn, ScenarioUpdateIn, RunIn, ProblemOut)


def openapi_document() -> dict[str, Any]:
    """Return the description of every operation, status and schema."""
    document = dict(api.get_openapi_schema())
    models: tuple[type[BaseModel], ...] = (engine.ScenarioDocument, *_BODIES)
    _, described = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas = document["components"].setdefault("schemas", {})
    for name, schema in described["$defs"].items():
        schemas[name] = schema
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if int(status) >= 400:
                    content = response.pop("content", {})
                    response["content"] = {CONTENT_TYPE: next(iter(content.values()), {})}
    referred: dict[str, Any] = _referred(document)
    return referred


def _referred(node: Any) -> Any:
    """Return the document with every marked schema as a reference to the scenario's."""
    if isinstance(node, list):
        return [_referred(item) for item in node]
    if not isinstance(node, dict):
        return node
    if SCENARIO_MARK in node:
        reference = {"$ref": "#/components/schemas/Scenario"}
        return {"anyOf": [reference, {"type": "null"}]} if "anyOf" in node else reference
    return {key: _referred(item) for key, item in node.items()}


@require_GET
def openapi_json(request: HttpRequest) -> JsonResponse:
    """Serve the document; it says nothing of anybody's data, so anyone may read it."""
    return JsonResponse(openapi_document())
