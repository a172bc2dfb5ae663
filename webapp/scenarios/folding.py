"""Reads long runs of request rows apart from the rest of a YAML text.

A scenario can carry thousands of lines like `- [0.05, 2048]`, and reading them as YAML takes most of
the time that an edit takes. So a run of such lines is folded into one line that holds a mark, the
short text that remains is read as YAML, and the rows, which are JSON too, are put back in place.
Where that cannot be done exactly the text is read as it is.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from webapp import engine

MIN_ROWS = 32
"""Shorter runs are not worth it."""
_NUMBER = r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,30})?(?:[eE][-+]?\d{1,3})?"
_ROW = rf"- \[{_NUMBER}, ?{_NUMBER}\]\n"
_RUN = re.compile(rf"^( *){_ROW}(?:\1{_ROW}){{{MIN_ROWS - 1},}}", re.MULTILINE)
_MARK = re.compile(r"folded-rows-(\d+)")


class _CannotUnfoldError(Exception):
    """A mark is not where rows can stand, in a text block for example."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A text with its long runs of rows folded away."""

    text: str
    runs: tuple[str, ...]
    """The lines of each run, as they were written."""

    def rows(self, number: int) -> list[list[float | int]]:
        """Return the rows of a run as data."""
        lines = self.runs[number].split("\n")
        rows: list[list[float | int]] = json.loads("[" + ",".join(line.lstrip(" -") for line in lines if line) + "]")
        return rows

    def num_rows(self, value: Any) -> int | None:
        """Return how many rows a scalar of the folded text stands for; None if it is no mark."""
        match = _MARK.fullmatch(value) if isinstance(value, str) else None
        return self.runs[int(match[1])].count("\n") if match is not None and int(match[1]) < len(self.runs) else None

    def unfolded(self, text: str) -> str:
        """Return an edited folded text with the runs back in it; ValueError if one lost its line."""
        for number, run in enumerate(self.runs):
            line = _marked_line(number, run)
            if _mark(number) in text and line not in text:
                raise ValueError("a folded run was moved")
            text = text.replace(line, run)
        return text

    def line(self, folded_line: int) -> int:
        """Return the line (from 0) of the unfolded text that a line of the folded text is."""
        lines = self.text.split("\n")[:folded_line]
        counts = (self.num_rows(line.lstrip(" -")) for line in lines)
        return folded_line + sum(count - 1 for count in counts if count)

    def document(self, read: Any) -> Any:
        """Return what the folded text reads as, with the rows in place of their marks."""
        found: list[int] = []
        whole = self._with_rows(read, found)
        if sorted(found) != [number for number in range(len(self.runs)) if _mark(number) in self.text]:
            raise _CannotUnfoldError
        return whole

    def _with_rows(self, value: Any, found: list[int]) -> Any:
        if isinstance(value, dict):
            return {key: self._with_rows(item, found) for key, item in value.items()}
        if not isinstance(value, list):
            return value
        items: list[Any] = []
        for item in value:
            if self.num_rows(item) is None:
                items.append(self._with_rows(item, found))
            else:
                number = int(item.rsplit("-", 1)[1])
                found.append(number)
                items.extend(self.rows(number))
        return items


def fold(text: str) -> Fold:
    """Return the text with its long runs of rows folded away."""
    if "folded-rows-" in text:
        return Fold(text, ())
    runs: list[str] = []

    def marked(match: re.Match[str]) -> str:
        runs.append(match[0])
        return _marked_line(len(runs) - 1, match[0])

    folded_text = _RUN.sub(marked, text)
    return Fold(folded_text, tuple(runs))


def parsed(text: str) -> dict[str, Any]:
    """Return the plain data of a text, the same as `engine.parse_text`, sooner."""
    folded_text = fold(text)
    if folded_text.runs:
        try:
            document: dict[str, Any] = folded_text.document(engine.parse_text(folded_text.text))
            return document
        except (engine.ScenarioError, _CannotUnfoldError):
            pass  # the whole text says it with its own line numbers
    return engine.parse_text(text)


def _mark(number: int) -> str:
    return f"folded-rows-{number}"


def _marked_line(number: int, run: str) -> str:
    indent = run[: len(run) - len(run.lstrip(" "))]
    return f"{indent}- {_mark(number)}\n"
