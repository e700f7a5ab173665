"""Answers what rules ask about the sources of a sealed context: standards, the task file, commits since then.

Many tasks cite the same standard, so what was read of it is kept for the run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.errors import GitFailed, TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from taskstate.context.citations import Standard
    from taskstate.lint.queries.repository import File, Repository


def standard(file: File, path: str, mark: str) -> tuple[Standard, ...]:
    """Read a cited file; none where it is not there or cannot be read."""
    repository = file.repository
    return repository.once(("standard", path, mark), lambda: _standard(repository, path))


def _standard(repository: Repository, path: str) -> tuple[Standard, ...]:
    from taskstate.context.citations import MOST_BYTES, Standard

    data = _read(repository, path, MOST_BYTES)
    try:
        return () if data is None else (Standard(data.decode("utf-8")),)
    except UnicodeDecodeError:
        return ()


def blob_ids(file: File, path: str) -> tuple[str, ...]:
    """Compute the ids that git may give a file, with its line ends as they are and as a checkout writes them."""
    from taskstate.context import task_file

    data = _read(file.repository, path, task_file.MOST_BYTES)
    return () if data is None else task_file.blob_ids(data)


def source_mark(file: File, path: str) -> str:
    """Take the mark of a source."""
    repository = file.repository

    def mark() -> str:
        place = _place(repository, path)
        return repository.source.mark(place) if place else "out"

    return repository.once(("mark", path), mark)


def changed_since(file: File, commit: str, head: str) -> tuple[str, ...] | None:
    """List the paths, without our own, that differ between a commit and HEAD."""
    repository = file.repository
    return repository.once(("moved", commit, head), lambda: _changed_since(repository, commit))


def _changed_since(repository: Repository, commit: str) -> tuple[str, ...] | None:
    from taskstate.storage.git import log as git_log

    workspace = repository.workspace
    try:
        touched = git_log.changed_paths(workspace.root, commit)
    except GitFailed:
        return None  # another rule tells of commits that are not here
    return tuple(path for path in touched if not workspace.is_ours(path))


def head_mark(file: File, _commit: str) -> str:
    """Return the id of the commit that HEAD names."""
    repository = file.repository
    return repository.once(("head",), lambda: git.head(repository.workspace.root) or "")


def _read(repository: Repository, path: str, most: int) -> bytes | None:
    """Read a source; None where it is not there, leads out, or is too large to be one."""
    place = _place(repository, path)
    try:
        return repository.source.read(place) if place and os.stat(place).st_size <= most else None
    except (OSError, TaskstateError):
        return None


def _place(repository: Repository, path: str) -> Path | None:
    """Return where a source really lies, links followed; None for one that leads out of the repository."""

    def place() -> Path | None:
        try:
            return Path(os.path.realpath(files.inside(repository.workspace.root, path)))
        except (TaskstateError, OSError, ValueError):
            return None

    return repository.once(("place", path), place)
