"""Orders the keys of the front matter as the schemas declare them.

Whole lines move, and a comment directly above a key moves with it; no comment is changed. A front matter with anchors,
aliases or merge keys is left alone, because there the order has a meaning.
"""

from __future__ import annotations

import re
from operator import gt

from taskstate.formatting.schema_order import SchemaNode, in_order, schema_root
from taskstate.syntax.document import parse_head
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import is_pinned, last_leaf
from taskstate.syntax.spans import Span, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

SCHEMA = "task"

# Compiled on first use: most runs need none of them, and compiling costs at start.
_REST_OF_LINE = r"[^\r\n]*(?:\r\n?|\n|\Z)"
_BLANK_LINES = r"(?:[ \t]*(?:\r\n?|\n))*+"


class Disorder(NamedTuple):
    """A mapping with keys out of order, the declared order, and the edits that establish it."""

    mapping: Node
    order: tuple[str, ...]
    edits: tuple[Edit, ...]


def disorders(document: Document) -> tuple[Disorder, ...]:
    """Return the mappings of the front matter whose keys are out of order and can be ordered; none contains another."""
    return document.derived(_readable_disorders, None)


def _readable_disorders(document: Document, _given: None) -> tuple[Disorder, ...]:
    root = editable_root(document)
    if root is None:
        return ()
    all_disorders = tuple(_disorders(document.text, root, schema_root(SCHEMA), document.front_matter.content.start))
    return all_disorders if same_values(document, [edit for each in all_disorders for edit in each.edits]) else ()


def order_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that order the keys of the front matter."""
    return tuple(edit for each in disorders(document) for edit in each.edits)


def editable_root(document: Document) -> Node | None:
    """Return the front matter's node tree, or None where it cannot be read or must not be changed."""
    return document.derived(_editable_root, None)


def _editable_root(document: Document, _given: None) -> Node | None:
    root = document.front_matter.node
    return None if root is None or is_pinned(root) else root


def same_values(document: Document, edits: Sequence[Edit]) -> bool:
    """Return whether the front matter has the same values after `edits`."""
    if not edits:
        return True
    from taskstate.model.write_metadata import front_matter_values  # what a sound file does not need

    after = parse_head(apply(document.text, edits))
    return after.front_matter.node is not None and front_matter_values(document) == front_matter_values(after)


def _disorders(text: str, node: Node, schema: SchemaNode, floor: int) -> Iterator[Disorder]:
    """Yield the outermost mappings out of order; `floor` is an offset below which the lines of `node` begin."""
    order = in_order(tuple([entry.key.text for entry in node.entries]), schema.order)
    if any(map(gt, order, order[1:])):
        slots = _entry_lines(text, node, floor) if node.style == "block" else _flow_entries(text, node)
        if slots:
            edits = (
                Edit(*slot, slots[index].of(text))
                for slot, index in zip(slots, order, strict=True)
                if slots[index] != slot
            )
            yield Disorder(node, schema.order, tuple(edits))
            return
    for entry in node.entries:
        child_schema = schema.child(entry.key.text) if entry.value.kind != "scalar" else None
        if child_schema:
            yield from _disorders(text, entry.value, child_schema, entry.key.span.end)
    child_schema = schema.item
    if child_schema:
        for item in node.items:
            if item.kind != "scalar":
                yield from _disorders(text, item, child_schema, item.span.start)


def _entry_lines(text: str, mapping: Node, floor: int) -> list[Span]:
    """Return the lines of each entry of a block mapping, comments included; empty where a key does not start a line."""
    starts: list[int] = []
    for entry in mapping.entries:
        begin = line_start(text, entry.key.span.start)
        if begin < floor or text[begin : entry.key.span.start].strip(" "):
            return []
        starts.append(_comments_start(text, begin, floor, entry.key.span.start - begin))
        floor = _end_of_line(text, entry.value.span.end)
    if last_leaf(mapping).style in {"literal", "folded"}:
        floor = _skip_blank_lines(text, floor)
    return [Span(start, end) for start, end in zip(starts, [*starts[1:], floor], strict=True)]


def _comments_start(text: str, at: int, floor: int, column: int) -> int:
    """Return the offset of the comments directly above the line at `at`, in the same column."""
    while at > floor:
        above = line_start(text, at - 2 if text.endswith("\r\n", 0, at) else at - 1)
        line = text[above:at]
        if above < floor or not line.startswith("#", column) or line[:column].strip(" "):
            break
        at = above
    return at


def _flow_entries(text: str, mapping: Node) -> list[Span]:
    """Return the spans of the entries of a mapping in braces; empty where one has no value, or several lines."""
    has_empty_value = any(entry.value.span.start == entry.value.span.end for entry in mapping.entries)
    if has_empty_value or not {"\n", "\r"}.isdisjoint(mapping.span.of(text)):
        return []
    return [Span(entry.key.span.start, entry.value.span.end) for entry in mapping.entries]


def _end_of_line(text: str, at: int) -> int:
    match = re.compile(_REST_OF_LINE).match(text, at)
    return match.end() if match else at


def _skip_blank_lines(text: str, at: int) -> int:
    match = re.compile(_BLANK_LINES).match(text, at)
    return match.end() if match else at
