"""Formats the json fences that the schemas describe: two spaces a level, keys in the schema's order.

A short object in a list stays on one line, as `json_edit` writes it. Numbers keep their spelling.
"""

from __future__ import annotations

from taskstate.errors import CannotEdit
from taskstate.formatting.parts import body_parts
from taskstate.formatting.schema_order import schema_root, with_ordered_keys
from taskstate.model import derived_values
from taskstate.model.task_state import json_fence, read_state
from taskstate.syntax.edits import Edit
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.json_parser import DECLINED, Declined, as_spelled, loads, read_json
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TypeAlias

    from taskstate.syntax.document import Document

    Formatted: TypeAlias = dict[tuple[str, str], str]  # the formatted text of a JSON text with a schema

# What is nested deep gets much larger by its indentation: left as it is beyond this many times its size, and some.
_MOST_GROWTH, _ROOM = 10, 10_000


def fence_edits(document: Document, formatted: Formatted) -> tuple[Edit, ...]:
    """Return the edits that update the overall progress, or where it is right, those that format the json fences.

    One after the other: what is formatted takes long to format, and to compare, and the progress changes it again.
    `formatted` is what earlier rounds have formatted, and receives what this one does.
    """
    return _progress_edits(document) or _layout_edits(document, formatted)


def _progress_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that update the overall progress where the checklist has it."""
    state = read_state(document)
    if state.checklist is None or state.checklist.progress is None:
        return ()
    try:
        return derived_values.progress_edits(document, state)
    except CannotEdit:
        return ()


def _layout_edits(document: Document, known: Formatted) -> tuple[Edit, ...]:
    edits = []
    for part in body_parts(document):
        fence = json_fence(document, part.section.own) if part.schema else None
        root = document.json(fence) if fence else None
        if fence is None or root is None or isinstance(root, Fault):
            continue
        formatted = with_newlines(_formatted(root.span.of(document.text), part.schema, known), document.newline)
        if formatted and formatted + document.newline != fence.content.of(document.text):
            edits.append(Edit(*fence.content, formatted + document.newline))
    return tuple(edits)


def _formatted(source: str, schema: str, known: Formatted) -> str:
    """Return sound JSON formatted, or "" where it cannot be written without changing a value.

    Each round of passes asks again, and what was formatted is formatted still.
    """
    if (source, schema) not in known:
        text = _format(source, schema)
        known[source, schema] = text
        known[text, schema] = text
    return known[source, schema]


def _format(source: str, schema: str) -> str:
    value = loads(source)
    if isinstance(value, Declined):  # unusual, but it was read: its nodes know its value
        root = read_json(source, 0, len(source))
        value = root.value() if isinstance(root, Node) else DECLINED
    try:
        text = "" if isinstance(value, Declined) else json_text(with_ordered_keys(value, schema_root(schema)))
    except CannotEdit:
        return ""
    if len(text) > _MOST_GROWTH * len(source) + _ROOM:
        return ""
    return text if text and as_spelled(text) == as_spelled(source) else ""
