"""Cuts a body into parts that are known by their headings, whatever stands before them: sections and subsections."""

from __future__ import annotations

from collections import Counter

from taskstate.model.document_kinds import built_in, section_key
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.model.document_kinds import SectionSpec
    from taskstate.syntax.document import Document, Section


class PartKey(NamedTuple):
    """The identity of a part: the level of its heading, its key, and its number among those with the same key."""

    level: int
    title: str
    number: int = 1


TOP = PartKey(0, "")  # the text above the first heading


def sections(document: Document) -> Mapping[PartKey, Span]:
    """Return the parts of a body: the text before the first heading, and the sections."""
    tops = [section for section in document.sections if section.level <= SECTION_LEVEL]
    return _cut(tops, [section_key(section.title) for section in tops], Span(document.body, len(document.text)))


def subsections(document: Document, title: str, span: Span) -> Mapping[PartKey, Span]:
    """Return the parts of the section of that title at `span`: the text before its first subsection, and these."""
    spec = built_in("task").section(title) or built_in("permanent").section(title)
    children = [
        each for each in document.sections if each.level == PART_LEVEL and span.start <= each.span.start < span.end
    ]
    return _cut(children, [_key(child.title, spec) for child in children], span)


def _cut(headed: Sequence[Section], titles: Sequence[str], span: Span) -> dict[PartKey, Span]:
    """Return the spans into which the given sections cut a span."""
    count: Counter[str] = Counter()
    stops = [*(section.span.start for section in headed), span.end]
    parts = {TOP: Span(span.start, stops[0])}
    for section, title, stop in zip(headed, titles, stops[1:], strict=True):
        count[title] += 1
        parts[PartKey(section.level, title, count[title])] = Span(section.span.start, stop)
    return parts


def _key(title: str, section: SectionSpec | None) -> str:
    """Return the key of a subsection: the task, phase or number in its heading, or else its title."""
    spec = section.subsection(title) if section else None
    groups = spec.match(title) if spec else None
    subject = (groups.get("task_id") or groups.get("phase") or groups.get("number")) if groups else None
    return f"{spec.name} {subject}".casefold() if spec and subject else section_key(title)
