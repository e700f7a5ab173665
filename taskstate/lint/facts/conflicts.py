"""Finds what is left of merge conflicts in a file, but for what is quoted in a code fence."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from taskstate.model.document_kinds import kind_of
from taskstate.model.task_state import SECTION_LEVEL, is_json_fence
from taskstate.syntax.conflict_markers import Conflict, find_conflicts, lone_markers
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.document import Document, Section

_ORDER = "<|=>"  # of the markers of one conflict


def conflicts_of(document: Document) -> tuple[Conflict, ...]:
    """Return the conflicts of a file, and each marker that stands alone, in the order of the text."""
    found = [*find_conflicts(document.text), *_alone(document)]
    return tuple(sorted(each for each in found if not _is_quoted(document, each.span))) if found else ()


def _alone(document: Document) -> Iterator[Conflict]:
    """Yield the markers that stand alone; those that one conflict may have left, in their order, are one."""
    run: list[Span] = []
    for line in lone_markers(document.text):
        if not run and document.text.startswith("=", line.start) and _is_underline(document, line):
            continue
        if run and _ORDER.index(document.text[line.start]) <= _ORDER.index(document.text[run[-1].start]):
            yield Conflict(Span(run[0].start, run[-1].end), run[0])
            run = []
        run.append(line)
    if run:
        yield Conflict(Span(run[0].start, run[-1].end), run[0])


def _is_quoted(document: Document, span: Span) -> bool:
    """Return whether a code fence holds all of `span` as an example; of JSON the format reads it."""
    index = bisect_right(document.blocks, span.start, key=lambda block: block.span.start) - 1
    block = document.blocks[index] if index >= 0 else None
    return (
        block is not None
        and block.kind == "fence"
        and block.closed
        and not is_json_fence(block)
        and span.end <= block.content.end
    )


def _is_underline(document: Document, line: Span) -> bool:
    """Return whether a divider underlines a heading where a heading of level 1 may be: the title, Notes and below."""
    index = bisect_left(document.sections, line.start, key=_heading_start) - 1
    if index < 0 or line.start >= document.sections[index].heading.end:
        return False
    tops = document.derived(_top_sections, None)
    above = bisect_left(tops, document.sections[index].heading.start, key=_heading_start) - 1
    kind = kind_of(document)  # `Facts.kind` is known only once the conflicts are
    spec = kind.section(tops[above].title) if above >= 0 else None
    return spec is None or spec.untouchable


def _top_sections(document: Document, _given: None) -> list[Section]:
    return [each for each in document.sections if each.level == SECTION_LEVEL]


def _heading_start(section: Section) -> int:
    return section.heading.start
