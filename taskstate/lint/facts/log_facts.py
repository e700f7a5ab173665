"""The sessions of the Progress Log, and which of them something is wrong with."""

from __future__ import annotations

import re
from functools import cached_property

from taskstate.lint.facts.basic_facts import BasicFacts
from taskstate.lint.facts.moments import is_timestamp, moment_of, those_in_future
from taskstate.lint.facts.outline import block_at
from taskstate.model.derived_values import session_counts
from taskstate.model.document_kinds import section_key
from taskstate.model.progress_log import PLACEHOLDER, is_unfinished
from taskstate.model.session_texts import BY, DID, NEXT
from taskstate.model.statuses import CREATED, IN_PROGRESS
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL
from taskstate.syntax.escaping import is_blank
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, first_line, is_within
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.document_kinds import SectionSpec
    from taskstate.model.progress_log import Session, Summary
    from taskstate.syntax.document import Section

_KEY = "progress log"
_WORDS = (
    f"none|nothing|nil|no|n/?a|not applicable|no (?:next |further )?steps?|{PLACEHOLDER}|unknown"
    "|[-?]++|\\.{2,}+|\u2013|\u2014|\u2026"
)
_WHEN = r"(?:\s+(?:yet|now|left|more|so far|for now|at (?:this|the) (?:time|moment)|to do))*"
_NO_STEP = rf"(?i)[\s*_`(]*(?:{_WORDS}){_WHEN}[\s*_`).!]*"
# What such words begin with. The pattern is not compiled for a step that begins otherwise, as nearly all do.
_BEGINNINGS = {
    "none",
    "nothing",
    "nil",
    "no",
    "not",
    "na",
    "n/a",
    "tba",
    "tbc",
    "tbd",
    "to",
    "todo",
    "to-do",
    "fixme",
    "unknown",
}
_MARKS = "-?.\u2013\u2014\u2026"
# What is no heading of Markdown and reads like that of a session: in bold, `###Session 8` with no blank or a hard one
# behind the marks, in a quote, a list or a comment, indented, or the words alone. Possessive, so that a line of many
# blanks costs no more than its length. It begins with the end of the line above: a pattern that begins with one certain
# character is found many times as fast.
_SESSION_LINE = (
    r"\n(?=[^a-zA-Z\r\n]*+[sS][eE][sS])(?!#{1,6}[ \t])"
    r"(?P<around>[ \t]*+(?:(?:>|[-*+](?=[ \t])|\d{1,9}+[.)]|<!--|\\|`)[ \t]*+)*+)"
    r"(?P<marks>#{0,6}+[^\S\r\n]*+(?:\*\*|__)?)[*_]?(?P<title>(?i:session)[^\S\r\n]++#?\d++\b[^\r\n*_`]*+)"
    r"[*_`]*+:?[^\S\r\n]*+(?=[\r\n]|\Z)"
)
# What may stand behind a time that is none in UTC; a remark may stand there, too.
_ZONED = (
    r"\d{2}:\d{2}(?::\d{2})?(?: ?(?i:[ap]\.?m)\b| ?(?:UTC|GMT)?[+\u2212-]\d{1,2}(?::?\d{2})?\b|[ (]+(?:[CEMW]ES?T"
    r"|MES?Z|[CEMP][SD]T|[BIJKM]ST|MSK|SGT|HKT|A[CEKW][SD]T|NZ[SD]T|HST|BRT|SAST|[A-Z][a-z]+/[A-Z][a-z_]+\w)\b)"
)
_LOOSE = r"(?i)session\s+#?(?:0\d|\d+\b.*\d{2}:\d{2}:\d{2})"
_TO_THE_MINUTE = 16  # characters of a timestamp
_DATE = r"\d{4}-\d{2}-\d{2}"
_DID = rf"(?im)^(?:\*\*|__){DID.field}\b"
_FIRST_FIELD = rf"(?i)\s*(?:^|(?<=[\r\n]))(?:\*\*|__)(?:{'|'.join((DID.field, BY.field, *BY.also))})\b"


