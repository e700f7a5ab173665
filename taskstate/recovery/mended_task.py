"""A task that is mended: what is kept of it, and how what comes back goes together with what stands there.

What has something in its place is merged with it, three ways, where the text from which its write began is known.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.recovery.added_items import conflicts
from taskstate.recovery.archives import archive_texts
from taskstate.recovery.task_files import state_of
from taskstate.storage import files, journal, replaced_texts
from taskstate.storage.git import history
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import CRITERION, ENTRY, KEY, TEXT, Item, is_check, units_of
from taskstate.units.presence import merged_into, value_at
from taskstate.units.values import NOTHING, same
from taskstate.workspace import artifacts
from taskstate.writing.ledger import unit_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from taskstate.model.task_state import TaskState
    from taskstate.storage.kept_records import KeptRecord
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.ledger import Entry, Owed

    ErrorsIn: TypeAlias = Callable[[str, str], int]
    Wanted = dict[Item, Owed]


class MendedTask(NamedTuple):
    """A task that is mended: the paths of its state file and its archive, its kept records of writes, and what is owed.

    The records are the oldest first; `texts` are those of the state file that they hold, newest first. `aside` gets the
    ids under which what is replaced at this time is kept. `errors_in` counts the errors that the linter finds in a text
    of the file at a path.
    """

    workspace: Workspace
    id: str
    path: str
    archive_path: str
    records: list[tuple[KeptRecord, Entry]]
    texts: list[tuple[Entry, bytes]]
    owed: Wanted
    at: str
    aside: list[str]
    errors_in: ErrorsIn

    def committed(self, path: str) -> list[bytes]:
        """Return the versions of a file in the commits that a reference reaches, newest first."""
        return [data for _, (data,) in history.versions(self.workspace.root, (path,), history.REFS) if data]

    def archives(self, now: bytes) -> list[bytes]:
        """Return texts for the archive, the one that there is first."""
        return archive_texts(self.workspace, self.archive_path, [record for record, _ in self.records], now)

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, empty where there is none."""
        full = files.inside(self.workspace.root, path)
        return files.read(full) if files.size(full) is not None else b""


def contested(task: MendedTask, wanted: Wanted) -> Wanted:
    """Return what has something in its place that cannot be merged with it: that stays, and is no loss."""
    here = state_of(task.read(task.path))
    places = {(unit.item.kind, unit.item.place) for unit in units_of(here)}
    known = next((each.known for each in wanted.values()), ())
    is_reworded = any(unit.item.kind == CRITERION and unit.item not in known for unit in units_of(here))
    found: Wanted = {}
    for item, owed in wanted.items():
        unit = unit_in(owed.record, owed.entry.path, item)
        if unit and item.kind in {KEY, ENTRY, TEXT} and (item.kind, item.place) in places:
            is_contested = conflicts(here, _base(task, item, here), _state_in(task, owed), unit)
        else:
            is_contested = is_reworded and is_check(item) and (item.kind, item.place) not in places
        found |= {item: owed} if is_contested else {}
    return found


def _state_in(task: MendedTask, owed: Owed) -> TaskState:
    return state_of(next((data for entry, data in task.texts if entry is owed.entry), b""))


def merged_in(task: MendedTask, wanted: Wanted) -> Wanted:
    """Return what the file holds in another form, since it was merged with what stood there."""
    here = state_of(task.read(task.path))
    found: Wanted = {}
    for item, owed in wanted.items():
        unit = unit_in(owed.record, owed.entry.path, item)
        base = _base(task, item, here) if unit and item.kind in {KEY, ENTRY} else None
        value = value_at(units_of(here), unit) if unit and base else NOTHING
        if unit and base and same(value, merged_into(value, unit, value_at(units_of(base), unit))):
            found[item] = owed
    return found


def _base(task: MendedTask, item: Item, here: TaskState) -> TaskState | None:
    """Return the state from which the write began that made an item; the present one, if that is older; or None."""
    owed = task.owed[item]
    older = (owed.since.get(unit.item, owed.revision) for unit in units_of(here) if unit.item.place == item.place)
    if any(revision < owed.revision for revision in older):
        return here
    first = next(
        (record for record, entry in task.records if item in entry.items and entry.revision >= owed.revision), None
    )
    with suppress(TaskstateError, ValueError):
        for each in first.plan() if first else ():
            if isinstance(each, journal.Replace) and each.path == task.path:
                texts = [*(data for _, data in task.texts), *task.committed(task.path)]
                return next((state_of(data) for data in texts if files.digest(data) == each.expected_digest), None)
    return None


def with_bases(task: MendedTask, items: Iterable[Item]) -> dict[Item, TaskState | None]:
    """Return items with the states from which the writes began that made them, as far as they are known."""
    here = state_of(task.read(task.path))
    return {item: _base(task, item, here) if item in task.owed and item.place else None for item in items}


# Texts beside the task


def keep_aside(task: MendedTask, path: str, data: bytes) -> None:
    """Keep a text that is replaced, and note its id.

    Raises:
        TaskstateError: it cannot be kept; nothing is replaced.
    """
    task.aside.append(replaced_texts.keep(task.workspace.private, ReplacedText(path, data, "doctor --fix"), task.at))


def write_proposal(task: MendedTask) -> str:
    """Write the newest kept text beside the task's files, and return a message that says where."""
    _, text = next(iter(task.texts), (None, b""))
    if not text:
        return "nothing is kept of it: fix it by hand, or restore it from git"
    path = artifacts.write(task.workspace, task.id, f"proposal-{files.digest(text)[:8]}.md", text)
    return f"what is kept of it is in {task.workspace.config.root}/{path}: copy from it what is missing"
