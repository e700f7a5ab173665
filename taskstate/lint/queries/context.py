"""Answers what rules ask about the sources of a sealed context: standards, the task file, commits since then.

Many tasks cite the same standard, so what was read of it is kept for the run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.errors import GitFailed, TaskstateError
from taskstate.lint.queries.recorded import Asked
from taskstate.storage import files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from taskstate.context.citations import Standard


class ContextAnswers(Asked):
    """The answers about the sources of a context."""

    def standard(self, path: str) -> tuple[Standard, ...] | None:
        """Return a cited file, none where it is not there or cannot be read."""
        mark, memo = self._ask("standard", path), self.repository.memo
        if ("standard", path, mark) not in memo:
            memo["standard", path, mark] = self._standard(path)
        found: tuple[Standard, ...] = memo["standard", path, mark]
        return found

    def _standard_mark(self, path: str) -> str:
        return self._source_mark(path)

    def _standard(self, path: str) -> tuple[Standard, ...]:
        from taskstate.context.citations import MOST_BYTES, Standard

        data = self._source(path, MOST_BYTES)
        try:
            return () if data is None else (Standard(data.decode("utf-8")),)
        except UnicodeDecodeError:
            return ()

    def blob_ids(self, path: str) -> tuple[str, ...] | None:
        """Return the ids that git may give a file, with its line ends as they are and as a checkout writes them."""
        from taskstate.context.task_file import MOST_BYTES, blob_ids

        self._ask("blob_ids", path)
        data = self._source(path, MOST_BYTES)
        return () if data is None else blob_ids(data)

    def _blob_ids_mark(self, path: str) -> str:
        return self._source_mark(path)

    def moved_since(self, commit: str) -> tuple[str, ...] | None:
        """Return the paths, without our own, that differ between a commit and HEAD."""
        memo, head = self.repository.memo, self._ask("moved_since", commit)
        if ("moved", commit, head) not in memo:
            memo["moved", commit, head] = self._moved(commit)
        found: tuple[str, ...] | None = memo["moved", commit, head]
        return found

    def _moved(self, commit: str) -> tuple[str, ...] | None:
        from taskstate.storage.git import log as git_log

        workspace = self.repository.workspace
        try:
            touched = git_log.touched(workspace.root, commit)
        except GitFailed:
            return None  # another rule tells of commits that are not here
        return tuple(path for path in touched if not workspace.is_ours(path))

    def _moved_since_mark(self, _commit: str) -> str:
        memo = self.repository.memo
        if ("head",) not in memo:
            memo["head",] = git.head(self.repository.workspace.root) or ""
        head: str = memo["head",]
        return head

    def _source(self, path: str, most: int) -> bytes | None:
        """Return what a source holds, or None where it is not there, leads out, or is too large to be one."""
        place = self._place(path)
        try:
            data = self.repository.source.read(place) if place and os.stat(place).st_size <= most else None
        except (OSError, TaskstateError):
            return None
        return data

    def _source_mark(self, path: str) -> str:
        memo = self.repository.memo
        if ("mark", path) not in memo:
            place = self._place(path)
            memo["mark", path] = self.repository.source.mark(place) if place else "out"
        mark: str = memo["mark", path]
        return mark

    def _place(self, path: str) -> Path | None:
        """Return where a source really lies, links followed; None for one that leads out of the repository."""
        memo = self.repository.memo
        if ("place", path) not in memo:
            try:
                place = Path(os.path.realpath(files.inside(self.repository.workspace.root, path)))
            except (TaskstateError, OSError, ValueError):
                place = None
            memo["place", path] = place
        found: Path | None = memo["place", path]
        return found
