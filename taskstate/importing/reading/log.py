"""Reads a log of work: entries below a date, in any of the forms that agents write, each as a session."""

from __future__ import annotations

import re

from taskstate.importing.reading.items import is_of_items, items
from taskstate.importing.records import Count, Dated, Note, Refused
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Record

_DAY = r"\d{4}-\d{2}-\d{2}(?:[ T]\d{2}:\d{2}(?::\d{2})?Z?)?|[A-Z][a-z]{2,8}\.? \d{1,2}, \d{4}"
_DATE = re.compile(_DAY)
_HEADING = re.compile(r"(#{1,4}|={2,9}) {1,9}(.*)$")
_SESSION = re.compile(r"(?i)Session(?: {1,9}#?(\d{1,6})(?=[ :(\u2013\u2014-]|$)|(?=:))")
_PLAIN = rf"(?i)Session(?: {{1,9}}#?\d{{1,6}} {{0,9}}(?:[:(\u2013\u2014-]|$)|[: ]{{1,9}}(?:{_DAY}))"
_STAMP = rf"\[({_DAY})\]"
_STARTED = rf"(?m)^[ \t]{{0,99}}(?:[-*+] )?\*{{0,2}}Started:?\*{{0,2}}:? ({_DAY})[ \t]{{0,99}}$"
_BETWEEN = " \t:()*\u2013\u2014-"
_LABELS = {
    "next": "next|next steps?|next session|next up|what's next|to ?do|remaining(?: work)?|下一步|下次继续",
    "issues": "issues?|blockers?|problems?|errors?|(?:issues|errors|problems) encountered|known issues"
    "|issues?/blockers?|问题|遇到的问题",
    "did": "actions taken|files? (?:created|modified|changed)|files created/modified|done|completed|accomplished"
    "|what (?:i did|was done)|work done|changes(?: made)?|summary|完成事项|完成内容|已完成",
}
_WORDS = "|".join(f"(?P<{name}>{words})" for name, words in _LABELS.items())
_LABEL = (
    r"(?i)[ \t]{0,99}(?:[-*+][ \t]|#{1,6}[ \t])?[ \t]{0,9}\*{0,2}"
    rf"(?:{_WORDS})(?:[:\uff1a]\*{{0,2}}|\*{{1,2}}[:\uff1a]?|[ \t]{{0,99}}$)[ \t]{{0,9}}(?P<rest>.*)$"
)
_LEAST = 2  # level of a heading that ends an entry which has none itself


class Log(NamedTuple):
    """The entries of a log in order of time, the text outside of them, and what they say as they say it.

    What is no sentence, such as a table or code, stands in `rest`, too.
    """

    sessions: tuple[Dated, ...]
    rest: str
    said: tuple[str, ...]


class _Entry(NamedTuple):
    level: int
    words: str
    number: int
    lines: list[str]


def log(text: str) -> Log:
    """Return the sessions of a log, the oldest first: a file that has its newest first is read backwards."""
    entries, rest = list[_Entry](), list[str]()
    is_open = False
    for line in text.split("\n"):
        head = _head(line)
        if head:
            entries.append(head)
            is_open = True
            continue
        heading = _HEADING.match(line)
        if is_open and heading and len(heading[1]) <= (entries[-1].level or _LEAST):
            is_open = False
        (entries[-1].lines if is_open else rest).append(line)
    pairs = [(each, *_session(each)) for each in entries]
    order = [(session.time, each.number) for each, session, _, _ in pairs if _DATE.match(session.time)]
    if order and order[0] > order[-1]:
        pairs.reverse()
    kept = [f"## {each.words}\n\n{text}" for each, _, _, text in pairs if text]
    return Log(
        tuple(session for _, session, _, _ in pairs),
        "\n\n".join(filter(None, ("\n".join(rest).strip("\n"), *kept))),
        tuple(said for _, _, said, _ in pairs),
    )


def with_log(source: Source, name: str, task: Record) -> tuple[Record, list[Count | Refused]]:
    """Return a task with the sessions of a log and the text outside of them under Notes; and its count, or refusal."""
    text = source.markdown(name)
    if isinstance(text, Refused):
        return task, [Count(1), text]
    found = log(text)
    notes = (Note(name.rpartition("/")[2], found.rest),) if found.rest.strip() else ()
    task = task._replace(sessions=(*task.sessions, *found.sessions), notes=(*task.notes, *notes))
    return task._replace(said=[task.said, *found.said, found.rest]), [Count(entries_in(text))]


def entries_in(text: str) -> int:
    """Return how many entries a log has, by the lines that they begin with."""
    return sum(_head(line) is not None for line in text.split("\n"))


def _head(line: str) -> _Entry | None:
    """Return an entry for the line that it begins with, else None."""
    heading = _HEADING.match(line)
    words = (heading[2] if heading else line).strip(" *#=")
    session = _SESSION.match(words) if heading else re.match(_PLAIN, words)
    if not (session or re.match(_STAMP, words) or (heading and _DATE.match(words))):
        return None
    number = re.search(r"(?i)session {1,9}#?(\d{1,6})", words)
    return _Entry(len(heading[1]) if heading else 0, words, int(number[1]) if number else 0, [])


def _session(entry: _Entry) -> tuple[Dated, str, str]:
    """Return an entry as a session, what it says, and what of it is no sentence."""
    body = "\n".join(entry.lines)
    date = _DATE.search(entry.words)
    time, remark = date[0] if date else entry.words, ""
    if date:
        remark = re.sub(r"(?i)\bsession(?: {1,9}#?\d{1,6}\b|(?=[: ]))", "", entry.words, count=2)
        remark = remark.replace(f"[{date[0]}]", "", 1).replace(date[0], "", 1).strip(_BETWEEN)
    started = re.search(_STARTED, body)
    if started and started[1].startswith(time[:10]):
        time, body = started[1], re.sub(_STARTED, "", body, count=1)
    parts: dict[str, list[str]] = {"did": [], "next": [], "issues": []}
    for name, line in _labelled(body):
        parts[name].append(line)
    found = {name: items("\n".join(lines)) for name, lines in parts.items()}
    did = tuple(filter(None, (remark, *(each.text for each in found["did"] if not each.is_open))))
    ahead = tuple(each.text for each in (*found["next"], *found["did"]) if each in found["next"] or each.is_open)
    said = "\n".join((remark, *(line for lines in parts.values() for line in lines)))
    return (
        Dated(time, did, ahead, tuple(each.text for each in found["issues"])),
        said,
        "" if is_of_items(said) else body.strip("\n"),
    )


def _labelled(body: str) -> Iterator[tuple[str, str]]:
    """Yield each line with the part of a session that it belongs to; the label of a part is not of its text."""
    name, indent = "did", -1
    for line in body.split("\n"):
        match = re.match(_LABEL, line)
        depth = len(line) - len(line.lstrip())
        if match:
            label = next(key for key in _LABELS if match[key])
            yield label, ""
            if match["rest"].strip():
                yield label, f"- {match['rest']}"
                name, indent = "did", -1
            else:
                name, indent = label, depth if re.match(r"[-*+][ \t]", line.strip()) else -1
            continue
        if re.match(r"[ \t]*#{1,6}[ \t]", line) or (indent >= 0 and line.strip() and depth <= indent):
            name, indent = "did", -1
        yield name, re.sub(r"^[ \t]*#{1,6}[ \t]+", "- ", line)
