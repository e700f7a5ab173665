"""The files of git's index and of its commits, as git tells them; and one writer, which puts files into the index."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.storage.git.client import OWN_PATTERNS, run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# A diff in paths from the folder that is asked about, whatever the user configured.
_DIFF_OPTIONS = ("--relative", "--no-ext-diff", "--ignore-submodules=dirty")


def blobs_in_index(root: Path) -> dict[str, str]:
    """Return the object id of each of our own files in the index, by its path from `root`, where nothing conflicts."""
    listed = run(["ls-files", "-z", "--stage", "--", *OWN_PATTERNS], root)
    found = {}
    for entry in listed.split(b"\0"):
        head, _, name = entry.partition(b"\t")
        fields = head.split()
        if len(fields) == len(("mode", "id", "stage")) and fields[2] == b"0" and fields[0].startswith(b"100"):
            found[os.fsdecode(name)] = fields[1].decode("ascii")
    return found


def blobs_in_commit(root: Path, commit: str) -> dict[str, str]:
    """Return the object id of each of our own files in a commit, by its path from `root`."""
    from fnmatch import translate

    own = re.compile("|".join(map(translate, OWN_PATTERNS)))
    found = {}
    for entry in run(["ls-tree", "-r", "-z", commit], root).split(b"\0"):
        head, _, name = entry.partition(b"\t")
        path = os.fsdecode(name)
        if head.startswith(b"100") and own.match(path):
            found[path] = head.split()[2].decode("ascii")
    return found


def unstaged(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of `paths`, from the folder `root`, that git tracks and that differ on disk from the index."""
    if not paths:
        return ()
    said = run(["diff", "--name-only", "-z", *_DIFF_OPTIONS, "--", *(f":(literal){path}" for path in paths)], root)
    return tuple(os.fsdecode(name) for name in said.split(b"\0") if name)


def stage(root: Path, paths: Sequence[str]) -> None:
    """Put these files, and no others, into the index as they are on disk; a file that is gone goes from there too.

    Raises:
        GitFailed: git refuses, as for a file that it is to ignore.
    """
    if paths:
        run(["add", "--all", "--", *(f":(literal){path}" for path in paths)], root)


class ChangedFile(NamedTuple):
    """A file that differs: its path from the root that was asked about; `origin` is where it was before a renaming.

    `status` is git's letter: `A` for added, `D` for deleted, `M`, `R` for renamed, `T`, `U` for unmerged.
    """

    status: str
    path: str
    origin: str = ""


def changes(root: Path, commit: str, *, staged: bool = False) -> tuple[ChangedFile, ...]:
    """Return the tracked files under `root` that differ from a commit, on disk, or with `staged` in the index."""
    where = ["--cached"] if staged else []
    said = run(["diff", "--name-status", "-z", "-M", *_DIFF_OPTIONS, *where, commit, "--"], root).split(b"\0")
    names = (os.fsdecode(name) for name in said)
    found = []
    for status in names:
        letter = status[:1]
        if letter in {"R", "C"}:
            origin = next(names)
            found.append(ChangedFile(letter, next(names), origin))
        elif letter:
            found.append(ChangedFile(letter, next(names)))
    return tuple(found)


def untracked(root: Path) -> tuple[str, ...]:
    """Return the paths of the files under `root` that git neither tracks nor ignores."""
    listed = run(["ls-files", "-z", "--others", "--exclude-standard"], root)
    return tuple(os.fsdecode(name) for name in listed.split(b"\0") if name)
