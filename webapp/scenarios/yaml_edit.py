"""Changes single values of a YAML text and leaves every other character as its author wrote it.

The form of the editor knows a part of the document. What it does not show, comments and layout
included, must survive an edit, so a change is spliced into the text at the place of its node. The
result is read back and compared; where splicing cannot say it (anchors, unusual layouts) the
whole document is written anew, which keeps the data but not the comments.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from webapp.engine import ScenarioError
from webapp.scenarios.folding import Fold, fold, parsed
from webapp.scenarios.yaml_text import block_lines, entry_lines, flow, yaml_from

Path = tuple[str | int, ...]
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One value to set at a path, or, with `remove`, a key or list item to take away."""

    path: Path
    value: Any = None
    remove: bool = False


class _CannotSpliceError(Exception):
    """The text has a layout that is not edited in place."""


def edited(text: str, document: dict[str, Any], changes: Sequence[Change]) -> tuple[str, dict[str, Any]]:
    """Return text and data after the changes.

    Parameters
    ----------
    text : str
        YAML or JSON text.
    document : dict
        What `text` reads as; not modified.
    changes : sequence of Change
        Applied in order. A missing parent is created; removing what is not there does nothing;
        a list index one past the end appends.
    """
    wanted: Any = document
    for change in changes:
        wanted = _applied(wanted, change.path, change)
    if _same(wanted, document):
        return text, document
    folded = fold(text)
    try:
        spliced = folded.text
        for change in changes:
            spliced = _spliced(spliced, change)
        spliced = folded.unfolded(spliced)
        if _same(parsed(spliced), wanted):
            return spliced, wanted
    except (_CannotSpliceError, ScenarioError, yaml.YAMLError, ValueError):
        pass
    return yaml_from(wanted), wanted


def lines_of(text: str, paths: Sequence[Path]) -> list[int | None]:
    """Return the line (from 1) on which each path, or its nearest existing parent, is written."""
    folded = fold(text)
    try:
        root = yaml.compose(folded.text, Loader=yaml.CSafeLoader)
    except yaml.YAMLError:
        root = None
    return [None if root is None or not path else _line_of(root, path, folded) for path in paths]


def _line_of(node: yaml.Node, path: Path, folded: Fold) -> int:
    line = node.start_mark.line
    for part in path:
        if isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            for item in node.value:
                num_rows = folded.num_rows(item.value) if isinstance(item, yaml.ScalarNode) else None
                if num_rows is not None and part < num_rows:
                    return folded.line(item.start_mark.line) + part + 1
                if part == 0:
                    break
                part -= num_rows or 1
            else:
                break
            key, node = None, item
        else:
            found = _child(node, part)
            if found is None:
                break
            key, node = found
        line = (key or node).start_mark.line
    return folded.line(int(line)) + 1


def _same(left: Any, right: Any) -> bool:
    """Compare data; unlike ==, tells 1 from 1.0 and from true."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_same, left, right))
    return bool(left == right) or (left != left and right != right)  # a NaN equals nothing, itself included


def _applied(node: Any, path: Path, change: Change) -> Any:
    """Return a copy of the data with the change made; untouched parts are shared."""
    if not path:
        return change.value
    part, rest = path[0], path[1:]
    if isinstance(part, int):
        items = list(node) if isinstance(node, list) else []
        if part < len(items):
            items[part : part + 1] = [] if change.remove and not rest else [_applied(items[part], rest, change)]
        elif not change.remove:
            items.append(_applied(None, rest, change))
        return items
    mapping = dict(node) if isinstance(node, dict) else {}
    if change.remove and part not in mapping:
        return node
    if change.remove and not rest:
        del mapping[part]
    else:
        mapping[part] = _applied(mapping.get(part), rest, change)
    return mapping


def _child(node: yaml.Node, part: str | int) -> tuple[yaml.Node | None, yaml.Node] | None:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value == part:
                return key, value
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return None, node.value[part]
    return None


def _end(node: yaml.Node, text: str) -> int:
    """Return the index after the node's last character, comments that follow left out."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, text)
    end = int(node.end_mark.index)
    while end > node.start_mark.index and text[end - 1] in " \r\n":
        end -= 1
    return end


def _line_end(text: str, index: int) -> int:
    found = text.find("\n", index)
    return len(text) if found < 0 else found


def _indented(lines: list[str], column: int) -> str:
    return ("\n" + " " * column).join(lines)


def _spliced(text: str, change: Change) -> str:
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    if root is None:
        raise _CannotSpliceError
    trail: list[tuple[yaml.Node, yaml.Node | None, yaml.Node]] = []
    node = root
    for depth, part in enumerate(change.path):
        found = _child(node, part)
        if found is None:
            if change.remove:
                return text
            value = _applied(None, change.path[depth + 1 :], change)
            return _inserted(text, node, part, value)
        trail.append((node, *found))
        node = found[1]
    if not trail:
        raise _CannotSpliceError
    if change.remove:
        return _removed(text, *trail[-1])
    return _replaced(text, node, change.value)


def _replaced(text: str, node: yaml.Node, value: Any) -> str:
    start, end = node.start_mark.index, _end(node, text)
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and isinstance(value, (dict, list)) and value:
        return text[:start] + _indented(block_lines(value), node.start_mark.column) + text[end:]
    return text[:start] + (" " if start == end else "") + flow(value) + text[end:]


def _inserted(text: str, node: yaml.Node, part: str | int, value: Any) -> str:
    if isinstance(node, yaml.MappingNode) and isinstance(part, str):
        flow_text, lines = flow({part: value})[1:-1], entry_lines(part, value)
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
        flow_text, lines = (
            flow(value),
            block_lines([value]) if isinstance(value, (dict, list)) else [f"- {flow(value)}"],
        )
    else:
        raise _CannotSpliceError
    if node.flow_style:
        close = node.end_mark.index - 1
        stop = close
        while text[stop - 1] in " \r\n":
            stop -= 1
        comma = ", " if node.value and text[stop - 1] != "," else " " if node.value else ""
        return text[:stop] + comma + flow_text + text[stop:]
    column = node.start_mark.column
    place = _line_end(text, _end(node, text))
    return text[:place] + "\n" + " " * column + _indented(lines, column) + text[place:]


def _removed(text: str, parent: yaml.Node, key: yaml.Node | None, value: yaml.Node) -> str:
    if not isinstance(parent, yaml.CollectionNode):
        raise _CannotSpliceError
    if len(parent.value) == 1:
        empty = "{}" if isinstance(parent, yaml.MappingNode) else "[]"
        return text[: parent.start_mark.index] + empty + text[_end(parent, text) :]
    start, end = (key or value).start_mark.index, _end(value, text)
    if parent.flow_style:
        after = end
        while text[after] in " \r\n":
            after += 1
        if text[after] == ",":
            after += 1
            while text[after] == " ":
                after += 1
            return text[:start] + text[after:]
        before = start
        while text[before - 1] in " \r\n,":
            before -= 1
        return text[:before] + text[end:]
    line_start = text.rfind("\n", 0, start) + 1
    lead = text[line_start:start].strip()
    if lead == "-" and key is not None:
        return text[:start] + text[parent.value[1][0].start_mark.index :]
    if lead not in ("", "-"):
        raise _CannotSpliceError
    stop = _line_end(text, end)
    return text[:line_start] + text[min(stop + 1, len(text)) :]
