"""Turns the Progress Log of an older form into sessions of the present one: headings, times, labels, missing fields."""

from __future__ import annotations

import re

from taskstate.migration.facts import Moment, find_moment
from taskstate.model.document_kinds import built_in
from taskstate.model.progress_log import is_summary, session_of
from taskstate.model.session_texts import (
    ASKED_LABELS,
    COMMITS,
    DID,
    ISSUES,
    NEXT,
    SESSION_TEXTS,
    STATE,
    VERIFICATION,
)
from taskstate.model.task_state import PART_LEVEL
from taskstate.syntax.conservation import demoted, heading_line, plain_line
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.escaping import is_blank
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.spans import Span

NOT_RECORDED = "Not recorded."
_EMPTY = "(Agent will append entries here)"  # what the older form has in a log without sessions
_OLDER = {
    DID: "what was done|work done|done|completed|accomplished|accomplishments|what we did",
    ISSUES: "problems|problems encountered|blockers|issues found",
    STATE: "state|current status|status|where things stand",
    NEXT: "next step|next|todo|to do|remaining|what is next|what's next",
    COMMITS: "commit",
    VERIFICATION: "verified|tests",
}
_BY_LABEL = {name: text.label for text, names in _OLDER.items() for name in names.split("|")}
_BY_LABEL |= {name: text.label for text in SESSION_TEXTS for name in (text.field, *text.also)}
_KEPT = {name for text in SESSION_TEXTS for name in text.also}  # labels that the present form knows, too
_LINE = re.compile(  # in bold, as a heading, or alone with a colon
    r"(?m)^(?:#{3,6}[ \t]+|(?=\*\*|__)|(?=[A-Za-z' ]{4,30}:[ \t]*$))"
    r"(\*\*|__)?([A-Za-z][A-Za-z' ]*?)(:?)[ \t]*(\*\*|__)?(:?)"
    r"(?:[ \t]*#*[ \t]*$|(?<=[:*_])[ \t]+(\S.*)$)"
)
_NUMBERED = re.compile(r"(?i)\bsession\s+#?(\d{1,9})\b")


class Log(NamedTuple):
    """The Progress Log in the present form.

    `renamed` are the lines that have become others, `rest` is what has no place in it.
    """

    text: str
    renamed: tuple[tuple[str, str], ...]
    rest: str
    times: tuple[str, ...]


class _Entry(NamedTuple):
    """An entry of the log: its title in the older file and in the present one, and its text."""

    title: str
    heading: str
    body: str
    number: int
    time: str


def read_log(body: str) -> Log:
    """Return the Progress Log of the present form from the text of the older one's."""
    document = parse(body)
    titles = [each for each in document.sections if _is_entry(each.title)]
    level = min((each.level for each in titles), default=PART_LEVEL)
    tops = [each for each in document.sections if each.level <= level]
    above = body[: tops[0].span.start if tops else len(body)].strip("\n")
    if not titles:
        return _without_sessions(body)
    is_said = bool(above.strip()) and plain_line(above) != _EMPTY
    rest, entries = ([above] if is_said else []), list[_Entry]()
    stops = [*(each.span.start for each in tops[1:]), len(body)]
    for section, stop in zip(tops, stops, strict=False):  # without any, there is one stop more
        text = body[section.body.start : stop].strip("\n")
        if _is_entry(section.title):
            entries.append(_entry(section.title, demoted(text, PART_LEVEL - level, least=PART_LEVEL + 1)))
        elif entries:
            more = f"#### {section.title}\n\n{demoted(text, PART_LEVEL + 1 - section.level, least=PART_LEVEL + 2)}"
            entries[-1] = entries[-1]._replace(body=f"{entries[-1].body}\n\n{more}".strip("\n"))
        else:
            rest.append(f"#### {section.title}\n\n{text}".rstrip())
    return _log(_numbered(entries), rest)


def _without_sessions(body: str) -> Log:
    """Return a log without sessions; a placeholder may stay, other text has no place there."""
    if not body.strip() or built_in("task").is_placeholder(body):
        return Log(body, (), "", ())
    return Log("", (), body, ())


def _is_entry(title: str) -> bool:
    if is_summary(title):
        return True
    bare = re.sub(r"^\W+", "", title)
    return bool(_NUMBERED.search(bare)) or bare.casefold().startswith("session ") or _begins_with_time(bare)


def _begins_with_time(title: str) -> bool:
    found = find_moment(title)
    return found is not None and bool(found.time) and not title.startswith(found.rest.strip()[:1] or "\0")


def _entry(title: str, body: str) -> _Entry:
    if is_summary(title):
        return _Entry(title, f"### {title}", body, 0, "")
    numbered = _NUMBERED.search(title)
    without = _NUMBERED.sub("", title, count=1) if numbered else re.sub(r"(?i)^\W*session\b", "", title)
    found = find_moment(without)
    moment = found or Moment("", "", without)
    return _Entry(title, _rest(moment.rest), body, int(numbered[1]) if numbered else -1, _shown_time(moment))


