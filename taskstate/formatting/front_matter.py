"""Formats the values and lines of the front matter: quoting, blanks at line ends, one kind of line end.

Left alone are people's own keys (`x-…`), comments, and a front matter with anchors.
"""

from __future__ import annotations

import re

from taskstate.formatting.key_order import SCHEMA, editable_root, same_values
from taskstate.formatting.schema_order import SchemaNode, schema_root
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.edits import Edit
from taskstate.syntax.nodes import scalars
from taskstate.syntax.patterns import compiled
from taskstate.syntax.yaml_emitter import yaml_scalar
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span

_LINE = r"(?<![^\r\n\ufeff])([^\r\n]*)(\r\n?|\n)"  # a byte order mark may stand before the first
# Texts that some version of YAML reads as a number, a time, a boolean or null; 1.1 has more of them than 1.2, and a
# hexadecimal hash such as 12345e7 can be a number. They are quoted.
_AMBIGUOUS = (
    r"(?i)~|=|<<|null|true|false|yes|no|on|off|y|n|[-+]?\.(?:inf|nan)|[0-9a-f]{7,}"
    r"|(?=[^0-9]*[0-9])[-+]?[-+.,_:0-9a-fox]*(?:(?:t| +)[0-9][-+.:0-9]*(?: +[-+:0-9]*)?z?)?"
)


def quoting_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that quote each text of the front matter as the tool would: only where it is needed."""
    root = editable_root(document)
    if root is None:
        return ()
    edits = tuple(_quoting_edits(document.text, root, front_matter_values(document), schema_root(SCHEMA)))
    return edits if same_values(document, edits) else ()


def line_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that remove blanks at line ends, and give all lines the prevailing line end.

    Blanks inside a text of several lines, or behind a comment, are part of these and stay.
    """
    text, span = document.text, document.front_matter.span
    root = document.front_matter.node
    if root is None or span is None or not _is_uneven(text, span, document.newline):
        return ()
    multi_line = [node for node in scalars(root) if not {"\n", "\r"}.isdisjoint(node.span.of(text))]
    edits = []
    for line in re.compile(_LINE).finditer(text, *span):
        content = line[1].rstrip(" \t")
        end = line.start() + len(content)
        keeps = "#" in content or any(_holds(node, end) for node in multi_line)
        new = (line[1][len(content) :] if keeps else "") + document.newline
        if new != text[end : line.end()]:
            edits.append(Edit(end, line.end(), new))
    return tuple(edits) if same_values(document, edits) else ()


def _is_uneven(text: str, span: Span, newline: str) -> bool:
    """Return whether a line may end in blanks or in another line end; nearly always a search shows that none does."""
    return newline != "\n" or re.compile(r"[ \t]\n|\r").search(text, *span) is not None


def _holds(node: Node, at: int) -> bool:
    """Tell whether blanks at an offset are part of a scalar: behind a last quote they are not, in a block they are."""
    is_block = node.style in {"literal", "folded"}
    return node.span.start <= at < node.span.end or (is_block and at == node.span.end)


def _quoting_edits(text: str, node: Node, value: Any, schema: SchemaNode) -> Iterator[Edit]:  # noqa: ANN401 - any YAML value
    """Yield the quoting edits at and below a node, whose value by the schema is `value`."""
    if node.kind == "mapping":
        for entry in node.entries:
            child_schema = schema.child(entry.key.text)
            if child_schema:
                yield from _quoting_edits(text, entry.value, value[entry.key.text], child_schema)
    elif node.kind == "sequence" and schema.item:
        for item, each in zip(node.items, value, strict=True):
            if not _is_plain(text, item, each):
                yield from _quoting_edits(text, item, each, schema.item)
    elif isinstance(value, str) and node.style in {"plain", "single", "double"} and not _is_plain(text, node, value):
        current, canonical = node.span.of(text), yaml_scalar(value)
        if current not in {"", canonical} and "\n" not in current and "\r" not in current:
            yield Edit(*node.span, canonical)


def _is_plain(text: str, node: Node, value: object) -> bool:
    """Return whether a text stands without quotes, and nobody can read anything else in it."""
    start, end = node.span
    return isinstance(value, str) and text[start:end] == value and not compiled(_AMBIGUOUS).fullmatch(value)
