"""Merges JSON, a fence in a part of a document or a whole file, and keeps the formatting of what is not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import CannotEdit
from taskstate.merge.lines import merge_text
from taskstate.merge.three_way import Versions, trivial_merge
from taskstate.merge.values import NOTHING, merge_value, same
from taskstate.model.task_state import json_fence
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span

if TYPE_CHECKING:
    from taskstate.merge.three_way import Prefer


class _Part(NamedTuple):
    """A part of a document around the content of its first json fence."""

    before: str = ""
    content: str = ""
    after: str = ""


def merge_fenced(sides: Versions[str], key: str, prefer: Prefer) -> str:
    """Return three versions of a part as one, the value in its first json fence by meaning; `key` names that value."""
    found = trivial_merge(sides)
    if found:
        return found[0]
    parts = sides.each(_part)
    if parts.ours is None or parts.theirs is None:
        return merge_text(sides, prefer)
    known = Versions(parts.base or _Part(), parts.ours, parts.theirs)
    return (
        merge_text(known.each(lambda part: part.before), prefer)
        + merge_json(known.each(lambda part: part.content), key, prefer)
        + merge_text(known.each(lambda part: part.after), prefer)
    )


def _part(text: str) -> _Part | None:
    fence = json_fence(parse(text), Span(0, len(text)))
    if fence is None or not fence.closed:
        return None
    start, end = fence.content
    return _Part(text[:start], text[start:end], text[end:])


def merge_json(sides: Versions[str], key: str, prefer: Prefer) -> str:
    """Return three JSON texts as one; what cannot be read is merged line by line."""
    found = trivial_merge(sides)
    if found:
        return found[0]
    read = sides.each(_read)
    if read.ours is None or read.theirs is None:
        return merge_text(sides, prefer)
    value = merge_value(read.each(lambda node: node.value() if node else NOTHING), key, prefer)
    for text, node in ((sides.ours, read.ours), (sides.theirs, read.theirs)):
        if same(node.value(), value):
            return text
    return _changed(sides.ours, read.ours, value) or merge_text(sides, prefer)


def _read(text: str) -> Node | None:
    node = read_json(text, 0, len(text))
    return node if isinstance(node, Node) else None


def _changed(text: str, node: Node, value: object) -> str:
    """Return a JSON text with another value, nothing where its form does not allow that."""
    from taskstate.syntax.json_edit import set_json

    try:
        changed = apply(text, set_json(text, node, (), value))
    except CannotEdit:
        return ""
    after = _read(changed)
    return changed if after and same(after.value(), value) else ""
