"""The form of the json fences that the format reads: two spaces a level, keys in the schema's order.

An object of a list stands on one line if it is short, as `json_edits` writes it. Numbers keep their spelling.
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
    """Return the edits that lay the declared json fences out."""
    edits = []
    for part in body_parts(document):
        fence = json_fence(document, part.section.own) if part.schema else None
        root = document.json(fence) if fence else None
        if fence is None or root is None or isinstance(root, Fault):
            continue
        wanted = with_newlines(_laid_out(root, part.schema), document.newline) + document.newline
        if wanted != document.newline and wanted != fence.content.of(document.text):
            edits.append(Edit(*fence.content, wanted))
    return tuple(edits)


def _laid_out(root: Node, schema: str) -> str:
    """Return the JSON in its form, or nothing where it cannot be written without a change to what it says."""
    try:
        text = json_text(with_ordered_keys(root.value(), schema_root(schema)))
    except CannotEdit:
        return ""
    after = read_json(text, 0, len(text))
    return "" if isinstance(after, Fault) or _spelled(after) != _spelled(root) else text


def _spelled(root: Node) -> Counter[str]:
    """Return the texts of all scalars: of a number its spelling."""
    return Counter(node.text for node in scalars(root))
