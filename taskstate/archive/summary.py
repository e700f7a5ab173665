"""The Archived Summary: what is left in the state file of the sessions that went into the archive.

Each line is a sentence of a session, word for word, with the sessions that say it. The summary rolls forward: the
statements of the earlier one and those of the sessions that go become one list, in which the same statement stands
once. An issue counts as resolved only where a later session says so.

Where the whole passes its limit the newest statements stay, and the room is given out in this order: issues that
nobody called resolved (up to half of it, and what the others leave), accomplishments, resolved issues.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.summary_statements import (
    Statement,
    comparison_key,
    read_statement,
    resolved_issue,
    statement_lines,
    statements_in,
    without_duplicates,
)
from taskstate.model.task_state import field_values, labelled_fields
from taskstate.syntax import escaping

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.model.task_state import Session, Summary, TaskState

MAX_BYTES = 3 * 1024
_MAX_COMMITS = 12

_SHA = re.compile(r"\b[0-9a-f]{7,40}\b")
_EARLIER = re.compile(r"Earlier ones are in the archive only \(S(\d{1,9})(?:-S(\d{1,9}))?\)\Z")
_ONLY = re.compile(r"^More of sessions? (\d{1,9})(?:-(\d{1,9}))? is in the archive only\.", re.MULTILINE)
_AND_EARLIER = " and earlier ones"
_DURATION = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}) - (\d{4}-\d{2}-\d{2} \d{2}:\d{2})")
_LINK = re.compile(r"^\[[^\]\n]*\]\([^)\n]*\)(?=[ \t]*$)", re.MULTILINE)


class Lists(NamedTuple):
    """The lists of a summary; issues encountered are those that no later session called resolved."""

    accomplishments: list[Statement]
    issues_encountered: list[Statement]
    issues_resolved: list[Statement]


_TITLES = ("Key Accomplishments", "Issues Encountered", "Issues Resolved")
_NO_LISTS = Lists([], [], [])


class _Frame(NamedTuple):
    """What a summary says besides its lists: its sessions, facts about them, and those that are told in part only."""

    sessions: tuple[int, int]
    duration: str
    commits: str
    link: str
    left_out: tuple[int, ...]


class SummaryRequest(NamedTuple):
    """What a summary is to be made of: the task, the sessions that go, the link to where they will stand."""

    state: TaskState
    archived: Sequence[Session]
    link: str

    @property
    def before(self) -> EarlierSummary | None:
        """The earlier summary."""
        return EarlierSummary(self.state, self.state.summary, self.archived[0].number) if self.state.summary else None

    @property
    def sessions(self) -> tuple[int, int]:
        """The first and last session that the summary stands for."""
        before = self.before
        return before.first if before else self.archived[0].number, self.archived[-1].number

    @property
    def live_issues(self) -> list[Statement]:
        """The issues that the sessions that stay report."""
        return without_duplicates(_issues(self.state.sessions[len(self.archived) :]))


def summarise(state: TaskState, archived: Sequence[Session], link: str) -> str:
    """Return the Archived Summary, LF line ends, that stands for the earlier one and the sessions now `archived`."""
    rolled = SummaryRequest(state, archived, link)
    before = rolled.before
    earlier = before.lists if before else _NO_LISTS
    done = [each for session in archived for text in session.did for each in statements_in(text, session.number)]
    reported = [*earlier.issues_resolved, *earlier.issues_encountered, *_issues(archived)]
    resolved_until = _last_reports(earlier.issues_resolved) | _resolutions(state.sessions)
    issues = _sorted_issues(reported, resolved_until, rolled.live_issues)
    return _fitted(_frame(rolled, before), Lists(without_duplicates([*earlier.accomplishments, *done]), *issues))


def _issues(sessions: Iterable[Session]) -> list[Statement]:
    return [each for session in sessions for text in session.issues for each in statements_in(text, session.number)]


def _last_reports(issues: Iterable[Statement]) -> dict[str, int]:
    return {comparison_key(each.text): each.last for each in sorted(issues, key=lambda each: each.last)}


def _resolutions(sessions: Iterable[Session]) -> dict[str, int]:
    """Return the issues that sessions say are resolved, each with the last session whose report that answers."""
    return {
        comparison_key(resolved_issue(line)): session.number - 1
        for session in sessions
        for text in (*session.did, *session.issues, session.state)
        for line in statement_lines(text)
    }


def _sorted_issues(
    reported: Iterable[Statement], resolved_until: Mapping[str, int], live: Iterable[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """Return the issues encountered, and apart from them those that are resolved.

    Resolved is what was called so after its last report, and what no session that stays reports.
    """
    in_order = sorted(reported, key=lambda each: each.first)
    issues = {comparison_key(each.text): each for each in without_duplicates(in_order)}
    still = {comparison_key(each.text) for each in live}
    encountered, resolved = [], []
    for key, each in issues.items():
        if key not in still and resolved_until.get(key, -1) >= each.last:
            resolved.append(each)
        elif comparison_key(resolved_issue(each.text)) not in issues:  # else "Resolved: X", and X itself is in a list
            encountered.append(each)
    return encountered, resolved


def compose(rolled: SummaryRequest, lists: Lists) -> str:
    """Return the summary with just these lists, all of them, whatever size it has."""
    return _text(_frame(rolled, rolled.before), lists)


def available_bytes(rolled: SummaryRequest) -> int:
    """Return how many bytes the lines of all lists may have together."""
    return _room(_frame(rolled, rolled.before))


def merge_summaries(ours: TaskState, theirs: TaskState, *, above: int, shift: int) -> str:
    """Return a summary, LF line ends, of what ours stands for and of those sessions of theirs that it does not.

    These are the ones with numbers `above` that one; `shift` is added to them.
    """
    if ours.summary is None or theirs.summary is None:
        raise ValueError("both must have a summary")
    sides = [EarlierSummary(ours, ours.summary, 1), EarlierSummary(theirs, theirs.summary, 1)]
    lists, their_lists = sides[0].lists, sides[1].lists
    new = Lists(*([_moved(each, above, shift) for each in part if each.last > above] for part in their_lists))
    links = _LINK.findall(ours.summary.span.of(ours.document.text))
    theirs_left_out = [max(number, above + 1) + shift for number in sides[1].left_out if sides[1].left_out[-1] > above]
    frame = _Frame(
        sessions=(sides[0].first, theirs.summary.last + shift),
        duration=_duration(sides, ()),
        commits=_commits(sides, ()),
        link=links[-1] if links else "",
        left_out=(*sides[0].left_out, *theirs_left_out),
    )
    done = without_duplicates([*lists.accomplishments, *new.accomplishments])
    reported = [each for part in (lists, new) for each in (*part.issues_resolved, *part.issues_encountered)]
    resolved = [*lists.issues_resolved, *their_lists.issues_resolved, *new.issues_resolved]
    live = _issues((*ours.sessions, *theirs.sessions))
    return _fitted(frame, Lists(done, *_sorted_issues(reported, _last_reports(resolved), live)))


def _moved(statement: Statement, above: int, shift: int) -> Statement:
    """Return a statement for those of its sessions that are above a number, under the numbers they get."""
    runs = tuple((max(first, above + 1) + shift, last + shift) for first, last in statement.runs if last > above)
    return statement._replace(runs=runs)


class EarlierSummary:
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

    @property
    def lists(self) -> Lists:
        """The statements of its lists."""
        return Lists(*(self._statements(title) for title in _TITLES))

    def _statements(self, title: str) -> list[Statement]:
        texts = (text for text in self.values(title.lower()) if not _EARLIER.match(text))
        return [found for text in texts if (found := read_statement(text, self.first, self.last))]

    @property
    def left_out(self) -> tuple[int, ...]:
        """The first and last session of which it tells a part only; none where it tells all."""
        lists = (_EARLIER.match(text) for title in _TITLES for text in self.values(title.lower()))
        found = [match for match in (*lists, *_ONLY.finditer("\n".join(self.values("commits")))) if match]
        numbers = sorted(int(number) for match in found for number in (match[1], match[2] or match[1]))
        return (numbers[0], numbers[-1]) if numbers else ()


def _frame(rolled: SummaryRequest, before: EarlierSummary | None) -> _Frame:
    befores = [before] if before else []
    return _Frame(
        sessions=rolled.sessions,
        duration=_duration(befores, [session.time for session in rolled.archived if session.time]),
        commits=_commits(befores, [text for session in rolled.archived for text in session.field("commits")]),
        link=f"[Full session details]({rolled.link})",
        left_out=before.left_out if before else (),
    )


# What fits


def _fitted(frame: _Frame, lists: Lists) -> str:
    """Return the summary with as many statements as its limit allows, in the order that the module's docstring says."""
    whole = _text(frame, lists)
    if len(whole.encode()) <= MAX_BYTES:
        return whole
    limit = _room(frame._replace(left_out=frame.sessions))
    done, encountered, resolved = lists
    first = _newest(encountered, limit // 2)
    done = _newest(done, limit - _size(first))
    resolved = _newest(resolved, limit - _size(first) - _size(done))
    encountered = _newest(encountered, limit - _size(done) - _size(resolved))
    kept = Lists(done, encountered, resolved)
    gone = [each for before, after in zip(lists, kept, strict=True) for each in before if each not in after]
    numbers = sorted([*frame.left_out, *(number for each in gone for number in (each.first, each.last))])
    return _text(frame._replace(left_out=(numbers[0], numbers[-1]) if numbers else ()), kept)


def _room(frame: _Frame) -> int:
    heading = f"**{_TITLES[1]}:**\n\n\n"  # of the one list that is not there where it is empty
    return MAX_BYTES - len((_text(frame, _NO_LISTS) + heading).encode())


def _size(statements: Iterable[Statement]) -> int:
    return sum(len(escaping.item(str(each)).encode()) + len("\n") for each in statements)


def _newest(statements: Sequence[Statement], limit: int) -> list[Statement]:
    """Return the newest of the statements that fit into `limit` bytes, in their order."""
    kept: set[int] = set()
    for place in sorted(range(len(statements)), key=lambda place: (-statements[place].last, -place)):
        limit -= _size([statements[place]])
        if limit < 0:
            break
        kept.add(place)
    return [each for place, each in enumerate(statements) if place in kept]


def _text(frame: _Frame, lists: Lists) -> str:
    first, last = frame.sessions
    whole = [f"### Archived Summary (Sessions {first}-{last})", f"**Duration:** {frame.duration}"]
    parts = zip(_TITLES, lists, strict=True)
    whole += [_part(title, part) for title, part in parts if part or title != _TITLES[1]]
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


def _duration(befores: Sequence[EarlierSummary], times: Iterable[str]) -> str:
    told = [found for before in befores if (found := _DURATION.search(" ".join(before.values("duration"))))]
    all_times = [*(time for found in told for time in found.groups()), *times]
    return f"{min(all_times)} - {max(all_times)}" if all_times else "unknown"


def _commits(befores: Sequence[EarlierSummary], new: Iterable[str]) -> str:
    # the link stands below the commits
    texts = [*(text.split("\n\n")[0] for before in befores for text in before.values("commits")), *new]
    shas = list(dict.fromkeys(sha for text in texts for sha in _SHA.findall(text)))
    if not shas:
        return "None."
    cut = len(shas) > _MAX_COMMITS or any(text.endswith(_AND_EARLIER) for text in texts)
    return ", ".join(shas[-_MAX_COMMITS:]) + (_AND_EARLIER if cut else "")
