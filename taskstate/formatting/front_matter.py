"""The quoting of the front matter's values, and its lines: no blanks at their ends, one kind of line end.

What is somebody's own (`x-…`), a comment, or behind an anchor is left alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from taskstate.formatting.key_order import SCHEMA, editable_root, same_values
from taskstate.formatting.schema_order import SchemaNode, schema_root
from taskstate.syntax.edits import Edit
from taskstate.syntax.nodes import scalars
from taskstate.syntax.yaml_emitter import yaml_scalar
from taskstate.validation.schema import typed_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

_LINE = r"([^\r\n]*)(\r\n?|\n)"
# What some version of YAML takes for a number, a time, a truth value or nothing; hashes look like numbers.
_AMBIGUOUS = (
    r"(?i)~|=|<<|null|true|false|yes|no|on|off|y|n|[-+]?\.(?:inf|nan)|[0-9a-f]{7,}"
    r"|(?=[^0-9]*[0-9])[-+]?[-+.,_:0-9a-fox]*(?:(?:t| +)[0-9][-+.:0-9]*(?: +[-+:0-9]*)?z?)?"
)


def quoting_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that write each text of the front matter as the tool writes it: quoted where it must be."""
    root = editable_root(document)
    if root is None:
        return ()
    edits = tuple(_quoted(document.text, root, typed_value(root, SCHEMA), schema_root(SCHEMA)))
    return edits if same_values(document, edits) else ()


def line_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that take blanks from the ends of lines, and give all of them the prevailing line end.

    Blanks within a text of several lines, and those behind a comment, belong to these.
    """
    text, span = document.text, document.front_matter.span
    root = document.front_matter.node
    if root is None or span is None:
        return ()
    spans = (node.span for node in scalars(root))
    kept = [each for each in spans if "\n" in each.of(text) or "\r" in each.of(text)]
    edits = []
    for line in re.compile(_LINE).finditer(text, *span):
        words = line[1].rstrip(" \t")
        end = line.start() + len(words)
        keeps = "#" in words or any(each.start <= end <= each.end for each in kept)
        new = (line[1][len(words) :] if keeps else "") + document.newline
        if new != text[end : line.end()]:
            edits.append(Edit(end, line.end(), new))
    return tuple(edits) if same_values(document, edits) else ()


def _quoted(text: str, node: Node, value: Any, at: SchemaNode) -> Iterator[Edit]:  # noqa: ANN401 - any YAML value
    """Yield the edits for the texts at and below a node, whose value by the schema is `value`."""
    if node.kind == "mapping":
        for entry in node.entries:
            below = at.child(entry.key.text)
            if below:
                yield from _quoted(text, entry.value, value[entry.key.text], below)
    elif node.kind == "sequence":
        below = at.item
        for item, each in zip(node.items, value, strict=True):
            if below:
                yield from _quoted(text, item, each, below)
    elif isinstance(value, str) and node.style in {"plain", "single", "double"} and node.span.start < node.span.end:
        found, wanted = node.span.of(text), yaml_scalar(value)
        plainly = found == value and not re.compile(_AMBIGUOUS).fullmatch(value)
        if found != wanted and not plainly and "\n" not in found and "\r" not in found:
            yield Edit(*node.span, wanted)
