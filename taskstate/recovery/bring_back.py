"""Brings back what is gone from a task's files, or mends damaged ones, with what commands have left of them.

A state file that is damaged or gone is replaced by its last good text. To what stands then, each item that is gone is
added from the newest kept text that holds it. Before anything is written, every item that stands now and every item
that comes back is counted; afterwards each must be there exactly once. Else nothing is written, and the kept text lies
beside as a proposal.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import product

from taskstate.errors import TaskstateError
from taskstate.model.canonical_json import audit_seal
from taskstate.model.names import ACCEPTED_FOLDER, own_file
from taskstate.model.write_metadata import blocks_of, front_matter_values, timestamp
from taskstate.recovery.added_items import with_items
from taskstate.recovery.archives import as_written
from taskstate.recovery.conflicted import merged_again, require_both_sides, undecided
from taskstate.recovery.mended_task import MendedTask, contested, keep_aside, merged_in, with_bases, write_proposal
from taskstate.recovery.task_files import (
    TaskFiles,
    items_of,
    needed_items,
    older_forms,
    require_whole,
    state_of,
    without_archived,
)
from taskstate.storage import files, folders, journal, kept_records, replaced_texts
from taskstate.storage.git import history
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import ENTRY, FILES, HANDOFF, KEY, Item, session_item
from taskstate.writing import damage
from taskstate.writing.change import Change
from taskstate.writing.keeping import carry_out, let_go
from taskstate.writing.ledger import entries_of, owed_items, stamp_of, written
from taskstate.writing.losses import find_loss, names_of
from taskstate.writing.taken_back import taken_back
from taskstate.writing.writer import change_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime
    from pathlib import Path

    from taskstate.error_codes import ErrorCode
    from taskstate.recovery.mended_task import ErrorsIn
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request
    from taskstate.writing.ledger import Entry, Owed
    from taskstate.writing.losses import Loss

    Wanted = dict[Item, Owed]

_REPLACED: frozenset[ErrorCode] = damage.CODES | {"not-found"}  # errors of a state file that is written anew
_GOOD_TEXT, _ONCE = "its last good text is back", "each of its sessions is there once"


class _Source(NamedTuple):
    """A text of the state file, and the items that are taken from it."""

    data: bytes
    items: frozenset[Item]


class _Gap(NamedTuple):
    """A task's files as they are now, what is to come back and from which texts, and whether the files are damaged."""

    task: MendedTask
    now: TaskFiles
    wanted: Wanted
    sources: list[_Source]
    is_damaged: bool


def bring_back(workspace: Workspace, task_id: str, request: Request, errors_in: ErrorsIn) -> str:
    """Bring back what is gone of a task, and mend its files where they are damaged; return a message about that.

    `errors_in` counts the errors that the linter finds in a text of the file at a path.
    """
    loss = find_loss(workspace, task_id)
    task = _open(workspace, task_id, loss, timestamp(request.metadata.now), errors_in)
    newest = _newest_in_place(loss.items) if loss else {}
    stays_out = contested(task, newest)
    wanted = {item: each for item, each in newest.items() if item not in stays_out}
    faulty = _faulty(task, wanted, request)
    wanted = {item: each for item, each in wanted.items() if item not in faulty}
    problem, whole = "", ""
    try:
        whole = _mend(task, wanted, request)
        if loss and (stays_out or faulty):
            _give_way(task, loss._replace(items=stays_out | faulty))
    except TaskstateError as error:
        problem = error.message
    gone = _still_gone(task, {} if problem else wanted)
    undone = taken_back(workspace, wanted, task.read(task.path), task.records)
    back = {item: each for item, each in wanted.items() if item not in gone and item not in undone}
    problem = problem or (f"{names_of(gone)} not" if gone else "")
    said = _what_was_done(task, back, (stays_out, faulty), "" if problem else whole)
    return f"{task.path}: {'; '.join((*said, *((problem, write_proposal(task)) if problem else ())))}"


def _faulty(task: MendedTask, wanted: Wanted, request: Request) -> Wanted:
    """Return what would leave the linter more errors in a file than it has: that does not come back."""
    trial, dry = task._replace(aside=[]), request._replace(dry_run=True)
    out: Wanted = {}
    left = dict(wanted)
    with suppress(TaskstateError):  # what cannot be tried is refused where it is written
        loaded = task.workspace.load(files.inside(task.workspace.root, task.path))
        if not wanted or damage.damage_of(task.workspace, loaded):
            return {}  # a file that is mended has the errors that it had before
        most = task.errors_in(task.path, loaded.document.text)
        found = task.errors_in(task.path, _written(trial, left, dry).text)
        for item, each in wanted.items() if found > most else ():
            rest = {other: one for other, one in left.items() if other != item}
            errors = task.errors_in(task.path, _written(trial, rest, dry).text)
            if errors < found:
                out[item], left, found = each, rest, errors
        return out if found <= most else wanted
    return {}


