"""Reads the Progress Log: its sessions with their labelled parts, and the Archived Summary."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache

from taskstate.model import session_texts
from taskstate.model.session_texts import SESSION_TEXTS
from taskstate.syntax.escaping import is_blank, item_text
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, first_line, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.model.session_texts import SessionText
    from taskstate.syntax.document import Document, Section

_NUMBER = re.compile(r"session\s+#?(\d{1,9})\b(?![.,]\d)", re.IGNORECASE)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})[T ]+(\d{2}:\d{2})")
# Compiled where they are used, which most files do not come to.
_SUMMARY = r"(?i)archived summary\b(?:\s*\(sessions?\s+(\d{1,9})(?:\s*[-\u2013]\s*(\d{1,9}))?\))?"
# The look-behind for the line end follows the `**`: a pattern that begins with a literal is found 20 times as fast.
_LABEL = re.compile(r"\*\*(?<=[\r\n]\*\*)([^*\r\n:]+):\*\*[ \t]*")
# `**Next steps**:` and `__Next steps:__` look the same when rendered. Only of the labels that every session has: other
# words in bold are prose.
_INDENTED_LABEL = r"(?<=[\r\n]) {1,3}\*\*([^*\r\n:]+):\*\*[ \t]*"
_INDENTS = tuple(f"{end}{' ' * count}**" for end in "\r\n" for count in (1, 2, 3))
_OTHER_LABEL = rf"(?i)(?:(?:\*\*|__)(?<=[\r\n]..))({session_texts.ASKED_PATTERN})(?::(?:\*\*|__)|(?:\*\*|__):)[ \t]*"
_REQUIRED, _ASKED = (
    frozenset(map(str.lower, each)) for each in (session_texts.REQUIRED_LABELS, session_texts.ASKED_LABELS)
)
_PARTED = {text.field: text for text in SESSION_TEXTS if text.parted}
_TEXTS = frozenset(text.field for text in SESSION_TEXTS)
# What stands where somebody has still to write; `None` is an answer.
PLACEHOLDER = (
    r"tb[dac]|to[ -]?do|to be (?:added|completed|decided|determined|done|filled in|written)|fixme"
    r"|<[^<>\r\n]*>|\[[^\[\]\r\n]+\]"
)
_UNWRITTEN = rf"(?i)[\s*_`(-]*(?:{PLACEHOLDER})[\s*_`).!\u2026]*"
_LONGEST_PLACEHOLDER = 80
_FIELDS = {name: text.field for text in SESSION_TEXTS for name in text.also}  # second names


class Field(NamedTuple):
    """A labelled part of a session: `**label:**` and the text up to the next label.

    `more` are the texts of further parts with the same label.
    """

    label_span: Span
    span: Span
    more: tuple[Span, ...] = ()

    def values(self, document: Document) -> tuple[str, ...]:
        """Return the items below the label, or its text as the only one."""
        return tuple(value for span in (self.span, *self.more) for value in field_values(document, span))


class _Session(NamedTuple):
    document: Document
    section: Section
    number: int
    time: str | None


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class Session(_Session):
    """An entry of the Progress Log."""

    @cached_property
    def span(self) -> Span:
        """The span from its heading to its last line that is not blank."""
        return trimmed(self.document.text, self.section.span)

    @property
    def number_span(self) -> Span:
        """The span of the number in the heading."""
        match = _NUMBER.search(self.document.text, *self.section.heading)
        return Span(*match.span(1)) if match else self.section.title_span

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """The labelled parts by lower-case label; several with one label are one."""
        return labelled_fields(self.document, self.section)

    def field(self, name: str) -> tuple[str, ...]:
        """Return the items of a field, or its text as the only one; empty where it is missing."""
        field = self.fields.get(name)
        values = field.values(self.document) if field else ()
        return _PARTED[name].values_in(values[0]) if name in _PARTED and len(values) == 1 else values

    def values(self, text: SessionText) -> tuple[str, ...]:
        """Return the values of a text; of commits without the backticks that enclose a whole one."""
        values = self.field(text.field)
        return tuple(re.sub(r"\A`([^`]+)`\Z", r"\1", value) for value in values) if text.commits else values

    def texts(self, texts: Sequence[SessionText] = SESSION_TEXTS) -> dict[str, str | tuple[str, ...]]:
        """Return what the session says, by the keys of the texts."""
        said = ((text, self.values(text)) for text in session_texts.agent_last(texts))
        return {text.key: values if text.repeated else "\n".join(values) for text, values in said}

    @property
    def did(self) -> tuple[str, ...]:
        """What was done."""
        return self.values(session_texts.DID)

    @property
    def issues(self) -> tuple[str, ...]:
        """The issues encountered."""
        return self.values(session_texts.ISSUES)

    @property
    def state(self) -> str:
        """The current state."""
        return "\n".join(self.values(session_texts.STATE))

    @property
    def next(self) -> tuple[str, ...]:
        """The next steps."""
        return self.values(session_texts.NEXT)

    @property
    def agent(self) -> str:
        """Who the session is by, as it says it: `ann (reviewer)`."""
        return "\n".join(self.values(session_texts.BY))

    @property
    def is_autosaved(self) -> bool:
        """Whether no agent has said it: it was put together from what a session did."""
        return session_texts.by_of(self.agent).role == session_texts.AUTOSAVED

    @property
    def entry(self) -> str:
        """The entry's text as the file has it, without trailing blank lines."""
        return self.span.of(self.document.text)


class Summary(NamedTuple):
    """The Archived Summary of the sessions `first` to `last`; `span` ends with its last line that is not blank."""

    section: Section
    first: int
    last: int
    span: Span


