"""What a comparison cannot tell of submodules: a snapshot holds the commit that each has checked out, and no more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taskstate import delta
from taskstate.errors import GitFailed
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none")
_FIELDS = 8  # of a status entry, before its path


def remarks(root: Path) -> tuple[str, ...]:
    """Return which submodules under `root` are changed inside, and which are not checked out; without any, nothing."""
    top = git.toplevel(root)
    if top is None or not (top / ".gitmodules").is_file():
        return ()
    try:
        dirty, absent = tuple(_dirty(top, root)), tuple(_absent(root))
    except GitFailed:
        return ()  # what needs git says so itself
    told = (f"changed inside a submodule, which no snapshot holds: {delta.named(dirty)}",) if dirty else ()
    return (*told, f"not checked out, so not compared: submodule {delta.named(absent)}") if absent else told


def _dirty(top: Path, root: Path) -> Iterator[str]:
    """Yield the submodules in which a file is changed or new."""
    for entry in git.run(["-c", "core.fsmonitor=false", *_STATUS, "--", "."], root).split(b"\0"):
        fields = entry.split(b" ", _FIELDS)
        if len(fields) > _FIELDS and fields[2].startswith(b"S") and fields[2][2:] != b"..":
            path = os.path.relpath(os.path.join(os.fsencode(top), fields[_FIELDS]), os.fsencode(root))
            yield delta.quoted(path)


def _absent(root: Path) -> Iterator[str]:
    """Yield the submodules of which nothing is there but a folder, or not even that."""
    for entry in git.run(["ls-files", "-s", "-z", "--", "."], root).split(b"\0"):
        told, _, path = entry.partition(b"\t")
        if told.startswith(b"160000 ") and not os.path.lexists(os.path.join(os.fsencode(root), path, b".git")):
            yield delta.quoted(path)
