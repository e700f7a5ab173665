"""Compares the meaning of two versions of a state file, to check that formatting has lost nothing.

The edits are not trusted: both texts are read again, and compared are the values of the front matter, headings,
sessions and frozen parts byte for byte, the values of json fences, and all other characters except blanks.
"""

from __future__ import annotations

from taskstate.formatting.parts import body_parts
from taskstate.model.derived_values import COUNTS, PROGRESS, SIZE
from taskstate.model.document_kinds import section_key
from taskstate.model.progress_log import session_number
from taskstate.model.task_state import PART_LEVEL, json_fence, read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from taskstate.formatting.parts import BodyPart
    from taskstate.syntax.document import Document, Section

_BLANK = r"[ \t\r\n]+"
_MARKER = r"(?m)(^|\r)( {0,3})[*+](?=[ \t\r\n]|\Z)"
_BLANKS = " \t\r\n"
_TITLE = 1  # the level of a heading whose section holds all the others


def same_meaning(before: Document, after: Document) -> bool:
    """Return whether two documents differ only in form and derived values."""
    if len(after.problems) > len(before.problems) or _front_matter(before) != _front_matter(after):
        return False
    if before.text[before.body :] == after.text[after.body :]:
        return True
    return (
        _read_values(before) == _read_values(after)
        and _preamble(before) == _preamble(after)
        and _same_parts(before, after)
    )


def _same_parts(before: Document, after: Document) -> bool:
    olds, news = body_parts(before), body_parts(after)
    return len(olds) == len(news) and all(
        _is_unchanged(before, old, after, new) or _contents(before, old) == _contents(after, new)
        for old, new in zip(olds, news, strict=True)
    )


def _is_unchanged(before: Document, old: BodyPart, after: Document, new: BodyPart) -> bool:
    """Return whether a part is the same to the byte, and has no part below it, as nearly every one."""
    here, there = old.section, new.section
    return (
        (here.level, *old[1:]) == (there.level, *new[1:])
        and (here.body == here.own and there.body == there.own)
        and before.text[here.heading.start : here.own.end] == after.text[there.heading.start : there.own.end]
    )


def _front_matter(document: Document) -> tuple[Any, list[str]]:
    """Return the values of the front matter that are not derived, and its comments in sorted order."""
    values = front_matter_values(document)
    lines = document.front_matter.content.of(document.text).splitlines()
    comments = sorted(line.strip() for line in lines if line.lstrip().startswith("#"))
    return {key: value for key, value in values.items() if key not in {COUNTS, SIZE}}, comments


def _read_values(document: Document) -> tuple[object, ...]:
    """Return the criteria, sessions and summary that a reader finds in a document."""
    state = read_state(document)
    return (
        [(compiled(_BLANK).sub(" ", each.text).strip(), each.checked) for each in state.criteria],
        [(each.number, each.time, _body(document, each.section)) for each in state.sessions],
        (state.summary.first, state.summary.last) if state.summary else None,
    )


def _preamble(document: Document) -> str:
    """Return the text before the first heading, without blanks."""
    span = document.front_matter.span
    end = document.sections[0].span.start if document.sections else len(document.text)
    return compiled(_BLANK).sub("", document.text[span.end if span else 0 : end])


def _contents(document: Document, part: BodyPart) -> tuple[object, ...]:
    """Return the contents of a part in a form that does not depend on its layout."""
    section = part.section
    if part.frozen:
        heading = "" if part.heading else section.heading.of(document.text)
        return section.level, _title(part), heading, _body(document, section)
    fence = json_fence(document, section.own) if part.schema else None
    root = document.json(fence) if fence else None
    value = getattr(root, "value", lambda: root)()
    if isinstance(value, dict):
        value.pop(PROGRESS, None)
    own, text = section.own, document.text
    prose = text[own.start : fence.content.start] + text[fence.content.end : own.end] if fence else own.of(text)
    return section.level, _title(part), value, compiled(_BLANK).sub("", compiled(_MARKER).sub(r"\1\2-", prose))


def _body(document: Document, section: Section) -> str:
    """Return the text below a heading, byte for byte; of the title, whose section holds all others, its own text."""
    body = section.body if section.level > _TITLE else section.own
    return body.of(document.text).rstrip(_BLANKS)


def _title(part: BodyPart) -> object:
    """Return what identifies a heading: a session number, section key or title."""
    title = part.section.title
    if not part.heading:
        return " ".join(title.split())
    if part.section.level == PART_LEVEL and session_number(title) is not None:
        return session_number(title)
    return part.heading if part.section.level == PART_LEVEL else section_key(title)