class SessionLine(NamedTuple):
    """A line that is meant as the heading of a session, with its title."""

    span: Span
    title: str


class LogFacts(BasicFacts):
    """The Progress Log of one file."""

    @cached_property
    def _log(self) -> SectionSpec | None:
        return self.kind.section("Progress Log")

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions whose headings have the declared form; others are reported by TS401 only."""
        return tuple(each for each in self.state.sessions if self._declares(each.section))

    @cached_property
    def summary(self) -> Summary | None:
        """The Archived Summary if its heading has the declared form, or None."""
        summary = self.state.summary
        return summary if summary and self._declares(summary.section) else None

    @cached_property
    def has_archive(self) -> bool:
        """Whether this is an archive, or a state file that has one or says so."""
        if self.file_type == "archive" or self.summary is not None or self.values.get("archive_path"):
            return True
        return bool(self.queries.archive())

    def _declares(self, section: Section) -> bool:
        return bool(self._log and self._log.subsection(section.title))

    @cached_property
    def sessions_known(self) -> bool:
        """Whether the sessions can be counted: there is one readable Progress Log, and all its headings are known."""
        document = self.document
        logs = [each for each in document.sections if each.level == SECTION_LEVEL and section_key(each.title) == _KEY]
        if (
            len(logs) != 1
            or self.unreadable_body is not None
            or self.outline.misplaced
            or self.session_lines
            or self.headless
        ):
            return False
        return all(self._declares(child) for child in document.children(logs[0], PART_LEVEL))

    @cached_property
    def strays(self) -> tuple[tuple[SectionSpec, Section], ...]:
        """The undeclared headings of level 3 in closed sections, each with the declaration of its section."""
        outline = self.outline
        declared = {session.section.span for session in self.sessions}
        if self.summary:
            declared.add(self.summary.section.span)
        return tuple(
            (spec, child)
            for spec, section in outline.present
            if spec.closed
            for child in self.document.children(section, PART_LEVEL)
            if child.span not in declared and not any(absent.subsection(child.title) for absent in outline.absent)
        )

    @cached_property
    def session_lines(self) -> list[SessionLine]:
        """The lines that look like the heading of a session, are none, and have a date or the first field below."""
        log, document = self.outline.section(self._log) if self._log else None, self.document
        matches = compiled(_SESSION_LINE).finditer(document.text, log.body.start - 1, log.body.end) if log else ()
        lines = [(each, at) for each in matches if (at := _proof(document.text, each)) is not None]
        blocks = document.blocks_in(log.body) if log and lines else ()
        headings = [each.span for each in blocks if each.kind == "heading"]
        others = [each.span for each in blocks if each.kind != "heading"]
        return [
            SessionLine(Span(each.start() + 1, each.end()), _title(each))
            for each, at in lines
            if not (is_within(headings, each.start("title")) or is_within(others, at))
        ]

    @cached_property
    def headless(self) -> tuple[int, Span] | None:
        """The session above the first heading of the log, which has none itself: its number, and its first line."""
        log = self.outline.section(self._log) if self._log else None
        fields = compiled(_DID).finditer(self.document.text, *log.own) if log else ()
        field = next((each for each in fields if block_at(self.document, each.start()) is None), None)
        if log is None or field is None:
            return None
        number = self.sessions[0].number - 1 if self.sessions else self.state.archived + 1
        return max(number, 1), first_line(
            self.document.text, Span(field.end() - len(field[0].lstrip()), field.end() + 1)
        )

    @cached_property
    def is_out_of_sequence(self) -> bool:
        """Whether the numbers of the sessions do not go on one by one from those in the archive."""
        first = self.summary.last + 1 if self.summary else 1
        return [session.number for session in self.sessions] != list(range(first, first + len(self.sessions)))

    @cached_property
    def _moments(self) -> list[str]:
        """When each session was; empty where it does not say it."""
        return [moment_of(session.time) or "" for session in self.sessions]

    @cached_property
    def falling_sessions(self) -> list[Session]:
        """All sessions that say when they were, if some of them go back in time."""
        moments = self._moments
        if [*filter(None, moments)] == sorted(filter(None, moments)):
            return []
        return [each for each, at in zip(self.sessions, moments, strict=True) if at]

    @cached_property
    def odd_sessions(self) -> list[Session]:
        """The sessions that do not say when they were, or say another clock than UTC, or were before the task was.

        The last in a file alone that there was at the compared revision: a new one may be of work that is older.
        """
        told = str(self.values.get("created_at")) if self.past else ""
        created = told[:_TO_THE_MINUTE] if is_timestamp(told) else ""
        pairs = zip(self.sessions, self._moments, strict=True)
        return [each for each, at in pairs if at[:_TO_THE_MINUTE] < created or not at or is_zoned(each)]

    @cached_property
    def loosely_headed(self) -> list[Session]:
        """The sessions whose number begins with 0, or whose time has seconds: no form that readers of both expect."""
        return [each for each in self.sessions if compiled(_LOOSE).match(each.section.title)]

    @cached_property
    def future_sessions(self) -> list[Session]:
        """The sessions that are dated in the future."""
        moments = {number: at for number, at in enumerate(self._moments) if at}
        return [self.sessions[number] for number in those_in_future(moments, self.queries)]

    @cached_property
    def unfinished_sessions(self) -> list[Session]:
        """The sessions that lack a required field, or say nothing in one."""
        document = self.document
        return [each for each in self.sessions if is_unfinished(document, each.section)]

    @cached_property
    def idle_session(self) -> Session | None:
        """The newest session of a task in progress, if there are words for none in place of its next steps."""
        if self.values.get("status") != IN_PROGRESS or not self.sessions:
            return None
        newest = self.sessions[-1]
        if not _may_be_none(next(iter(newest.next), "")) or not self.sessions_known:
            return None
        field = newest.fields.get(NEXT.field)
        if field is None or all(is_blank(span.of(self.document.text)) for span in (field.span, *field.more)):
            return None  # TS404
        return newest if all(re.fullmatch(_NO_STEP, step) for step in newest.next) else None

    @property
    def is_begun_unsaid(self) -> bool:
        """Whether a task has sessions, and its status says that nobody has begun."""
        return self.values.get("status") == CREATED and bool(self.sessions or self.summary)

    @cached_property
    def may_lack_session(self) -> bool:
        """Whether a task in progress, or any file of the repository, is another than at the compared revision."""
        if self.values.get("status") != IN_PROGRESS or not self.past:
            return False
        return self.changed or bool(self.queries.changed_paths())

    @cached_property
    def too_many_sessions(self) -> int:
        """The number of sessions that the task has taken, if one should take fewer; else 0."""
        total = session_counts(self.state).total
        return total if total > self.config.size.max_sessions else 0


def is_zoned(session: Session) -> bool:
    """Return whether the time of a session is given for another place than UTC, or on a clock of twelve hours."""
    title = session.section.title  # nearly all end with their time
    return not (session.time and title.endswith(session.time)) and bool(compiled(_ZONED).search(title))


def _may_be_none(step: str) -> bool:
    begin = next((at for at, char in enumerate(step) if not (char.isspace() or char in "*_`(")), len(step))
    word = next(iter(step[begin:].split(maxsplit=1)), "").rstrip("*_`).!").lower()
    return word in _BEGINNINGS or word[:1] in {"<", "["} or not word.strip(_MARKS)


def _title(match: re.Match[str]) -> str:
    return match["title"].rstrip().removesuffix("-->").rstrip("# ").removesuffix(":")


def _proof(text: str, line: re.Match[str]) -> int | None:
    """Return where it shows that a line is meant as the heading of a session: what it looks like, or the field below.

    Words alone, and what a list or a quote holds, may speak of a session, even with its date.
    """
    field = re.compile(_FIRST_FIELD).match(text, line.end())
    if field:
        return field.end()
    is_marked = line["marks"].strip() and not line["around"]
    return line.start("title") if is_marked and re.compile(_DATE).search(line["title"]) else None