def _still_gone(task: MendedTask, wanted: Wanted) -> Wanted:
    """Return what is gone after the cure; what of the wanted was merged into other words is let go."""
    left = find_loss(task.workspace, task.id)
    gone = left.items if left else {}
    found = merged_in(task, {item: each for item, each in gone.items() if item in wanted})
    if left and found:
        let_go(task.workspace, left._replace(items=found))
    return {item: each for item, each in gone.items() if item not in found}


def _what_was_done(task: MendedTask, back: Wanted, out: tuple[Wanted, Wanted], whole: str) -> Iterator[str]:
    """Yield what came back, what gave way to something else, and where the texts are that were replaced.

    `out` is what stays out since something else is there, and what does since the linter refuses it.
    """
    stays_out, faulty = out
    if back:
        yield f"{names_of(back)} back"
    elif whole and not ((stays_out or faulty) and whole == _ONCE):
        yield whole
    kept = f"what was kept of it: `taskstate doctor kept show {' '.join(task.aside)}`"
    if stays_out and task.aside:
        yield f"{names_of(stays_out)} left as it is there, {kept}"
    if faulty:
        yield f"{names_of(faulty)} not back, since `taskstate lint` would find more errors, {kept}"
    elif task.aside and not stays_out:
        yield replaced_texts.named(task.aside)


def _newest_in_place(gone: Wanted) -> Wanted:
    """Return what comes back: of what stood in the same place one after the other, only the last; values are merged."""
    oldest_first = sorted(gone, key=lambda item: (gone[item].revision, gone[item].record.number))
    places = {(item.kind, item.place or item.sha): item for item in oldest_first}
    return {item: each for item, each in gone.items() if item in places.values() or item.kind in {ENTRY, KEY}}


def _give_way(task: MendedTask, loss: Loss) -> None:
    """Let go of what gives way to something new in its place, after its words are kept aside."""
    for source in _sources(task, loss.items):
        keep_aside(task, task.path, source.data)
    let_go(task.workspace, loss)


def _open(workspace: Workspace, task_id: str, loss: Loss | None, at: str, errors_in: ErrorsIn) -> MendedTask:
    path = loss.path if loss else workspace.relative(workspace.locate(task_id))
    own = own_file(path)
    archive = workspace.relative(workspace.state_root / workspace.archive_path((own and own.id) or task_id))
    entries = entries_of(kept_records.records(workspace.private)[0], task_id.casefold())
    records = [pair for pair in entries if pair[1].path]  # the others say what was let go
    texts: list[tuple[Entry, bytes]] = []
    for record, entry in reversed(records):
        with suppress(TaskstateError, ValueError):
            texts += [(entry, data) for name, _, data in written(record.plan()) if name == entry.path and data]
    return MendedTask(workspace, task_id, path, archive, records, texts, owed_items(entries), at, [], errors_in)


def _mend(task: MendedTask, wanted: Wanted, request: Request) -> str:
    """Write what brings everything back; return what a damaged file holds then.

    Raises:
        TaskstateError: nothing that is known does; nothing is written.
    """
    path = files.inside(task.workspace.root, task.path)
    try:
        task.workspace.load(path)
    except TaskstateError as error:
        if error.code not in _REPLACED:
            raise
        with task.workspace.locked():
            _write_anew(task, wanted, request.metadata.now)
        return _GOOD_TEXT
    return _written(task, wanted, request).result


def _written(task: MendedTask, wanted: Wanted, request: Request) -> Outcome[str]:
    """Change a state file that can be read; its seal is broken only by what was taken out of it.

    Raises:
        TaskstateError: nothing that is known brings everything back; nothing is written.
    """
    path = files.inside(task.workspace.root, task.path)
    try:
        return change_at(task.workspace, path, lambda loaded: _change(task, loaded, wanted), request)
    except TaskstateError as error:
        if error.code != "seal-broken":
            raise
        refusal = error

    def sealed_again(loaded: Loaded) -> Change[str]:
        change = _change(task, loaded, wanted)
        if audit_seal(front_matter_values(parse(change.text))) != blocks_of(loaded.document).audit.seal:
            raise refusal  # more was changed in the blocks than what was taken out of them
        return change

    return change_at(task.workspace, path, sealed_again, request._replace(reseal=True))


