"""Carries out every write under the eye of the ledger: what it would lose is refused, what it acknowledges is kept."""

from __future__ import annotations

from collections import Counter, defaultdict
from contextlib import closing, suppress
from functools import cache, partial
from itertools import islice

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.task_state import read_state
from taskstate.storage import files, folders, journal, kept_records, transaction
from taskstate.storage.git import history
from taskstate.syntax.document import parse, parse_head
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import (
    CRITERION,
    EVENT,
    FILES,
    HANDOFF,
    SESSION,
    VERSION,
    Item,
    described,
    is_check,
    items_in,
    lost_between,
    units_of,
)
from taskstate.writing import notices
from taskstate.writing.answers import told
from taskstate.writing.ledger import (
    NOTHING,
    Entry,
    View,
    entries_of,
    entry_for,
    kept_texts,
    newest_entry,
    owed_items,
    unit_in,
)
from taskstate.writing.taken_back import taken_back

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from datetime import datetime

    from taskstate.model.task_state import TaskState
    from taskstate.storage.kept_records import KeptRecord
    from taskstate.storage.transaction import Operation, Plan
    from taskstate.units.items import Unit
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.losses import Loss

_MOST_RECORDS, _MOST_BYTES, _MOST_DAYS = 16, 16 * 1024**2, 90  # kept of a task, of what is accounted for
_VERSIONS = 20  # commits in which the last versions of a permanent task are looked for
_OUTDONE = ("status", "feature checklist features ")  # places whose newer value outdoes an older one
_LASTING = (SESSION, EVENT, HANDOFF)  # no command takes these away


def carry_out(workspace: Workspace, plan: Plan, now: datetime, read: Mapping[str, TaskState] | None = None) -> None:
    """Carry out a plan, and keep it with the entries of the tasks whose files it writes.

    `now` decides which records are old; `read` are the new state files that the caller has read, by their paths.

    Raises:
        StaleFile: a file is not as the plan expects it; nothing was changed.
        TaskstateError: the system refuses; code "unsafe": a session, an event or a handoff would get lost; code
            "too-large": no command would read a file again.
    """
    _require_readable(workspace, plan)
    records = kept_records.records(workspace.private)[0]
    entries = _entries(workspace, plan, records, read or {})
    quiet = {task_id: each.sha for task_id, each in entries.items() if notices.is_quiet(workspace, task_id, records)}
    listed = {"tasks": {task_id: entry.as_json() for task_id, entry in entries.items()}}
    name = kept_records.name_for(tuple(entries), batch=any(entry.moved for entry in entries.values()))
    first = any(map(_would_be_missed, entries.values()))
    journal.write(workspace.root, workspace.private, plan, journal.Keeping(listed, name, first) if entries else None)
    for task_id in entries:
        _prune(workspace, records, task_id, now)
    notices.remember_quiet(workspace, quiet, plan)


def _would_be_missed(entry: Entry) -> bool:
    """Return whether something that a write takes away would be missed after a kill that comes before its record.

    By the rules of the merge a newer proof, a later status and a check outdo what was there.
    """
    places = {(item.kind, item.place) for item in entry.items}
    return any(
        (item.kind, item.place) not in places or is_check(item) or not item.place.startswith(_OUTDONE)
        for item in entry.withdrawn
        if item.kind != CRITERION or is_check(item)
    )


def _require_readable(workspace: Workspace, plan: Plan) -> None:
    """Refuse to write one of our own files so large that it would not be read any more."""
    for operation in plan:
        if not isinstance(operation, transaction.Create | transaction.Replace | transaction.Append):
            continue
        stays = files.size(workspace.root / operation.path) if isinstance(operation, transaction.Append) else 0
        if names.own_file(operation.path) and (stays or 0) + len(operation.data) > files.MAX_TEXT:
            message = f"{operation.path} would hold more than {files.MAX_TEXT // 1024**2} MiB"
            help_ = "write what is long into a file of the project, and name that; a long history goes on in a new task"
            raise TaskstateError(message, help=help_, code="too-large")


def let_go(workspace: Workspace, loss: Loss) -> None:
    """Record that what is gone of a task was meant to go; where its state file is gone, that one, too."""
    items = Counter({item: owed.number for item, owed in loss.items.items()})
    entry = NOTHING._replace(revision=loss.revision, withdrawn=items, dropped=not loss.is_there)
    data = transaction.encode((), {"tasks": {loss.task: entry.as_json()}})
    kept_records.keep(workspace.private, data, kept_records.name_for((loss.task,), batch=False))


def is_nothing_owed(workspace: Workspace, task_id: str) -> bool:
    """Return whether the files of a task may be gone: they were let go, or the task was dropped."""
    entries = entries_of(kept_records.records(workspace.private)[0], task_id.casefold())
    return bool(entries) and (entries[-1][1].dropped or not owed_items(entries))


