"""Brings back what is gone from a task's files, or mends damaged ones: a kept text is merged with what stands there.

Before anything is written, every item that stands now and every item that comes back is counted; afterwards each must
be there exactly once. Where no merge does that nothing is written, and the kept text lies beside as a proposal.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.archiver import sessions_in
from taskstate.archive.verify import examine
from taskstate.errors import TaskstateError
from taskstate.merge.files import merge_files
from taskstate.merge.lines import MIDDLE, OURS, THEIRS, lines_of
from taskstate.merge.three_way import Versions
from taskstate.model import names
from taskstate.model.derived_values import COUNTS
from taskstate.model.items import (
    CHECK,
    HANDOFF,
    PROOF,
    SESSION,
    Item,
    entry_item,
    items_in,
    lost_between,
    place_of,
    require_conserved,
)
from taskstate.model.names import ACCEPTED_FOLDER, own_file
from taskstate.model.task_state import Session, TaskState, read_state
from taskstate.model.write_metadata import front_matter_values, set_front_matter
from taskstate.storage import files, journal, kept
from taskstate.storage.git import history
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, with_newlines
from taskstate.workspace import artifacts, damage
from taskstate.workspace.change import Change
from taskstate.workspace.keeping import carry_out
from taskstate.workspace.ledger import are_alike, entries_of, owed_items, stamp_of, written
from taskstate.workspace.losses import find_loss, names_of
from taskstate.workspace.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from taskstate.storage.kept import KeptRecord
    from taskstate.workspace.change import Request
    from taskstate.workspace.ledger import Entry, Owed
    from taskstate.workspace.losses import Loss
    from taskstate.workspace.workspace import Loaded, Workspace

    Wanted = dict[Item, Owed]

_MOST_TRIED, _MOST_BASES = 8, 3  # kept texts, the newest first, and bases for each


class _Task(NamedTuple):
    """A task that is mended: the paths of its state file and its archive, and its kept records, oldest first."""

    workspace: Workspace
    id: str
    path: str
    archive_path: str
    records: list[tuple[KeptRecord, Entry]]

    @property
    def kept_texts(self) -> list[bytes]:
        """The texts of the state file that commands left, newest first."""
        return self.texts_of({record for record, _ in self.records})

    def texts_of(self, records: Collection[KeptRecord]) -> list[bytes]:
        """Return the texts of the state file in some of the records, newest first."""
        found = []
        for record, entry in reversed(self.records):
            if record not in records:
                continue
            with suppress(TaskstateError, ValueError):
                found += [data for path, _, data in written(record.plan()) if path == entry.path and data]
        return found

    def committed(self, path: str) -> list[bytes]:
        """Return the versions of a file in the commits that a reference reaches, newest first."""
        return [data for _, (data,) in history.versions(self.workspace.root, (path,), history.REFS) if data]

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, empty where there is none."""
        full = files.inside(self.workspace.root, path)
        return files.read(full) if files.size(full) is not None else b""


class _Files(NamedTuple):
    """The bytes of a task's state file and of its archive, empty where there is none."""

    state: bytes
    archive: bytes

    @property
    def sessions(self) -> tuple[Session, ...]:
        """The sessions of both."""
        return (*_state(self.state).sessions, *_archived(self.archive))

    @property
    def items(self) -> tuple[Counter[Item], Counter[Item]]:
        """The items of each."""
        return _items("state", self.state), _items("archive", self.archive)

    @property
    def gaps(self) -> int:
        """How many numbers below the highest one no session has."""
        numbers = {session.number for session in self.sessions}
        return max(numbers, default=0) - len(numbers)

    @property
    def faults(self) -> int:
        """The number of faults that keep the archive from fitting the state file."""
        archive = self.archive.decode("utf-8", "replace") or None
        return sum(problem.fatal for problem in examine(_state(self.state), "", archive, "").problems)


