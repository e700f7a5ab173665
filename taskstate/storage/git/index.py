"""Lists the files in git's index and commits and what differs between them, and stages files."""

from __future__ import annotations

import os
from contextlib import contextmanager

from taskstate.storage.git.client import (
    DISK,
    INDEX,
    OWN_PATTERNS,
    folders,
    index_path,
    is_sparse,
    require_own_file,
    run,
    start,
)
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

# Nothing that the user's configuration could change; the paths of `diff` are relative to the current folder.
_STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
_DIFF_OPTIONS = ("--relative", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")


def blobs_in_index(root: Path, patterns: Sequence[str] = OWN_PATTERNS) -> dict[str, str]:
    """Return the object ids of our own files in the index, by path from `root`; files in conflict are left out."""
    output = run(["ls-files", "-z", "--stage", "--", *patterns], root)
    blobs = {}
    for entry in output.split(b"\0"):
        head, _, name = entry.partition(b"\t")
        fields = head.split()
        # Stage 0: no conflict. Mode 100644 or 100755: a plain file, not a link or a submodule.
        if len(fields) == len(("mode", "id", "stage")) and fields[2] == b"0" and fields[0].startswith(b"100"):
            blobs[os.fsdecode(name)] = fields[1].decode("ascii")
    return blobs


def left_out(root: Path) -> dict[str, str]:
    """Return the object ids of our own files that a sparse checkout leaves out, by path from `root`."""
    at = folders(root)
    if at is None or not is_sparse(at):
        return {}
    entries = run(["ls-files", "-z", "-t", "--stage", "--", *OWN_PATTERNS], root).split(b"\0")
    heads = (entry.partition(b"\t") for entry in entries if entry.startswith(b"S "))  # S: skip-worktree
    found = {os.fsdecode(name): head.split()[2].decode("ascii") for head, _, name in heads}
    return {name: object_id for name, object_id in found.items() if not os.path.lexists(root / name)}


def blobs_in_commit(root: Path, commit: str, within: str = "") -> dict[str, str]:
    """Return the object ids of our own files in a commit, by path from `root`, or from the folder `within` it."""
    import re
    from fnmatch import translate

    own = re.compile("|".join(map(translate, OWN_PATTERNS)))  # `ls-tree` itself knows no wildcards
    blobs = {}
    for entry in run(["ls-tree", "-r", "-z", commit], root).split(b"\0"):
        head, _, name = entry.partition(b"\t")
        path = os.fsdecode(name)
        if head.startswith(b"100") and own.match(path) and path.startswith(within):
            blobs[path.removeprefix(within)] = head.split()[2].decode("ascii")
    return blobs


def unstaged(root: Path, paths: Sequence[str]) -> tuple[str, ...]:
    """Return those of `paths` (from `root`) that git tracks and that differ on disk from the index."""
    if not paths:
        return ()
    args = ["diff", "--name-only", "-z", *_DIFF_OPTIONS, "--", *(f":(literal){path}" for path in paths)]
    with _copied_index(root) as env:
        output = run(args, root, env=env)
    return tuple(os.fsdecode(name) for name in output.split(b"\0") if name)


@contextmanager
def _copied_index(root: Path) -> Iterator[dict[str, str]]:
    """Yield the environment in which git works on a copy of its index.

    `git diff` notes in the index which files it found to be the same. It may not write the user's for that, and no
    option keeps it from doing so without taking such files for changed.
    """
    import shutil

    from taskstate.storage import temporary

    at = folders(root)
    index = at and index_path(at)
    if index is None or not os.path.isfile(index):
        yield {}
        return
    with temporary.folder("taskstate-index-") as folder:
        # copy2 keeps the time stamp, by which git knows what was changed after the index was written.
        shutil.copy2(index, folder / "index")
        yield {"GIT_INDEX_FILE": str(folder / "index")}


def stage(root: Path, paths: Sequence[str]) -> None:
    """Stage these files, and no others, as they are on disk; a deleted file is removed from the index.

    Raises:
        GitFailed: git refuses, as it does for an ignored file; or its index is a link.
    """
    if paths:
        at = folders(root)
        if at is not None:
            require_own_file(index_path(at), "git add")
        run(["add", "--all", "--", *(f":(literal){path}" for path in paths)], root)


class ChangedFile(NamedTuple):
    """A file that differs from a commit; `path` and `origin`, its path before a rename, are relative to the root.

    `status` is git's letter: `A` added, `D` deleted, `M` modified, `R` renamed, `T` type changed, `U` unmerged.
    """

    status: str
    path: str
    origin: str = ""


def changes(root: Path, commit: str, now: str = DISK, within: str = "") -> tuple[ChangedFile, ...]:
    """Return the tracked files under `root` that differ from a commit: on disk, in the index, or in commit `now`.

    With `within`, only those in that folder of it, by their paths from there.
    """
    args = ["diff", "--name-status", "-z", "-M", *_DIFF_OPTIONS, *([f"--relative={within}"] if within else [])]
    if now == DISK:
        with _copied_index(root) as env:
            output = run([*args, commit, "--"], root, env=env)
    else:
        output = run([*args, *(["--cached", commit] if now == INDEX else [commit, now]), "--"], root)
    fields = (os.fsdecode(field) for field in output.split(b"\0"))  # with -z: status, path; after R or C two paths
    changed = []
    for status in fields:
        letter = status[:1]  # after R and C follows the similarity, as in R100
        if letter in {"R", "C"}:
            origin = next(fields)
            changed.append(ChangedFile(letter, next(fields), origin))
        elif letter:
            changed.append(ChangedFile(letter, next(fields)))
    return tuple(changed)


def start_changes_since_head(root: Path, prefix: str) -> Callable[[], frozenset[str]]:
    """Start looking for the files under `root` that differ from HEAD or are untracked; returns a function that waits.

    `prefix` is the path of the root from the top of the working tree, with a final slash.
    """
    output = start([*_STATUS, "--", "."], root)

    def wait() -> frozenset[str]:
        names = (os.fsdecode(entry[3:]) for entry in output().split(b"\0") if entry)
        return frozenset(name.removeprefix(prefix) for name in names)

    return wait


def untracked(root: Path) -> tuple[str, ...]:
    """Return the paths of the files under `root` that git neither tracks nor ignores."""
    output = run(["ls-files", "-z", "--others", "--exclude-standard"], root)
    return tuple(os.fsdecode(name) for name in output.split(b"\0") if name)
