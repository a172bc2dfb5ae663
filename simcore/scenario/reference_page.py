"""The page that lists every field of the scenario document, made from the models themselves.

`python -m simcore.scenario.reference_page` prints it; docs/scenario.md holds it, and a test compares.
"""

import json
import sys
from typing import Any

from simcore.scenario.document import RESERVED_PATHS, Scenario

_HEAD = """# The scenario document

One document, YAML or JSON, describes everything that a simulation depends on. Unknown keys are
errors. All errors of a document are reported at once, each with the path of its field. This page is
made from the models that check it: `python -m simcore.scenario.reference_page`.

Refused with "not yet" until they are computed: `placement` in mode auto (what an absent key means),
`inference.prefill` in mode analytic, `inference.requests` in the modes poisson and trace, and
"""


def _type_text(schema: dict[str, Any]) -> str:
    """Return type and range of a field in a few words."""
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type_text(part) for part in schema[key] if part.get("type") != "null"))
    if "$ref" in schema:
        return f"[{(name := schema['$ref'].rsplit('/', 1)[1])}](#{name.lower()})"
    if schema.get("type") == "array":
        if "prefixItems" in schema:
            return "[" + ", ".join(_type_text(part) for part in schema["prefixItems"]) + "]"
        return "list of " + _type_text(schema["items"])
    words = {"integer": "whole number", "number": "number", "string": "text", "boolean": "true or false"}
    return words[schema["type"]] + _range_text(schema)


def _range_text(schema: dict[str, Any]) -> str:
    low = {"minimum": "from", "exclusiveMinimum": "above", "minLength": "of"}
    high = {"maximum": "to", "exclusiveMaximum": "below", "maxLength": "to"}
    parts = [f"{word} {schema[key]:,}" for words in (low, high) for key, word in words.items() if key in schema]
    text = " ".join(parts)
    return f" {text} characters" if text and schema["type"] == "string" else f" {text}" if text else ""


def _default_text(name: str, schema: dict[str, Any], required: list[str]) -> str:
    if name in required:
        return "required"
    default = schema.get("default")
    if default is None:
        return "absent"
    return f"`{json.dumps(default)}`" if not isinstance(default, dict) else "its defaults"


def _table(model: dict[str, Any]) -> str:
    rows = ["| key | default | value | meaning |", "|---|---|---|---|"]
    for name, schema in model["properties"].items():
        default = _default_text(name, schema, model.get("required", []))
        meaning = schema["description"].removesuffix(".")
        rows.append(f"| {name} | {default} | {_type_text(schema)} | {meaning} |")
    return "\n".join(rows)


def reference_page() -> str:
    """Return the page as Markdown."""
    schema = Scenario.model_json_schema()
    reserved = ", ".join(f"`{path}`" for path in sorted(RESERVED_PATHS))
    parts = [f"{_HEAD}{reserved}.", f"## Document\n\n{_table(schema)}"]
    parts += [f"## {name}\n\n{model['description']}\n\n{_table(model)}" for name, model in schema["$defs"].items()]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(reference_page())