def lost_revision(workspace: Workspace, loaded: Loaded) -> int:
    """Return the highest revision that held something which is gone from a state file or was let go, or 0."""
    task_id = loaded.state.id.casefold()
    records = kept_records.records(workspace.private)[0]
    newest = newest_entry(records, task_id)
    if newest is None or notices.is_quiet(workspace, task_id, records):
        return 0
    from taskstate.writing import losses

    loss = losses.find_loss(workspace, task_id, records)
    let_go = (entry.revision for _, entry in entries_of(records, task_id) if not entry.path)
    return max(loss.revision if loss else 0, *let_go, 0)


def highest_version(workspace: Workspace, loaded: Loaded) -> int:
    """Return the highest version that was given to a permanent task, also one that was let go or reverted since.

    Raises:
        TaskstateError: code "lost": a version is gone, and the next one would get its number.
    """
    texts = [
        data for _, (data,) in islice(history.versions(workspace.root, (loaded.relative,), history.OWN), _VERSIONS)
    ]
    if lost_revision(workspace, loaded):
        from taskstate.writing import losses

        loss = losses.find_loss(workspace, loaded.state.id.casefold())
        if loss and any(item.kind == VERSION for item in loss.items):
            message = f"the next version would get the number of one that is gone: {loss.message()}"
            raise TaskstateError(message, code="lost")
        texts += kept_texts(workspace, loaded.relative)
    heads = (parse_head(each.decode("utf-8", "replace")).front_matter for each in texts if each)
    return max((head["version"] for head in heads if isinstance(head.get("version"), int)), default=0)


def require_nothing_lost(workspace: Workspace, relative: str) -> None:
    """Refuse to create the state file of a task of which something is gone: it would take that one's place.

    One of which nothing but its creation is gone makes way.

    Raises:
        TaskstateError: code "lost".
    """
    from taskstate.writing import losses

    own = names.own_file(relative)
    loss = losses.find_loss(workspace, own.id.casefold()) if own and own.id else None
    if loss and any(owed.revision > 1 for owed in loss.items.values()):
        raise TaskstateError(f"task {loss.task} was here before: {loss.message()}", code="lost")


class _Balance:
    """What the files of one task hold before and after a plan."""

    def __init__(self) -> None:
        self.before: Counter[Item] = Counter()
        self.after: Counter[Item] = Counter()
        self.withdrawn: Counter[Item] = Counter()
        self.entry: Entry = NOTHING
        self.old: Callable[[], bytes] = bytes
        self.new: bytes = b""
        self.was_edited = False
        self.known: Collection[Item] = ()


def _entries(
    workspace: Workspace, plan: Plan, records: tuple[KeptRecord, ...], read: Mapping[str, TaskState]
) -> dict[str, Entry]:
    """Return the entries of a plan by task, after checking that it loses nothing."""
    balances: defaultdict[str, _Balance] = defaultdict(_Balance)
    for each in (change for operation in plan for change in _changes(workspace, operation)):
        own = names.own_file(each.path)
        task_id = (own.id or "").casefold() if own else ""
        if own is None or not task_id:
            continue
        balance = balances[task_id]
        if own.type == "state":
            _weigh_state(balance, each, records, task_id, read.get(each.path))
        else:
            balance.before += items_in(own.type, each.path, each.old())
            balance.after += items_in(own.type, each.path, each.new)
    _require_lasting(workspace, balances)
    for task_id, balance in balances.items():
        balance.withdrawn += _given_up(workspace, records, task_id, balance)
        balance.withdrawn += _superseded(workspace, records, task_id, balance)
    return {task_id: _entry(balance) for task_id, balance in balances.items()}


def _weigh_state(
    balance: _Balance, changed: _Changed, records: tuple[KeptRecord, ...], task_id: str, read: TaskState | None
) -> None:
    """Add what a state file holds before and after, and what of the owed items an edit by hand gave up before."""
    path, old, digest, new = changed
    newest = newest_entry(records, task_id)
    is_known = newest is not None and newest.sha == (digest or files.digest(old()))
    balance.before += newest.items if newest and is_known else items_in("state", path, old())
    state = read or read_state(parse(new.decode("utf-8", "replace")))
    entry = entry_for(path, new, state)
    balance.after += entry.items
    if new or balance.entry is NOTHING:
        balance.entry, balance.old, balance.new = entry, old, new
    balance.was_edited = newest is not None and not is_known
    balance.known = newest.items if newest else ()


def _entry(balance: _Balance) -> Entry:
    gone = balance.before - balance.after + balance.withdrawn
    there = (item for item in balance.before if item not in balance.known)
    found = Counter(item for item in there if item in balance.entry.items)
    return balance.entry._replace(moved=balance.after - balance.entry.items, withdrawn=gone, found=found)


def _given_up(workspace: Workspace, records: tuple[KeptRecord, ...], task_id: str, balance: _Balance) -> Counter[Item]:
    """Return what is owed and not missed: what was edited before a write, or what a new file takes the place of."""
    if not balance.was_edited:
        return Counter()
    entries, old = entries_of(records, task_id), balance.old()
    owed = owed_items(entries, told(workspace, task_id))
    if not old:
        was_dropped = bool(entries) and entries[-1][1].dropped
        gone = (item for item, each in owed.items() if was_dropped or each.revision <= 1)
        return Counter(item for item in gone if not balance.entry.items[item])
    found = items_in("state", "", old)
    missing = {item: each for item, each in owed.items() if not found[item]}
    return Counter(View(old).accounted(missing) | taken_back(workspace, missing, old, entries))


