"""Formats the json fences that the schemas describe: two spaces a level, keys in the schema's order.

A short object in a list stays on one line, as `json_edit` writes it. Numbers keep their spelling.
"""

from __future__ import annotations

from functools import lru_cache

from taskstate.errors import CannotEdit
from taskstate.formatting.parts import body_parts
from taskstate.formatting.schema_order import schema_root, with_ordered_keys
from taskstate.model.task_state import json_fence
from taskstate.syntax.edits import Edit
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.json_parser import as_spelled, read_json
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.syntax.document import Document

# What is nested deep gets much larger by its indentation: left as it is beyond this many times its size, and some.
_MOST_GROWTH, _ROOM = 10, 10_000


def fence_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that format the declared json fences."""
    edits = []
    for part in body_parts(document):
        fence = json_fence(document, part.section.own) if part.schema else None
        root = document.json(fence) if fence else None
        if fence is None or root is None or isinstance(root, Fault):
            continue
        formatted = with_newlines(_formatted(root.span.of(document.text), part.schema), document.newline)
        if formatted and formatted + document.newline != fence.content.of(document.text):
            edits.append(Edit(*fence.content, formatted + document.newline))
    return tuple(edits)


@lru_cache(maxsize=8)  # each round of passes asks again, and what was formatted is formatted still
def _formatted(source: str, schema: str) -> str:
    """Return sound JSON formatted, or "" where it cannot be written without changing a value."""
    root = read_json(source, 0, len(source))
    try:
        text = json_text(with_ordered_keys(root.value(), schema_root(schema))) if isinstance(root, Node) else ""
    except CannotEdit:
        return ""
    if len(text) > _MOST_GROWTH * len(source) + _ROOM:
        return ""
    return text if text and as_spelled(text) == as_spelled(source) else ""
