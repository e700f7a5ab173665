"""Finds what commands acknowledged and the files no longer hold: told by every command until one of two ways is taken.

An item is accounted for where it stands in the task's files as they are here, in a commit that a reference reaches, or
where somebody has edited it. Git's history is read only for an item that is missing here.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import takewhile

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import names
from taskstate.model.names import ACCEPTED_FOLDER, HANDOFF_FOLDER
from taskstate.model.task_state import read_state
from taskstate.storage import files, folders, kept_records
from taskstate.storage.git import client as git
from taskstate.storage.git import history
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import FILES, KEY, MAP, SESSION, WORDS, Item, described, entry_item, items_in, named_items
from taskstate.writing.answers import told
from taskstate.writing.damage import damage_at
from taskstate.writing.ledger import Entry, Owed, View, entries_of, owed_items, written
from taskstate.writing.taken_back import taken_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from typing import TypeAlias

    from taskstate.storage.kept_records import KeptRecord
    from taskstate.workspace.workspace import Workspace

_MOST_NAMES = 4  # of items in a message


class Loss(NamedTuple):
    """Items of a task that are gone: those that are told, and those that only the reflog still reaches (a note).

    `path` is that of the state file, `revision` the highest that held one of them, `since` the time of the oldest
    record of one; `stashed` says whether the stash holds them, `commit` is one that only the reflog reaches, `is_there`
    whether the state file is. `taken` are sessions that a commit of this branch has and a later one removed or rewrote;
    `source` is the newest commit that has one of them.
    """

    task: str
    path: str
    items: dict[Item, Owed]
    reflog: dict[Item, Owed]
    revision: int
    since: str
    stashed: bool
    commit: str
    is_there: bool
    taken: dict[Item, Owed]
    source: str

    def message(self) -> str:
        """Return the loss in one line: what, since when, and both ways; what commits took if nothing else is gone."""
        if not self.items:
            return self._taken()
        stash = "`git stash pop` has it; else " if self.stashed else ""
        also = "" if self.is_there else "the file itself"
        return (
            f"{files.shown(self.path)}: {names_of(self.items, also)} gone, recorded {self.since}: {stash}"
            "`taskstate doctor --fix` brings back what is missing, and "
            f"`taskstate doctor --let-go {self.task}` accepts the loss"
        )

    def _taken(self) -> str:
        numbers = " ".join(name.removeprefix(f"{SESSION} ") for name in _listed(self.taken))
        source = self.source[: git.SHORT]
        return (
            f"{files.shown(self.path)}: {names_of(self.taken)} not as committed in {source}: a later commit, such as "
            f"a revert, rewrote or removed it: `taskstate session restore {self.task} {numbers} --from {source}` puts "
            f"back what was committed, and `taskstate doctor --let-go {self.task}` accepts the loss"
        )

    def note(self) -> str:
        """Return in one line what only the reflog reaches."""
        return f"{names_of(self.reflog)} only in commits that no branch reaches, such as {self.commit}"


class Finding(NamedTuple):
    """What was found of a task: what is to be told of it, and whether git's history was read for that.

    It is `damaged` where that is the message, and `steady` where nothing but what the newest record left in the state
    file is accounted for by that file. `told` are the items that are gone, as the records list them.
    """

    message: str
    damaged: bool
    steady: bool
    read_history: bool
    told: tuple[str, ...] = ()


def paths_of(workspace: Workspace, task_id: str, own: Iterable[KeptRecord]) -> tuple[str, ...]:
    """Return the paths of a task's state file, of its archive and of its handoffs; `own` are its records."""
    entries = entries_of(own, task_id)
    is_let_go = bool(entries) and entries[-1][1].dropped and not entries[-1][1].path
    return _paths(workspace, task_id, (entry.path for _, entry in entries), is_sought=not is_let_go)


