"""What a session says, wherever it stands: for the rules that compare a file with its past.

Sessions move into the archive and get other numbers when branches are merged, and stay the same ones all the same: what
identifies a session is its time and its text, not its number nor those of other sessions in its text (a merge may
change both), the level of its heading, line ends, trailing blanks or a directive to the linter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.document_kinds import section_key
from taskstate.model.session_references import identity
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, is_summary, session_number
from taskstate.syntax.spans import Span, with_newlines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document, Section

_LOG = "progress log"
_ARCHIVED_LEVEL = 2  # of a session's heading in the archive
_DIRECTIVE = r" {0,3}<!--[ \t]*taskstate: ignore\b.*-->"  # said of the next line, and no part of a session
_TIME = r"(\d{4}-\d{2}-\d{2})[T ]+(\d{2}:\d{2})"
_TRAILER = r"(?:\A|\n+)---\n+Archived on:"


class SessionText(NamedTuple):
    """A session as it can be recognised: its number and time (or None) in the heading, and the text below."""

    heading: Span
    number: int | None
    time: str | None
    text: str


class SessionIndex:
    """Sessions among which others are looked for."""

    def __init__(self, found: Iterable[SessionText]) -> None:
        self._times: dict[str, set[str | None]] = {}
        for entry in found:
            self._times.setdefault(entry.text, set()).add(entry.time)

    def has(self, entry: SessionText) -> bool:
        """Return whether one of them says the same; a heading without a time may be that of any session."""
        times = self._times.get(entry.text)
        return times is not None and (entry.time is None or entry.time in times or None in times)


def comparable(facts: Facts) -> tuple[Facts, ...]:
    """Return the file at the compared revision, those of the parents that can be relied on."""
    return tuple(then for then in facts.past or () if is_reliable(then))


def is_reliable(then: Facts) -> bool:
    """Return whether an earlier text can be a measure: no conflict was committed, and its format is known."""
    return not then.newer and not then.conflicts


def entries(facts: Facts) -> tuple[SessionText, ...]:
    """Return what stands in the Progress Log, under whatever heading, as far as it can be read; not the summary."""
    document = facts.document
    logs = (each for each in document.sections if each.level == SECTION_LEVEL and section_key(each.title) == _LOG)
    found = (child for log in logs for child in document.children(log, PART_LEVEL))
    return tuple(
        _entry(document, child)
        for child in found
        if not is_summary(child.title)
        and (facts.unreadable_body is None or child.span.end <= facts.unreadable_body.start)
    )


def archived(archives: Iterable[Document]) -> SessionIndex:
    """Return the sessions of archive files; what closes a batch is no part of the last one in it."""
    return SessionIndex(each for document in archives for each in _archived(document))


def uncommitted(facts: Facts) -> frozenset[Span]:
    """Return the headings of the sessions that no compared revision has, by text or by number and time.

    None are where nothing is compared, or what was committed cannot be relied on.
    """
    past = comparable(facts)
    if facts.past is None or len(past) < len(facts.past):
        return frozenset()
    committed = [entry for then in past for entry in entries(then)]
    known, places = SessionIndex(committed), {(entry.number, entry.time) for entry in committed}
    found = (each for each in entries(facts) if not known.has(each) and (each.number, each.time) not in places)
    return frozenset(each.heading for each in found)


def newest(facts: Facts) -> int:
    """Return the highest number of a session that a file knows of; 0 where it knows none."""
    numbers = [entry.number or 0 for entry in entries(facts)]
    return max([facts.state.archived, *numbers])


def _archived(document: Document) -> Iterator[SessionText]:
    for section in document.sections:
        if section.level == _ARCHIVED_LEVEL and session_number(section.title) is not None:
            entry = _entry(document, section)
            yield entry
            trailers = list(re.compile(_TRAILER).finditer(entry.text))
            if trailers:
                yield entry._replace(text=entry.text[: trailers[-1].start()])


def _entry(document: Document, section: Section) -> SessionText:
    time = re.compile(_TIME).search(section.title)
    lines = (line.rstrip(" \t") for line in with_newlines(section.body.of(document.text), "\n").split("\n"))
    return SessionText(
        heading=section.heading,
        number=session_number(section.title),
        time=f"{time[1]} {time[2]}" if time else None,
        text=identity("\n".join(line for line in lines if not re.compile(_DIRECTIVE).fullmatch(line)).strip("\n")),
    )
