"""Formats the json fences that the schemas describe: two spaces a level, keys in the schema's order.

A short object in a list stays on one line, as `json_edit` writes it. Numbers keep their spelling.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from taskstate.errors import CannotEdit
from taskstate.formatting.parts import body_parts
from taskstate.formatting.schema_order import schema_root, with_ordered_keys
from taskstate.model.task_state import json_fence
from taskstate.syntax.edits import Edit
from taskstate.syntax.json_edit import json_text
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault, scalars
from taskstate.syntax.spans import with_newlines

if TYPE_CHECKING:
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node


def fence_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that format the declared json fences."""
    edits = []
    for part in body_parts(document):
        fence = json_fence(document, part.section.own) if part.schema else None
        root = document.json(fence) if fence else None
        if fence is None or root is None or isinstance(root, Fault):
            continue
        formatted = with_newlines(_formatted(root, part.schema), document.newline) + document.newline
        if formatted != document.newline and formatted != fence.content.of(document.text):
            edits.append(Edit(*fence.content, formatted))
    return tuple(edits)


def _formatted(root: Node, schema: str) -> str:
    """Return the formatted JSON, or "" where it cannot be written without changing a value."""
    try:
        text = json_text(with_ordered_keys(root.value(), schema_root(schema)))
    except CannotEdit:
        return ""
    reread = read_json(text, 0, len(text))
    return "" if isinstance(reread, Fault) or _scalar_texts(reread) != _scalar_texts(root) else text


def _scalar_texts(root: Node) -> Counter[str]:
    """Return the texts of all scalars: of numbers their spelling, since 1.0 and 1 are equal as values."""
    return Counter(node.text for node in scalars(root))
