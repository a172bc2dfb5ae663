"""Writes a scenario document as YAML a person likes to read.

Mappings and lists of mappings in block style, lists of plain values on one line. So a request is
`- [0.05, 2048]`: one a line, whatever their number, and two thousand of them stay quick to write
and to edit.
"""

import json
import math
import re
from typing import Any

_INDENT = "  "
_PLAIN_TEXT = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_ ./()+-]*[A-Za-z0-9_./()+-])?")
_RESERVED_WORDS = frozenset({"true", "false", "yes", "no", "on", "off", "null", "y", "n"})
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
"""What JSON leaves as it is and YAML does not take, or takes for the end of a line."""


def yaml_from(document: dict[str, Any]) -> str:
    """Return the document as YAML text that reads back as the same data."""
    return "\n".join(block_lines(document)) + "\n" if document else "{}\n"


def block_lines(value: Any) -> list[str]:
    """Return the value as lines of block-style YAML, not indented."""
    if isinstance(value, dict) and value:
        lines: list[str] = []
        for key, item in value.items():
            lines.extend(entry_lines(str(key), item))
        return lines
    if isinstance(value, list) and value and not _is_one_line(value):
        lines = []
        for item in value:
            first, *rest = block_lines(item)
            lines.append(f"- {first}")
            lines.extend(_INDENT + line for line in rest)
        return lines
    return [flow(value)]


def entry_lines(key: str, value: Any) -> list[str]:
    """Return `key: value` as lines of block-style YAML, not indented."""
    if (isinstance(value, dict) and value) or (isinstance(value, list) and not _is_one_line(value)):
        return [f"{_scalar(key)}:", *(_INDENT + line for line in block_lines(value))]
    return [f"{_scalar(key)}: {flow(value)}"]


def flow(value: Any) -> str:
    """Return the value as YAML on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(str(key))}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return _scalar(value)


def _is_one_line(value: list[Any]) -> bool:
    return not any(isinstance(item, (dict, list)) for item in value)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        if _PLAIN_TEXT.fullmatch(value) and value.lower() not in _RESERVED_WORDS:
            return value
        return _quoted(value)
    return _quoted(str(value))


def _quoted(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(text, ensure_ascii=False))
