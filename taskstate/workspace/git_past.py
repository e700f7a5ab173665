"""Reads what git has of a workspace's files: from its HEAD on, or from the commit that the workspace shows.

Of a working tree git works in the root. Of a commit it works at the top, since the root need not be on disk.
"""

from __future__ import annotations

import os
from contextlib import contextmanager

from taskstate.errors import GitFailed
from taskstate.storage.file_sources import Disk
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace


@contextmanager
def objects_of(workspace: Workspace) -> Iterator[git.Objects]:
    """Yield what reads the objects of git: for a commit what its files are read by."""
    if not isinstance(workspace.source, Disk):
        yield workspace.source.objects
        return
    objects = git.Objects(workspace.root)
    try:
        yield objects
    finally:
        objects.close()


def head_of(workspace: Workspace) -> str:
    """Return a name of the commit that the past ends with."""
    return "HEAD" if isinstance(workspace.source, Disk) else workspace.source.commit


def top_of(workspace: Workspace) -> Path:
    """Return the folder in which git works."""
    return workspace.root if isinstance(workspace.source, Disk) else workspace.source.root


def within_top(workspace: Workspace) -> str:
    """Return the path of the root from the folder in which git works, with a final slash; empty where it is that."""
    path = workspace.root.relative_to(top_of(workspace)).as_posix()
    return "" if path == "." else f"{path}/"


def name_at(workspace: Workspace, revision: str, relative: str) -> str:
    """Return git's name for a file of the workspace at a revision."""
    path = os.path.normpath(relative).replace(os.sep, "/")
    if workspace.is_on_disk:
        return f"{revision}:./{path}"
    return f"{revision}:{within_top(workspace)}{path}"  # `./` is only for a folder of a working tree


def commits_of(workspace: Workspace, relative: str, options: Sequence[str], tip: str) -> Sequence[str]:
    """Return the commits at or below `tip` that changed a file, newest first; `options` are those of `git log`.

    Raises:
        GitFailed: there is none, or git refuses.
    """
    # `log.showSignature` would mix the output of gpg into that of --format.
    args = ["log", "--format=%H", "--no-show-signature", *options, "--end-of-options", tip, "--"]
    if isinstance(workspace.source, Disk):
        output = git.run([*args, f":(literal){relative}"], workspace.root)
    else:
        output = workspace.source.objects.run([*args, f":(top,literal){within_top(workspace)}{relative}"])
    return output.decode("ascii", "replace").split()


def versions_before(workspace: Workspace, relative: str, commit: str) -> list[bytes | None]:
    """Return the contents of a file in the commits at or below one that changed it, newest first; none if git fails.

    None stands for a commit without the file.
    """
    try:  # --full-history: also commits on a branch whose merge dropped what they changed
        commits = commits_of(workspace, relative, ("--full-history", "--topo-order"), commit)
        with objects_of(workspace) as objects:
            return [*objects.contents([name_at(workspace, each, relative) for each in commits])]
    except GitFailed:
        return []
