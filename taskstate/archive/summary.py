"""Writes the Archived Summary, which replaces archived sessions in the state file.

Each line is a sentence of a session, word for word, with the numbers of the sessions that contain it. The statements of
an earlier summary and of the newly archived sessions become one list without duplicates. An issue counts as resolved
only where a later session says so.

Where the summary would exceed its size limit, the newest statements are kept, and the room is divided in this order:
unresolved issues (up to half of it, and what the others leave), accomplishments, resolved issues.
"""

from __future__ import annotations

import re

from taskstate.archive.summary_statements import (
    Statement,
    comparison_key,
    read_statement,
    resolved_issue,
    statement_lines,
    statements_in,
    without_duplicates,
)
from taskstate.model.progress_log import labelled_fields
from taskstate.model.session_texts import COMMITS
from taskstate.syntax import escaping
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.model.progress_log import Session, Summary
    from taskstate.model.task_state import TaskState

MAX_BYTES = 3 * 1024
_MAX_COMMITS = 12

# Six digits are a commit only with a letter and a digit among them, or in backticks: words and dates have six, too.
_SHA = re.compile(r"\b(?:[0-9a-f]{7,64}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{6}|(?<=`)[0-9a-f]{6}(?=`))\b")
_EARLIER = re.compile(r"Earlier ones are in the archive only \(S(\d{1,9})(?:-S(\d{1,9}))?\)\Z")
_ONLY = re.compile(r"^More of sessions? (\d{1,9})(?:-(\d{1,9}))? is in the archive only\.", re.MULTILINE)
_AND_EARLIER = " and earlier ones"
_DURATION = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}) - (\d{4}-\d{2}-\d{2} \d{2}:\d{2})")
_LINK = re.compile(r"^\[[^\]\n]*\]\([^)\n]*\)(?=[ \t]*$)", re.MULTILINE)


class Lists(NamedTuple):
    """The lists of a summary; `issues_encountered` are those that no later session calls resolved."""

    accomplishments: list[Statement]
    issues_encountered: list[Statement]
    issues_resolved: list[Statement]


_TITLES = ("Key Accomplishments", "Issues Encountered", "Issues Resolved")
_NO_LISTS = Lists([], [], [])


class _Frame(NamedTuple):
    """The parts of a summary besides its lists; `left_out` are the first and last session with statements left out."""

    sessions: tuple[int, int]
    duration: str
    commits: str
    link: str
    left_out: tuple[int, ...]


class SummaryRequest(NamedTuple):
    """The input of a summary: the task, the sessions to archive, and the link to the archive file."""

    state: TaskState
    archived: Sequence[Session]
    link: str

    @property
    def before(self) -> EarlierSummary | None:
        """The earlier summary, or None."""
        return EarlierSummary(self.state, self.state.summary, self.archived[0].number) if self.state.summary else None

    @property
    def sessions(self) -> tuple[int, int]:
        """The first and last session that the summary stands for."""
        before = self.before
        return before.first if before else self.archived[0].number, self.archived[-1].number

    @property
    def live_issues(self) -> list[Statement]:
        """The issues reported by the sessions that stay in the log."""
        return without_duplicates(_issues(self.state.sessions[len(self.archived) :]))


def summarise(state: TaskState, archived: Sequence[Session], link: str) -> str:
    """Return the Archived Summary, with LF line ends, of the earlier one and the sessions in `archived`."""
    request = SummaryRequest(state, archived, link)
    before = request.before
    earlier = before.lists if before else _NO_LISTS
    accomplishments = [
        each for session in archived for text in session.did for each in statements_in(text, session.number)
    ]
    reported = [*earlier.issues_resolved, *earlier.issues_encountered, *_issues(archived)]
    resolved_until = _last_reports(earlier.issues_resolved) | _resolutions(state.sessions)
    issues = _sorted_issues(reported, resolved_until, request.live_issues)
    return _fitted(
        _frame(request, before), Lists(without_duplicates([*earlier.accomplishments, *accomplishments]), *issues)
    )


def _issues(sessions: Iterable[Session]) -> list[Statement]:
    return [each for session in sessions for text in session.issues for each in statements_in(text, session.number)]


def _last_reports(issues: Iterable[Statement]) -> dict[str, int]:
    return {comparison_key(each.text): each.last for each in sorted(issues, key=lambda each: each.last)}