def bring_back(workspace: Workspace, task_id: str, request: Request) -> str:
    """Bring back what is gone of a task, and mend its files where they are damaged; return a message about that.

    What was lost at several times may need several merges, each written by itself.
    """
    loss = find_loss(workspace, task_id)
    task = _open(workspace, task_id, loss)
    before = gone = dict(loss.items) if loss else {}
    problem = ""
    while True:
        try:
            _mend(task, {item: each for item, each in gone.items() if item.kind != HANDOFF}, request)
        except TaskstateError as error:
            problem = f"{error.message}; {_write_proposal(task)}"
        left = find_loss(workspace, task_id)
        is_stuck = bool(problem) or (left is not None and left.items.keys() >= gone.keys())
        gone = left.items if left else {}
        if is_stuck or not gone:
            break
    back = {item: each for item, each in before.items() if item not in gone}
    done = f"{names_of(back)} back" if back else "" if problem else "its last good text is back"
    problem = problem or (f"{names_of(gone)} not; {_write_proposal(task)}" if gone else "")
    return f"{task.path}: {'; '.join(filter(None, (done, problem)))}"


def standing_twice(workspace: Workspace, path: Path) -> list[Item]:
    """Return the sessions that stand in a state file and in its archive; none where one of the two cannot be read."""
    with suppress(TaskstateError):
        task = _open(workspace, names.parse_task_id(path.name), None)
        state, archive = _Files(files.read(path), task.read(task.archive_path)).items
        return [item for item in state & archive if item.kind == SESSION]
    return []


def _open(workspace: Workspace, task_id: str, loss: Loss | None) -> _Task:
    path = loss.path if loss else workspace.relative(workspace.locate(task_id))
    own = own_file(path)
    archive = workspace.relative(workspace.state_root / workspace.archive_path((own and own.id) or task_id))
    entries = entries_of(kept.records(workspace.private)[0], task_id.casefold())
    return _Task(workspace, task_id, path, archive, [pair for pair in entries if pair[1].path])


def _mend(task: _Task, wanted: Wanted, request: Request) -> None:
    """Write what brings back everything, or else what brings back the most recent part of it.

    Raises:
        TaskstateError: nothing that is known does; nothing is written.
    """
    newest = max((each.record.number for each in wanted.values()), default=0)
    portions = [wanted, {item: each for item, each in wanted.items() if each.record.number == newest}]
    path = files.inside(task.workspace.root, task.path)
    try:
        task.workspace.load(path)
    except TaskstateError as error:
        if error.code not in {"not-found", *damage.CODES}:
            raise
        with task.workspace.locked():
            _write_anew(task, portions)
    else:
        change_at(task.workspace, path, lambda loaded: _change(task, loaded, portions), request)


def _write_anew(task: _Task, portions: list[Wanted]) -> None:
    """Write a state file that is missing, or not UTF-8, as a command left it last."""
    now = _Files(b"", task.read(task.archive_path))
    texts = [*task.kept_texts, *task.committed(task.path)]
    after, _ = _best(task, now, lambda _: texts, portions, is_damaged=True)
    standing = task.read(task.path)
    operation: journal.Operation = journal.Create(task.path, after.state)
    if files.size(task.workspace.root / task.path) is not None:
        _keep_aside(task, standing)
        operation = journal.Replace(task.path, files.digest(standing), after.state)
    carry_out(task.workspace, (*_handoffs(task), *_archive_plan(task, now.archive, after.archive), operation))


def _change(task: _Task, loaded: Loaded, portions: list[Wanted]) -> Change[None]:
    """Return the change after which everything is there exactly once."""
    archived = task.read(task.archive_path)
    now = _Files(loaded.data, b"" if damage.is_foreign(archived, task.id) else archived)
    is_damaged = bool(damage.damage_of(task.workspace, loaded))
    after, is_decided = _best(
        task, now, lambda wanted: _states(task, loaded, wanted, is_damaged=is_damaged), portions, is_damaged=is_damaged
    )
    if (is_damaged or is_decided) and not set(after.state.splitlines()).issuperset(loaded.data.splitlines()):
        _keep_aside(task, loaded.data)
    return Change(
        text=after.state.decode("utf-8"),
        before=(*_handoffs(task), *_archive_plan(task, archived, after.archive)),
        revision_above=max((entry.revision for _, entry in task.records), default=0),
    )


