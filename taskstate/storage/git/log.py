"""Lists the commits of a repository, and the paths that differ or were touched since one of them."""

from __future__ import annotations

import os
import re

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.git.movement import made_here
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_FULL = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"  # which needs no look-up
_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


class Commit(NamedTuple):
    """A commit: its full and its abbreviated id, the first paragraph of its message, and the whole message.

    `time` is when it was committed, as a timestamp; empty where that is no time of a calendar. `author` is the name of
    who wrote it, and `paths` are the files that it touched, where they were asked for.
    """

    id: str
    short: str
    subject: str
    message: str
    time: str = ""
    author: str = ""
    paths: tuple[str, ...] = ()


def log(root: Path, *, since: str = "", after: str = "", digits: int = git.SHORT, most: int = 0) -> tuple[Commit, ...]:
    """Return the commits of HEAD, the newest first: those after the revision `since`, made no earlier than `after`.

    `after` is a time such as 2026-01-31T12:00:00Z; in any other form it is ignored. They are `most` at most, if that is
    given.

    Raises:
        GitFailed: code "no-commit": `since` names no commit; or git fails.
    """
    newest = git.head(root)
    if newest is None:
        return ()
    first = since if re.fullmatch(_FULL, since) else since and git.resolve_commit(root, since)
    commits = f"{first}..{newest}" if first else newest
    times = [f"--since={after}"] if re.fullmatch(_TIME, after) else []
    times += [f"--max-count={most}"] if most else []
    return _listed(root, [f"--abbrev={digits}", *times, commits])


def _timestamp(seconds: str) -> str:
    from datetime import UTC, datetime

    try:  # git shows what a commit says: it may be empty, or behind the last year
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OSError, OverflowError):
        return ""


def made_since(root: Path, start: str, moment: str) -> tuple[Commit, ...]:
    """Return the commits of HEAD that were made in this working tree since it was at `start`, the oldest first.

    `moment` is when that was, as a timestamp. What a pull or a merge brought was made elsewhere, and what a rebase made
    again was there before. Where git does not know `start`, or has no reflog, there are none.
    """
    newest = git.head(root)
    if newest in {None, start}:
        return ()
    try:
        sides = ["--right-only", "--cherry-pick", "--end-of-options", f"{start}...{newest}", "--"]
        commits = _listed(root, [f"--abbrev={git.SHORT}", "--reverse", *sides])
    except GitFailed:
        return ()
    here = made_here(root, moment, start) if commits else frozenset()
    return tuple(each for each in commits if each.id in here)


def with_paths(root: Path, *revisions: str, patterns: Sequence[str] = ()) -> tuple[Commit, ...]:
    """Return commits, the newest first, each with the paths, from `root`, that it touched; all, or of these patterns.

    `revisions` are as `git log` takes them, its options among them. A merge touches none, unless they say otherwise:
    what it brings is its parents'.

    Raises:
        GitFailed: git fails.
    """
    return _listed(root, ["--name-only", "--no-renames", "--relative", "--no-ext-diff", *revisions, "--", *patterns])


def _listed(root: Path, args: list[str]) -> tuple[Commit, ...]:
    # --no-show-signature: `log.showSignature` in the user's configuration would put gpg's output into the entries.
    form = ("--encoding=UTF-8", "--format=/%H%n%h%n%s%n%ct%n%an%n%B", "--no-show-signature")
    found = list[tuple[Commit, list[str]]]()
    for part in git.run(["log", "-z", *form, *args], root).split(b"\0"):
        if part.startswith(b"/"):  # as no path from a folder does
            name, short, subject, seconds, author, message = part[1:].decode("utf-8", "replace").split("\n", 5)
            found.append((Commit(name, short, subject, message, _timestamp(seconds), author), []))
        elif part:
            paths = found[-1][1]
            paths.append(os.fsdecode(part if paths else part.removeprefix(b"\n")))
    return tuple(commit._replace(paths=tuple(paths)) for commit, paths in found)


def commits_besides(root: Path, known: str, most: int) -> tuple[str, ...]:
    """Return the commits of HEAD and all references that `known` lacks, the oldest first; without one, the newest.

    They are `most` at most.

    Raises:
        GitFailed: git fails.
    """
    # `--max-count` would count from the newest one.
    bounds = ("--reverse", "HEAD", "--all", "--not", known) if known else (f"--max-count={most}", "HEAD", "--all")
    return tuple(git.run(["rev-list", "--topo-order", *bounds, "--"], root).decode("ascii").split()[:most])


def last_touches(root: Path, since: float) -> dict[str, Commit]:
    """Return the newest commit that touched each path, from `root`, among the commits of HEAD made after `since`.

    Of a merge, the files that differ from its first parent are touched by it.

    Raises:
        GitFailed: git fails.
    """
    newest = git.head(root)
    commits = with_paths(root, "-m", "--first-parent", f"--since=@{int(since)}", newest) if newest else ()
    return {path: each for each in reversed(commits) for path in each.paths}


def changed_paths(root: Path, since: str) -> tuple[str, ...]:
    """Return the paths, from `root`, that differ between the commit `since` and HEAD; a rename counts as two paths.

    Raises:
        GitFailed: code "no-commit": `since` names no commit here; or git fails.
    """
    newest = git.head(root)
    if newest is None or newest == since:
        return ()
    commits = (git.resolve_commit(root, since), newest)
    output = git.run(["diff", "--name-only", "--no-renames", "-z", "--relative", "--no-ext-diff", *commits, "--"], root)
    return tuple(os.fsdecode(name) for name in output.split(b"\0") if name)


def paths_touched_by_commits(root: Path, since: str) -> tuple[str, ...]:
    """Return the paths, from `root`, that any commit between `since` and HEAD touched, even if it was reverted later.

    If `since` is not an ancestor of HEAD, they are the paths that differ.

    Raises:
        GitFailed: code "no-commit": `since` names no commit here; or git fails.
    """
    differing, newest = changed_paths(root, since), git.head(root)
    folders = git.folders(root)
    if newest is None or newest == since or folders is None:
        return differing
    try:
        git.run(["merge-base", "--is-ancestor", "--end-of-options", since, newest], root)
    except GitFailed:
        return differing
    # -c: of a merge, the files that differ from all of its parents. With it git does not always print paths relative
    # to a folder below the top, so `diff.relative` is switched off and the prefix removed here.
    form = ("--format=", "--name-only", "--no-renames", "-z", "-c", "--no-ext-diff", "--no-show-signature")
    args = ["-c", "diff.relative=false", "log", *form, "--ignore-submodules=none", "--full-history"]
    output = git.run([*args, "--end-of-options", f"{since}..{newest}", "--", "."], root)
    below = os.path.relpath(os.path.realpath(root), os.path.realpath(folders.top)).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    names = (os.fsdecode(name) for name in output.split(b"\0") if name)
    touched = (name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return tuple(sorted({*differing, *touched}))


def paths_ever(root: Path, folders: Sequence[str]) -> frozenset[str]:
    """Return the paths, from the top, of all files that any reference, stash or worktree ever had in these folders.

    Raises:
        GitFailed: git fails.
    """
    if git.toplevel(root) is None:
        return frozenset()
    form = ("--format=", "--name-only", "--no-renames", "--diff-filter=A", "-z", "--no-ext-diff", "--no-show-signature")
    places = [f":(literal){each}" for each in folders]
    output = git.run(["-c", "diff.relative=false", "log", "--all", "--full-history", *form, "--", *places], root)
    return frozenset(os.fsdecode(name.lstrip(b"\n")) for name in output.split(b"\0") if name)
