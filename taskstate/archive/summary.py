"""Writes the Archived Summary, which replaces archived sessions in the state file.

Each line is a sentence of a session, word for word, with the numbers of the sessions that contain it. The statements of
an earlier summary and of the newly archived sessions become one list without duplicates. An issue counts as resolved
only where a later session says so, or where the only session that names it calls it that.

Where the summary would exceed its size limit, `summary_fit` shortens its lists; each says how much of it is left out.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from taskstate.archive.summary_fit import fitted, issue_shares, shares_of
from taskstate.archive.summary_statements import (
    LastNamed,
    Statement,
    own_resolution,
    read_statement,
    resolved_issues,
    sentences,
    statement_lines,
    statements_in,
    without_duplicates,
)
from taskstate.archive.summary_words import DECIDED, says
from taskstate.model.progress_log import labelled_fields
from taskstate.model.session_texts import COMMITS, VERIFICATION
from taskstate.syntax import escaping
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.model.progress_log import Session, Summary
    from taskstate.model.task_state import TaskState

MAX_BYTES = 3 * 1024
_MAX_COMMITS = 12

# Six digits are a commit only with a letter and a digit among them, or in backticks: words and dates have six, too.
_SHA = re.compile(r"\b(?:[0-9a-f]{7,64}|(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{6}|(?<=`)[0-9a-f]{6}(?=`))\b")
# Older summaries have two other forms: "Earlier ones are in ... (S1-S6)", "More of sessions 1-6 is in ...".
_LEFT = re.compile(
    r"(?:(\d{1,9}) )?(?:more |earlier ones )?(?:of |are in the archive only \()(?:sessions? )?"
    r"S?(\d{1,9})(?:-S?(\d{1,9}))?(?:\)| (?:is|are) in the archive only\.?)",
    re.IGNORECASE,
)
_STEP = 8  # bytes by which the lists may be smaller than there is room for
_COMMIT_DIGITS = 10  # of each commit, where room is short
# What the entry of a turn says besides the words of the agent: features that pass, findings, what was accepted.
_JUDGED = ("findings", "outcome")
_EVENT = re.compile(r"(?:raised|answered|cleared) \d|accepted drift |let .* fail: |given up: |(?![\d.]+ )\S+ passes\Z")
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


class Left(NamedTuple):
    """What is left out of a list: how many statements (0: nobody counted), and of which sessions."""

    amount: int
    first: int
    last: int

    def shown(self, *, more: bool) -> str:
        """Return it in words; `more` where others of the list are told."""
        said = f"{self.amount}{' more' if more else ''}" if self.amount else "More"
        sessions = f"S{self.first}" if self.first == self.last else f"S{self.first}-S{self.last}"
        return f"{said} of {sessions} {'is' if self.amount == 1 else 'are'} in the archive only"

    def moved(self, above: int, shift: int) -> Left | None:
        """Return what is left out of the sessions above `above`, with their numbers raised by `shift`."""
        if self.last <= above:
            return None
        amount = self.amount if self.first > above else 0
        return Left(amount, max(self.first, above + 1) + shift, self.last + shift)


_NOTHING_LEFT = (None, None, None)


class _Frame(NamedTuple):
    """The parts of a summary besides its lists, what is left out of each of these, and the ids of the features."""

    sessions: tuple[int, int]
    duration: str
    commits: str
    link: str
    left: tuple[Left | None, ...]
    features: frozenset[str] = frozenset()


class SummaryRequest(NamedTuple):
    """The input of a summary: the task, the sessions to archive, and the link to the archive file."""

    state: TaskState
    archived: Sequence[Session]
    link: str

    @property
    def before(self) -> EarlierSummary | None:
        """The earlier summary, or None."""
        following = self.archived[0].number if self.archived else 1
        return EarlierSummary(self.state, self.state.summary, following) if self.state.summary else None

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
    return _fitted(_frame(request, request.before), _lists(request))


def open_issues(state: TaskState) -> list[Statement]:
    """Return the issues of a task, archived ones too, that a summary of all its sessions would list as open."""
    return _lists(SummaryRequest(state, state.sessions, "")).issues_encountered


def _lists(request: SummaryRequest) -> Lists:
    """Return all statements of the earlier summary and the sessions that are archived now."""
    archived, before = request.archived, request.before
    earlier = before.lists if before else _NO_LISTS
    accomplishments = [each for session in archived for each in _accomplishments(session)]
    reported = [*earlier.issues_resolved, *earlier.issues_encountered, *_issues(archived)]
    said = LastNamed([*reported, *request.live_issues])
    settled = [each for session in archived for each in _settled(session, said)]
    resolved = [*earlier.issues_resolved, *settled, *_resolutions(request.state.sessions)]
    issues = _sorted_issues([*reported, *settled], LastNamed(resolved), request.live_issues)
    return Lists(without_duplicates([*earlier.accomplishments, *accomplishments]), *issues)


def _accomplishments(session: Session) -> list[Statement]:
    """Return what a session did, but for issues that it settled, if it did more; what it decided, passed and judged."""
    did = [each for text in session.did for each in statements_in(text, session.number, whole=False)]
    more = [each for each in did if not own_resolution(each.text, plainly=True)] or did
    decided = [line for text in statement_lines(session.state) for line in sentences(text) if says(line, DECIDED)]
    results = [part for text in session.field(VERIFICATION.field) for part in text.split("; ")]
    judged = [text for name in _JUDGED for text in session.field(name)]
    told = [*decided, *(text for text in (*results, *judged) if _EVENT.match(text))]
    return more + [each for line in told for each in statements_in(line, session.number)]


def _issues(sessions: Iterable[Session]) -> list[Statement]:
    issues = [each for session in sessions for text in session.issues for each in statements_in(text, session.number)]
    return [each for each in issues if not own_resolution(each.text)]


def _settled(session: Session, reported: LastNamed) -> Iterator[Statement]:
    """Yield the issues that a session calls resolved, and that nobody reported."""
    said = [(text, False) for text in session.issues] + [(text, True) for text in session.did]
    for line, plainly in ((line, plainly) for text, plainly in said for line in statement_lines(text)):
        for sentence in () if reported.has_any(resolved_issues(line)) else sentences(line):
            issue = own_resolution(sentence, plainly=plainly)
            if issue and not reported.has_any(resolved_issues(sentence)):
                yield Statement(issue, ((session.number, session.number),))


def _resolutions(sessions: Iterable[Session]) -> Iterator[Statement]:
    """Yield the issues that sessions call resolved, each with the last session before the one that says so."""
    for session in sessions:
        for text in (*session.did, *session.issues, session.state):
            for line in statement_lines(text):
                said = {issue for part in (line, *sentences(line)) for issue in resolved_issues(part)}
                yield from (Statement(issue, ((session.number - 1, session.number - 1),)) for issue in said)


def _sorted_issues(
    reported: Iterable[Statement], resolved_until: LastNamed, still_reported: Iterable[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """Return the open issues and the resolved ones.

    An issue is resolved if it was called so after its last report, and no session that stays in the log reports it.
    """
    live = LastNamed(still_reported)
    encountered, resolved = list[Statement](), list[Statement]()
    for each in without_duplicates(sorted(reported, key=lambda each: each.first)):
        is_resolved = not live.has_any([each.text]) and resolved_until.of(each.text) >= each.last
        (resolved if is_resolved else encountered).append(each)
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
    theirs_left = [each.moved(above, shift) if each else None for each in earlier[1].left]
    frame = _Frame(
        sessions=(earlier[0].first, theirs.summary.last + shift),
        duration=_duration(earlier, ()),
        commits=_commits(earlier, ()),
        link=links[-1] if links else "",
        left=tuple(map(_joined, earlier[0].left, theirs_left)),
        features=_features(ours),
    )
    accomplishments = without_duplicates([*lists.accomplishments, *new.accomplishments])
    reported = [each for part in (lists, new) for each in (*part.issues_resolved, *part.issues_encountered)]
    resolved = [*lists.issues_resolved, *their_lists.issues_resolved, *new.issues_resolved]
    live = _issues((*ours.sessions, *theirs.sessions))
    return _fitted(frame, Lists(accomplishments, *_sorted_issues(reported, LastNamed(resolved), live)))


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
        texts = (text for text in self.values(title.lower()) if not _LEFT.fullmatch(text))
        return [statement for text in texts if (statement := read_statement(text, self.first, self.last))]

    @property
    def left(self) -> tuple[Left | None, ...]:
        """What is left out of each list; older summaries do not say of which, and do not count."""
        texts = [list(self.values(title.lower())) for title in _TITLES]
        texts[0] += "\n".join(self.values("commits")).split("\n")
        matches = [next(filter(None, map(_LEFT.fullmatch, each)), None) for each in texts]
        return tuple(
            Left(int(each[1] or 0), int(each[2]), int(each[3] or each[2])) if each else None for each in matches
        )


def _joined(one: Left | None, other: Left | None) -> Left | None:
    """Return what two lists leave out together."""
    if one is None or other is None:
        return one or other
    amount = one.amount + other.amount if one.amount and other.amount else 0
    return Left(amount, min(one.first, other.first), max(one.last, other.last))


def _frame(request: SummaryRequest, before: EarlierSummary | None) -> _Frame:
    earlier = [before] if before else []
    return _Frame(
        sessions=request.sessions,
        duration=_duration(earlier, [session.time for session in request.archived if session.time]),
        commits=_commits(earlier, [text for session in request.archived for text in session.field(COMMITS.field)]),
        link=f"[Full session details]({request.link})",
        left=before.left if before else _NOTHING_LEFT,
        features=_features(request.state),
    )


def _features(state: TaskState) -> frozenset[str]:
    return frozenset(each.id for each in state.checklist.features) if state.checklist else frozenset()


# Fitting the size limit


def _fitted(frame: _Frame, lists: Lists) -> str:
    """Return the summary with as many statements as its size limit allows, by the rule in the module's docstring."""
    text = _text(frame, lists)
    if len(text.encode()) <= MAX_BYTES:
        return text
    frame = frame._replace(commits=_SHA.sub(lambda sha: sha[0][:_COMMIT_DIGITS], frame.commits))
    accomplishments, *issues = lists
    shares = (shares_of(accomplishments, frame.features), *map(issue_shares, issues))

    def tried(room: int) -> str:
        parts = fitted(shares, room)
        left = tuple(_joined(before, _counted(part.cut)) for before, part in zip(frame.left, parts, strict=True))
        return _text(frame._replace(left=left), Lists(*(part.kept for part in parts)))

    rooms = range(0, MAX_BYTES * 2, _STEP)  # more than there is: what shortening leaves over is given out again
    return tried(rooms[bisect_left(rooms[1:], x=True, key=lambda room: len(tried(room).encode()) > MAX_BYTES)])


def _counted(cut: list[Statement]) -> Left | None:
    return Left(len(cut), min(each.first for each in cut), max(each.last for each in cut)) if cut else None


def _room(frame: _Frame) -> int:
    heading = f"**{_TITLES[1]}:**\n\n\n"  # not in a summary without lists, as it is left out while it is empty
    return MAX_BYTES - len((_text(frame, _NO_LISTS) + heading).encode())


def _text(frame: _Frame, lists: Lists) -> str:
    first, last = frame.sessions
    parts = [f"### Archived Summary (Sessions {first}-{last})", f"**Duration:** {frame.duration}"]
    for title, statements, left in zip(_TITLES, lists, frame.left, strict=True):
        if statements or left or title != _TITLES[1]:
            parts.append(_part(title, statements, left))
    parts.append(f"**Commits:** {frame.commits}")
    return "\n\n".join([*parts, *([frame.link] if frame.link else [])])


def _part(title: str, statements: list[Statement], left: Left | None) -> str:
    said = left.shown(more=bool(statements)) if left else "" if statements else "None."
    label = f"**{title}:** {said}".rstrip()
    return "\n\n".join([label, *(["\n".join(escaping.item(str(each)) for each in statements)] if statements else [])])


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
