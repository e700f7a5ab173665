"""The commits of a repository, as git tells them."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate import git

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
        GitFailed: `since` names no commit, or git fails.
    """
    newest = git.head(root)
    if newest is None:
        return ()
    span = f"{git.commit(root, since)}..{newest}" if since else newest
    times = (f"--since={after}",) if re.fullmatch(_TIME, after) else ()
    form = ("--encoding=UTF-8", "--format=%H%n%h%n%s%n%B", f"--abbrev={digits}")
    said = git.run(["log", "-z", "--no-show-signature", *form, *times, span], root)
    entries = (entry.decode("utf-8", "replace").split("\n", 3) for entry in said.split(b"\0") if entry)
    return tuple(Commit(*entry) for entry in entries)


def touched(root: Path, since: str) -> tuple[str, ...]:
    """Return the paths, from `root`, that differ between the commit `since` and HEAD; a renaming is two of them.

    Raises:
        GitFailed: `since` names no commit here, or git fails.
    """
    newest = git.head(root)
    if newest is None or newest == since:
        return ()
    span = (git.commit(root, since), newest)
    said = git.run(["diff", "--name-only", "--no-renames", "-z", "--relative", "--no-ext-diff", *span, "--"], root)
    return tuple(os.fsdecode(name) for name in said.split(b"\0") if name)
