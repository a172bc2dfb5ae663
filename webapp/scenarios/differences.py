"""Where two versions of a scenario differ, field by field."""

import json
from dataclasses import dataclass
from typing import Any

MAX_LISTED = 20
MAX_SHOWN_CHARACTERS = 60
ABSENT = "–"


@dataclass(frozen=True, slots=True)
class Difference:
    """One field that two versions give different values, as short texts."""

    path: str
    mine: str
    theirs: str


def differences(mine: Any, theirs: Any) -> list[Difference]:
    """Return the fields that differ, in the order of `mine`, then those that only `theirs` has.

    Lists of different lengths count as one field: their entries cannot be told apart by position.

    Examples
    --------
    >>> differences({"a": 1, "b": [1, 2]}, {"a": 2, "b": [1, 3]})
    [Difference(path='a', mine='1', theirs='2'), Difference(path='b[1]', mine='2', theirs='3')]
    """
    found: list[Difference] = []
    _compare(found, "", mine, theirs)
    return found


def _compare(found: list[Difference], path: str, mine: Any, theirs: Any) -> None:
    if isinstance(mine, dict) and isinstance(theirs, dict):
        for key in [*mine, *(key for key in theirs if key not in mine)]:
            _compare(found, f"{path}.{key}" if path else str(key), mine.get(key, _Absent), theirs.get(key, _Absent))
    elif isinstance(mine, list) and isinstance(theirs, list) and len(mine) == len(theirs):
        for index, (left, right) in enumerate(zip(mine, theirs, strict=True)):
            _compare(found, f"{path}[{index}]", left, right)
    elif mine is not theirs and mine != theirs:
        found.append(Difference(path, _short(mine), _short(theirs)))


class _Absent:
    """Stands for a key that one side does not have."""


def _short(value: Any) -> str:
    if value is _Absent:
        return ABSENT
    if isinstance(value, list):
        return f"a list of {len(value):,}" if len(value) > 8 else _cut(json.dumps(value, default=str))
    return _cut(value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 1] + "…"
