"""Answers queries about the sources of a sealed context: cited standards, and the task file.

Many tasks cite the same standards, so answers are kept for the whole run.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.context.citations import Standard
    from taskstate.lint.queries.repository import File, Repository


def standard(file: File, path: str, mark: str) -> tuple[Standard, ...]:
    """Read a cited file; empty where it does not exist or cannot be read."""
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
    """Compute the object ids that git may give a file: with its line ends as they are, with LF, and with CRLF."""
    from taskstate.context import task_file

    data = _read(file.repository, path, task_file.MOST_BYTES)
    return () if data is None else task_file.blob_ids(data)


def excerpt_state(file: File, path: str, lines: str, sha256: str) -> str:
    """Compare an excerpt with its source: "same", "moved", "changed" or "gone"."""
    from taskstate.evidence.excerpts import GONE, SAME, Excerpt, is_range, state_in

    if lines and not is_range(lines):
        return SAME  # reported by TS101
    data = _read(file.repository, path, files.MAX_BYTES)
    try:
        text = None if data is None else with_newlines(data.decode("utf-8"), "\n")
    except UnicodeDecodeError:
        return GONE
    return state_in(text, Excerpt("", "", path, lines or None, sha256, ""))[0]


def excerpt_mark(file: File, path: str, _lines: str, _sha256: str) -> str:
    """Return the mark of an excerpt's source."""
    return source_mark(file, path)


def source_mark(file: File, path: str) -> str:
    """Return the mark of a source file."""
    repository = file.repository

    def mark() -> str:
        source = _location(repository, path)
        return repository.source.mark(source) if source else "out"

    return repository.once(("mark", path), mark)


def _read(repository: Repository, path: str, most: int) -> bytes | None:
    """Read a source; None where it does not exist, leads outside, or has more than `most` bytes."""
    source = _location(repository, path)
    try:
        return repository.source.read(source) if source and (repository.source.size(source) or 0) <= most else None
    except (OSError, TaskstateError):
        return None


def _location(repository: Repository, path: str) -> Path | None:
    """Return the real location of a source, links followed; None for one outside the repository."""

    def location() -> Path | None:
        try:
            return files.resolved(repository.workspace.root, path, repository.workspace.source.real)
        except (TaskstateError, OSError, ValueError):
            return None

    return repository.once(("location", path), location)
