"""A faulty document seen through its sound parts, so that rules between fields still apply.

Reading a part that is missing or wrong raises `UnsoundError`; a rule that needs it is skipped, and the
author hears of the fault itself and of every rule that can be judged without it.
"""

from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError, create_model
from pydantic.fields import FieldInfo

from simcore.scenario.document import Document

_MAX_LIST = 5_000
"""A longer list with a fault in it counts as unsound as a whole."""


class UnsoundError(Exception):
    """The part asked for is missing or wrong."""


class View:
    """Stands in for a model whose fields may be missing; same attribute names."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        try:
            value = self.__dict__["_fields"][name]
        except KeyError:
            raise UnsoundError(name) from None
        if isinstance(value, UnsoundError):
            raise value
        return value


def lenient_view(model: type[BaseModel], data: Any) -> Any:
    """Return what is sound in `data` as a `View` with the model's fields and defaults."""
    if not isinstance(data, dict):
        return UnsoundError()
    fields: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        if name in data:
            fields[name] = _part(info.annotation, info, data[name])
        elif info.is_required():
            fields[name] = UnsoundError(name)
        else:
            fields[name] = info.get_default(call_default_factory=True)
    return View(fields)


def _part(annotation: Any, info: FieldInfo | None, data: Any) -> Any:
    sole = create_model("Sole", __base__=Document, value=(annotation, info or ...))
    try:
        return sole.model_validate({"value": data}).value  # type: ignore[attr-defined]
    except ValidationError:
        pass
    for candidate in candidates(annotation):
        if isinstance(candidate, type) and issubclass(candidate, BaseModel) and isinstance(data, dict):
            if "mode" in candidate.model_fields and not _mode_fits(candidate, data):
                continue
            return lenient_view(candidate, data)
        if get_args(candidate)[1:] == (Ellipsis,) and isinstance(data, list) and len(data) <= _MAX_LIST:
            return [_part(get_args(candidate)[0], None, item) for item in data]
    return UnsoundError()


def _mode_fits(model: type[BaseModel], data: dict[str, Any]) -> bool:
    return data.get("mode") in get_args(model.model_fields["mode"].annotation)


def candidates(annotation: Any) -> list[Any]:
    """Return the plain types behind Annotated and unions."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return candidates(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return [found for member in get_args(annotation) for found in candidates(member)]
    return [annotation]