def _best(
    task: _Task, now: _Files, texts: Callable[[Wanted], Iterable[bytes]], portions: list[Wanted], *, is_damaged: bool
) -> tuple[_Files, bool]:
    """Return the first texts after which all that is wanted is there, and whether conflicts were decided for that.

    Raises:
        TaskstateError: code "unsafe" or "no-base": there are none.
    """
    archives, owed = _archives(task, now.archive), owed_items(task.records)
    problem = TaskstateError("what is kept of it does not bring it back", code="no-base")
    found: tuple[_Files, bool] | None = None
    for wanted in portions:
        for text in texts(wanted):
            for archive in archives:
                after = _Files(_with_our_side(text), archive)
                try:
                    _require_whole(now, after, wanted, owed, is_damaged=is_damaged)
                except TaskstateError as error:
                    problem = error
                    continue
                if after.gaps <= now.gaps:
                    return after, after.state != text
                found = found or (after, after.state != text)
        if found:
            return found
    raise problem


# What may be written


def _states(task: _Task, loaded: Loaded, wanted: Wanted, *, is_damaged: bool) -> Iterator[bytes]:
    """Yield texts for the state file, the likeliest first; those with conflicts are the last."""
    texts, committed = task.kept_texts, task.committed(task.path)
    sources = [*task.texts_of({each.record for each in wanted.values()}), *texts[:_MOST_TRIED]]
    archived = items_in("archive", "", _with_batches(task, task.read(task.archive_path)))
    conflicting = []
    for theirs in dict.fromkeys(sources):
        if is_damaged:
            yield theirs
        for base in _bases(loaded, theirs, (*texts, *committed), archived):
            merged, conflicts = merge_files(Versions(base, loaded.data, theirs), loaded.relative)
            if conflicts:
                conflicting.append(merged)
            else:
                yield merged
    yield from committed if is_damaged else ()
    for ours in dict.fromkeys((_without_archived(task, loaded), loaded.data)):
        for theirs in dict.fromkeys(sources):
            yield merge_files(_difference(theirs, ours, wanted), loaded.relative).data
        yield ours
    yield from conflicting


def _without_archived(task: _Task, loaded: Loaded) -> bytes:
    """Return the state file without the sessions that its archive holds as well, with the summary that stands for them.

    The summary is one that a command wrote; where none stands for the whole archive, the file stays as it is.
    """
    archive = task.read(task.archive_path)
    archived = _items("archive", archive)
    state = _state(loaded.data)
    spans = [each.section.span for each in state.sessions if archived[entry_item(each.entry)]]
    last = max((session.number for session in _archived(archive)), default=0)
    summaries = (text for text in map(_state, task.kept_texts) if text.summary and text.archived == last)
    source = next(summaries, None)
    if not spans or source is None or source.summary is None:
        return loaded.data
    summary = source.summary.section.span.of(source.document.text)
    old = state.summary.section.span if state.summary else Span(spans[0].start, spans[0].start)
    edits = [Edit(*old, summary), *(Edit(*span, "") for span in spans)]
    text = apply(state.document.text, edits)
    path = task.workspace.archive_path(task.id)
    return apply(text, set_front_matter(parse(text), "archive_path", path)).encode()


def _difference(theirs: bytes, ours: bytes, wanted: Wanted) -> Versions[bytes]:
    """Return versions whose merge adds nothing but what is wanted of a kept text to the present one.

    Their side is the kept text with no sessions but those; the base is that without them, with no check that is wanted,
    and with the features whose proofs are wanted as the present text has them.
    """
    state = _state(theirs)
    text = state.document.text
    items = [(entry_item(session.entry), session.section.span) for session in state.sessions]
    others = [Edit(*span, "") for item, span in items if item not in wanted]
    own = [Edit(*span, "") for item, span in items if item in wanted]
    places = {(item.kind, item.place) for item in wanted}
    own += [Edit(*each.mark, " ") for each in state.criteria if each.checked and (CHECK, place_of(each.text)) in places]
    standing = _features(_state(ours))
    for feature_id, (span, _) in _features(state).items():
        if (PROOF, feature_id) in places and feature_id in standing:
            own.append(Edit(*span, standing[feature_id][1]))
    return Versions(apply(text, [*others, *own]).encode(), ours, apply(text, others).encode())