def look(workspace: Workspace, task_id: str, own: Iterable[KeptRecord], paths: tuple[str, ...]) -> Finding:
    """Look for what is gone of a task, and for damage to its state file; `own` are its records, `paths` its files."""
    entries = entries_of(own, task_id)
    damage = damage_at(workspace, workspace.root / paths[0])
    if damage:
        known = tuple(told(workspace, task_id))
        return Finding(damage, damaged=True, steady=False, read_history=False, told=known)
    owed = _owed(workspace, task_id, entries)
    missing, changed = _missing(workspace, paths, owed, entries), _changed_sessions(workspace, paths, owed)
    loss = _loss(workspace, task_id, (missing, changed), paths) if missing or changed else None
    message = loss.message() if loss and (loss.items or loss.taken) else ""
    rest = {i: each for i, each in owed.items() if entries[-1][1].items[i] < each.number and i not in missing}
    is_noted = bool(loss and loss.reflog)  # its revisions and versions are not to be given again
    steady = not is_noted and not (rest and _absent(rest, _here(workspace, paths[1:], owed)))
    gone = tuple(map(" ".join, loss.items)) if loss else ()
    return Finding(message, damaged=False, steady=steady, read_history=bool(missing or changed), told=gone)


def find_losses(workspace: Workspace, records: Iterable[KeptRecord] | None = None) -> Iterator[Loss]:
    """Yield the losses of all tasks, also those that are only noted."""
    records = tuple(kept_records.records(workspace.private)[0] if records is None else records)
    for task_id in sorted({task_id for record in records for task_id in record.ids}, key=names.id_key):
        loss = find_loss(workspace, task_id, records)
        if loss:
            yield loss


def find_loss(workspace: Workspace, task_id: str, records: Iterable[KeptRecord] | None = None) -> Loss | None:
    """Return what is gone of a task, or None."""
    # The records are listed before the files are read: a writer writes the files first.
    records = kept_records.records(workspace.private)[0] if records is None else records
    entries = entries_of(records, task_id.casefold())
    owed = _owed(workspace, task_id, entries)
    paths = _paths(workspace, task_id, (entry.path for _, entry in entries)) if owed else ()
    missing, changed = _missing(workspace, paths, owed, entries), _changed_sessions(workspace, paths, owed)
    return _loss(workspace, task_id.casefold(), (missing, changed), paths) if missing or changed else None


def _owed(workspace: Workspace, task_id: str, entries: list[tuple[KeptRecord, Entry]]) -> dict[Item, Owed]:
    """Return what is owed of a task; where it was dropped and its state file is gone, what was written since."""
    owed = owed_items(entries, told(workspace, task_id.casefold()))
    states = [entry for _, entry in entries if entry.path]
    if not states or not states[-1].dropped or folders.is_file(workspace.root / states[-1].path):
        return owed
    drop = list(takewhile(lambda entry: entry.dropped, reversed(states)))[-1]
    return {item: each for item, each in owed.items() if each.revision > drop.revision}


def _paths(workspace: Workspace, task_id: str, recorded: Iterable[str], *, is_sought: bool = True) -> tuple[str, ...]:
    """Return the paths of a task's state file, of its archive, Impact Map and handoffs, whether they exist.

    Where several state files have the id they come first. A state file that lies elsewhere than it was recorded
    `is_sought` in all of the repository.
    """
    usual = workspace.relative(workspace.tasks / f"task-{task_id}-state.md")
    known = [path for path in dict.fromkeys((*recorded, usual)) if path]
    states = [path for path in known if folders.is_file(workspace.root / path)]
    if not states and is_sought:
        with suppress(TaskstateError):
            states = [workspace.relative(workspace.locate(task_id))]
    archive = workspace.relative(workspace.state_root / workspace.archive_path(task_id))
    own = names.own_file((states or known)[-1])
    map_file = workspace.relative(workspace.map_file((own and own.id) or task_id))
    handoffs = (f"{HANDOFF_FOLDER}/task-{task_id}", f"{HANDOFF_FOLDER}/task-{task_id}/{ACCEPTED_FOLDER}")
    places = (workspace.relative(workspace.state_root / folder) for folder in handoffs)
    return (*(states or known[-1:]), archive, map_file, *places)


