"""Edits JSON in place: sets a value, adds a key, appends an item, in the formatting that is already there.

A new collection is laid out as by `json_text`: two spaces a level, the objects of a list on one line each if all of
them are short. A value that had exactly this layout keeps it, also when it grows past one line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from taskstate.errors import CannotEdit
from taskstate.syntax import invisible
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import equals, is_encodable, is_list
from taskstate.syntax.spans import line_start, with_newlines
from taskstate.syntax.yaml_edit import neighbours
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from taskstate.syntax.nodes import Node

WIDTH = 110  # the objects of a list, or a list of scalars, are written on one line if that has at most so many columns
_INDENT_STEP = "  "
_INVISIBLE = "[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffc\ufffe\uffff]"
_FIRST_ON_LINE = r'[ \t]*(?:"(?:[^"\\]|\\.)*"[ \t]*:[ \t]*)?'  # only blanks and perhaps its key stand before a value

_SCALARS = (str, int, float, type(None))  # asked for first: whether something is a mapping takes ten times as long

_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)


def json_line(value: object) -> str:
    """Return a value as JSON on one line: letters and emoji as they are, invisible characters escaped.

    Raises:
        CannotEdit: half of a surrogate pair, which no UTF-8 file can hold, or NaN or infinity, or no JSON type.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError) as error:
        raise CannotEdit(f"the value cannot be written as JSON: {error}") from None
    if text.isascii() and "\x7f" not in text:  # nearly always: nothing in it is invisible
        return text
    if not is_encodable(text):
        raise CannotEdit("half of a surrogate pair is not a character and cannot be written")
    text = invisible.escaped(text, json=True)
    return re.compile(_INVISIBLE).sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def json_text(value: object, *, indent: str = "", newline: str = "\n") -> str:
    """Return a value as indented JSON; all lines but the first begin with `indent`.

    A short list of scalars is written on one line, and so is each object of a list if all of them are short: the items
    of a list look alike.
    """
    return newline.join(_layout(value, indent))


def set_json(
    text: str, node: Node, path: Sequence[str | int], value: object, *, newline: str = "\n"
) -> tuple[Edit, ...]:
    """Return the edits that set the value at `path` below `node`; none if it is already equal.

    The last step may be a new key, or the index behind the last item. An object that keeps its keys and gets more, or a
    list that grows, is changed part by part.

    Raises:
        CannotEdit: there is nothing at `path`.
    """
    parent = node.get(*path[:-1])
    last = path[-1] if path else None
    if parent is None:
        raise CannotEdit(f"the JSON has nothing at {_shown(path[:-1])}")
    if last is None:
        return _with_layout(text, node, _set(text, node, value, newline), newline)
    child = parent.get(last)
    if child is not None:
        edits = tuple(_set(text, child, value, newline))
        return edits if _stays_a_line(text, parent, child, value) else _with_layout(text, node, edits, newline)
    if isinstance(last, str):
        return _with_layout(text, node, add_json_key(text, parent, last, value, newline=newline), newline)
    if last != len(parent.items):
        raise CannotEdit(f"the JSON has nothing at {_shown(path)}")
    return _with_layout(text, node, append_json_item(text, parent, value, newline=newline), newline)


def update_json(
    text: str, mapping: Node, changes: Mapping[str, object], *, order: Sequence[str] = (), newline: str = "\n"
) -> tuple[Edit, ...]:
    """Return the edits that set several keys of one object; missing keys are added."""
    return update_objects(text, mapping, ((mapping, changes),), order=order, newline=newline)


def update_objects(
    text: str,
    node: Node,
    changes: Iterable[tuple[Node, Mapping[str, object]]],
    *,
    order: Sequence[str] = (),
    newline: str = "\n",
) -> tuple[Edit, ...]:
    """Return the edits that set several keys of each of some objects in `node`; missing keys are added."""
    edits: list[Edit] = []
    for mapping, values in changes:
        for key, value in values.items():
            entry = mapping.entry(key)
            if entry:
                edits += _set(text, entry.value, value, newline)
        new = {key: value for key, value in values.items() if mapping.entry(key) is None}
        edits += _add_keys(text, mapping, new, order=order or tuple(values), newline=newline)
    return _with_layout(text, node, edits, newline)


