"""Keeps the plans that were carried out, as copies of what they wrote, until what is in them is accounted for.

A kept record is the journal's record under another name: what a command acknowledged costs at most one more write. Its
name says its order, its content's hash, the tasks, and whether the plan added to an archive; its first line holds the
entry. `writing.ledger` reads the entries, and says which records may go.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import lru_cache

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders, transaction
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from taskstate.storage.private import Private
    from taskstate.storage.transaction import Plan

FOLDER = "kept"  # in the private folder
_NAME = r"(\d{6,12})-([0-9a-f]{16})-([A-Za-z0-9._+-]*?)(~batch)?\.json"
_MAX_NAME = 150  # characters of the ids in a name; a record with more is read to know them
_HEAD_BYTES = 1024 * 1024  # of the first line, as a rule


class KeptRecord(NamedTuple):
    """A kept record by its name: its number, the case-folded ids of its tasks, and whether it added to an archive."""

    path: Path
    number: int
    digest: str
    ids: frozenset[str]
    batch: bool

    def entry(self) -> Mapping[str, Any]:
        """Return the entry of the record.

        Raises:
            ValueError, TaskstateError: it is damaged, cannot be read, or is from a newer version.
        """
        status = folders.status(self.path) if folders.is_file(self.path) else None
        return _entry_in(self.path, (status.st_size, status.st_mtime_ns) if status else None)

    def plan(self) -> Plan:
        """Return the plan of the record.

        Raises:
            ValueError, TaskstateError: it is damaged, cannot be read, or is from a newer version.
        """
        data = files.read(self.path, files.MAX_BYTES)
        if not files.digest(data).startswith(self.digest):
            raise ValueError("it was changed after it was written")
        return transaction.decode(data).plan


@lru_cache(maxsize=16)  # one of many tasks is read for each of them
def _entry_in(path: Path, _as_it_is: object) -> Mapping[str, Any]:
    """Return the entry in a record, whose first line is longer only where a command wrote thousands of tasks."""
    head = files.read_part(path, 0, _HEAD_BYTES)
    if len(head) == _HEAD_BYTES and b"\n" not in head:
        head = files.read_part(path, 0, files.MAX_BYTES)
    return transaction.decode_entry(head.partition(b"\n")[0])


def name_for(ids: Sequence[str], *, batch: bool) -> str:
    """Return what the name of a record says of it."""
    name = "+".join(sorted({task_id.casefold() for task_id in ids}))
    return (name if len(name) <= _MAX_NAME else "+") + ("~batch" if batch else "")


def records(private: Private) -> tuple[tuple[KeptRecord, ...], tuple[Path, ...]]:
    """Return the kept records in their order, and the files among them that are none."""
    found: list[KeptRecord] = []
    strange: list[Path] = []
    for folder in (each / FOLDER for each in private.read):
        for name in files.names(folder):
            record = _record(folder, name)
            if record:
                found.append(record if record.ids else record._replace(ids=_ids_in(record.path)))
            elif not files.is_temporary(name):
                strange.append(folder / name)
    return tuple(sorted(found, key=lambda record: record.number)), tuple(strange)


@lru_cache(maxsize=1024)  # a command lists the records several times, and none is ever written again
def _record(folder: Path, name: str) -> KeptRecord | None:
    match = re.fullmatch(_NAME, name)
    if match is None:
        return None
    ids = frozenset(match[3].split("+")) - {""}
    return KeptRecord(folder / name, int(match[1]), match[2], ids, bool(match[4]))


def _ids_in(path: Path) -> frozenset[str]:
    record = KeptRecord(path, 0, "", frozenset(), batch=False)
    with suppress(ValueError, TaskstateError):
        return frozenset(map(str.casefold, record.entry().get("tasks", ())))
    return frozenset()


def keep(private: Private, data: bytes, name: str) -> None:
    """Keep a record; that it cannot be written does not undo what it records, so that is no error.

    It is not synced: after a crash of the machine the files themselves have what it would hold.
    """
    if private.write is None:
        return
    with suppress(TaskstateError, OSError):
        path = _new_path(private, private.write, data, name)
        temporary = files.temporary_name(path)
        descriptor = folders.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            files.write_all(descriptor, data)
        finally:
            os.close(descriptor)
        folders.rename(temporary, path)


def keep_file(private: Private, path: Path, name: str) -> None:
    """Keep a record that stands in the journal, by giving it its name among the kept ones.

    Raises:
        TaskstateError, OSError: the system refuses.
    """
    folders.rename(path, _new_path(private, path.parent.parent, files.read(path, files.MAX_BYTES), name))


def adopt(private: Private) -> bool:
    """Take over the records of worktrees that are gone, behind the own ones; return whether there were any."""
    adopted = False
    for folder in private.removed:
        for name in files.names(folder / FOLDER):
            match = re.fullmatch(_NAME, name)
            with suppress(TaskstateError, OSError):
                if match and private.write:
                    path = folder / FOLDER / name
                    ending = name.partition("-")[2].partition("-")[2].removesuffix(".json")
                    folders.rename(path, _new_path(private, private.write, files.read(path, files.MAX_BYTES), ending))
                    adopted = True
    return adopted


def _new_path(private: Private, folder: Path, data: bytes, name: str) -> Path:
    """Return the path for a new record, whose folder is made: the next number, its hash, and `name`."""
    make_folder(folder / FOLDER)
    names = [name for each in private.read for name in files.names(each / FOLDER)]
    if any(map(files.is_temporary, names)):
        with suppress(TaskstateError):
            files.sweep(folder / FOLDER)  # what a killed writer left; the caller holds the lock
    numbers = (name.partition("-")[0] for name in names)
    number = max((int(number) for number in numbers if number.isdecimal()), default=0) + 1
    return folder / FOLDER / f"{number:06}-{files.digest(data)[:16]}-{name}.json"
