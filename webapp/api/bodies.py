"""Reads request bodies: JSON, every fault with its path, never more than the limit."""

import json
import re
from typing import Any, TypeVar

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest
from pydantic import BaseModel, ValidationError

from webapp.api.problems import RequestRefusedError
from webapp.engine import Problem
from webapp.settings import DATA_UPLOAD_MAX_MEMORY_SIZE

_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
Body = TypeVar("Body", bound=BaseModel)


def body_of(request: HttpRequest, model: type[Body]) -> Body:
    """Return the request's body as `model`; refuses what is no JSON (400) or does not fit (422).

    Ninja's own parsing stops at the first model that fails and knows nothing of our problems, so
    operations read their body through this and describe it with `takes`.
    """
    return _fitted(_json_of(request), model)


def takes(model: type[BaseModel]) -> dict[str, Any]:
    """Return the `openapi_extra` of an operation whose body is `model`."""
    reference = {"$ref": f"#/components/schemas/{model.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


def _json_of(request: HttpRequest) -> Any:
    try:
        text = request.body.decode("utf-8-sig")
        data = json.loads(text)
    except RequestDataTooBig as error:
        limit = f"{DATA_UPLOAD_MAX_MEMORY_SIZE / 1e6:.0f} MB"
        raise RequestRefusedError(
            413, f"The body is longer than {limit}, the most that is read. Nothing was saved."
        ) from error
    except UnicodeDecodeError as error:
        raise RequestRefusedError(400, "The body is not UTF-8 text.") from error
    except json.JSONDecodeError as error:
        sentence = f"{error.msg} at line {error.lineno}, column {error.colno}"
        raise RequestRefusedError(400, f"The body is not valid JSON: {sentence}.", [Problem("", sentence)]) from error
    except RecursionError as error:
        raise RequestRefusedError(400, "The body is nested too deep.") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise RequestRefusedError(400, f"The body is not valid JSON: {error}.") from error
    if _SURROGATE.search(text):
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise RequestRefusedError(400, "The body holds half of a character: a lone \\ud800 to \\udfff.") from error
    return data


def _fitted(data: Any, model: type[Body]) -> Body:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = [
            Problem(".".join(str(part) for part in fault["loc"]), _sentence(fault))
            for fault in error.errors(include_url=False)
        ]
        raise RequestRefusedError(422, "The body does not have the expected form.", problems) from error


def _sentence(fault: Any) -> str:
    if fault["type"] == "extra_forbidden":
        return "unknown key"
    if fault["type"] == "missing":
        return "is required"
    return str(fault["msg"]).removeprefix("Value error, ")