_Contents: TypeAlias = "list[tuple[str, bytes]]"
_Owed: TypeAlias = "dict[Item, Owed]"


def _readable(paths: tuple[str, ...], owed: dict[Item, Owed]) -> list[str]:
    """Return the paths of files among those of a task, with those of the handoffs that are owed."""
    places = [path for path in paths if names.own_file(path) is None]
    handoffs = [f"{folder}/{item.place}" for folder in places for item in owed if item.kind in FILES]
    return [path for path in paths if names.own_file(path)] + handoffs


def _here(workspace: Workspace, paths: tuple[str, ...], owed: dict[Item, Owed]) -> _Contents:
    return [(path, _content(workspace.root / path)) for path in _readable(paths, owed)]


def _content(path: Path) -> bytes:
    with suppress(TaskstateError):
        return files.read(path) if folders.is_file(path) else b""
    return b""


def _missing(
    workspace: Workspace, paths: tuple[str, ...], owed: dict[Item, Owed], entries: list[tuple[KeptRecord, Entry]]
) -> dict[Item, Owed]:
    """Return what a task's files do not hold any more. An Impact Map that was edited by hand is there."""
    here = _here(workspace, paths, owed)
    maps = {path.rpartition("/")[2] for path, data in here if data}
    gone = _absent(owed, here)
    gone = {item: each for item, each in gone.items() if item.kind != MAP or item.place not in maps}
    back = taken_back(workspace, gone, here[0][1], entries) if gone else set()
    return {item: each for item, each in gone.items() if item not in back}


def _changed_sessions(workspace: Workspace, paths: tuple[str, ...], owed: dict[Item, Owed]) -> dict[Item, Owed]:
    """Return the sessions that a task's files do not hold as they were written, also where somebody has edited them."""
    sessions = {item: each for item, each in owed.items() if item.kind == SESSION}
    is_there = sessions and folders.is_file(workspace.root / paths[0])
    return _absent(sessions, _here(workspace, paths, sessions), edits=False) if is_there else {}


def _taken(workspace: Workspace, changed: dict[Item, Owed], paths: tuple[str, ...]) -> tuple[dict[Item, Owed], str]:
    """Return the sessions that commits of this branch have and HEAD has not, and the newest commit that has some."""
    readable = _readable(paths, changed)
    contents = [(path, history.text_at(workspace.root, path, "HEAD") or b"") for path in readable if changed]
    lacking = _absent(changed, contents, edits=False) if contents and contents[0][1] else {}
    never, source = _without(workspace, lacking, paths, history.OWN)
    return {item: each for item, each in lacking.items() if item not in never}, source


def _absent(left: dict[Item, Owed], contents: _Contents, *, edits: bool = True) -> dict[Item, Owed]:
    """Return what some version of a task's files holds neither as it is nor, with `edits`, edited."""
    found = [(own.type, path, data) for path, data in contents if data and (own := names.own_file(path))]
    present = sum((items_in(*each) for each in found), Counter[Item]())
    gone = {item: each for item, each in left.items() if present[item] < each.number}
    for kind, _, data in found:
        accounted = View(data).accounted(gone, edits=edits) if gone and kind == "state" else ()
        gone = {item: each for item, each in gone.items() if item not in accounted}
    return gone


