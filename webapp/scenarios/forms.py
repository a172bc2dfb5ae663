"""What the editor's form sends, turned into changes of the document.

A field is sent as it was typed, with the kind of value it holds. What cannot be read as that kind is
passed on as text: the document's own validation then says what is wrong, at the field.
"""

import re
from typing import Any

from webapp.scenarios.demo_documents import starting_inference
from webapp.scenarios.yaml_edit import Change, Path

MAX_CHANGES = 5_000
_NUMBER = re.compile(r"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*([a-zA-Zµμ/]*)")
_UNIT_FACTORS: dict[str, dict[str, float]] = {
    "ms": {"ms": 1, "s": 1e3, "us": 1e-3, "µs": 1e-3, "μs": 1e-3},
    "us": {"us": 1, "µs": 1, "μs": 1, "ms": 1e3, "s": 1e6},
    "gbps": {"g": 1, "gbps": 1, "gb/s": 1, "gbit/s": 1, "m": 1e-3, "mbps": 1e-3, "t": 1e3, "tbps": 1e3},
    "mb": {"mb": 1, "m": 1, "kb": 1e-3, "gb": 1e3, "g": 1e3},
}
"""By the unit that the field's name ends in: what people paste, and how many of the unit it is."""


class ChangeError(ValueError):
    """What was sent is no list of changes."""


def changes_from(sent: Any, read_inference: Any) -> list[Change]:
    """Return the changes that the form describes.

    Parameters
    ----------
    sent : list of dict
        Each with `path` (keys and positions), and either `remove` or `kind` and `value`.
    read_inference : callable
        Returns the `inference` part of an earlier text of the document, or None.

    Raises
    ------
    ChangeError
        If it is anything else.
    """
    if not isinstance(sent, list) or len(sent) > MAX_CHANGES:
        raise ChangeError(f"changes must be a list of at most {MAX_CHANGES}")
    return [_change(item, read_inference) for item in sent]


def _change(item: Any, read_inference: Any) -> Change:
    path = item.get("path") if isinstance(item, dict) else None
    if not isinstance(path, list) or not path or len(path) > 16:
        raise ChangeError("a change needs a path")
    if not all(isinstance(part, str) or (type(part) is int and 0 <= part < 1_000_000) for part in path):
        raise ChangeError("a path holds keys and positions")
    if item.get("remove") is True:
        return Change(tuple(path), remove=True)
    kind, value = item.get("kind"), item.get("value")
    if kind == "inference":
        earlier = read_inference(value) if isinstance(value, str) and value else None
        return Change(tuple(path), starting_inference() if earlier is None else earlier)
    return Change(tuple(path), _value(tuple(path), kind, value))


def _value(path: Path, kind: Any, value: Any) -> Any:
    if kind in ("json", "bool"):
        return value
    if not isinstance(value, str):
        raise ChangeError("a typed value is text")
    if kind == "number":
        return number_from(value, _unit_of(path))
    if kind == "numbers":
        parts = [
            number_from(part, _unit_of(path)) for part in re.split(r"[,;]\s*|\s+(?=[-+.\d])", value.strip()) if part
        ]
        return parts[0] if len(parts) == 1 else parts
    return value


def _unit_of(path: Path) -> str:
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    return key.rsplit("_", 1)[-1]


def number_from(text: str, unit: str = "") -> int | float | str:
    """Return the number that was typed, in `unit`; the text itself if it is none.

    Examples
    --------
    >>> number_from("10G", "gbps"), number_from("0.5 s", "ms"), number_from("1,000"), number_from("auto")
    (10, 500, 1000, 'auto')
    """
    match = _NUMBER.fullmatch(text.strip())
    if match is None or not any(character.isdigit() for character in match[1]):
        return text.strip()
    digits = match[1].replace(",", "")
    factor = _UNIT_FACTORS.get(unit, {}).get(match[2].lower()) if match[2] else 1
    if factor is None:
        return text.strip()
    if re.fullmatch(r"[-+]?\d+", digits) and len(digits) < 40 and factor == 1:
        return int(digits)
    number = float(digits) * factor
    if factor != 1 and number.is_integer() and abs(number) < 2**53:
        return int(number)
    return float(f"{number:.15g}") if factor != 1 else number
