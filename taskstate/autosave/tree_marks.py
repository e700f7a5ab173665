"""Marks how the working tree is at a moment, and says what changed between two such marks, whoever changed it.

Git decides what differs from its commit and what the content of a file is, as it would commit it.
"""

from __future__ import annotations

import os
import re
import stat
from itertools import accumulate

from taskstate.autosave.notes import TreeMark
from taskstate.errors import GitFailed
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Literal

    from taskstate.workspace.workspace import Workspace

MOST = 2000  # files of a mark
# Bytes that are read for a mark, the smallest files first; of the others size and time stand for the content. They
# stand beside the blob of each file that another mark may leave unread: of the smaller ones, all are always read.
_READ = 64 * 1024 * 1024
_ALWAYS_READ = _READ // MOST
_ARGUMENTS = 100_000  # bytes of names that one command is given
_FAULTS = 64  # of git, until it is asked no more for the files among which one cannot be read
_RAW = rb":\d{6} \d{6} ([0-9a-f]+) ([0-9a-f]+) [A-Z]\d*\0([^\0]+)\0"
_LISTED = rb"(?s)\d{6} [a-z]{4,6} ([0-9a-f]+)\t(.+)"


class Change(NamedTuple):
    """A file that is otherwise than before."""

    path: str
    kind: Literal["new", "changed", "deleted"]


def mark_now(workspace: Workspace) -> TreeMark | None:
    """Return how the working tree is now, our own files aside; None without git.

    Raises:
        GitFailed: git refuses, or is missing.
    """
    root = workspace.root
    if git.toplevel(root) is None:
        return None
    head = git.head(root) or ""
    return TreeMark(head, _contents(root, sorted(worktree.dirty_files(root, workspace.is_ours), key=_order)[:MOST]))


def changes(workspace: Workspace, before: TreeMark, after: TreeMark) -> tuple[Change, ...]:
    """Return the files that differ between two marks, by path, our own aside.

    Raises:
        GitFailed: a commit of theirs is gone, or git is missing.
    """
    root = workspace.root
    committed = _committed(root, before.head, after.head)
    dirty = {*before.files, *after.files}
    kept = _in_commit(root, after.head, sorted(dirty - committed.keys()))
    found = []
    for path in sorted({*committed, *dirty}):
        old, new = committed.get(path) or (kept.get(path, ""), kept.get(path, ""))
        was, is_now = before.files.get(path, old), after.files.get(path, new)
        if (
            not _is_same(was, is_now)
            and _is_known(path, before)
            and _is_known(path, after)
            and not workspace.is_ours(path)
        ):
            found.append(Change(path, "new" if not was else "changed" if is_now else "deleted"))
    return tuple(found)


def _order(path: str) -> tuple[int, str]:
    """Return the order in which files count: what lies deep, as in a folder of packages, is what a full mark lacks."""
    return path.count("/"), path


def _is_known(path: str, mark: TreeMark) -> bool:
    """Return whether a mark would name the file if it differed from the commit: a full one ends somewhere."""
    return len(mark.files) < MOST or _order(path) <= max(map(_order, mark.files))


def _contents(root: Path, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the content of each file: the id of its blob; empty where it is gone. Folders and submodules have none."""
    found, sizes = dict[str, str](), dict[str, int]()
    for path in paths:
        status = folders.find(root / path)
        if status is None:
            found[path] = ""
        elif stat.S_ISLNK(status.st_mode):
            found[path] = files.digest(folders.link_text(root / path))
        elif stat.S_ISREG(status.st_mode):
            found[path] = f"{status.st_size}-{status.st_mtime_ns}"
            if "\n" not in path and not path.startswith('"'):
                sizes[path] = status.st_size
    smallest = sorted(sizes, key=lambda path: (sizes[path], path))
    totals = accumulate(sizes[path] for path in smallest)
    read = [path for path, total in zip(smallest, totals, strict=True) if total <= _READ]
    for path, blob in _hashed(root, read).items():
        found[path] = blob if sizes[path] <= _ALWAYS_READ else f"{blob} {found[path]}"
    return found


def _is_same(one: str, other: str) -> bool:
    """Return whether two contents are the same: by their blobs, or where one was not read, by size and time."""
    (blob, stamp), (other_blob, other_stamp) = _parts(one), _parts(other)
    return blob == other_blob if None not in {blob, other_blob} else stamp == other_stamp


def _parts(content: str) -> tuple[str | None, str | None]:
    """Return the blob of a content, empty for no file, and its size and time; None for what is not known."""
    first, _, stamp = content.partition(" ")
    return (None, first) if "-" in first else (first, stamp or None)


def _hashed(root: Path, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the blob id of each file; none for one that is gone by now, or of which git cannot make a blob."""
    found, parts, faults = dict[str, str](), [paths], 0
    while parts:
        part = parts.pop()
        names = b"".join(os.fsencode(path) + b"\n" for path in part)
        try:
            ids = git.run(["-c", "core.safecrlf=false", "hash-object", "--stdin-paths"], root, stdin=names)
            found.update(zip(part, ids.decode().split(), strict=True))
        except GitFailed:
            faults += 1
            middle = len(part) // 2
            parts += (part[:middle], part[middle:]) if middle and faults < _FAULTS else ()
    return found


def _committed(root: Path, old: str, new: str) -> Mapping[str, tuple[str, str]]:
    """Return by path the two blobs of each file in which two commits differ; the id of what is not there is empty."""
    if old == new:
        return {}
    empty = git.run(["hash-object", "-t", "tree", "--stdin"], root).decode().strip()
    args = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--relative", "--end-of-options")
    found = re.findall(_RAW, git.run([*args, old or empty, new or empty], root))
    return {os.fsdecode(path): (_id(one), _id(other)) for one, other, path in found}


def _id(listed: bytes) -> str:
    return listed.decode() if listed.strip(b"0") else ""


def _in_commit(root: Path, commit: str, paths: Sequence[str]) -> Mapping[str, str]:
    """Return the blob of each of these files in a commit, but for those that it does not have."""
    if not commit or not paths:
        return {}
    found = dict[str, str]()
    for part in _in_parts(paths):
        listed = git.run(["ls-tree", "-r", "-z", "--end-of-options", commit, "--", *part], root).split(b"\0")
        matches = (match for each in listed if (match := re.fullmatch(_LISTED, each)))
        found |= {os.fsdecode(match[2]): match[1].decode() for match in matches}
    return found


def _in_parts(paths: Sequence[str]) -> Iterator[list[str]]:
    """Yield the paths in parts of which each is short enough for a command line."""
    part, length = list[str](), 0
    for path in paths:
        length += len(os.fsencode(path)) + 1
        if part and length > _ARGUMENTS:
            yield part
            part, length = [], len(os.fsencode(path)) + 1
        part.append(path)
    if part:
        yield part
