"""Finds sessions that are not where sessions are read: outside the Progress Log, or at another level in it.

No command shows, counts or archives them. Whoever appends to a file by hand writes them easily: `### Session 8` at the
end of the file is a part of Chain Output.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from taskstate.model.progress_log import session_number
from taskstate.model.session_texts import ASKED_PATTERN
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.model.document_kinds import Kind, SectionSpec
    from taskstate.syntax.document import Document, Section

LOG = "Progress Log"
_DATE = r"\d{4}-\d{2}-\d{2}"
_LABEL = rf"(?i)(?:^|(?<=[\r\n]))(?:\*\*|__)(?:{ASKED_PATTERN})\b"


class MisplacedSession(NamedTuple):
    """A session that no command sees; `span` is its entry, `in_log` tells that its place is right.

    `is_cut_off` tells that its level is right, too: a misplaced heading of a higher level above it ends the log.
    """

    section: Section
    number: int
    span: Span
    in_log: bool
    is_cut_off: bool


def misplaced_sessions(document: Document, kind: Kind) -> tuple[MisplacedSession, ...]:
    """Return the misplaced sessions of a state file; none where it has no Progress Log that they could belong to.

    Notes and sections that the kind does not declare may hold whatever people like.
    """
    spec = kind.section(LOG)
    titled = [each for each in document.sections if session_number(each.title) is not None]
    log = next((each for each in document.sections if spec and _spec(each, kind) is spec), None) if titled else None
    if log is None or all(each.level == PART_LEVEL and _begins_in(each, log.span) for each in titled):
        return ()
    return tuple(_find(document, kind))


def _begins_in(section: Section, span: Span) -> bool:
    return span.start <= section.span.start < span.end


def _spec(section: Section, kind: Kind) -> SectionSpec | None:
    return kind.section(section.title) if section.level == SECTION_LEVEL else None


def _find(document: Document, kind: Kind) -> Iterator[MisplacedSession]:
    in_log = is_free = is_cut = False
    for index, section in enumerate(document.sections):
        number = session_number(section.title)
        is_entry = number is not None and _is_entry(document, section)
        if section.level <= SECTION_LEVEL and not is_entry:
            spec = _spec(section, kind)
            in_log, is_cut = spec is not None and spec.name == LOG, False
            is_free = spec.untouchable if spec else index > 0
        elif section.level <= SECTION_LEVEL:
            is_free, is_cut = False, in_log  # it ends the section above it, Notes included
        is_right = in_log and section.level == PART_LEVEL
        if number is not None and not is_free and (is_cut if is_right else is_entry):
            span = Span(section.span.start, _end(document, index, kind))
            yield MisplacedSession(section, number, span, in_log=in_log, is_cut_off=is_right)


def _is_entry(document: Document, section: Section) -> bool:
    """Return whether a heading that begins like a session's is one: it has a date, or labels of a session below it."""
    if compiled(_DATE).search(section.title):
        return True
    words = re.sub(r"[\W_]", "", section.title)
    if section.level == SECTION_LEVEL and re.fullmatch(r"(?i)session\d+", words):
        return True
    return bool(compiled(_LABEL).search(document.text, section.own.start, section.own.end))


def _end(document: Document, index: int, kind: Kind) -> int:
    """Return where the entry of a misplaced session ends: its heading may be above parts that are not its own."""
    section = document.sections[index]
    for behind in range(index + 1, len(document.sections)):
        each = document.sections[behind]
        is_above = each.level <= max(section.level, SECTION_LEVEL)
        if is_above or (each.level == PART_LEVEL and kind.has_part(each.title)):
            return each.span.start
    return len(document.text)


def cut_at(starts: Sequence[int], span: Span) -> Span:
    """Return a span up to the first of the rising offsets `starts` that is within it."""
    at = bisect_right(starts, span.start)
    return Span(span.start, min(span.end, starts[at])) if at < len(starts) else span
