"""Remembers what the state files of a repository depend on, so that finding circles need not read them all again.

A value holds as long as its file has the same mark (`storage.file_sources`). All of it is derived: a memory that is
damaged, or that another run replaces meanwhile, is only slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage import json_cache
from taskstate.version import VERSION

if TYPE_CHECKING:
    from pathlib import Path


class Heads:
    """What the files depend on, by path; kept in the file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, tuple[str, tuple[str, ...]]] | None = None
        self._changed = False

    def get(self, name: str, mark: str) -> tuple[str, ...] | None:
        """Return what a file depends on, or None where that is not known of a file with this mark."""
        if self._known is None:
            self._known = _read(self._path)
        told, depends_on = self._known.get(name, ("", ()))
        return depends_on if mark and told == mark else None

    def put(self, name: str, mark: str, depends_on: tuple[str, ...]) -> None:
        """Remember what a file depends on."""
        if self._known is None:
            self._known = _read(self._path)
        self._known[name] = (mark, depends_on)
        self._changed = True

    def save(self) -> None:
        """Write what has changed; where that cannot be done, the next run is slower."""
        if not self._changed:
            return
        json_cache.save(self._path, {"version": VERSION, "files": self._known})


def _read(path: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    try:
        loose = json_cache.load(path)
        files = loose["files"] if loose["version"] == VERSION else {}
        return {str(name): (str(mark), tuple(map(str, ids))) for name, (mark, ids) in files.items()}
    except json_cache.DAMAGED:
        return {}
