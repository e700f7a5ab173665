"""Turns the Progress Log of an older form into sessions of the present one: headings, times, labels, missing fields."""

from __future__ import annotations

import re
from itertools import pairwise

from taskstate.migration.facts import CUT, Moment, find_moment, without_opaque
from taskstate.model.document_kinds import built_in
from taskstate.model.progress_log import is_summary, session_of
from taskstate.model.session_texts import ASKED_LABELS, COMMITS, DID, ISSUES, NEXT, SESSION_TEXTS, STATE, VERIFICATION
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
_NUMBERED = re.compile(r"(?i)\bsession[\s#-]*(?:n[or]\.?\s*)?(\d{1,9})\b(?![.,]\d)")
_WORDS_ABOVE = 1  # before the number, as in `Coding session 3`: in a longer text another session may be meant
_DEEPEST = 6  # marks around a number or a time
_JOINT = r"\s\u2013\u2014:,;|@-"  # what joins number, time and text of a heading
_DAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"


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
    titles = [each for each in document.sections if _is_entry(each.title) or _tells(document, each)]
    level = min((each.level for each in titles), default=PART_LEVEL)
    tops = [each for each in document.sections if each.level <= level]
    above = body[: tops[0].span.start if tops else len(body)].strip("\n")
    if not titles and any(label == DID.label for _, label in _labels(body, [])):
        return _log(_numbered([_entry("Session", body.strip("\n"))]), [])
    if not titles:
        return _without_sessions(body)
    is_said = bool(above.strip()) and plain_line(above) != _EMPTY
    rest, entries = ([above] if is_said else []), list[_Entry]()
    stops = [*(each.span.start for each in tops[1:]), len(body)]
    for section, stop in zip(tops, stops, strict=False):  # without any, there is one stop more
        text = body[section.body.start : stop].strip("\n")
        if section in titles:
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
    moment = find_moment(title)
    rest = moment.rest if moment else title
    begins = re.match(rf"(?i)\W*session\b|[^\w{CUT}]*(?:{_DAY}\W*?)?{CUT}", rest)
    return is_summary(title) or begins is not None or _number(rest) is not None


def _number(title: str) -> re.Match[str] | None:
    """Return the number of the session that a heading is about; another may be named in it."""
    found = _NUMBERED.search(without_opaque(title))
    return found if found and len(re.findall(r"[^\W\d]+", title[: found.start()])) <= _WORDS_ABOVE else None


def _tells(document: Document, section: Section) -> bool:
    """Return whether the text below a heading says what was done, as that of a session does."""
    below = document.children(section, section.level + 1)
    labels = [f"**{each.title}:**" for each in below]
    return any(label == DID.label for _, label in _labels("\n".join([section.own.of(document.text), *labels]), []))


def _entry(title: str, body: str) -> _Entry:
    if is_summary(title):
        return _Entry(title, f"### {title}", body, int((re.findall(r"\d{1,9}", title) or "0")[-1]), "")
    moment = find_moment(title) or Moment("", "", title)
    rest, time = moment.rest, f"{moment.date} {moment.time[:5]}".strip()
    linked = re.match(r"(?i)\W*\[session[\s#-]*(\d{1,9})\]", rest)
    numbered = linked or _number(rest) or re.match(r"(?i)\W*\bsession\b[\s#-]*()", rest)
    number = int((numbered and numbered[1]) or -1)
    if numbered and not linked:  # a link stays whole
        begin = rest.casefold().index("session", numbered.start())
        rest = f"{rest[:begin]}{CUT}{rest[numbered.end() :]}"
    return _Entry(title, _rest(rest), body, number, time)


def _rest(text: str) -> str:
    """Return what a heading says besides number and time, without the marks that joined them; Markdown stays whole."""
    for _ in range(_DEEPEST):  # what enclosed a number or a time alone goes with it
        text = re.sub(rf"(?<![{_JOINT}])[{_JOINT}]*+{CUT}(?:[{CUT}{_JOINT}]|\.(?!\S))*", CUT, text)
        text = re.sub(rf"\({CUT}\)|\[{CUT}\](?!\()|([*_~]{{1,3}}){CUT}\1", CUT, text)
    text = re.sub(rf"(?<=[(\[*_~]){CUT}|{CUT}(?=[)\]*_~])", "", text)
    return " ".join(text.replace(CUT, " - ").strip(" \t-").removeprefix("#").split())


def _numbered(entries: list[_Entry]) -> list[_Entry]:
    """Return the entries oldest first, those without a number with the next one."""
    sessions = [each for each in entries if not is_summary(each.title)]
    summaries = [each for each in entries if is_summary(each.title)]
    if _is_newest_first(sessions):
        sessions.reverse()
    last = max((each.number for each in summaries), default=0)
    numbered: list[_Entry] = []
    for each in sessions:
        numbered.append(each if each.number >= 0 else each._replace(number=last + 1))
        last = numbered[-1].number
    return [*summaries, *numbered]


def _is_newest_first(sessions: Sequence[_Entry]) -> bool:
    """Return whether a log has its newest session first: by its numbers, by its times where those do not tell."""
    numbers, times = [each.number for each in sessions], [each.time for each in sessions if each.time]
    by_number = sum((after < before) - (after > before) for before, after in pairwise(numbers))
    if len(set(numbers)) == len(numbers) and min(numbers, default=-1) >= 0:
        return by_number > 0
    dated = [(before[: len(after)], after[: len(before)]) for before, after in pairwise(times)]
    by_time = sum((after < before) - (after > before) for before, after in dated)
    return by_time > 0 or (by_time == 0 and by_number > 0)


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
    is_remark = re.match(r"\(|\[[^\]]*\](?![(\[])", said) is not None
    suffix = (f" {said}" if is_remark else f" - {said}") if said else ""
    return f"### Session {entry.number}{time}{suffix}"


def _body(heading: str, body: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the text of a session with the labels of the present form, and the lines that have become others."""
    body, renamed = _with_labels(body)
    starts = _label_starts(heading, body)
    first = min(starts.values(), default=len(body))
    above = body[:first].strip("\n")
    if above.strip() and DID.field not in starts and not _is_comment(above):
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


def _label_starts(heading: str, body: str) -> dict[str, int]:
    """Return where the labels of a session's text begin in it."""
    session = session_of(*_parsed(heading, body))
    offset = len(heading) + 2
    return {name: each.label_span.start - offset for name, each in session.fields.items()} if session else {}


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
