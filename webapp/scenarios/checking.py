"""One step of the editor: what was changed on either side in, both sides and every problem out."""

import re
from typing import Any

from webapp import engine
from webapp.scenarios.folding import parsed
from webapp.scenarios.forms import changes_from
from webapp.scenarios.yaml_edit import edited, lines_of

_MAX_LISTED = 200
_MAX_EXACT = 2**53
"""Whole numbers above this lose digits in a browser; they go as text."""


def checked(text: str, sent_changes: Any = ()) -> dict[str, Any]:
    """Return the state of the editor after the changes.

    Parameters
    ----------
    text : str
        The YAML pane.
    sent_changes : list
        What the form changed since; see `webapp.scenarios.forms`.

    Returns
    -------
    dict
        `text`, `document` (None when the text cannot be read; long lists are cut, the form does not
        show them), `problems` ({path, message, line}) and `requests` (count and span, or None).
    """
    try:
        document = parsed(text)
    except engine.ScenarioError as error:
        return {
            "text": text,
            "document": None,
            "problems": [_unreadable(fault) for fault in error.problems],
            "requests": None,
        }
    changes = changes_from(list(sent_changes), _inference_of)
    if changes:
        text, document = edited(text, document, changes)
    problems = engine.problems(document)
    lines = lines_of(text, [_path(problem.path) for problem in problems]) if problems else []
    return {
        "text": text,
        "document": _shown(document),
        "problems": [
            {"path": problem.path, "message": problem.message, "line": line}
            for problem, line in zip(problems, lines, strict=True)
        ],
        "requests": _requests(document),
    }


def _path(text: str) -> tuple[str | int, ...]:
    return tuple(int(part) if part.isdigit() else part for part in re.findall(r"[^.\[\]]+", text))


def _unreadable(problem: engine.Problem) -> dict[str, Any]:
    line = re.search(r"\bline (\d+)", problem.message)
    return {"path": problem.path, "message": problem.message, "line": int(line[1]) if line else None}


def _inference_of(text: str) -> Any:
    try:
        return parsed(text).get("inference")
    except engine.ScenarioError:
        return None


def _shown(value: Any, depth: int = 0) -> Any:
    """Return the part that the form can show, safe for a browser's JSON."""
    if isinstance(value, dict):
        return {
            str(key): [] if key == "inline" and isinstance(item, list) else _shown(item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        limit = 4_096 if depth < 3 else _MAX_LISTED
        return [_shown(item, depth + 1) for item in value[:limit]]
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _MAX_EXACT else str(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else str(value)
    return str(value)


def _requests(document: dict[str, Any]) -> dict[str, Any] | None:
    inference = document.get("inference")
    requests = inference.get("requests") if isinstance(inference, dict) else None
    rows = requests.get("inline") if isinstance(requests, dict) else None
    if not isinstance(rows, list):
        return None
    arrivals = [row[0] for row in rows if isinstance(row, list) and row and isinstance(row[0], (int, float))]
    return {"count": len(rows), "first_s": min(arrivals, default=0), "last_s": max(arrivals, default=0)}
