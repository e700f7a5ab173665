"""Reads all versions of some files that git still has: from references, from the stash, or from the reflog."""

from __future__ import annotations

import os
import re
from contextlib import closing, suppress
from itertools import chain

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

REFS, STASH, REFLOG, OWN = "refs", "stash", "reflog", "own"
_COMMITS = {
    # HEAD is among `--all`, also where it is detached. So is the stash, which counts for itself.
    OWN: ("log", "--format=%H", "HEAD"),
    REFS: ("log", "--format=%H", "--exclude=refs/stash", "--all"),
    REFLOG: ("log", "--format=%H", "--reflog"),
}
_COMMIT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_AT_ONCE = 20  # commits whose files are asked for together


def versions(root: Path, paths: Sequence[str], where: str) -> Iterator[tuple[str, tuple[bytes | None, ...]]]:
    """Yield the commits in which one of the files changed, newest first, each with the files' bytes (None: no file).

    `where` is one of the names above, and says which commits. A stash is yielded as its commit, and those with its
    index and its untracked files. Without git, and where git fails, there are none.
    """
    names = [f"./{os.path.normpath(path).replace(os.sep, '/')}" for path in paths]
    if git.head(root) is None:
        return
    with suppress(GitFailed), closing(git.Objects(root)) as objects:
        commits = [*chain(*_stashes_in_parts(root))] if where == STASH else _commits(root, names, where)
        for start in range(0, len(commits), _AT_ONCE):
            chunk = commits[start : start + _AT_ONCE]
            contents = objects.contents([f"{commit}:{name}" for commit in chunk for name in names])
            for commit in chunk:
                yield commit, tuple(next(contents) for _ in names)


def text_at(root: Path, path: str, commit: str) -> bytes | None:
    """Return the bytes of a file in a commit, given by its id or as `HEAD`; None where either is not there."""
    if commit != "HEAD" and not re.fullmatch(_COMMIT_ID, commit):
        return None
    with suppress(GitFailed), closing(git.Objects(root)) as objects:
        return objects.read(f"{commit}:./{os.path.normpath(path).replace(os.sep, '/')}")
    return None


def _commits(root: Path, names: Sequence[str], where: str) -> list[str]:
    # --full-history: also commits on a branch whose merge dropped what they changed.
    options = ("--full-history", "--no-show-signature", "--")
    patterns = [f":(literal){name}" for name in names]
    return git.run([*_COMMITS[where], *options, *patterns], root).decode("ascii", "replace").split()


def stash_with(root: Path, blobs: Mapping[bytes, str]) -> str:
    """Return the newest stash that holds these blobs at these paths, such as `stash@{0}`; empty where none does."""
    names = [os.fsdecode(b"./" + path) for path in blobs]
    with suppress(GitFailed):
        for number, parts in enumerate(_stashes_in_parts(root)):
            held: set[tuple[bytes, str]] = set()
            for commit in parts:
                listed = git.run(["ls-tree", "-r", "-z", commit, "--", *names], root).split(b"\0")
                held |= {(line.partition(b"\t")[2], line.split()[2].decode()) for line in listed if line}
            if held.issuperset(blobs.items()):
                return f"stash@{{{number}}}"
    return ""


def _stashes_in_parts(root: Path) -> list[list[str]]:
    """Return the commits of each stash, newest first: its own, and those with its index and its untracked files."""
    lines = git.run(["log", "-g", "--format=%H %P", "--no-show-signature", "refs/stash", "--"], root)
    stashes = [line.split() for line in lines.decode("ascii", "replace").splitlines()]
    # A stash's first parent is the commit it was made on.
    return [each[:1] + each[2:] for each in stashes]


def fingerprint(root: Path) -> str:
    """Return a text that changes whenever a reference, the stash or the reflog of HEAD does; empty without git."""
    at = git.folders(root)
    if at is None:
        return ""
    marks = [_mark(at.git_dir / "HEAD"), _mark(at.git_dir / "logs" / "HEAD"), _mark(at.common_dir / "packed-refs")]
    marks += [_mark(at.common_dir / "logs" / "refs" / "stash"), _mark(at.common_dir / "reftable" / "tables.list")]
    # Git writes a reference by a rename, which changes the time of its folder.
    marks += [_mark(folder) for top in {at.git_dir, at.common_dir} for folder, _, _ in os.walk(top / "refs")]
    return ",".join(sorted(marks))


def _mark(path: Path | str) -> str:
    try:
        status = os.stat(path)
    except OSError:
        return ""
    return f"{status.st_ino}.{status.st_size}.{status.st_mtime_ns}"