def _loss(workspace: Workspace, task_id: str, gone: tuple[_Owed, _Owed], paths: tuple[str, ...]) -> Loss | None:
    """Return the loss, with what git does not have any more; None if a reference reaches everything.

    `gone` are what the files do not hold, and the sessions that they do not hold as they were written.
    """
    left = _without(workspace, gone[0], paths, history.REFS)[0]
    taken, source = _taken(workspace, gone[1], paths)
    if not left and not taken:
        return None
    unstashed, _ = _without(workspace, left, paths, history.STASH)  # the reflog has the stashes, too
    nowhere, commit = _without(workspace, unstashed, paths, history.REFLOG)
    return Loss(
        task=task_id,
        path=paths[0],
        items={item: each for item, each in left.items() if item in nowhere or item not in unstashed},
        reflog={item: each for item, each in unstashed.items() if item not in nowhere},
        revision=max((each.entry.revision for each in left.values()), default=0),
        since=min((each.entry.at for each in left.values()), default=""),
        stashed=len(unstashed) < len(left),
        commit=commit,
        is_there=folders.is_file(workspace.root / paths[0]),
        taken=taken,
        source=source,
    )


def _without(
    workspace: Workspace, missing: dict[Item, Owed], paths: tuple[str, ...], where: str
) -> tuple[dict[Item, Owed], str]:
    """Return what git has not in these commits either, and the newest commit that has some of it."""
    left, found = dict(missing), ""
    readable = _readable(paths, missing)
    for commit, contents in history.versions(workspace.root, readable, where) if missing else ():
        before, there = len(left), [(p, data) for p, data in zip(readable, contents, strict=True) if data]
        revision = max((_revision(data) for path, data in there if path == paths[0]), default=0)
        earlier = {item: each for item, each in left.items() if item.kind == KEY and each.revision > revision}
        edits = where != history.OWN  # of this branch, only what was committed as it was written
        left = _absent({item: each for item, each in left.items() if item not in earlier}, there, edits=edits) | earlier
        found = found or (commit if len(left) < before else "")
        if not left:
            break
    return left, found


def _revision(data: bytes) -> int:
    return read_state(parse(data.decode("utf-8", "replace"))).revision


def names_of(items: dict[Item, Owed], also: str = "") -> str:
    """Return the names of items for a message, with the verb: "session 4 and session 5 are"; first what is gone, too.

    Values of the front matter are named only where nothing else is gone.
    """
    listed = _listed(items)
    are_many = len(listed or items) > 1 or bool(also)
    listed = [*filter(None, [also]), *(listed or [described(items)])]  # no record of them can be read
    return f"{first_of(listed, _MOST_NAMES)} {'are' if are_many else 'is'}"


def _listed(items: dict[Item, Owed]) -> list[str]:
    """Return the names of items, each once, first those that are told by their words."""
    found = {pair for record in {owed.record for owed in items.values()} for pair in _names_in(record, items)}
    shown = [each for each in found if each[0].kind != KEY or each[0].place.startswith("acks ")] or found
    in_order = sorted(shown, key=lambda each: (each[0].kind not in WORDS, names.id_key(each[1])))
    return list(dict.fromkeys(name for _, name in in_order))


def _names_in(record: KeptRecord, items: dict[Item, Owed]) -> Iterator[tuple[Item, str]]:
    with suppress(TaskstateError, ValueError):
        for path, _, data in written(record.plan()):
            own = names.own_file(path)
            text = data.decode("utf-8", "replace")
            named = named_items(read_state(parse(text))) if own and own.type == "state" else named_archived(text)
            yield from (each for each in named if each[0] in items)
            if own and own.type in {"handoff", "impact-map"}:
                word = "Impact Map" if own.type == "impact-map" else "handoff"
                yield from (
                    (item, f"the {word} {item.place}") for item in items_in(own.type, path, data) if item in items
                )


def named_archived(text: str) -> Iterator[tuple[Item, str]]:
    """Yield the sessions in an archive file, or in a part of one, each with its name for a message."""
    from taskstate.model.archive_format import batch_contents

    for batch in batch_contents(text):
        for entry in batch.entries:
            yield entry_item(text[entry.start : entry.end]), f"session {entry.number}"
