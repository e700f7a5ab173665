"""Keeps computed results by name from run to run, in a JSON file that may be lost at any time.

Every cache file says what its entries rest on (always the version of this tool) and holds the entries. A cache that is
damaged, rests on something else, or is replaced by another run at the same time makes a run slower, never wrong.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.private import make_folder
from taskstate.storage.signals import Held
from taskstate.typed import TYPE_CHECKING, Generic, TypeVar
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Any

Entry = TypeVar("Entry")

# Whatever reading a damaged cache may raise, also for valid JSON of another shape.
_READ_ERRORS = (TaskstateError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_MAX_ENTRIES = 100_000
_PRIME = 4_294_967_291


class Cache(Generic[Entry]):
    """Cached entries of one kind, by name.

    Without a `path` nothing is stored. `read` turns the JSON value of an entry back into the entry. `rests_on` names
    everything that the entries depend on: a file that was written with another value is not used. With `max_files`
    above 1, each value of `rests_on` has a file of its own, so that runs with different settings do not overwrite each
    other; the newest files are kept.
    """

    def __init__(
        self,
        path: Path | None,
        read: Callable[[Any], Entry],
        *,
        rests_on: str = "",
        max_entries: int = _MAX_ENTRIES,
        max_files: int = 1,
    ) -> None:
        self._rests_on = f"taskstate {VERSION}\n{rests_on}"
        self._prefix = f"{path.stem}-" if path and max_files > 1 else ""
        self._path = path.with_stem(f"{path.stem}-{_checksum(self._rests_on)}") if path and self._prefix else path
        self._read, self._max_entries, self._max_files = read, max_entries, max_files
        self._loaded: dict[str, Any] | None = None
        self._changed = False

    def get(self, name: str) -> Entry | None:
        """Return the entry with this name, or None."""
        value = (self._loaded or self._entries()).get(name)
        if value is None:
            return None
        try:
            return self._read(value)
        except _READ_ERRORS:
            return None

    def all(self) -> dict[str, Entry]:
        """Return all entries by name; none where one of them is damaged. For thousands of them this is faster."""
        try:
            return {name: self._read(value) for name, value in self._entries().items()}
        except _READ_ERRORS:
            return {}

    def put(self, name: str, entry: Entry) -> None:
        """Store an entry (a value that JSON can hold) as the newest one."""
        entries = self._entries()
        entries.pop(name, None)  # assigning alone would leave it at its old position
        entries[name] = entry
        self._changed = True

    def keep(self, names: Iterable[str]) -> None:
        """Keep only the entries with these names, in this order."""
        entries = self._entries()
        self._loaded = {name: entries[name] for name in names if name in entries}
        self._changed = self._changed or len(self._loaded) < len(entries)

    @property
    def names(self) -> list[str]:
        """The names of all entries, the newest last."""
        return [*self._entries()]

    @property
    def changed(self) -> bool:
        """Whether an entry was stored or removed."""
        return self._changed

    def save(self) -> None:
        """Write the newest entries if anything changed; if that fails, the next run is only slower."""
        path = self._path
        if not self._changed or path is None:
            return
        newest = [*self._entries().items()][-self._max_entries :]
        content = {"rests_on": self._rests_on, "entries": dict(newest)}
        data = json.dumps(content, ensure_ascii=True, separators=(",", ":")).encode()
        temporary = files.temporary_name(path)
        with Held():
            try:
                make_folder(path.parent)
                # Not synced: a file that a crash cut short is not valid JSON and is ignored.
                with open(folders.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
                    stream.write(data)
                folders.rename(temporary, path)
                self._changed = False
                self._delete_oldest_files(path.parent)
            except (OSError, TaskstateError):  # on a full disk, each run would leave another one
                with suppress(OSError):
                    folders.remove(temporary)

    def _entries(self) -> dict[str, Any]:
        if self._loaded is None:
            self._loaded = _load(self._path, self._rests_on) if self._path else {}
        return self._loaded

    def _delete_oldest_files(self, folder: Path) -> None:
        if self._prefix:
            names = (f"{folder}{os.sep}{name}" for name in files.names(folder) if name.startswith(self._prefix))
            ages = sorted((status.st_mtime_ns, path) for path, status in folders.statuses(names))
            for _, path in ages[: -self._max_files]:
                folders.remove(path)


def _load(path: Path, rests_on: str) -> dict[str, Any]:
    try:
        content = json.loads(files.read(path, files.MAX_BYTES))
        return dict(content["entries"]) if content["rests_on"] == rests_on else {}
    except _READ_ERRORS:
        return {}


def _checksum(rests_on: str) -> str:
    # It only tells the files apart, `_load` compares the full text; a module that computes checksums costs more.
    return f"{int.from_bytes(rests_on.encode('utf-8', 'backslashreplace')) % _PRIME:08x}"
