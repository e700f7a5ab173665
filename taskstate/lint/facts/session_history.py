"""Recognises the same session in different files and revisions, for the rules that compare a file with its past.

Sessions move into the archive, and a merge of branches may renumber them. So a session is identified by its time and
text. Not compared are its number, numbers of other sessions in its text, the level of its heading, line ends, trailing
blanks, and directives to the linter.
"""

from __future__ import annotations

import re

from taskstate.model.document_kinds import section_key
from taskstate.model.misplaced_sessions import cut_at
from taskstate.model.progress_log import is_summary, session_number
from taskstate.model.session_references import identity
from taskstate.model.session_texts import tells_more
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, read_state
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document

_LOG = "progress log"
_ARCHIVED_LEVEL = 2  # of a session's heading in the archive
_DIRECTIVE = r" {0,3}<!--[ \t]*taskstate: ignore\b.*-->"  # about the next line, and no part of the session
_TIME = r"(\d{4}-\d{2}-\d{2})[T ]+(\d{2}:\d{2})"
_TRAILER = r"(?:\A|(?<!\n)\n+)---\n+Archived on:"


class SessionText(NamedTuple):
    """A session reduced to what is compared: number and time (or None) from its heading, and its normalised text.

    `body` is where that stands.
    """

    heading: Span
    body: Span
    number: int | None
    time: str | None
    text: str


class SessionIndex:
    """An index of sessions by text and time, to look up whether a session is among them."""

    def __init__(self, sessions: Iterable[SessionText]) -> None:
        self._times: dict[str, set[str | None]] = {}
        for entry in sessions:
            self._times.setdefault(entry.text, set()).add(entry.time)

    def has(self, entry: SessionText) -> bool:
        """Return whether a session has the same text and time; a heading without a time matches any time."""
        times = self._times.get(entry.text)
        return times is not None and (entry.time is None or entry.time in times or None in times)


def comparable(facts: Facts) -> tuple[Facts, ...]:
    """Return the earlier versions of the file that can be compared with (while merging there are several)."""
    return tuple(then for then in facts.past or () if is_reliable(then))


def all_comparable(facts: Facts) -> tuple[Facts, ...] | None:
    """Return the earlier versions, or None where nothing is compared or one of them cannot be compared with."""
    return facts.past if facts.past is not None and all(map(is_reliable, facts.past)) else None


def is_reliable(then: Facts) -> bool:
    """Return whether an earlier version can be compared with: it has no conflict markers and a known format."""
    return not then.newer and not then.conflicts


def entries(facts: Facts) -> tuple[SessionText, ...]:
    """Return the entries that can be read, whatever their headings, but for the summary; misplaced ones too."""
    document = facts.document
    logs = [each for each in document.sections if each.level == SECTION_LEVEL and section_key(each.title) == _LOG]
    parts = [child for log in logs for child in document.children(log, PART_LEVEL) if not is_summary(child.title)]
    if facts.outline.misplaced:
        starts = [each.span.start for each in facts.outline.misplaced]
        parts = [part._replace(body=cut_at(starts, part.body)) for part in parts]
        parts += [
            each.section._replace(body=Span(each.section.body.start, each.span.end)) for each in facts.outline.misplaced
        ]
    texts = [(part.title, part.heading, part.body) for part in parts]
    if facts.session_lines:  # what stands below one is no part of the session above
        starts = sorted([*(part.span.start for part in parts), *(line.span.start for line in facts.session_lines)])
        end = max(log.body.end for log in logs)
        texts = [(title, heading, cut_at(starts, body)) for title, heading, body in texts]
        texts += [(line.title, line.span, cut_at(starts, Span(line.span.end, end))) for line in facts.session_lines]
    readable_end = facts.unreadable_body.start if facts.unreadable_body else len(document.text)
    return tuple(_entry(document, *each) for each in texts if each[-1].end <= readable_end)


def archived(archives: Iterable[Document]) -> SessionIndex:
    """Return the sessions of archive files; the closing lines of a batch are no part of its last session."""
    return SessionIndex(each for document in archives for each in _archived(document))


def uncommitted(facts: Facts) -> frozenset[Span]:
    """Return the headings of the sessions that no compared revision has, neither by text nor by number and time.

    Empty where nothing is compared, or where an earlier version cannot be compared with.
    """
    past = all_comparable(facts)
    if past is None:
        return frozenset()
    committed = [entry for then in past for entry in entries(then)]
    by_text, numbered = SessionIndex(committed), {(entry.number, entry.time) for entry in committed}
    return frozenset(
        each.heading for each in entries(facts) if not by_text.has(each) and (each.number, each.time) not in numbered
    )


def as_committed_first(entry: SessionText, versions: Iterable[Document]) -> SessionText | None:
    """Return a session as the oldest of some versions has it, with what later ones added as the end of its turn.

    It is known by two of its number, its time and its text, of which a rewriting may have changed one.
    """
    first: SessionText | None = None
    for document in versions:
        parts = [each.section for each in read_state(document).sessions]
        sessions = [_entry(document, part.title, part.heading, part.body) for part in parts]
        if first is None:
            first = next((each for each in sessions if _is_same(each, entry)), None)
        else:
            first = next((each for each in sessions if is_completed(first, each)), first)
    return first


def _is_same(one: SessionText, other: SessionText) -> bool:
    return (one.number == other.number) + (one.time == other.time) + (one.text == other.text) > 1


def is_completed(entry: SessionText, new: SessionText) -> bool:
    """Return whether a session got nothing but what ends its turn."""
    return new.time == entry.time and tells_more(new.text, entry.text)


def new_among(facts: Facts, sessions: Iterable[Session]) -> list[Session]:
    """Return those of the sessions that no compared revision has; all of them where nothing is compared."""
    new = None if facts.past is None else uncommitted(facts)
    return [each for each in sessions if new is None or each.section.heading in new]


def newly_headed(facts: Facts, sessions: Iterable[Session]) -> list[Session]:
    """Return those of the sessions whose headings stand in no compared revision so."""
    titles = {each.section.title for then in facts.past or () for each in then.state.sessions}
    return [each for each in sessions if each.section.title not in titles]


def newest(facts: Facts) -> int:
    """Return the highest session number in the Progress Log and the Archived Summary; 0 where there is none."""
    numbers = [entry.number or 0 for entry in entries(facts)]
    return max([facts.state.archived, *numbers])


def _archived(document: Document) -> Iterator[SessionText]:
    for section in document.sections:
        if section.level == _ARCHIVED_LEVEL and session_number(section.title) is not None:
            entry = _entry(document, section.title, section.heading, section.body)
            yield entry
            trailers = list(re.compile(_TRAILER).finditer(entry.text))
            if trailers:
                yield entry._replace(text=entry.text[: trailers[-1].start()])


def _entry(document: Document, title: str, heading: Span, body: Span) -> SessionText:
    time = re.compile(_TIME).search(title)
    lines = (line.rstrip(" \t") for line in with_newlines(body.of(document.text), "\n").split("\n"))
    return SessionText(
        heading=heading,
        body=body,
        number=session_number(title),
        time=f"{time[1]} {time[2]}" if time else None,
        text=identity("\n".join(line for line in lines if not re.compile(_DIRECTIVE).fullmatch(line)).strip("\n")),
    )
