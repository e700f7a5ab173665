"""Says how HEAD moved from an earlier commit: which commits came, and whether those that left have an equal one."""

from __future__ import annotations

import os
import re
from datetime import datetime

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.git.discovery import small_file
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

# The reflog's words for a commit that was made here: by hand, picked, or made again by a rebase. A commit that a pull,
# a merge or a checkout brought in was made elsewhere.
_MADE_HERE = re.compile(r"commit|cherry-pick|revert|am\b|.*\((?:pick|reword|edit|squash|fixup|continue)\)")
_FORM = "--format=%H%x00%P%x00%s%x00"
_RAW = b":"  # begins an entry of `--raw`


class Commit(NamedTuple):
    """A commit, and the paths from the root that it changed."""

    id: str
    parents: int
    subject: str
    paths: tuple[str, ...]

    @property
    def words(self) -> str:
        """The commit in words, for a message."""
        return f"{self.id[: git.SHORT]} {git.printable(self.subject)}".rstrip()


class Movement(NamedTuple):
    """The commits that HEAD has and an earlier commit lacked, and those that left and are in none of the new ones."""

    came: tuple[Commit, ...]
    lost: tuple[Commit, ...]

    @property
    def keeps_all(self) -> bool:
        """Whether every commit that left has an equal one among the new, as after `git pull --rebase`."""
        return not self.lost


def movement(root: Path, old: str, new: str, is_ours: Callable[[str], bool]) -> Movement | None:
    """Return how HEAD moved from `old` to `new`; None where `old` is not in this repository.

    Commits that changed only taskstate's own files do not count, and neither do merges that added nothing of their own.
    """
    if old == new:
        return Movement((), ())
    try:
        old = git.resolve_commit(root, old)
        listed = _marked(root, old, new)
        commits = {each.id: each for each in _commits(root, f"{old}...{new}", is_ours)}
    except GitFailed:
        return None
    lost = (commits[name] for mark, name in listed if mark == "<" and name in commits)
    came = (commits[name] for mark, name in listed if mark == ">" and name in commits)
    return Movement(tuple(came), tuple(each for each in lost if not _adds_nothing(root, each)))


def _adds_nothing(root: Path, commit: Commit) -> bool:
    """Return whether a commit is a merge that holds nothing but what its parents hold."""
    if commit.parents < 2:  # noqa: PLR2004 - a merge has two parents
        return False
    # --cc leaves out what is as in one of the parents.
    args = ["diff-tree", "--cc", "-p", "--no-commit-id", "--no-ext-diff", "--no-textconv", commit.id, "--"]
    return not git.run(args, root).strip()


def _marked(root: Path, old: str, new: str) -> list[tuple[str, str]]:
    """Return the commits that one side has: `<` the old one, `>` the new one, `=` either with an equal patch."""
    # Patches are compared by git's patch id; a merge has none. The commit ids are full ones, so none is an option.
    args = ["rev-list", "--left-right", "--cherry-mark", "--full-history", f"{old}...{new}", "--"]
    lines = git.run(args, root).decode("ascii", "replace").split()
    return [(line[:1], line[1:]) for line in lines]


def _commits(root: Path, revisions: str, is_ours: Callable[[str], bool]) -> Iterator[Commit]:
    """Yield the commits that changed other files than taskstate's own."""
    folders = git.folders(root)
    if folders is None:
        return
    below = os.path.relpath(os.path.realpath(root), os.path.realpath(folders.top)).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    # -c: of a merge, the files that differ from all of its parents. --raw: no entry can be taken for a commit.
    form = (_FORM, "--raw", "--no-abbrev", "--no-renames", "-z", "-c", "--no-ext-diff", "--no-show-signature")
    args = ["-c", "diff.relative=false", "log", *form, "--ignore-submodules=none", "--full-history"]
    fields = iter(git.run([*args, "--encoding=UTF-8", revisions, "--"], root).split(b"\0"))
    name = next(fields)
    while name:
        parents, subject = next(fields).split(), next(fields).decode("utf-8", "replace")
        changed, next_name = _changed_paths(fields)
        paths = (path.removeprefix(prefix) for path in changed if path.startswith(prefix))
        others = tuple(path for path in paths if not is_ours(path))
        if others:
            yield Commit(name.decode("ascii"), len(parents), subject, others)
        name = next_name


def _changed_paths(fields: Iterator[bytes]) -> tuple[list[str], bytes]:
    """Read the entries of one commit, and return their paths and the id of the next commit, empty at the end."""
    paths = []
    for field in fields:
        entry = field.removeprefix(b"\n")
        if entry.startswith(_RAW):
            paths.append(os.fsdecode(next(fields)))
        elif entry:
            return paths, entry
    return paths, b""


def was_reset(root: Path, since: str) -> bool:
    """Return whether the reflog of HEAD tells of a `git reset` at or after a moment, given as a timestamp."""
    return any(words.startswith("reset:") for _, _, words in _reflog_since(root, since))


def made_here(root: Path, since: str = "", head: str = "") -> frozenset[str]:
    """Return the ids of the commits that were made in this working tree, as far as its reflog goes.

    With `since`, a timestamp, those made after that moment, at which HEAD was `head`.
    """
    entries = _reflog_since(root, since)
    # A timestamp has whole seconds: of the same one are entries before and after it.
    begun = datetime.fromisoformat(since).timestamp() if entries and since else -1
    before = [at for at, (name, when, _) in enumerate(entries, start=1) if when == begun and name == head]
    return frozenset(name for name, _, words in entries[max(before, default=0) :] if _MADE_HERE.match(words))


def _reflog_since(root: Path, since: str) -> list[tuple[str, int, str]]:
    """Return the entries of HEAD's reflog since a moment, all if it is empty; none where there is no reflog."""
    try:
        begun = datetime.fromisoformat(since).timestamp() if since else 0
        return [each for each in _reflog(root) if each[1] >= begun]
    except (GitFailed, OSError, ValueError):
        return []


def _reflog(root: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the entries of HEAD's reflog, the oldest first: where HEAD then was, the time, and what was done."""
    at = git.folders(root)
    log = small_file(at.git_dir / "logs" / "HEAD") if at else None
    if log is not None:
        found = re.compile(rb"^[0-9a-f]+ ([0-9a-f]+) .*> (\d+) [+-]\d+\t(.*)$", re.MULTILINE).findall(log)
        yield from ((name.decode(), int(when), words.decode("utf-8", "replace")) for name, when, words in found)
        return
    form = ("--walk-reflogs", "--date=unix", "--format=%H%x00%gd%x00%gs", "--no-show-signature")  # another store of it
    lines = git.run(["log", *form, "HEAD", "--"], root).decode("utf-8", "replace").splitlines()
    for name, when, words in (line.split("\0") for line in reversed(lines)):
        yield name, int(when[len("HEAD@{") : -1]), words