def add_json_key(  # noqa: PLR0913 - a text, a position, a value, and the formatting of new text
    text: str, mapping: Node, key: str, value: object, *, order: Sequence[str] = (), newline: str = "\n"
) -> tuple[Edit, ...]:
    """Return the edits that add a key to an object.

    `order` is a sequence of keys: the new one is put behind the nearest key that precedes it there, else before the
    nearest that follows it, else at the end.

    Raises:
        CannotEdit: the node is no object, or has the key.
    """
    if mapping.kind != "mapping" or mapping.entry(key):
        raise CannotEdit(f"the key {key!r} cannot be added: there is no object, or it has that key")
    return _with_layout(text, mapping, _add_keys(text, mapping, {key: value}, order=order, newline=newline), newline)


def append_json_item(text: str, sequence: Node, value: object, *, newline: str = "\n") -> tuple[Edit, ...]:
    """Return the edits that add an item at the end of a list.

    Raises:
        CannotEdit: the node is no list.
    """
    if sequence.kind != "sequence":
        raise CannotEdit("an item cannot be added: there is no list")
    return _with_layout(text, sequence, _append(text, sequence, (value,), newline), newline)


def _stays_a_line(text: str, parent: Node, child: Node, value: object) -> bool:
    """Return whether a scalar gives way to another in an object whose layout does not depend on the length of its keys.

    Only an object in a list may be written on one line; laying out a long checklist to set its progress takes long.
    """
    is_scalar = child.kind == "scalar" and not isinstance(value, Mapping) and not is_list(value)
    return is_scalar and parent.kind == "mapping" and _char_before(text, parent.span.start) not in {"[", ","}


def _with_layout(text: str, node: Node, edits: Iterable[Edit], newline: str) -> tuple[Edit, ...]:
    """Return `edits` of `node`, or one that lays the value out again if they would break the layout of `json_text`.

    A value that was formatted in any other way is left to its own formatting.
    """
    edits = tuple(edits)
    start, end = node.span
    before = text[line_start(text, start) : start]
    if not edits or not re.compile(_FIRST_ON_LINE).fullmatch(before):
        return edits
    if _char_before(text, start) in {"[", ","}:  # the layout of an item depends on the others of its list
        return edits
    if with_newlines(text[start:end], "\n") != "\n".join(_layout(node.value(), _indentation(before))):
        return edits
    after = apply(text, edits)
    after = after[start : len(after) - (len(text) - end)]
    laid_out = newline.join(_layout(json.loads(after), _indentation(before)))
    return edits if after == laid_out else (Edit(start, end, laid_out),)


def _spans_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _char_before(text: str, at: int) -> str:
    """Return the last character before `at` that is no blank, or an empty string."""
    while at and text[at - 1] in " \t\r\n":
        at -= 1
    return text[at - 1 : at]


def _set(text: str, node: Node, value: Any, newline: str) -> Iterator[Edit]:  # noqa: ANN401 - any JSON value
    if equals(node, value):
        return
    if isinstance(value, Mapping) and node.entries and all(entry.key.text in value for entry in node.entries):
        for entry in node.entries:
            yield from _set(text, entry.value, value[entry.key.text], newline)
        new = {key: child for key, child in value.items() if node.entry(key) is None}
        yield from _add_keys(text, node, new, order=tuple(value), newline=newline)
    elif is_list(value) and 0 < len(node.items) <= len(value):
        for item, child in zip(node.items, value, strict=False):
            yield from _set(text, item, child, newline)
        yield from _append(text, node, value[len(node.items) :], newline)
    else:
        yield Edit(*node.span, _replacement(text, node, value, newline))


def _replacement(text: str, node: Node, value: object, newline: str) -> str:
    """Return the text that replaces a node: on one line if it shares its line, or if the old value stood on one."""
    before = text[line_start(text, node.span.start) : node.span.start]
    one_line = json_line(value)
    is_one_line = bool(node.entries or node.items) and not _spans_lines(node.span.of(text))
    if not re.compile(_FIRST_ON_LINE).fullmatch(before) or (is_one_line and len(before) + len(one_line) <= WIDTH):
        return one_line
    return json_text(value, indent=_indentation(before), newline=newline)


