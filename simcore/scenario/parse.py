"""From text or plain data to a valid `Scenario`, or to every problem at once."""

import json
import re
from typing import Any

import yaml
from pydantic import ValidationError

from simcore.errors import Problem, ScenarioError
from simcore.scenario.checks import rule_problems
from simcore.scenario.document import Scenario
from simcore.scenario.lenient import lenient_view
from simcore.scenario.sentences import problems_from_pydantic
from simcore.scenario.systems import with_system

MAX_DOCUMENT_BYTES = 32_000_000
"""Longest text read; 2 million inline requests fit."""
MAX_DOCUMENT_VALUES = 8_000_000
"""Most values a document may hold once YAML aliases are followed."""
MAX_DOCUMENT_DEPTH = 32


class _Loader(yaml.CSafeLoader):
    """YAML as people expect it: `1e9` is a number, a key given twice is an error."""

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        """Return the mapping; refuses keys given twice."""
        seen = set()
        for key_node, _ in node.value:
            key = key_node.value
            if isinstance(key, str) and key in seen:
                line = key_node.start_mark.line + 1
                raise ScenarioError([Problem("", f"line {line}: the key {key!r} is given twice in one mapping")])
            if isinstance(key, str):
                seen.add(key)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if pair[0] not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:float")]
    for first, pairs in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^(?:[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"),
    list("-+0123456789."),
)


def _pairs_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ScenarioError([Problem("", f"the key {twice!r} is given twice in one object")])
    return result


def _refuse_bombs(document: Any) -> None:
    """Refuse a few bytes of YAML aliases that stand for millions of values."""
    remaining = MAX_DOCUMENT_VALUES
    layer = [document]
    for _ in range(MAX_DOCUMENT_DEPTH):
        following: list[Any] = []
        for value in layer:
            children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
            remaining -= len(children)
            if remaining < 0:
                raise ScenarioError([Problem("", f"holds more than {MAX_DOCUMENT_VALUES:,} values")])
            following.extend(child for child in children if isinstance(child, (dict, list)))
        if not following:
            return
        layer = following
    raise ScenarioError([Problem("", f"is nested more than {MAX_DOCUMENT_DEPTH} levels deep")])


def read_document(text: str) -> dict[str, Any]:
    """Return the plain data of a YAML or JSON text.

    Raises
    ------
    ScenarioError
        If the text is too long, is neither YAML nor JSON, is no mapping, gives a key twice, or
        unfolds to an unreasonable size.
    """
    num_bytes = len(text.encode("utf-8", errors="surrogatepass"))
    if num_bytes > MAX_DOCUMENT_BYTES:
        raise ScenarioError(
            [Problem("", f"the text is {num_bytes / 1e6:.1f} MB; at most {MAX_DOCUMENT_BYTES / 1e6:.0f} MB are read")]
        )
    try:
        if text.lstrip().startswith(("{", "[")):
            document = json.loads(text, object_pairs_hook=_pairs_once)
        else:
            document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a CSafeLoader: plain data only
    except json.JSONDecodeError as error:
        raise ScenarioError(
            [Problem("", f"is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}")]
        ) from error
    except yaml.YAMLError as error:
        raise ScenarioError([Problem("", f"is not valid YAML: {_yaml_sentence(error)}")]) from error
    except RecursionError as error:
        raise ScenarioError([Problem("", f"is nested more than {MAX_DOCUMENT_DEPTH} levels deep")]) from error
    except (ValueError, TypeError) as error:
        if isinstance(error, ScenarioError):
            raise
        raise ScenarioError([Problem("", f"cannot be read: {error}")]) from error
    if not isinstance(document, dict):
        given = "nothing" if document is None else f"a {type(document).__name__}"
        raise ScenarioError([Problem("", f"must be a mapping with the keys version, name, ...; got {given}")])
    _refuse_bombs(document)
    return document


def _yaml_sentence(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable character"
    return f"{problem} at line {mark.line + 1}, column {mark.column + 1}" if mark else str(problem)


def scenario_from(document: Any) -> Scenario:
    """Return the scenario that plain data (of JSON or YAML) describes.

    Raises
    ------
    ScenarioError
        Carries every problem of the document: wrong types and ranges, unknown keys, and the
        rules between fields that can be judged despite the rest.
    """
    document = with_system(document)
    try:
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        problems = problems_from_pydantic(error)
        problems += rule_problems(lenient_view(Scenario, document))
        raise ScenarioError(_distinct(problems)) from error
    problems = rule_problems(scenario)
    if problems:
        raise ScenarioError(_distinct(problems))
    return scenario


def problems_of(document: Any) -> list[Problem]:
    """Return every problem of a document; empty when it can run."""
    try:
        scenario_from(document)
    except ScenarioError as error:
        return list(error.problems)
    return []


def _distinct(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))