def _superseded(
    workspace: Workspace, records: tuple[KeptRecord, ...], task_id: str, balance: _Balance
) -> Counter[Item]:
    """Return what is gone and in whose place this write puts another, such as a newer proof of the same feature."""
    places = {(item.kind, item.place) for item in balance.after - balance.before if item.place}
    is_known = any(task_id in record.ids for record in records)
    if not (places and is_known) or notices.is_quiet(workspace, task_id, records):
        return Counter()
    from taskstate.writing import losses

    loss = losses.find_loss(workspace, task_id, records)
    gone = {i: each for i, each in (loss.items if loss else {}).items() if not balance.after[i]}
    if not gone:
        return Counter()
    from taskstate.units.presence import overwrites

    before, after = ({(u.item.kind, u.item.place): u for u in _units(text)} for text in (balance.old(), balance.new))
    found: Counter[Item] = Counter()
    for item, owed in gone.items():
        place = (item.kind, item.place)
        lost = unit_in(owed.record, owed.entry.path, item) if place in places and place in after else None
        if (item.kind in FILES and place in places) or (lost and overwrites(before.get(place), after[place], lost)):
            found[item] = owed.number
    return found


def _units(data: bytes) -> tuple[Unit, ...]:
    return units_of(read_state(parse(data.decode("utf-8", "replace"))))


class _Changed(NamedTuple):
    """A file that an operation changes: path, bytes before and bytes after, as far as they are items.

    The bytes before are read only for who asks; `digest` is their SHA-256, where the operation refuses any other.
    """

    path: str
    old: Callable[[], bytes]
    digest: str
    new: bytes


def _changes(workspace: Workspace, operation: Operation) -> Iterator[_Changed]:
    """Yield the files that an operation changes."""

    @cache
    def on_disk(relative: str) -> bytes:
        path = workspace.root / relative
        return files.read(path) if names.own_file(relative) and folders.is_file(path) else b""

    match operation:
        case journal.Create(path=path, data=data) | journal.Append(path=path, data=data):
            yield _Changed(path, bytes, "", data)
        case journal.Replace(path=path, expected_digest=digest, data=data):
            yield _Changed(path, partial(on_disk, path), digest, data)
        case journal.Move(source=source, target=target):
            yield _Changed(source, partial(on_disk, source), "", b"")
            yield _Changed(target, bytes, "", on_disk(source))
        case journal.Delete(path=path, expected_digest=digest):
            yield _Changed(path, partial(on_disk, path), digest, b"")


def _require_lasting(workspace: Workspace, balances: Mapping[str, _Balance]) -> None:
    """Refuse a change that would lose a session, an event or a handoff: every command is checked by it.

    One that is replaced by another was edited; one that the archive has as well, or a session that stands there once
    more word for word, does not get lost.
    """
    before, after = Counter[Item](), Counter[Item]()
    for balance in balances.values():  # a sum would copy all that went before for each of thousands of tasks
        before.update(balance.before)
        after.update(balance.after)
    for kind in _LASTING:
        gone, new = (
            [item for item in lost_between(*pair) if item.kind == kind] for pair in ((before, after), (after, before))
        )
        if len(gone) > len(new):
            archived = sum((archived_items(workspace, task_id) for task_id in balances), Counter[Item]())
            gone = [item for item in gone if not archived[item] and not (kind == SESSION and after[item])]
        if len(gone) > len(new):
            message = f"nothing is written, since {described(gone)} would get lost"
            raise TaskstateError(message, help="run `taskstate lint`, and fix what it finds first", code="unsafe")


def archived_items(workspace: Workspace, task_id: str) -> Counter[Item]:
    """Return the items in a task's archive file as it is now."""
    path = workspace.state_root / workspace.archive_path(task_id)
    return items_in("archive", path.name, files.read(path)) if files.size(path) else Counter()


def _prune(workspace: Workspace, records: tuple[KeptRecord, ...], task_id: str, now: datetime) -> None:
    """Delete the older records of a task beyond the limits, if all that is owed of it is accounted for."""
    own = [record for record in records if task_id in record.ids]
    plain = [record for record in own if not record.batch]
    oldest = now.timestamp() - _MOST_DAYS * 24 * 3600
    with suppress(OSError, TaskstateError), closing(folders.Lookout()) as lookout:
        sizes = [(status.st_size, status.st_mtime) for status in (lookout.status(record.path) for record in own)]
        if (
            len(plain) <= 2 * _MOST_RECORDS
            and sum(size for size, _ in sizes) <= _MOST_BYTES
            and (not sizes or sizes[0][1] > oldest)
        ):
            return
        from taskstate.writing.losses import find_loss

        if find_loss(workspace, task_id):
            return
        total = 0
        for record, (size, moment) in zip(reversed(own), reversed(sizes), strict=True):
            total += size
            is_beyond = not record.batch and record not in plain[-_MOST_RECORDS:]
            if len(record.ids) == 1 and (is_beyond or total > _MOST_BYTES or moment < oldest):
                folders.remove(record.path)
