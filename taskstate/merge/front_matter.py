"""Merges front matter key by key; comments, order and form of unchanged keys stay as in ours.

A front matter that cannot be split by key (a map in braces, anchors and aliases, a syntax error) is merged by line.
"""

from __future__ import annotations

from taskstate.errors import CannotEdit, EditConflict
from taskstate.merge.lines import merge_text
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import is_pinned
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.keys import ADVANCING
from taskstate.units.three_way import Versions, interleave, trivial_merge
from taskstate.units.values import NOTHING, merge_value, same
from taskstate.validation import schema

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.units.three_way import Prefer

_TAIL = "\0"  # the key for the comments behind the last entry; no YAML key can contain it


class _FrontMatter(NamedTuple):
    """A front matter split by key: the lines of each key, the comments above them, and the values."""

    opening: str
    comments: Mapping[str, str]
    lines: Mapping[str, str]
    closing: str
    values: Mapping[str, Any]


_NONE = _FrontMatter("", {}, {}, "", {})


def front_matter_text(document: Document) -> str:
    """Return the front matter of a document with its lines `---`; "" where it has none."""
    span = document.front_matter.span
    return document.text[: span.end] if span else ""


def merge_front_matter(versions: Versions[Document], prefer: Prefer) -> str:
    """Return the merged front matter with its lines `---`."""
    texts = versions.each(front_matter_text)
    unconflicted = trivial_merge(texts)
    if unconflicted:
        return unconflicted[0]
    fronts = versions.each(_split)
    if fronts.ours and fronts.theirs and (fronts.base or not texts.base):
        merged = _merge(Versions(fronts.base or _NONE, fronts.ours, fronts.theirs), prefer)
        if merged:
            return merged
    return merge_text(texts, prefer)


def top_level_entries(text: str) -> list[str]:
    """Return a front matter as a list of texts in which each top-level entry is one item."""
    front = _split(parse(text))
    return _listed(front) if front else []


def with_equal_entries(text: str, model: Document) -> str:
    """Return a text whose entries stand as in `model` where their values are the same, or they would be a conflict."""
    document, other = parse(text), _split(model)
    front = _split(document)
    if front is None or other is None:
        return text
    equal = {key for key in front.lines.keys() & other.lines if same(front.values[key], other.values[key])}
    lines = {key: other.lines[key] if key in equal else each for key, each in front.lines.items()}
    return "".join(_listed(front._replace(lines=lines))) + text[len(front_matter_text(document)) :]


def _listed(front: _FrontMatter) -> list[str]:
    parts = (part for key in (*front.lines, _TAIL) for part in (front.comments[key], front.lines.get(key, "")))
    return [part for part in (front.opening, *parts, front.closing) if part]


def _split(document: Document) -> _FrontMatter | None:
    """Return a front matter split by key, or None where that is not possible."""
    front_matter, text = document.front_matter, document.text
    root = front_matter.node
    if front_matter.span is None or root is None or root.style != "block" or is_pinned(root):
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
    return _FrontMatter(
        opening=text[: front_matter.content.start],
        comments=comments,
        lines=lines,
        closing=text[front_matter.content.end : front_matter.span.end],
        values=_with_time_of_write(front_matter_values(document)),
    )


def _with_time_of_write(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values with the time of the write in the audit, by which the newer of two is told there."""
    audit = values.get("audit")
    if not isinstance(audit, dict) or "updated_at" not in values:
        return values
    return {**values, "audit": {"updated_at": values["updated_at"], **audit}}


def _as_written(values: dict[str, Any], sides: tuple[_FrontMatter, ...]) -> dict[str, Any]:
    """Return the values without what the audit need not say, unless both sides are of an earlier version."""
    audits, merged = [side.values.get("audit") for side in sides], values.get("audit")
    is_older = all(isinstance(audit, dict) and "update_count" in audit for audit in audits)
    if is_older or not isinstance(merged, dict):
        return values
    said = ("updated_at", "update_count")
    return {**values, "audit": {key: value for key, value in merged.items() if key not in said}}


def _merge(versions: Versions[_FrontMatter], prefer: Prefer) -> str:
    """Return the merged front matter, or "" where it would not read as expected."""
    rank = {key: number for number, key in enumerate(schema.load("task")["properties"])}
    keys = interleave(list(versions.ours.lines), list(versions.theirs.lines), lambda key: rank.get(key, len(rank)))
    values: dict[str, Any] = {}
    pieces = [versions.ours.opening]
    for key in keys:
        value, lines = _entry(versions, key, prefer)
        if value is not NOTHING:
            values[key] = value
            pieces += (_comments(versions, key, prefer), lines)
    text = "".join((*pieces, _comments(versions, _TAIL, prefer), versions.ours.closing))
    return _with_values(text, _with_limited_acks(_as_written(values, versions[1:]), versions))


def _entry(versions: Versions[_FrontMatter], key: str, prefer: Prefer) -> tuple[Any, str]:
    """Return the merged value of a key, and the lines of the side that has this value or is nearest to it."""
    lines = versions.each(lambda front: front.lines.get(key, ""))
    values = versions.each(lambda front: front.values.get(key, NOTHING))
    unconflicted = trivial_merge(lines)
    if unconflicted and key not in ADVANCING:
        return next(
            (value for value, text in zip(values, lines, strict=True) if text == unconflicted[0]), NOTHING
        ), unconflicted[0]
    value = merge_value(values, key, prefer)
    nearest = lines.theirs if not lines.ours or same(value, values.theirs) else lines.ours
    return value, lines.ours if lines.ours and same(value, values.ours) else nearest


def _comments(versions: Versions[_FrontMatter], key: str, prefer: Prefer) -> str:
    return merge_text(versions.each(lambda front: front.comments.get(key, "")), prefer)


def _with_limited_acks(values: dict[str, Any], versions: Versions[_FrontMatter]) -> dict[str, Any]:
    """Return the values with acknowledgements limited to the common version of a permanent task.

    Where both sides made a new version, both may have the same number, so an acknowledgement of it is ambiguous.
    """
    numbers = versions.each(lambda front: front.values.get("version"))
    base_version, acks = numbers.base, values.get("acks")
    if not isinstance(acks, dict) or not isinstance(base_version, int) or base_version in numbers[1:]:
        return values
    limited_acks = {
        agent: min(version, base_version) if isinstance(version, int) else version for agent, version in acks.items()
    }
    return {**values, "acks": limited_acks}


def _with_values(text: str, values: Mapping[str, Any]) -> str:
    """Return a front matter with the given values, or "" where it cannot be edited."""
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