def _add_keys(
    text: str, mapping: Node, new: Mapping[str, object], *, order: Sequence[str], newline: str
) -> Iterator[Edit]:
    if not mapping.entries:
        if new:
            yield Edit(*mapping.span, _replacement(text, mapping, dict(new), newline))
        return
    ranks = {key: rank for rank, key in enumerate(order)}
    first = mapping.entries[0]
    colon = text[first.key.span.end : first.value.span.start]
    for key in sorted(new, key=lambda name: ranks.get(name, len(ranks))):
        before, after = neighbours(mapping, key, ranks)
        at = (before or after or first).key.span.start
        gap = _gap(text, at, [entry.key.span.start for entry in mapping.entries], newline)
        value = _formatted(new[key], gap, newline)
        new_entry = json_line(key) + (colon if colon.strip(" ") == ":" else ": ") + value
        if before:
            yield Edit(before.value.span.end, before.value.span.end, f",{gap}{new_entry}")
        else:
            yield Edit(at, at, f"{new_entry},{gap}")


def _append(text: str, sequence: Node, new: Sequence[object], newline: str) -> Iterator[Edit]:
    if not sequence.items:
        yield Edit(*sequence.span, _replacement(text, sequence, list(new), newline))
        return
    last = sequence.items[-1]
    gap = _gap(text, last.span.start, [item.span.start for item in sequence.items], newline)
    is_expanded = _spans_lines(last.span.of(text))
    for value in new:
        new_item = _formatted(value, gap, newline) if is_expanded else json_line(value)
        yield Edit(last.span.end, last.span.end, f",{gap}{new_item}")


def _gap(text: str, at: int, starts: Sequence[int], newline: str) -> str:
    """Return the white space between a new part of a collection and its neighbour at `at`, as other parts have it."""
    before = text[line_start(text, at) : at]
    if not before.strip():
        return newline + before
    if len(starts) == 1:
        return " "
    return text[text.rfind(",", 0, starts[1]) + 1 : starts[1]].replace("\r", "").replace("\n", "")


def _formatted(value: object, gap: str, newline: str) -> str:
    """Return a new value: over several lines if `gap` holds a line end, else on one line."""
    indent = gap.lstrip("\r\n")
    return json_line(value) if indent == gap else json_text(value, indent=indent, newline=newline)


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _layout(value: object, indent: str) -> list[str]:
    """Return the lines of a value; all but the first begin with `indent`."""
    lines = [""]
    _lay_out(lines, value, indent)
    return lines


def _lay_out(lines: list[str], value: object, indent: str) -> None:
    """Append a value to the last of the lines, with further lines where it takes several."""
    parts = _parts(value)
    if not parts or (is_list(value) and _is_flat(value)):
        one_line = json_line(value)
        if not parts or len(indent) + len(one_line) <= WIDTH:
            lines[-1] += one_line
            return
    opening, closing = "{}" if isinstance(value, Mapping) else "[]"
    inner = indent + _INDENT_STEP
    lines[-1] += opening
    short = _short_items(parts, inner) if is_list(value) else []
    if short:
        lines += [f"{inner}{each}," for each in short]
    else:
        keys = [json_line(key) + ": " for key in value] if isinstance(value, Mapping) else [""] * len(parts)
        for key, part in zip(keys, parts, strict=True):
            lines.append(inner + key)
            _lay_out(lines, part, inner)
            lines[-1] += ","
    lines[-1] = lines[-1].removesuffix(",")
    lines.append(indent + closing)


def _short_items(items: Sequence[object], indent: str) -> list[str]:
    """Return the line of each item of a list; empty if one of the collections is too long: all items look alike."""
    lines = []
    for each in items:
        parts = _parts(each)
        lines.append(json_line(each) if all(_is_flat(part) for part in parts) else "")
        if not lines[-1] or (parts and len(indent) + len(lines[-1]) > WIDTH):
            return []
    return lines


def _parts(value: object) -> Sequence[object]:
    """Return the values in a collection; for a scalar none."""
    if isinstance(value, Mapping):
        return tuple(value.values())
    return value if is_list(value) else ()


def _is_flat(value: object) -> bool:
    """Return whether a value holds no collection."""
    if isinstance(value, _SCALARS):
        return True
    return not any(
        not isinstance(part, _SCALARS) and isinstance(part, (Mapping, list, tuple)) for part in _parts(value)
    )


def _shown(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path)) or "its top"
