"""Merges front matter key by key: comments, order and form of what is not changed stay as they are on our side.

What cannot be taken apart by key (a map in braces, anchors and aliases, a syntax error) is merged line by line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import CannotEdit, EditConflict
from taskstate.merge.lines import merge_text
from taskstate.merge.three_way import Versions, interleave, trivial_merge
from taskstate.merge.values import ADVANCING, NOTHING, merge_value, same
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import apply
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.merge.three_way import Prefer
    from taskstate.syntax.nodes import Node

_TAIL = "\0"  # the key, which no YAML can hold, of the comments behind the last entry


class _Front(NamedTuple):
    """A front matter taken apart: the lines of each key, the comments above them, and the values."""

    opening: str
    comments: Mapping[str, str]
    lines: Mapping[str, str]
    closing: str
    values: Mapping[str, Any]


_NONE = _Front("", {}, {}, "", {})


def front_matter_text(document: Document) -> str:
    """Return the text of a document down to the end of its front matter; nothing where it has none."""
    span = document.front_matter.span
    return document.text[: span.end] if span else ""


def merge_front_matter(sides: Versions[Document], prefer: Prefer) -> str:
    """Return three front matters as one, the lines `---` included."""
    heads = sides.each(front_matter_text)
    found = trivial_merge(heads)
    if found:
        return found[0]
    fronts = sides.each(_front)
    if fronts.ours and fronts.theirs and (fronts.base or not heads.base):
        merged = _merge(Versions(fronts.base or _NONE, fronts.ours, fronts.theirs), prefer)
        if merged:
            return merged
    return merge_text(heads, prefer)


def top_level_entries(head: str) -> list[str]:
    """Return a front matter as a list of texts that belong together: each entry of the top level is one."""
    front = _front(parse(head))
    if front is None:
        return []
    parts = (part for key in (*front.lines, _TAIL) for part in (front.comments[key], front.lines.get(key, "")))
    return [part for part in (front.opening, *parts, front.closing) if part]


def _front(document: Document) -> _Front | None:
    """Return a front matter taken apart, or None where it cannot be."""
    front_matter, text = document.front_matter, document.text
    root = front_matter.node
    if front_matter.span is None or root is None or root.style != "block" or _is_pinned(root):
        return None
    comments: dict[str, str] = {}
    lines: dict[str, str] = {}
    at = front_matter.content.start
    for entry in root.entries:
        start = text.rfind("\n", 0, entry.key.span.start) + 1
        end = text.find("\n", entry.value.span.end) + 1
        if start != entry.key.span.start or start < at or not 0 < end <= front_matter.content.end:
            return None
        comments[entry.key.text], lines[entry.key.text] = text[at:start], text[start:end]
        at = end
    comments[_TAIL] = text[at : front_matter.content.end]
    return _Front(
        opening=text[: front_matter.content.start],
        comments=comments,
        lines=lines,
        closing=text[front_matter.content.end : front_matter.span.end],
        values=front_matter_values(document),
    )


def _is_pinned(node: Node) -> bool:
    return bool(node.pinned) or any(
        _is_pinned(each) for each in (*(part for entry in node.entries for part in entry), *node.items)
    )


def _merge(sides: Versions[_Front], prefer: Prefer) -> str:
    """Return the merged text; nothing where it does not read as it should."""
    rank = {key: number for number, key in enumerate(schema.load("task")["properties"])}
    keys = interleave(list(sides.ours.lines), list(sides.theirs.lines), lambda key: rank.get(key, len(rank)))
    values: dict[str, Any] = {}
    pieces = [sides.ours.opening]
    for key in keys:
        value, lines = _entry(sides, key, prefer)
        if value is not NOTHING:
            values[key] = value
            pieces += (_comments(sides, key, prefer), lines)
    text = "".join((*pieces, _comments(sides, _TAIL, prefer), sides.ours.closing))
    return _with_values(text, _limited(values, sides))


def _entry(sides: Versions[_Front], key: str, prefer: Prefer) -> tuple[Any, str]:
    """Return the value that a key gets, and the lines of the side that has it or comes nearest."""
    lines = sides.each(lambda front: front.lines.get(key, ""))
    values = sides.each(lambda front: front.values.get(key, NOTHING))
    found = trivial_merge(lines)
    if found and key not in ADVANCING:
        return next((value for value, text in zip(values, lines, strict=True) if text == found[0]), NOTHING), found[0]
    value = merge_value(values, key, prefer)
    near = lines.theirs if not lines.ours or same(value, values.theirs) else lines.ours
    return value, lines.ours if lines.ours and same(value, values.ours) else near


def _comments(sides: Versions[_Front], key: str, prefer: Prefer) -> str:
    return merge_text(sides.each(lambda front: front.comments.get(key, "")), prefer)


def _limited(values: dict[str, Any], sides: Versions[_Front]) -> dict[str, Any]:
    """Return the values without acknowledgements of a version that was not yet the merged one.

    Where both sides have made a new version, both may bear the same number: only the common one is sure to be known.
    """
    versions = sides.each(lambda front: front.values.get("version"))
    common, acks = versions.base, values.get("acks")
    if not isinstance(acks, dict) or not isinstance(common, int) or common in (versions.ours, versions.theirs):
        return values
    limited = {agent: min(version, common) if isinstance(version, int) else version for agent, version in acks.items()}
    return {**values, "acks": limited}


def _with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a front matter with these values; nothing where that cannot be done."""
    for key, value in values.items():
        document = parse(text)
        if document.front_matter.node is None:
            return ""
        if same(front_matter_values(document).get(key, NOTHING), value):
            continue
        try:
            text = apply(text, set_front_matter(document, key, value))
        except (CannotEdit, EditConflict):
            return ""
    return text if same(dict(front_matter_values(parse(text))), dict(values)) else ""