def _features(state: TaskState) -> dict[str, tuple[Span, str]]:
    """Return the span and the text of each entry of the checklist, by id."""
    features = state.checklist.features if state.checklist else ()
    return {each.id: (each.node.span, each.node.span.of(state.document.text)) for each in features}


def _bases(loaded: Loaded, theirs: bytes, known: tuple[bytes, ...], archived: Counter[Item]) -> list[bytes]:
    """Return the texts from which both the present one and `theirs` may have come, the likeliest first.

    A text with the present one's last write (such as itself) is first, then those with the highest revision; both must
    have all of its sessions, or have archived them. At last, nothing is the base.
    """
    both = [_items("state", data) | archived for data in (loaded.data, theirs)]
    stamp, older = stamp_of(_state(loaded.data)), []  # the writer may have raised the revision of `loaded.state`
    for data in dict.fromkeys(known):
        state = _state(data)
        items = [entry_item(session.entry) for session in state.sessions]
        # A text with the present one's last write is its base for certain, even if somebody has edited a session since.
        is_own = stamp_of(state) == stamp
        if data != theirs and all(side[item] for side in both[is_own:] for item in items):
            older.append((is_own, state.revision, data))
    return [*(data for _, _, data in sorted(older, reverse=True)[:_MOST_BASES]), b""]


def _archives(task: _Task, now: bytes) -> list[bytes]:
    """Return texts for the archive: as it is, as git has it, and each with the kept batches that it lacks behind it."""
    starts = (now, *task.committed(task.archive_path)[:_MOST_BASES], b"")
    return list(dict.fromkeys(text for start in starts for text in (start, _with_batches(task, start))))


def _with_batches(task: _Task, text: bytes) -> bytes:
    for record, _ in task.records:
        with suppress(TaskstateError, ValueError):
            for path, is_appended, data in written(record.plan()) if record.batch else ():
                batch = _items("archive", data) if path == task.archive_path else Counter()
                if lost_between(batch, _items("archive", text)):
                    text = text + data if text and is_appended else text or data
    return text


def _archive_plan(task: _Task, now: bytes, after: bytes) -> journal.Plan:
    path = task.archive_path
    if after == now:
        return ()
    if files.size(task.workspace.root / path) is None:
        return (journal.Create(path, after),)
    if now and after.startswith(now):
        return (journal.Append(path, len(now), after[len(now) :]),)
    _keep_aside(task, now)
    if not after:
        return (journal.Delete(path, files.digest(now)),)
    return (journal.Replace(path, files.digest(now), after),)


def _handoffs(task: _Task) -> journal.Plan:
    """Return the operations that write the missing handoffs and impact maps again, where they stood last."""
    missing = {item.place for item in owed_items(task.records) if item.kind == HANDOFF}
    found: dict[str, journal.Create] = {}
    for record, _ in task.records:
        with suppress(TaskstateError, ValueError):
            for path, _, data in written(record.plan()):
                name = path.rpartition("/")[2]
                found |= {name: journal.Create(path, data)} if name in missing else {}
    return tuple(each for each in found.values() if not any(at.exists() for at in _places_of(task, each.path)))


def _places_of(task: _Task, handoff: str) -> tuple[Path, Path]:
    """Return the paths of a handoff before and after it is accepted."""
    path = files.inside(task.workspace.root, handoff)
    folder = path.parent.parent if path.parent.name == ACCEPTED_FOLDER else path.parent
    return folder / path.name, folder / ACCEPTED_FOLDER / path.name


# What must hold


def _require_whole(now: _Files, after: _Files, wanted: Wanted, owed: Wanted, *, is_damaged: bool) -> None:
    """Refuse texts in which something that stands now, or comes back, would not be there exactly once.

    Of what is owed, nothing else may come back: somebody has edited it, or it is on another branch. In a damaged file a
    session that the new text has under the same number, in full, is no other session.

    Raises:
        TaskstateError: code "unsafe".
    """
    standing = now.items[0] | now.items[1]
    if is_damaged:
        _require_sound(now, after)
        standing -= _remnants(now, after)
    replaced = {(item.kind, item.place) for item in wanted if item.place}
    needed = Counter({item: count for item, count in standing.items() if (item.kind, item.place) not in replaced})
    needed |= Counter({item: each.number for item, each in wanted.items()})
    for item in _superseded(now, after, owed):
        del needed[item]
    there = after.items[0] + after.items[1]
    require_conserved(needed, there, "it")
    if not is_damaged and any(item.kind == SESSION and item in owed and not needed[item] for item in there):
        raise TaskstateError("what was edited since would come back, too", code="unsafe")
    if after.faults > (0 if is_damaged or not wanted else now.faults):
        raise TaskstateError("its archive would not fit its sessions", code="unsafe")