def _write_anew(task: MendedTask, wanted: Wanted, at: datetime) -> None:
    """Write a state file that is missing, or not UTF-8, as a command left it last."""
    standing, archived = task.read(task.path), task.read(task.archive_path)
    now = TaskFiles(b"", as_written(archived, task.archives(archived)))
    after = _mended(_Gap(task, now, wanted, _sources(task, wanted), is_damaged=True), _good_texts(task))
    operation: journal.Operation = journal.Create(task.path, after.state)
    if files.size(task.workspace.root / task.path) is not None:
        keep_aside(task, task.path, standing)
        operation = journal.Replace(task.path, files.digest(standing), after.state)
    plan = (*_handoffs(task, wanted), *_archive_plan(task, archived, after.archive), operation)
    carry_out(task.workspace, plan, at)


def _change(task: MendedTask, loaded: Loaded, wanted: Wanted) -> Change[str]:
    """Return the change after which everything is there exactly once; its result is what the file holds then."""
    line = damage.conflict_line(loaded)
    if not line:
        return _with_all(task, loaded, wanted)
    merged = merged_again(task.workspace.root, task.path, loaded.data)
    if merged is not None and not damage.damage_of(task.workspace, loaded.with_text(merged.decode())):
        both = "both sides of its conflict are merged: `git add` it"
        return _with_all(task, loaded.with_text(merged.decode()), wanted)._replace(result=both, must_write=True)
    try:
        return _with_all(task, loaded, wanted)
    except TaskstateError as error:
        raise undecided(line) from error


def _with_all(task: MendedTask, loaded: Loaded, wanted: Wanted) -> Change[str]:
    """Return the change after which a file that holds no conflict, or one that is replaced, has everything."""
    archived = task.read(task.archive_path)
    whole = as_written(archived, task.archives(archived))
    now = TaskFiles(loaded.data, b"" if damage.is_foreign(archived, task.id) else whole)
    is_damaged = bool(damage.damage_of(task.workspace, loaded))
    starts = _good_texts(task, stamp_of(state_of(loaded.data))) if is_damaged else [loaded.data]
    after = _mended(_Gap(task, now, wanted, _sources(task, wanted), is_damaged=is_damaged), starts)
    if damage.conflict_line(loaded):
        require_both_sides(loaded.document.text, after.state.decode("utf-8", "replace"))
    if is_damaged and not set(after.state.splitlines()).issuperset(loaded.data.splitlines()):
        keep_aside(task, task.path, loaded.data)
    return Change(
        result=_GOOD_TEXT if is_damaged else _ONCE,
        text=after.state.decode("utf-8"),
        before=(*_handoffs(task, wanted), *_archive_plan(task, archived, after.archive)),
        revision_above=max((entry.revision for _, entry in task.records), default=0),
    )


def _mended(gap: _Gap, starts: Iterable[bytes]) -> TaskFiles:
    """Return the files after which all that is wanted is there: a text to start with, and what it lacks.

    Raises:
        TaskstateError: code "unsafe" or "no-base": there are none.
    """
    archives = gap.task.archives(gap.now.archive)
    held = {item for source in gap.sources for item in source.items}
    held = held.union(*(items_of("archive", each) for each in archives))
    gap = gap._replace(wanted={item: each for item, each in gap.wanted.items() if item in held})
    problem = TaskstateError("what is kept of it does not bring it back", code="no-base")
    for start, archive in product(starts, archives):
        try:
            return _completed(gap, TaskFiles(start, archive))
        except TaskstateError as error:
            problem = error
    raise problem


def _completed(gap: _Gap, start: TaskFiles) -> TaskFiles:
    """Return files with what they lack.

    Raises:
        TaskstateError: code "unsafe": something would not be there exactly once.
    """
    texts = [text for _, text in gap.task.texts]
    if gap.is_damaged:
        gap = _without(gap, taken_back(gap.task.workspace, gap.wanted, start.state, gap.task.records))
    start = without_archived(start, texts, gap.task.workspace.archive_path(gap.task.id))
    after = _with_sources(gap.task, start, gap.sources)
    needed = needed_items(gap.task.owed, gap.now, after, gap.wanted, is_damaged=gap.is_damaged)
    if gap.is_damaged and not find_conflicts(gap.now.state.decode("utf-8", "replace")):
        after = _with_sources(gap.task, after, [_Source(gap.now.state, frozenset(needed))])
    most_faults = gap.now.faults if gap.wanted and not gap.is_damaged else 0
    require_whole(gap.now, after, needed, is_damaged=gap.is_damaged, most_faults=most_faults)
    return after


