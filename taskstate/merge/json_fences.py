"""Merges JSON, in a fence or in a file of its own, and keeps the formatting of unchanged values."""

from __future__ import annotations

from taskstate.errors import CannotEdit
from taskstate.merge.lines import merge_text
from taskstate.model.task_state import json_fence
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.three_way import Versions, trivial_merge
from taskstate.units.values import NOTHING, merge_value, same

if TYPE_CHECKING:
    from taskstate.units.three_way import Prefer


class _Part(NamedTuple):
    """A part of a document, split into the content of its first json fence and the text around it."""

    before: str = ""
    content: str = ""
    after: str = ""


def merge_fenced(versions: Versions[str], key: str, prefer: Prefer) -> str:
    """Return the merged part of a document; the value in its first json fence is merged by the rules of `key`."""
    unconflicted = trivial_merge(versions)
    if unconflicted:
        return unconflicted[0]
    parts = versions.each(_split)
    if parts.ours is None or parts.theirs is None:
        return merge_text(versions, prefer)
    split = Versions(parts.base or _Part(), parts.ours, parts.theirs)
    return (
        merge_text(split.each(lambda part: part.before), prefer)
        + merge_json(split.each(lambda part: part.content), key, prefer)
        + merge_text(split.each(lambda part: part.after), prefer)
    )


def _split(text: str) -> _Part | None:
    fence = json_fence(parse(text), Span(0, len(text)))
    if fence is None or not fence.closed:
        return None
    start, end = fence.content
    return _Part(text[:start], text[start:end], text[end:])


def merge_json(versions: Versions[str], key: str, prefer: Prefer) -> str:
    """Return the merged JSON text; JSON that cannot be read is merged by line."""
    unconflicted = trivial_merge(versions)
    if unconflicted:
        return unconflicted[0]
    nodes = versions.each(_read)
    if nodes.ours is None or nodes.theirs is None:
        return merge_text(versions, prefer)
    value = merge_value(nodes.each(lambda node: node.value() if node else NOTHING), key, prefer)
    for text, node in ((versions.ours, nodes.ours), (versions.theirs, nodes.theirs)):
        if same(node.value(), value):
            return text
    return _with_value(versions.ours, nodes.ours, value) or merge_text(versions, prefer)


def _read(text: str) -> Node | None:
    node = read_json(text, 0, len(text))
    return node if isinstance(node, Node) else None


def _with_value(text: str, node: Node, value: object) -> str:
    """Return a JSON text with another value, or "" where it cannot be edited."""
    from taskstate.syntax.json_edit import set_json

    try:
        changed = apply(text, set_json(text, node, (), value))
    except CannotEdit:
        return ""
    reread = _read(changed)
    return changed if reread and same(reread.value(), value) else ""