def read_log(document: Document, parts: Iterable[Section]) -> tuple[tuple[Session, ...], Summary | None]:
    """Return the sessions and the Archived Summary among the parts of a Progress Log."""
    sessions: list[Session] = []
    summary = None
    for part in parts:
        session = session_of(document, part)
        if session:
            sessions.append(session)
        elif summary is None and (match := compiled(_SUMMARY).match(part.title)):
            first = int(match[1] or 0)
            summary = Summary(
                section=part, first=first, last=int(match[2] or first), span=trimmed(document.text, part.span)
            )
    return tuple(sessions), summary


def session_number(title: str) -> int | None:
    """Return the session number in a heading, or None where it is not a session's heading."""
    return _number_and_time(title)[0]


def session_time(title: str) -> str | None:
    """Return when the session of a heading was, to the minute, or None where the heading does not say."""
    return _number_and_time(title)[1]


def is_summary(title: str) -> bool:
    """Return whether a heading of the Progress Log is that of the Archived Summary."""
    return bool(compiled(_SUMMARY).match(title))


def session_of(document: Document, section: Section) -> Session | None:
    """Return the session in a section, or None where its heading is not a session's."""
    number, time = _number_and_time(section.title)
    if number is None:
        return None
    return Session(document, section, number, time)


@lru_cache(maxsize=20_000)  # the same headings are there before a change and after it
def _number_and_time(title: str) -> tuple[int | None, str | None]:
    number = _NUMBER.match(title)
    if number is None:
        return None, None
    time = _TIME.search(title, number.start(1))
    return int(number[1]), f"{time[1]} {time[2]}" if time else None


def labelled_fields(document: Document, section: Section) -> Mapping[str, Field]:
    """Return the labelled parts of a session or summary by lower-case label, ignoring labels in fences and comments."""
    text, labels = document.text, _labels(document, section.body)
    ends = [*(match.start() for match in labels[1:]), section.body.end]
    first: dict[str, Span] = {}
    spans: dict[str, list[Span]] = {}
    for match, end in zip(labels, ends, strict=False):
        name = _name_of(match)
        first.setdefault(name, Span(*match.span()))
        spans.setdefault(name, []).append(trimmed(text, Span(match.end(), end)))
    return {name: Field(label, spans[name][0], tuple(spans[name][1:])) for name, label in first.items()}


def is_unwritten(text: str) -> bool:
    """Return whether a text is one that stands where somebody has still to write."""
    return len(text) <= _LONGEST_PLACEHOLDER and bool(compiled(_UNWRITTEN).fullmatch(text))


def is_unfinished(document: Document, section: Section) -> bool:
    """Return whether a session lacks a required field, says nothing in one, or has one twice; without their records."""
    text, end = document.text, section.body.end
    named: set[str] = set()
    filled: set[str] = set()
    for match in reversed(_labels(document, section.body)):
        name, said = _name_of(match), text[match.end() : end]
        if name in named and name in _TEXTS:
            return True
        named.add(name)
        if not is_blank(said) and not is_unwritten(said):
            filled.add(name)
        end = match.start()
    return not filled >= _REQUIRED or not filled >= named & _ASKED


def _labels(document: Document, body: Span) -> list[re.Match[str]]:
    """Return the labels in a part of the log, but for those in fences and comments."""
    text = document.text
    if text.find("**", *body) < 0 and text.find("__", *body) < 0:
        return []
    labels = list(_LABEL.finditer(text, *body))
    if any(text.find(each, *body) >= 0 for each in _INDENTS):
        labels = sorted([*labels, *_indented_labels(document, body)], key=lambda match: match.start())
    if len(labels) < len(session_texts.ASKED_LABELS):
        others = [
            each for each in re.compile(_OTHER_LABEL).finditer(text, *body) if not _LABEL.match(text, each.start())
        ]
        labels = sorted([*labels, *others], key=lambda match: match.start())
    starts, ends = document.derived(_opaque, None)
    first = bisect_left(starts, body.start)
    if first == len(starts) or starts[first] >= body.end:
        return labels
    # Blocks do not overlap, so only the last one before a label can contain it.
    before = [(match, bisect_right(starts, match.start()) - 1) for match in labels]
    return [match for match, block in before if block < first or ends[block] <= match.start()]


def _indented_labels(document: Document, body: Span) -> list[re.Match[str]]:
    """Return the labels behind one to three blanks, which look as those at the margin do; not those within an item."""
    items = [item.span for item in document.items(body)]
    return [
        match
        for match in compiled(_INDENTED_LABEL).finditer(document.text, *body)
        if not any(item.start <= match.start() < item.end for item in items)
    ]


def _name_of(label: re.Match[str]) -> str:
    name = label[1].strip().lower()
    return _FIELDS.get(name, name)


def _opaque(document: Document, _given: None) -> tuple[list[int], list[int]]:
    """Return where the fences and comments of a document begin, and where they end."""
    spans = [block.span for block in document.blocks if block.kind != "heading"]
    return [span.start for span in spans], [span.end for span in spans]


def field_values(document: Document, span: Span) -> tuple[str, ...]:
    """Return the values of a field: the text on its label's line, then its list items; without a list all its text."""
    text = document.text
    first = first_line(text, span)
    label_line = first.of(text).strip()
    below = Span(first.end, span.end)
    items = document.items(below)
    if not items:
        content = with_newlines(span.of(text), "\n").strip()
        return (content,) if content else ()
    before = with_newlines(text[first.end : items[0].span.start], "\n").strip()
    texts = [label_line, before, *(item_text(text, item.span, item.content) for item in items)]
    return tuple(value for value in texts if value)