def _resolutions(sessions: Iterable[Session]) -> dict[str, int]:
    """Return the issues that sessions call resolved, each with the last session before the one that says so."""
    return {
        comparison_key(resolved_issue(line)): session.number - 1
        for session in sessions
        for text in (*session.did, *session.issues, session.state)
        for line in statement_lines(text)
    }


def _sorted_issues(
    reported: Iterable[Statement], resolved_until: Mapping[str, int], still_reported: Iterable[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """Return the open issues and the resolved ones.

    An issue is resolved if it was called so after its last report, and no session that stays in the log reports it.
    """
    in_order = sorted(reported, key=lambda each: each.first)
    issues = {comparison_key(each.text): each for each in without_duplicates(in_order)}
    still_reported_keys = {comparison_key(each.text) for each in still_reported}
    encountered, resolved = [], []
    for key, each in issues.items():
        if key not in still_reported_keys and resolved_until.get(key, -1) >= each.last:
            resolved.append(each)
        elif (
            comparison_key(resolved_issue(each.text)) not in issues
        ):  # "Resolved: X" is not an issue itself where X is listed
            encountered.append(each)
    return encountered, resolved


def compose(request: SummaryRequest, lists: Lists) -> str:
    """Return a summary with exactly these lists, whatever its size."""
    return _text(_frame(request, request.before), lists)


def available_bytes(request: SummaryRequest) -> int:
    """Return how many bytes the lines of all lists may take together."""
    return _room(_frame(request, request.before))


def merge_summaries(ours: TaskState, theirs: TaskState, *, above: int, shift: int) -> str:
    """Return a summary, with LF line ends, of the sessions in our summary and the later ones in theirs.

    Of theirs, the sessions with numbers above `above` are added, under numbers raised by `shift`.
    """
    if ours.summary is None or theirs.summary is None:
        raise ValueError("both must have a summary")
    earlier = [EarlierSummary(ours, ours.summary, 1), EarlierSummary(theirs, theirs.summary, 1)]
    lists, their_lists = earlier[0].lists, earlier[1].lists
    new = Lists(*([_moved(each, above, shift) for each in part if each.last > above] for part in their_lists))
    links = _LINK.findall(ours.summary.span.of(ours.document.text))
    theirs_left_out = [
        max(number, above + 1) + shift for number in earlier[1].left_out if earlier[1].left_out[-1] > above
    ]
    frame = _Frame(
        sessions=(earlier[0].first, theirs.summary.last + shift),
        duration=_duration(earlier, ()),
        commits=_commits(earlier, ()),
        link=links[-1] if links else "",
        left_out=(*earlier[0].left_out, *theirs_left_out),
    )
    accomplishments = without_duplicates([*lists.accomplishments, *new.accomplishments])
    reported = [each for part in (lists, new) for each in (*part.issues_resolved, *part.issues_encountered)]
    resolved = [*lists.issues_resolved, *their_lists.issues_resolved, *new.issues_resolved]
    live = _issues((*ours.sessions, *theirs.sessions))
    return _fitted(frame, Lists(accomplishments, *_sorted_issues(reported, _last_reports(resolved), live)))


def _moved(statement: Statement, above: int, shift: int) -> Statement:
    """Return a statement for those of its sessions that are above `above`, with their numbers raised by `shift`."""
    runs = tuple((max(first, above + 1) + shift, last + shift) for first, last in statement.runs if last > above)
    return statement._replace(runs=runs)


class EarlierSummary:
    """An earlier summary, read from the state file."""

    def __init__(self, state: TaskState, summary: Summary, following: int) -> None:
        self.document = state.document
        self.fields = labelled_fields(state.document, summary.section)
        # A summary without numbers stands for all sessions before the ones in the log.
        self.first = summary.first or min(1, following)
        self.last = summary.last or max(self.first, following - 1)
        self.text = summary.span.of(state.document.text)

    def values(self, name: str) -> tuple[str, ...]:
        """Return the values of a field."""
        field = self.fields.get(name)
        return field.values(self.document) if field else ()

    @property
    def lists(self) -> Lists:
        """The statements in its lists."""
        return Lists(*(self._statements(title) for title in _TITLES))

    def _statements(self, title: str) -> list[Statement]:
        texts = (text for text in self.values(title.lower()) if not _EARLIER.match(text))
        return [statement for text in texts if (statement := read_statement(text, self.first, self.last))]

    @property
    def left_out(self) -> tuple[int, ...]:
        """The first and last session with statements left out; empty where nothing was left out."""
        lists = (_EARLIER.match(text) for title in _TITLES for text in self.values(title.lower()))
        matches = [match for match in (*lists, *_ONLY.finditer("\n".join(self.values("commits")))) if match]
        numbers = sorted(int(number) for match in matches for number in (match[1], match[2] or match[1]))
        return (numbers[0], numbers[-1]) if numbers else ()


def _frame(request: SummaryRequest, before: EarlierSummary | None) -> _Frame:
    earlier = [before] if before else []
    return _Frame(
        sessions=request.sessions,
        duration=_duration(earlier, [session.time for session in request.archived if session.time]),
        commits=_commits(earlier, [text for session in request.archived for text in session.field(COMMITS.field)]),
        link=f"[Full session details]({request.link})",
        left_out=before.left_out if before else (),
    )


# Fitting the size limit


def _fitted(frame: _Frame, lists: Lists) -> str:
    """Return the summary with as many statements as its size limit allows, by the rule in the module's docstring."""
    text = _text(frame, lists)
    if len(text.encode()) <= MAX_BYTES:
        return text
    limit = _room(frame._replace(left_out=frame.sessions))
    accomplishments, encountered, resolved = lists
    first = _newest(encountered, limit // 2)
    accomplishments = _newest(accomplishments, limit - _size(first))
    resolved = _newest(resolved, limit - _size(first) - _size(accomplishments))
    encountered = _newest(encountered, limit - _size(accomplishments) - _size(resolved))
    chosen = Lists(accomplishments, encountered, resolved)
    left_out = [each for before, after in zip(lists, chosen, strict=True) for each in before if each not in after]
    numbers = sorted([*frame.left_out, *(number for each in left_out for number in (each.first, each.last))])
    return _text(frame._replace(left_out=(numbers[0], numbers[-1]) if numbers else ()), chosen)


def _room(frame: _Frame) -> int:
    heading = f"**{_TITLES[1]}:**\n\n\n"  # not in a summary without lists, as it is left out while it is empty
    return MAX_BYTES - len((_text(frame, _NO_LISTS) + heading).encode())


def _size(statements: Iterable[Statement]) -> int:
    return sum(len(escaping.item(str(each)).encode()) + len("\n") for each in statements)


def _newest(statements: Sequence[Statement], limit: int) -> list[Statement]:
    """Return as many of the newest statements as fit into `limit` bytes, in their order."""
    chosen: set[int] = set()
    for index in sorted(range(len(statements)), key=lambda index: (-statements[index].last, -index)):
        limit -= _size([statements[index]])
        if limit < 0:
            break
        chosen.add(index)
    return [each for index, each in enumerate(statements) if index in chosen]


def _text(frame: _Frame, lists: Lists) -> str:
    first, last = frame.sessions
    parts = [f"### Archived Summary (Sessions {first}-{last})", f"**Duration:** {frame.duration}"]
    lists_with_titles = zip(_TITLES, lists, strict=True)
    parts += [_part(title, part) for title, part in lists_with_titles if part or title != _TITLES[1]]
    parts.append(f"**Commits:** {frame.commits}")
    if frame.left_out:
        start, end = frame.left_out[0], frame.left_out[-1]
        numbers = f"session {start}" if start == end else f"sessions {start}-{end}"
        parts.append(f"More of {numbers} is in the archive only.")
    return "\n\n".join([*parts, *([frame.link] if frame.link else [])])


def _part(title: str, statements: list[Statement]) -> str:
    if not statements:
        return f"**{title}:** None."
    return f"**{title}:**\n\n" + "\n".join(escaping.item(str(each)) for each in statements)


def _duration(earlier: Sequence[EarlierSummary], times: Iterable[str]) -> str:
    matches = [match for before in earlier if (match := _DURATION.search(" ".join(before.values("duration"))))]
    all_times = [*(time for match in matches for time in match.groups()), *times]
    return f"{min(all_times)} - {max(all_times)}" if all_times else "unknown"


def _commits(earlier: Sequence[EarlierSummary], new: Iterable[str]) -> str:
    # the link stands below the commits
    texts = [*(text.split("\n\n")[0] for before in earlier for text in before.values("commits")), *new]
    shas = list(dict.fromkeys(sha for text in texts for sha in _SHA.findall(text)))
    if not shas:
        return "None."
    cut = len(shas) > _MAX_COMMITS or any(text.endswith(_AND_EARLIER) for text in texts)
    return ", ".join(shas[-_MAX_COMMITS:]) + (_AND_EARLIER if cut else "")
