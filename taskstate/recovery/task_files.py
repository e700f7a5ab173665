"""A task's state file and its archive as a pair, and what must hold before another pair takes its place.

Every item that stands now, and every item that comes back, is counted: each must be there exactly once.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

from taskstate.archive.archiver import sessions_in
from taskstate.archive.doubled import Doubled, doubled
from taskstate.archive.integrity import ArchiveContents
from taskstate.archive.verify import examine
from taskstate.errors import TaskstateError
from taskstate.model.derived_values import COUNTS
from taskstate.model.session_words import session_words
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import (
    CRITERION,
    ENTRY,
    SESSION,
    WORDS,
    Item,
    entry_item,
    is_check,
    items_in,
    require_conserved,
    session_item,
)
from taskstate.writing.damage import missing_sessions
from taskstate.writing.ledger import are_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.model.names import OwnType
    from taskstate.model.progress_log import Session
    from taskstate.writing.ledger import Owed

    Wanted = dict[Item, Owed]

_MARKERS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")
_NO_TEXT = frozenset("\0\ufffd")
_COUNTED = WORDS | {ENTRY, CRITERION}  # kinds that a repair takes from nowhere


class TaskFiles(NamedTuple):
    """The bytes of a task's state file and of its archive, empty where there is none."""

    state: bytes
    archive: bytes

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of both."""
        return (*state_of(self.state).sessions, *archived_sessions(self.archive))

    @property
    def items(self) -> tuple[Counter[Item], Counter[Item]]:
        """The items of each."""
        return items_of("state", self.state), items_of("archive", self.archive)

    @property
    def twice(self) -> tuple[Doubled, ...]:
        """The sessions of the state file that the archive holds, too."""
        return doubled(state_of(self.state).sessions, ArchiveContents(self.archive.decode("utf-8", "replace")))

    @property
    def standing(self) -> Counter[Item]:
        """How often each item stands: one of both files once, but for different sessions of the same words."""
        in_state, in_archive = self.items
        in_state = in_state - Counter(session_item(each.session) for each in self.twice)
        sessions = {each: in_state[each] + in_archive[each] for each in in_state & in_archive if each.kind == SESSION}
        return in_state | in_archive | Counter(sessions)

    @property
    def faults(self) -> int:
        """The number of faults that keep the archive from fitting the state file."""
        archive = self.archive.decode("utf-8", "replace") or None
        return sum(problem.fatal for problem in examine(state_of(self.state), "", archive, "").problems)


def older_forms(owed: Wanted, sessions: Iterable[Session], newer: Iterable[Session]) -> set[Item]:
    """Return the sessions of which an older form stands, while an edited one that a command wrote since comes back."""
    known = next((each.known for each in owed.values()), ())
    new = list(newer)
    return {
        item
        for each in sessions
        if (item := session_item(each)) in known
        and item not in owed
        and any(other.time == each.time and are_alike(other.entry, each.entry) for other in new)
    }


def without_archived(before: TaskFiles, texts: Iterable[bytes], path: str) -> TaskFiles:
    """Return files without the sessions in the state file that the archive holds, with the summary that covers them.

    The summary is one that stands in `texts`; where none covers the whole archive, the files stay as they are. `path`
    is that of the archive in the front matter.
    """
    state = state_of(before.state)
    last = max((session.number for session in archived_sessions(before.archive)), default=0)
    sources = (state, *map(state_of, texts)) if (twice := before.twice) else ()
    source = next((text for text in sources if text.summary and text.archived == last), None)
    if source is None or source.summary is None:
        return before
    summary = source.summary.section.span.of(source.document.text)
    first = twice[0].session.section.span.start
    old = state.summary.section.span if state.summary else Span(first, first)
    text = apply(state.document.text, [Edit(*old, summary), *_without(state.sessions, twice)])
    return before._replace(state=apply(text, set_front_matter(parse(text), "archive_path", path)).encode())


def _without(sessions: Iterable[Session], twice: Iterable[Doubled]) -> Iterator[Edit]:
    """Yield the edits that take sessions out of a log, and give the numbers that they had anew to those behind."""
    out = {each.session.number for each in twice}
    anew = [each.session.number for each in twice if each.session.number != each.archived_as]
    for session in sessions:
        number = session.number - sum(each < session.number for each in anew)
        if session.number in out:
            yield Edit(*session.section.span, "")
        elif number != session.number:
            yield Edit(*session.number_span, str(number))


def needed_items(owed: Wanted, now: TaskFiles, after: TaskFiles, wanted: Wanted, *, is_damaged: bool) -> Counter[Item]:
    """Return the items that must be there: those that stand now, and those that come back in their places, or beside.

    In a damaged file a session of which the new text has more, under the same number, is no other session.
    """
    standing = now.standing - (_remnants(now, after) if is_damaged else Counter())
    # What has a place of its own may be merged into what stands there.
    comes_back = {item: each.number for item, each in wanted.items() if item.kind in WORDS or is_check(item)}
    replaced = {(item.kind, item.place) for item in wanted if item.place}
    new = [session for session in after.sessions if not standing[entry_item(session.entry)]]
    old = older_forms(owed, now.sessions, new)
    known = next((each.known for each in owed.values()), ()) if is_damaged else ()
    kept_here = {
        item: n
        for item, n in standing.items()
        if item.kind in _COUNTED and (item.kind, item.place) not in replaced and item not in old
        if item.kind in WORDS or item not in known  # a damaged file may have older values, which are not wanted
    }
    return Counter(kept_here) | Counter(comes_back)


def require_whole(
    now: TaskFiles, after: TaskFiles, needed: Counter[Item], *, is_damaged: bool, most_faults: int
) -> None:
    """Refuse files in which something that is needed would not be there exactly once, or that do not fit each other.

    Raises:
        TaskstateError: code "unsafe".
    """
    if is_damaged:
        _require_sound(now, after)
    require_conserved(needed, after.items[0] + after.items[1], "it")
    if after.faults > most_faults:
        raise TaskstateError("its archive would not fit its sessions", code="unsafe")


def _require_sound(now: TaskFiles, after: TaskFiles) -> None:
    """Refuse to leave a damaged file damaged, or to let it count fewer sessions than it does."""
    text = after.state.decode("utf-8", "replace")
    said = front_matter_values(parse(now.state.decode("utf-8", "replace"))).get(COUNTS)
    total = said.get("total") if isinstance(said, dict) else 0
    if after == now or "\0" in text or find_conflicts(text):
        raise TaskstateError("it would stay damaged", code="unsafe")
    remnants = _remnants(now, after)
    if any(find_conflicts(each.entry) and not remnants[session_item(each)] for each in now.sessions):
        raise TaskstateError("which side of the conflict in a session is right is not known", code="unsafe")
    if isinstance(total, int) and total > len(after.sessions):
        what = missing_sessions(total, len(after.sessions))
        raise TaskstateError(f"{what}, and no kept copy or commit has more of them", code="unsafe")


def _remnants(now: TaskFiles, after: TaskFiles) -> Counter[Item]:
    """Return the sessions of a damaged file, or archive, of which the new texts hold every whole line, or all words."""
    whole = {session.number: set(_lines_of(session)) for session in after.sessions}
    found = [each for each in now.sessions if whole.get(each.number, set()).issuperset(_lines_of(each)[:-1])]
    return Counter({session_item(each): 2 for each in (*found, *_reformatted(now, after))})


def _reformatted(now: TaskFiles, after: TaskFiles) -> Iterator[Session]:
    """Yield the sessions that the new texts hold in other marks of Markdown, each of those for one of these."""
    new, standing = (Counter(map(session_item, each.sessions)) for each in (after, now))
    others = [each for each in now.sessions if not new[session_item(each)]]
    added = (each for each in after.sessions if not standing[session_item(each)]) if others else ()
    left = Counter(session_words(each.entry) for each in added)
    for each in others:
        if left[words := session_words(each.entry)]:
            left[words] -= 1
            yield each


def _lines_of(session: Session) -> list[str]:
    """Return the lines of a session, without its heading, markers of conflicts, and what is not text."""
    lines = (line.rstrip() for line in session.entry.split("\n")[1:])
    return [line for line in lines if not line.startswith(_MARKERS) and not _NO_TEXT.intersection(line)]


@lru_cache(maxsize=128)  # each text is looked at several times
def items_of(kind: OwnType, data: bytes) -> Counter[Item]:
    """Return the items in the text of a state file or of an archive."""
    return items_in(kind, "", data)


@lru_cache(maxsize=128)
def archived_sessions(data: bytes) -> tuple[Session, ...]:
    """Return the sessions in the text of an archive."""
    return sessions_in(data.decode("utf-8", "replace"))


@lru_cache(maxsize=128)
def state_of(data: bytes) -> TaskState:
    """Return the state in the text of a state file."""
    return read_state(parse(data.decode("utf-8", "replace")))