def _shown_time(moment: Moment) -> str:
    return f"{moment.date} {moment.time[:5]}".strip()


def _rest(text: str) -> str:
    """Return what a heading says besides number and time, without the marks that joined them."""
    bare = re.sub(r"\(\s*\)|\[\s*\]", " ", text).strip(" \t-\u2013\u2014:,|@#")
    return " ".join(bare.split())


def _numbered(entries: list[_Entry]) -> list[_Entry]:
    """Return the entries oldest first, those without a number with the next one."""
    sessions = [each for each in entries if not is_summary(each.title)]
    summaries = [each for each in entries if is_summary(each.title)]
    numbers, times = [each.number for each in sessions], [each.time for each in sessions]
    if _falls(numbers) if min(numbers, default=0) >= 0 else _falls(times):
        sessions.reverse()  # newest first
    numbered: list[_Entry] = []
    for each in sessions:
        last = numbered[-1].number if numbered else 0
        numbered.append(each if each.number >= 0 else each._replace(number=last + 1))
    return [*summaries, *numbered]


def _falls(keys: Sequence[int | str]) -> bool:
    return len(keys) > 1 and sorted(set(keys), key=lambda key: (isinstance(key, str), key), reverse=True) == [*keys]


def _log(entries: list[_Entry], rest: list[str]) -> Log:
    texts, renamed = [], [(_EMPTY, "")]
    for entry in entries:
        heading = entry.heading if is_summary(entry.title) else _heading(entry)
        body, lines = (entry.body, ()) if is_summary(entry.title) else _body(heading, entry.body)
        renamed += [(heading_line(entry.title), heading_line(heading.removeprefix("### "))), *lines]
        texts.append(f"{heading}\n\n{body}".rstrip())
    times = tuple(entry.time for entry in entries if entry.time)
    return Log("\n\n".join(texts), tuple(renamed), "\n\n".join(rest), times)


def _heading(entry: _Entry) -> str:
    time = f" - {entry.time}" if entry.time else ""
    said = entry.heading
    suffix = (f" {said}" if said.startswith(("(", "[")) else f" - {said}") if said else ""
    return f"### Session {entry.number}{time}{suffix}"


def _body(heading: str, body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the text of a session with the labels of the present form, and the lines that have become others."""
    body, renamed = _with_labels(body)
    first, labels_there = _first_label(heading, body), _fields(heading, body)
    above = body[:first].strip("\n")
    if above.strip() and DID.field not in labels_there and not _is_comment(above):
        body = f"**{DID.label}:**\n\n{above}\n\n{body[first:]}".rstrip()
    document, section = _parsed(heading, body)
    session = session_of(document, section)
    fields = session.fields if session else {}
    empty = [each.label_span for each in fields.values() if is_blank(each.span.of(document.text))]
    labels = {span: span.of(document.text).rstrip() for span in empty}
    text = apply(document.text, [Edit(*span, f"{label} {NOT_RECORDED}") for span, label in labels.items()])
    missing = [label for label in ASKED_LABELS if label.lower() not in fields]
    text = "\n\n".join([text.rstrip(), *(f"**{label}:** {NOT_RECORDED}" for label in missing)])
    filled = [(label, f"{label} {NOT_RECORDED}") for label in labels.values()]
    return text[len(heading) :].strip("\n"), (*renamed, *filled)


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith("<!--") and is_blank(text)


def _parsed(heading: str, body: str) -> tuple[Document, Section]:
    document = parse(f"{heading}\n\n{body}\n")
    return document, document.sections[0]


def _fields(heading: str, body: str) -> set[str]:
    session = session_of(*_parsed(heading, body))
    return set(session.fields) if session else set()


def _first_label(heading: str, body: str) -> int:
    session = session_of(*_parsed(heading, body))
    offset = len(heading) + 2
    starts = [each.label_span.start - offset for each in session.fields.values()] if session else []
    return min(starts, default=len(body))


def _with_labels(body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a session's text with its labels written as the present form has them: `**Next steps:**`."""
    opaque = [each.span for each in parse(body).blocks if each.kind != "heading"]
    edits, renamed, seen = list[Edit](), list[tuple[str, str]](), set[str]()
    for match, label in _labels(body, opaque):
        if label in seen:
            continue
        seen.add(label)
        said = " ".join(match[2].split())
        written = said if said.lower() in _KEPT else label
        line = f"**{written}:**" + (f" {match[6]}" if match[6] else "")
        if match[0] != line:
            edits.append(Edit(*match.span(), line))
            before = heading_line(match[0].strip("# \t")) if match[0].startswith("#") else plain_line(match[0])
            renamed.append((before, plain_line(line)))
    return apply(body, edits), tuple(renamed)


def _labels(body: str, opaque: list[Span]) -> Iterator[tuple[re.Match[str], str]]:
    for match in _LINE.finditer(body):
        label = _BY_LABEL.get(" ".join(match[2].casefold().split()))
        if label and not any(span.start <= match.start() < span.end for span in opaque):
            yield match, label
