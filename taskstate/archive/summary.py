"""The Archived Summary: what is left in the state file of the sessions that went into the archive.

Each line is a sentence of a session with the sessions that it stands for; nothing is invented. The summary rolls
forward: the statements of the earlier one and those of the sessions that go become one list, in which what says the
same is joined, the latest about a file or feature stands, and what passed in the checklist ranks first. Where the
whole passes its limit the oldest statements go, which is said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.similarity import Told, describes, feature_pattern, joined_alike, superseded
from taskstate.archive.summary_statements import Statement, read_statement, said
from taskstate.model.task_state import field_values, labelled_fields
from taskstate.syntax import escaping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from taskstate.model.task_state import Feature, Session, Summary, TaskState

MAX_BYTES = 3 * 1024
_MAX_COMMITS = 12
_SHARE = 0.7  # of what headings, dates and commits leave; the accomplishments get it, the issues the rest
_PASSED_SHARE = 0.6  # of a list's room that what passed takes before what is newest

_SHA = re.compile(r"\b[0-9a-f]{7,40}\b")
_EARLIER = re.compile(r"Earlier ones are in the archive only \(S(\d{1,9})(?:-S(\d{1,9}))?\)\Z")
_ONLY = re.compile(r"^More of sessions? (\d{1,9})(?:-(\d{1,9}))? is in the archive only\.", re.MULTILINE)
_AND_EARLIER = " and earlier ones"
_DURATION = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}) - (\d{4}-\d{2}-\d{2} \d{2}:\d{2})")
_LINK = re.compile(r"^\[[^\]\n]*\]\([^)\n]*\)(?=[ \t]*$)", re.MULTILINE)
_DONE, _RESOLVED = "key accomplishments", "issues resolved"


class Lists(NamedTuple):
    """The two lists of a summary."""

    done: list[Statement]
    issues: list[Statement]


class _Frame(NamedTuple):
    """What a summary says besides its lists: its sessions, facts about them, and those that are told in part only."""

    sessions: tuple[int, int]
    duration: str
    commits: str
    link: str
    left_out: tuple[int, ...]


class Rolled(NamedTuple):
    """What a summary is to be made of: the task, the sessions that go, the link to where they will stand."""

    state: TaskState
    archived: Sequence[Session]
    link: str

    @property
    def before(self) -> Earlier | None:
        """The earlier summary."""
        return Earlier(self.state, self.state.summary, self.archived[0].number) if self.state.summary else None

    @property
    def sessions(self) -> tuple[int, int]:
        """The first and last session that the summary stands for."""
        before = self.before
        return before.first if before else self.archived[0].number, self.archived[-1].number


def summarise(state: TaskState, archived: Sequence[Session], link: str) -> str:
    """Return the Archived Summary, LF line ends, that stands for the earlier one and the sessions now `archived`."""
    rolled = Rolled(state, archived, link)
    before = rolled.before
    done = [each for session in archived for text in session.did for each in said(text, session.number)]
    issues = [each for session in archived for text in session.issues for each in said(text, session.number)]
    if before:
        done, issues = [*before.statements(_DONE), *done], [*before.statements(_RESOLVED), *issues]
    features = state.checklist.features if state.checklist else ()
    return _fitted(_frame(rolled, before), _told(done, issues, features, still_open(state)), _passed(features))


def still_open(state: TaskState) -> list[Statement]:
    """Return the issues that the newest session names: they are not resolved."""
    newest = state.sessions[-1:]
    return [each for session in newest for text in session.issues for each in said(text, session.number)]


def composed(rolled: Rolled, lists: Lists) -> str:
    """Return the summary with just these lists, all of them, whatever size it has."""
    frame = _frame(rolled, rolled.before)
    return _text(frame, _part("Key Accomplishments", lists.done), _part("Issues Resolved", lists.issues))


def joined(ours: TaskState, theirs: TaskState, *, above: int, shift: int) -> str:
    """Return a summary, LF line ends, of what ours stands for and of those sessions of theirs that it does not.

    These are the ones with numbers `above` that one; `shift` is added to them.
    """
    if ours.summary is None or theirs.summary is None:
        raise ValueError("both must have a summary")
    sides = [Earlier(ours, ours.summary, 1), Earlier(theirs, theirs.summary, 1)]

    def both(name: str) -> list[Statement]:
        new = [each for each in sides[1].statements(name) if each.last > above]
        return [*sides[0].statements(name), *(_moved(each, above, shift) for each in new)]

    links = _LINK.findall(ours.summary.span.of(ours.document.text))
    theirs_left_out = [max(number, above + 1) + shift for number in sides[1].left_out if sides[1].left_out[-1] > above]
    frame = _Frame(
        sessions=(sides[0].first, theirs.summary.last + shift),
        duration=_duration(sides, ()),
        commits=_commits(sides, ()),
        link=links[-1] if links else "",
        left_out=(*sides[0].left_out, *theirs_left_out),
    )
    features = [each for state in (ours, theirs) if state.checklist for each in state.checklist.features]
    return _fitted(frame, _told(both(_DONE), both(_RESOLVED), features, []), _passed(features))


def _moved(statement: Statement, above: int, shift: int) -> Statement:
    """Return a statement for those of its sessions that are above a number, under the numbers they get."""
    runs = tuple((max(first, above + 1) + shift, last + shift) for first, last in statement.runs if last > above)
    return statement._replace(runs=runs)


class Earlier:
    """What an earlier summary says."""

    def __init__(self, state: TaskState, summary: Summary, following: int) -> None:
        self.document = state.document
        self.fields = labelled_fields(state.document, summary.section)
        # One that names no sessions stands for all those before the ones that follow.
        self.first = summary.first or min(1, following)
        self.last = summary.last or max(self.first, following - 1)
        self.text = summary.span.of(state.document.text)

    def values(self, name: str) -> tuple[str, ...]:
        """Return what a field holds."""
        field = self.fields.get(name)
        return field_values(self.document, field.span) if field else ()

    def statements(self, name: str) -> list[Statement]:
        """Return the statements of a list."""
        told = (text for text in self.values(name) if not _EARLIER.match(text))
        texts = (" ".join(text.split()) for text in told)
        return [found for text in texts if (found := read_statement(text, self.first, self.last))]

    @property
    def left_out(self) -> tuple[int, ...]:
        """The first and last session of which it tells a part only; none where it tells all."""
        lists = (_EARLIER.match(text) for name in (_DONE, _RESOLVED) for text in self.values(name))
        found = [match for match in (*lists, *_ONLY.finditer("\n".join(self.values("commits")))) if match]
        numbers = sorted(int(number) for match in found for number in (match[1], match[2] or match[1]))
        return (numbers[0], numbers[-1]) if numbers else ()


def _frame(rolled: Rolled, before: Earlier | None) -> _Frame:
    befores = [before] if before else []
    return _Frame(
        sessions=rolled.sessions,
        duration=_duration(befores, [session.time for session in rolled.archived if session.time]),
        commits=_commits(befores, [text for session in rolled.archived for text in session.field("commits")]),
        link=f"[Full session details]({rolled.link})",
        left_out=before.left_out if before else (),
    )


def _told(
    done: list[Statement], issues: list[Statement], features: Iterable[Feature], unsolved: list[Statement]
) -> Lists:
    """Return what is left of the statements once they are joined."""
    still = Told(unsolved)
    done = superseded(joined_alike(done), [feature.id for feature in features])
    return Lists(done, [each for each in joined_alike(issues) if not still.tells(each)])


def _passed(features: Sequence[Feature]) -> Callable[[Statement], bool]:
    """Return what tells whether a statement is about a feature that passed."""
    passed = [feature for feature in features if feature.passes]
    ids = feature_pattern(feature.id for feature in passed)
    described = describes(feature.description for feature in passed)
    return lambda statement: bool(ids and ids.search(statement.text)) or described(statement.text)


# What fits


def _fitted(frame: _Frame, lists: Lists, passed: Callable[[Statement], bool]) -> str:
    """Return the summary with as many statements as its limit allows."""
    first: list[Statement] = []
    others: list[Statement] = []
    for each in lists.done:
        (first if passed(each) else others).append(each)
    done, issues = [*first, *others], lists.issues
    whole = _text(frame, _part("Key Accomplishments", done), _part("Issues Resolved", issues))
    if len(whole.encode()) <= MAX_BYTES:
        return whole
    widest = frame._replace(left_out=frame.sessions)
    room = MAX_BYTES - len(_text(widest, _part("Key Accomplishments", []), _part("Issues Resolved", [])).encode())
    share = max(int(room * _SHARE), room - _size(issues))
    few = _within(first, int(share * _PASSED_SHARE) if others else share)
    some = [*few, *_within(others, share - _size(few))]
    rest = _within(issues, room - _size(some))
    gone = {*done, *issues}.difference(some, rest)
    numbers = sorted([*frame.left_out, *(number for each in gone for number in (each.first, each.last))])
    frame = frame._replace(left_out=(numbers[0], numbers[-1]) if numbers else ())
    return _text(frame, _part("Key Accomplishments", some), _part("Issues Resolved", rest))


def _size(statements: Iterable[Statement]) -> int:
    return sum(len(escaping.item(str(each)).encode()) + len("\n") for each in statements)


def _within(statements: Sequence[Statement], limit: int) -> list[Statement]:
    """Return those of the statements that fit into `limit` bytes, the newest of them, in their order."""
    kept: set[int] = set()
    for place in sorted(range(len(statements)), key=lambda place: (-statements[place].last, -place)):
        limit -= _size([statements[place]])
        if limit < 0:
            break
        kept.add(place)
    return [each for place, each in enumerate(statements) if place in kept]


def _text(frame: _Frame, *parts: str) -> str:
    first, last = frame.sessions
    whole = [f"### Archived Summary (Sessions {first}-{last})", f"**Duration:** {frame.duration}", *parts]
    whole.append(f"**Commits:** {frame.commits}")
    if frame.left_out:
        start, end = frame.left_out[0], frame.left_out[-1]
        numbers = f"session {start}" if start == end else f"sessions {start}-{end}"
        whole.append(f"More of {numbers} is in the archive only.")
    return "\n\n".join([*whole, *([frame.link] if frame.link else [])])


def _part(title: str, statements: list[Statement]) -> str:
    if not statements:
        return f"**{title}:** None."
    return f"**{title}:**\n\n" + "\n".join(escaping.item(str(each)) for each in statements)


def _duration(befores: Sequence[Earlier], times: Iterable[str]) -> str:
    told = [found for before in befores if (found := _DURATION.search(" ".join(before.values("duration"))))]
    all_times = [*(time for found in told for time in found.groups()), *times]
    return f"{min(all_times)} - {max(all_times)}" if all_times else "unknown"


def _commits(befores: Sequence[Earlier], new: Iterable[str]) -> str:
    # the link stands below the commits
    texts = [*(text.split("\n\n")[0] for before in befores for text in before.values("commits")), *new]
    shas = list(dict.fromkeys(sha for text in texts for sha in _SHA.findall(text)))
    if not shas:
        return "None."
    cut = len(shas) > _MAX_COMMITS or any(text.endswith(_AND_EARLIER) for text in texts)
    return ", ".join(shas[-_MAX_COMMITS:]) + (_AND_EARLIER if cut else "")
