"""The Archived Summary: what is left in the state file of the sessions that went into the archive.

Each line is the beginning of something that a session says, with the sessions that it stands for; nothing is
invented. The summary rolls forward: the lines of the earlier one come first, and where the whole passes its limit the
oldest lines go, which is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate import embed
from taskstate.state import field_values, labelled_fields
from taskstate.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.state import Session, Summary, TaskState

MAX_BYTES = 3 * 1024
_MAX_LINE = 160
_MAX_COMMITS = 12
_SHARE = 0.7  # of what headings, dates and commits leave; the accomplishments get it, the issues the rest

_SHA = re.compile(r"\b[0-9a-f]{7,40}\b")
_SESSIONS = re.compile(r"\(S(\d{1,9})(?:-S(\d{1,9}))?\)\Z")
_EARLIER = "Earlier ones are in the archive only"
_LEFT_OUT = len("- Earlier ones are in the archive only (S12345-S12345)\n")
_AND_EARLIER = " and earlier ones"
_DURATION = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}) - (\d{4}-\d{2}-\d{2} \d{2}:\d{2})")
_LINK = re.compile(r"^\[[^\]\n]*\]\([^)\n]*\)(?=[ \t]*$)", re.MULTILINE)
_NOTHING = {"", "-", "none", "none.", "n/a", "nothing", "no issues", "no issues."}


class Line(NamedTuple):
    """A line of the summary and the sessions, first to last, that it stands for."""

    text: str
    first: int
    last: int

    def __str__(self) -> str:
        sessions = f"S{self.first}" if self.first == self.last else f"S{self.first}-S{self.last}"
        return f"{self.text} ({sessions})"


def summarise(state: TaskState, archived: Sequence[Session], link: str) -> str:
    """Return the Archived Summary, LF line ends, that stands for the earlier one and the sessions now `archived`."""
    before = _Before(state, state.summary, archived[0].number) if state.summary else None
    repeated = {_key(_cut(issue)) for issue in (state.sessions[-1].issues if state.sessions else ())}
    done = _lines((session.number, session.did) for session in archived)
    issues = [
        line
        for line in _lines((session.number, session.issues) for session in archived)
        if _key(line.text) not in repeated
    ]
    whole = Line("", before.first if before else archived[0].number, archived[-1].number)
    done = [*(before.lines("key accomplishments") if before else ()), *done]
    issues = [*(before.lines("issues resolved") if before else ()), *issues]
    times = [session.time for session in archived if session.time]
    texts = [text for session in archived for text in session.field("commits")]
    befores = [before] if before else []
    frame = (_duration(befores, times), _commits(befores, texts), f"[Full session details]({link})")
    return _composed(whole, frame, done, issues)


def joined(ours: TaskState, theirs: TaskState, *, above: int, shift: int) -> str:
    """Return a summary, LF line ends, of what ours stands for and of those sessions of theirs that it does not.

    These are the ones with numbers `above` that one; `shift` is added to them.
    """
    if ours.summary is None or theirs.summary is None:
        raise ValueError("both must have a summary")
    sides = [_Before(ours, ours.summary, 1), _Before(theirs, theirs.summary, 1)]

    def lines(name: str) -> list[Line]:
        new = [line for line in sides[1].lines(name) if line.last > above]
        moved = (Line(line.text, max(line.first, above + 1) + shift, line.last + shift) for line in new)
        return [*sides[0].lines(name), *moved]

    link = _LINK.findall(ours.summary.span.of(ours.document.text))
    frame = (_duration(sides, ()), _commits(sides, ()), *link[-1:])
    whole = Line("", sides[0].first, theirs.summary.last + shift)
    return _composed(whole, frame, lines("key accomplishments"), lines("issues resolved"))


def _composed(whole: Line, frame: Sequence[str], done: list[Line], issues: list[Line]) -> str:
    """Return the text of a summary of the sessions that `whole` bears; `frame` is its duration, commits and link."""
    duration, commits, *link = frame
    parts = [
        f"### Archived Summary (Sessions {whole.first}-{whole.last})",
        f"**Duration:** {duration}",
        "",
        "",
        f"**Commits:** {commits}",
        *link,
    ]
    room = MAX_BYTES - len("\n\n".join(parts).encode())
    parts[2] = _part("Key Accomplishments", done, int(room * _SHARE))
    parts[3] = _part("Issues Resolved", issues, room - len(parts[2].encode()))
    return "\n\n".join(parts)


class _Before:
    """What the earlier summary says."""

    def __init__(self, state: TaskState, summary: Summary, following: int) -> None:
        self.document = state.document
        self.fields = labelled_fields(state.document, summary.section)
        # One that names no sessions stands for all those before the ones that follow.
        self.first = summary.first or min(1, following)
        self.last = summary.last or max(self.first, following - 1)

    def values(self, name: str) -> tuple[str, ...]:
        field = self.fields.get(name)
        return field_values(self.document, field.span) if field else ()

    def lines(self, name: str) -> tuple[Line, ...]:
        return tuple(self._line(text) for text in self.values(name) if _key(text) not in _NOTHING)

    def _line(self, text: str) -> Line:
        sessions = _SESSIONS.search(text)
        if sessions is None:
            return Line(_cut(text), self.first, self.last)
        first = int(sessions[1])
        return Line(printable(text[: sessions.start()].rstrip()), first, int(sessions[2] or first))


def _lines(said: Iterable[tuple[int, tuple[str, ...]]]) -> list[Line]:
    """Return a line for each thing said, of those said twice the first."""
    found: dict[str, Line] = {}
    for number, texts in said:
        for text in texts:
            if _key(text) not in _NOTHING:
                line = _cut(text)
                found.setdefault(_key(line), Line(line, number, number))
    return list(found.values())


def _key(text: str) -> str:
    return " ".join(text.lower().split())


def _cut(text: str) -> str:
    """Return the first line of what was said, cut at a word."""
    line = " ".join(next((line for line in printable(text).split("\n") if line.strip()), "").split())
    if len(line) <= _MAX_LINE:
        return line
    return line[:_MAX_LINE].rsplit(" ", 1)[0].rstrip(" ,;:.-") + " \u2026"


def _part(title: str, lines: list[Line], limit: int) -> str:
    if not lines:
        return f"**{title}:** None."
    label = f"**{title}:**\n\n"
    return label + "\n".join(embed.item(str(line)) for line in _within(lines, limit - len(label)))


def _within(lines: list[Line], limit: int) -> list[Line]:
    """Return the newest lines that fit into `limit` bytes, behind one that says where some were left out."""
    if lines[0].text == _EARLIER:
        earlier, lines = [lines[0]], lines[1:]
    else:
        earlier = []
    kept: list[Line] = []
    room = limit - _LEFT_OUT
    for line in reversed(lines):
        room -= len(embed.item(str(line)).encode()) + len("\n")
        if room < 0:
            break
        kept.insert(0, line)
    left_out = [*earlier, *lines[: len(lines) - len(kept)]]
    if not left_out:
        return kept
    return [Line(_EARLIER, min(line.first for line in left_out), max(line.last for line in left_out)), *kept]


def _duration(befores: Sequence[_Before], times: Iterable[str]) -> str:
    told = [found for before in befores if (found := _DURATION.search(" ".join(before.values("duration"))))]
    all_times = [*(time for found in told for time in found.groups()), *times]
    return f"{min(all_times)} - {max(all_times)}" if all_times else "unknown"


def _commits(befores: Sequence[_Before], new: Iterable[str]) -> str:
    # the link stands below the commits
    texts = [*(text.split("\n\n")[0] for before in befores for text in before.values("commits")), *new]
    shas = list(dict.fromkeys(sha for text in texts for sha in _SHA.findall(text)))
    if not shas:
        return "None."
    cut = len(shas) > _MAX_COMMITS or any(text.endswith(_AND_EARLIER) for text in texts)
    return ", ".join(shas[-_MAX_COMMITS:]) + (_AND_EARLIER if cut else "")
