"""The commits of a repository, as git tells them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from pathlib import Path

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


class Commit(NamedTuple):
    """A commit: its full id, the beginning of it that is enough here, and its message; `subject` is that one's head."""

    id: str
    short: str
    subject: str
    message: str


def log(root: Path, *, since: str = "", after: str = "", digits: int = 10) -> tuple[Commit, ...]:
    """Return the commits of HEAD, the newest first: those behind the revision `since`, made no earlier than `after`.

    `after` is a time such as 2026-01-31T12:00:00Z; one of another form leaves nothing out.

    Raises:
        GitFailed: code "no-commit": `since` names no commit; or git fails.
    """
    newest = git.head(root)
    if newest is None:
        return ()
    span = f"{git.resolve_commit(root, since)}..{newest}" if since else newest
    times = (f"--since={after}",) if re.fullmatch(_TIME, after) else ()
    form = ("--encoding=UTF-8", "--format=%H%n%h%n%s%n%B", f"--abbrev={digits}")
    said = git.run(["log", "-z", "--no-show-signature", *form, *times, span], root)
    entries = (entry.decode("utf-8", "replace").split("\n", 3) for entry in said.split(b"\0") if entry)
    return tuple(Commit(*entry) for entry in entries)


def changed_paths(root: Path, since: str) -> tuple[str, ...]:
    """Return the paths, from `root`, that differ between the commit `since` and HEAD; a renaming is two of them.

    Raises:
        GitFailed: code "no-commit": `since` names no commit here; or git fails.
    """
    newest = git.head(root)
    if newest is None or newest == since:
        return ()
    span = (git.resolve_commit(root, since), newest)
    said = git.run(["diff", "--name-only", "--no-renames", "-z", "--relative", "--no-ext-diff", *span, "--"], root)
    return tuple(os.fsdecode(name) for name in said.split(b"\0") if name)


def paths_touched_by_commits(root: Path, since: str) -> tuple[str, ...]:
    """Return the paths, from `root`, that any commit between `since` and HEAD touched, also where that was taken back.

    Where HEAD does not come after `since`, they are those that differ.

    Raises:
        GitFailed: code "no-commit": `since` names no commit here; or git fails.
    """
    differing, newest = changed_paths(root, since), git.head(root)
    at = git.folders(root)
    if newest is None or newest == since or at is None:
        return differing
    span = f"{since}..{newest}"
    try:
        git.run(["merge-base", "--is-ancestor", "--end-of-options", since, newest], root)
    except GitFailed:
        return differing
    # Of a merge what none of its sides has; git does not always name that from elsewhere than the top.
    form = ("--format=", "--name-only", "--no-renames", "-z", "-c", "--no-ext-diff", "--no-show-signature")
    args = ["-c", "diff.relative=false", "log", *form, "--ignore-submodules=none", "--full-history"]
    said = git.run([*args, "--end-of-options", span, "--", "."], root).split(b"\0")
    below = os.path.relpath(os.path.realpath(root), os.path.realpath(at.top)).replace(os.sep, "/")
    prefix = "" if below == "." else f"{below}/"
    names = (os.fsdecode(name) for name in said if name)
    each = (name.removeprefix(prefix) for name in names if name.startswith(prefix))
    return tuple(sorted({*differing, *each}))