def _without(gap: _Gap, back: set[Item]) -> _Gap:
    """Return a gap without edits by hand that the text to start with has not."""
    sources = [each._replace(items=each.items - back) for each in gap.sources]
    return gap._replace(wanted={item: each for item, each in gap.wanted.items() if item not in back}, sources=sources)


# What is put together


def _good_texts(task: MendedTask, stamp: str = "") -> list[bytes]:
    """Return texts of the state file to start with: the one with this last write, the kept ones, those in git.

    HEAD's comes first where it is newer than the kept one (edited by hand and committed since, or on another branch),
    and where the linter finds fewer errors in it: what a hand has put in the place of what is committed stays out.
    """
    kept_texts = [data for _, data in sorted(task.texts, key=lambda each: each[0].stamp != stamp)]
    head = history.text_at(task.workspace.root, task.path, "HEAD")
    is_better = head and kept_texts and not _was_written_on(task, head, kept_texts[0])
    if head and kept_texts and not is_better:
        errors = [task.errors_in(task.path, each.decode("utf-8", "replace")) for each in (head, kept_texts[0])]
        is_better = errors[0] < errors[1]
    return [*([head] if head and is_better else []), *kept_texts, *task.committed(task.path)]


def _was_written_on(task: MendedTask, head: bytes, kept_text: bytes) -> bool:
    """Return whether a kept text is a later write to the text that HEAD has: no commit is known to have changed it."""
    state = state_of(kept_text)
    if stamp_of(state) == stamp_of(state_of(head)):  # that very write, or what somebody made of it
        return False
    at = blocks_of(state.document).audit.values.get("git_head")
    return at is None or history.text_at(task.workspace.root, task.path, str(at)) == head


def _sources(task: MendedTask, wanted: Wanted) -> list[_Source]:
    """Return for each item the newest kept text that holds it, the oldest text first."""
    left, found = set(wanted), []
    for entry, data in task.texts:
        own = {item for item in left if item in (entry.moved if item.kind == HANDOFF else entry.items)}
        left -= own
        found += [_Source(data, frozenset(own))] if own else []
    return found[::-1]


def _with_sources(task: MendedTask, after: TaskFiles, sources: Iterable[_Source]) -> TaskFiles:
    """Return files with the items of the sources that they lack; an older form of a session makes way for a newer."""
    for source in sources:
        missing = {item for item in source.items if not any(side[item] for side in after.items)}
        if missing:
            state = state_of(after.state)
            new = [session for session in state_of(source.data).sessions if session_item(session) in missing]
            old = older_forms(task.owed, state.sessions, new)
            edits = [Edit(*each.section.span, "") for each in state.sessions if session_item(each) in old]
            ours = apply(state.document.text, edits).encode()
            after = after._replace(
                state=with_items(ours, source.data, with_bases(task, missing), task.path, task.workspace.kinds)
            )
    return after


def _archive_plan(task: MendedTask, now: bytes, after: bytes) -> journal.Plan:
    path = task.archive_path
    if after == now:
        return ()
    if files.size(task.workspace.root / path) is None:
        return (journal.Create(path, after),)
    if now and after.startswith(now):
        return (journal.Append(path, len(now), after[len(now) :]),)
    keep_aside(task, path, now)
    if not after:
        return (journal.Delete(path, files.digest(now)),)
    return (journal.Replace(path, files.digest(now), after),)


def _handoffs(task: MendedTask, wanted: Wanted) -> journal.Plan:
    """Return the operations that write the missing handoffs and impact maps again, where they stood last."""
    missing = {item.place for item in wanted if item.kind in FILES}
    found: dict[str, journal.Create] = {}
    for record, _ in task.records:
        with suppress(TaskstateError, ValueError):
            for path, _, data in written(record.plan()):
                name = path.rpartition("/")[2]
                found |= {name: journal.Create(path, data)} if name in missing else {}
    return tuple(each for each in found.values() if not any(folders.exists(at) for at in _places_of(task, each.path)))


def _places_of(task: MendedTask, handoff: str) -> tuple[Path, Path]:
    """Return the paths of a handoff before and after it is accepted."""
    path = files.inside(task.workspace.root, handoff)
    folder = path.parent.parent if path.parent.name == ACCEPTED_FOLDER else path.parent
    return folder / path.name, folder / ACCEPTED_FOLDER / path.name