def _superseded(now: _Files, after: _Files, owed: Wanted) -> list[Item]:
    """Return the sessions of which an older form stands, while an edited one that a command wrote since comes back."""
    known = next((each.known for each in owed.values()), ())
    standing = {entry_item(session.entry) for session in now.sessions}
    new = [session for session in after.sessions if entry_item(session.entry) not in standing]
    old = ((entry_item(session.entry), session) for session in now.sessions)
    return [
        item
        for item, session in old
        if item in known
        and item not in owed
        and any(each.time == session.time and are_alike(each.entry, session.entry) for each in new)
    ]


def _require_sound(now: _Files, after: _Files) -> None:
    """Refuse to leave a damaged file damaged, or to let it count fewer sessions than it does."""
    text = after.state.decode("utf-8", "replace")
    said = front_matter_values(parse(now.state.decode("utf-8", "replace"))).get(COUNTS)
    total = said.get("total") if isinstance(said, dict) else 0
    if after == now or "\0" in text or find_conflicts(text):
        raise TaskstateError("it would stay damaged", code="unsafe")
    if isinstance(total, int) and total > len(after.sessions):
        raise TaskstateError(f"it counts {total} sessions, and {len(after.sessions)} are known", code="unsafe")


def _remnants(now: _Files, after: _Files) -> Counter[Item]:
    """Return the sessions of a damaged file, or archive, that the new texts have in full."""
    whole = {session.number: session.time for session in after.sessions}
    found = [
        session.entry
        for session in now.sessions
        if session.number in whole and (session.time in (None, whole[session.number]) or find_conflicts(session.entry))
    ]
    return Counter({entry_item(entry): 2 for entry in found})


@lru_cache(maxsize=128)  # of each text many combinations are tried
def _items(kind: str, data: bytes) -> Counter[Item]:
    return items_in(kind, "", data)


@lru_cache(maxsize=128)
def _archived(data: bytes) -> tuple[Session, ...]:
    return sessions_in(data.decode("utf-8", "replace"))


@lru_cache(maxsize=128)
def _state(data: bytes) -> TaskState:
    return read_state(parse(data.decode("utf-8", "replace")))


# Texts beside the task


def _keep_aside(task: _Task, data: bytes) -> None:
    """Keep a text that is replaced, as an artifact."""
    if data.strip(b"\0\r\n\t "):
        artifacts.write(task.workspace, task.id, f"replaced-{files.digest(data)[:8]}.md", data)


def _write_proposal(task: _Task) -> str:
    """Write the newest kept text beside the task's files, and return a message that says where."""
    text = next(iter(task.kept_texts), b"")
    if not text:
        return "nothing is kept of it: mend it by hand, or take it back with git"
    path = artifacts.write(task.workspace, task.id, f"proposal-{files.digest(text)[:8]}.md", text)
    return f"what is kept of it stands in {task.workspace.config.root}/{path}: take from it what is missing"


def _with_our_side(data: bytes) -> bytes:
    """Return a text with conflict markers as if all conflicts were decided for the file's own version."""
    if OURS.encode() not in data:
        return data
    lines: list[str] = []
    side = ""
    for line in lines_of(data.decode("utf-8", "surrogateescape")):
        marker = with_newlines(line, "\n")
        if marker in {OURS, MIDDLE, THEIRS} and (side or marker == OURS):
            side = {OURS: "ours", MIDDLE: "theirs", THEIRS: ""}[marker]
        elif side != "theirs":
            lines.append(line)
    return "".join(lines).encode("utf-8", "surrogateescape")
