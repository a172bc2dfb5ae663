"""Turns pydantic's errors into sentences with the path of the field, what was given, what is allowed."""

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from simcore.errors import Problem
from simcore.scenario.document import RESERVED_PATHS, Scenario
from simcore.scenario.lenient import candidates

MAX_PROBLEMS = 200
"""Most problems listed; a million faulty rows are one mistake."""
NOT_YET = "not yet: this part of the document has a meaning to come and cannot be used so far"


def path_text(location: tuple[int | str, ...]) -> str:
    """Return a path as `wan.links[2].rtt_ms`; union tags (they start with ~) are left out."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        elif not part.startswith("~"):
            text += f".{part}" if text else part
    return text


def given(value: Any) -> str:
    """Return a short, safe rendering of what the document says."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:37] + "...")
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return f"a list of {len(value)}"
    return str(value) if len(str(value)) <= 40 else str(value)[:37] + "..."


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _allowed_keys(location: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the model at `location` (of the union member its tags name)."""
    types: list[Any] = [Scenario]
    for part in location:
        following: list[Any] = []
        for kind in types:
            if isinstance(part, str) and part.startswith("~"):
                if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
                    continue
                mode = kind.model_fields.get("mode")
                if mode is None or part[1:] in get_args(mode.annotation):
                    following.append(kind)
            elif isinstance(part, int):
                following += candidates(get_args(kind)[0]) if get_args(kind) else []
            elif isinstance(kind, type) and issubclass(kind, BaseModel) and part in kind.model_fields:
                following += candidates(kind.model_fields[part].annotation)
        types = following
    return [
        name for kind in types if isinstance(kind, type) and issubclass(kind, BaseModel) for name in kind.model_fields
    ]


def _unknown_key(location: tuple[int | str, ...]) -> str:
    path = path_text(location)
    if path in RESERVED_PATHS:
        return NOT_YET
    key, allowed = str(location[-1]), _allowed_keys(location[:-1])
    close = difflib.get_close_matches(key, allowed, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"unknown key; {hint}allowed here: {', '.join(allowed)}"


def _sentence(error: Any) -> str:
    kind, context, value = error["type"], error.get("ctx", {}), error.get("input")
    match kind:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return _unknown_key(error["loc"])
        case "greater_than_equal":
            return f"must be at least {_number(context['ge'])}; got {given(value)}"
        case "greater_than":
            return f"must be greater than {_number(context['gt'])}; got {given(value)}"
        case "less_than_equal":
            return f"must be at most {_number(context['le'])}; got {given(value)}"
        case "finite_number":
            return f"must be a finite number; got {given(value)}"
        case "float_type" | "float_parsing":
            return f"must be a number; got {given(value)}"
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return f"must be a whole number; got {given(value)}"
        case "string_type":
            return f"must be text; got {given(value)}"
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {context['max_length']:,} characters; got {len(value):,}"
        case "string_pattern_mismatch":
            return "must not contain control characters"
        case "bool_type":
            return f"must be true or false; got {given(value)}"
        case "literal_error":
            number = "a whole number or " if error["loc"][-1] == "~auto" else ""
            return f"must be {number}{context['expected']}; got {given(value)}"
        case "tuple_type" | "list_type":
            return f"must be a list; got {given(value)}"
        case "too_short":
            return f"must have at least {context['min_length']:,} entries; got {context['actual_length']:,}"
        case "too_long":
            length = "more" if value is None else len(value)
            return f"must have at most {context['max_length']:,} entries; got {length}"
        case "model_type" | "model_attributes_type" | "dict_type":
            return f"must be a mapping; got {given(value)}"
        case "union_tag_invalid" | "union_tag_not_found":
            return _wrong_tag(error)
    return f"{error['msg']}; got {given(value)}"


def _wrong_tag(error: Any) -> str:
    value = error.get("input")
    tags = [tag.strip("' ~") for tag in str(error.get("ctx", {}).get("expected_tags", "")).split(",")]
    if not isinstance(value, dict):
        return f"must be a mapping; got {given(value)}"
    if "mode" not in value:
        return f"needs a mode: {' or '.join(tags)}"
    return f"mode must be {' or '.join(tags)}; got {given(value['mode'])}"


def problems_from_pydantic(error: ValidationError) -> list[Problem]:
    """Return one problem for each error, in document order of pydantic."""
    problems = []
    details = error.errors(include_url=False, include_context=True)
    for detail in details[:MAX_PROBLEMS]:
        path = path_text(detail["loc"])
        sentence = _sentence(detail)
        if detail["type"] in ("union_tag_invalid", "union_tag_not_found") and isinstance(detail.get("input"), dict):
            path = f"{path}.mode" if path else "mode"
            sentence = sentence.removeprefix("mode ")
        problems.append(Problem(path, sentence))
    if len(details) > MAX_PROBLEMS:
        problems.append(Problem("", f"{len(details) - MAX_PROBLEMS:,} more problems like these"))
    return problems
