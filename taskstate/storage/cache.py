"""What was found out once, kept by name from run to run in a file that may be lost.

All caches are files of one form: JSON with what every entry rests on, the version of this tool first of all, and the
entries. A cache that is damaged, that rests on something else, or that another run replaces meanwhile is only slower.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

Entry = TypeVar("Entry")

# What reading a cache may meet, also in values that are not of the expected form.
_READ_ERRORS = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_MAX_ENTRIES = 100_000  # entries


class Cache(Generic[Entry]):
    """The entries of one kind by name; `read` makes an entry from the JSON that was written of it.

    Where several combinations of what entries rest on are in use by turns, each of them has a file of its own, and the
    `variants` newest files are kept.
    """

    def __init__(
        self,
        path: Path,
        read: Callable[[Any], Entry],
        *,
        rests_on: str = "",
        max_entries: int = _MAX_ENTRIES,
        max_files: int = 1,
    ) -> None:
        self._rests_on = f"taskstate {VERSION}\n{rests_on}"
        self._variant = f"{path.stem}-" if max_files > 1 else ""
        self._path = path.with_stem(f"{path.stem}-{_checksum(self._rests_on)}") if self._variant else path
        self._read, self._max_entries, self._max_files = read, max_entries, max_files
        self._loaded: dict[str, Any] | None = None
        self._changed = False

    def get(self, name: str) -> Entry | None:
        """Return the entry of a name, or None."""
        found = self._entries().get(name)
        try:
            return None if found is None else self._read(found)
        except _READ_ERRORS:
            return None

    def put(self, name: str, entry: Entry) -> None:
        """Keep an entry, a value that JSON can hold; it is the newest one."""
        entries = self._entries()
        entries.pop(name, None)
        entries[name] = entry
        self._changed = True

    def keep(self, names: Iterable[str]) -> None:
        """Forget all entries but those of these names, which are all that there are."""
        entries = self._entries()
        gone = entries.keys() - names
        for name in gone:
            del entries[name]
        self._changed = self._changed or bool(gone)

    def save(self) -> None:
        """Write what has changed, of too many entries the newest; where that fails, the next run is slower."""
        if not self._changed:
            return
        newest = [*self._entries().items()][-self._max_entries :]
        whole = {"rests_on": self._rests_on, "entries": dict(newest)}
        temporary = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        try:
            os.makedirs(self._path.parent, exist_ok=True)
            # Not synced: what a crash leaves of it is no JSON, and is not read.
            temporary.write_bytes(json.dumps(whole, ensure_ascii=True, separators=(",", ":")).encode())
            os.replace(temporary, self._path)
            self._drop_oldest()
        except OSError:
            return

    def _entries(self) -> dict[str, Any]:
        if self._loaded is None:
            self._loaded = _load(self._path, self._rests_on)
        return self._loaded

    def _drop_oldest(self) -> None:
        if self._variant:
            found = (each for each in os.scandir(self._path.parent) if each.name.startswith(self._variant))
            for entry in sorted(found, key=lambda each: each.stat().st_mtime_ns)[: -self._max_files]:
                os.unlink(entry.path)


def _load(path: Path, rests_on: str) -> dict[str, Any]:
    try:
        whole = json.loads(path.read_bytes())
        return dict(whole["entries"]) if whole["rests_on"] == rests_on else {}
    except _READ_ERRORS:
        return {}


def _checksum(rests_on: str) -> str:
    from zlib import crc32  # only keeps the files apart; what entries rest on is in the file

    return f"{crc32(rests_on.encode('utf-8', 'backslashreplace')):08x}"
