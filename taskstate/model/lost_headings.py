"""Finds the content of a required section whose heading was renamed, or is gone.

The content tells what it is: the json fence that a section declares, or its subsections, such as sessions. Similar
titles are the business of the linter.
"""

from __future__ import annotations

from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, json_fence
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.schema import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.document_kinds import Kind, SectionSpec
    from taskstate.syntax.document import Document, Section


class LostContent(NamedTuple):
    """The content of a required section that has no heading of its own: where its first line begins.

    `section` is the section that it is in, and `is_renamed` tells that this is none that the kind declares.
    """

    spec: SectionSpec
    at: int
    section: Section
    is_renamed: bool


def lost_contents(document: Document, kind: Kind) -> tuple[LostContent, ...]:
    """Return the contents of the required sections that a state file lacks, as far as they are found elsewhere."""
    sections = [each for each in document.sections if each.level == SECTION_LEVEL]
    declared = {spec.key for each in sections if (spec := kind.section(each.title))}
    title = document.sections[0] if document.sections else None
    if title and title.level < SECTION_LEVEL:  # what stands between the title and the first section
        end = sections[0].span.start if sections else title.span.end
        sections.insert(0, title._replace(span=Span(title.span.start, end)))
    absent = [spec for spec in kind.sections if spec.required and spec.key not in declared]
    found: dict[int, LostContent] = {}
    for spec in absent:
        lost = next(
            (lost for each in sections for lost in _in(document, kind, spec, each) if lost.at not in found), None
        )
        if lost:
            found[lost.at] = lost
    return tuple(found.values())


def _in(document: Document, kind: Kind, spec: SectionSpec, section: Section) -> Iterator[LostContent]:
    """Yield the content of `spec` in another section, unless that declares such a part itself."""
    own = kind.section(section.title)
    if own is not None and own.untouchable:
        return
    starts = [*_first_part(document, spec, own, section), *_first_fence(document, spec, own, section)]
    if starts:
        yield LostContent(spec, min(starts), section, own is None and section.level == SECTION_LEVEL)


def _first_part(document: Document, spec: SectionSpec, own: SectionSpec | None, section: Section) -> Iterator[int]:
    """Yield where the first subsection begins that only `spec` declares."""
    for child in document.children(section, PART_LEVEL):
        if spec.subsection(child.title) and not (own and own.subsection(child.title)):
            yield child.span.start
            return


def _first_fence(document: Document, spec: SectionSpec, own: SectionSpec | None, section: Section) -> Iterator[int]:
    """Yield the line of the first json fence with keys of the schema that only `spec` declares."""
    if spec.fence is None or not spec.fence.required or (own and own.fence):
        return
    keys = load(spec.fence.schema).get("required", ())
    for part in (section, *document.children(section, PART_LEVEL)):
        fence = json_fence(document, part.own)
        value = document.json(fence) if fence else None
        if fence and isinstance(value, Node) and value.kind == "mapping" and any(value.get(key) for key in keys):
            yield line_start(document.text, fence.span.start)
            return
