"""Answers what the rules ask about one file's surroundings, from the disk and from git.

What is asked is noted with a mark of the answer, so that a cache can tell whether the same questions would be answered
in the same way: a mark is cheap, an answer may need another file to be read and parsed.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from taskstate.errors import GitFailed
from taskstate.lint.queries.artifacts import ArtifactAnswers
from taskstate.lint.queries.context import ContextAnswers
from taskstate.lint.queries.handoffs import HandoffAnswers
from taskstate.model import names
from taskstate.storage import files

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.chain_quotes import Upstream
    from taskstate.syntax.document import Document


class Surroundings(ArtifactAnswers, HandoffAnswers, ContextAnswers):
    """The answers about one file."""

    def is_future(self, moment: str) -> bool | None:
        """Return whether a timestamp has not come yet."""
        return self._ask("is_future", moment) == "yes"

    def _is_future_mark(self, moment: str) -> str:
        return "yes" if moment > self.repository.now else "no"

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file of the task."""
        path = self._archive_path
        if path is None:
            return None
        self._ask("archive")
        if not self.repository.source.exists(path):
            return ()
        found = self.repository.document(path)
        return (found,) if found else None  # one that cannot be read is told where it is linted itself

    @cached_property
    def _archive_path(self) -> Path | None:
        own = names.own_file(self.path.name)
        workspace = self.repository.workspace
        return workspace.state_root / workspace.archive_path(own.id) if own and own.id else None

    def _archive_mark(self) -> str:
        return self.repository.source.mark(self._archive_path) if self._archive_path else ""

    def same_id(self) -> tuple[str, ...] | None:
        """Return the other state files that have this file's id."""
        own = names.own_file(self.path.name)
        if own is None or not own.id:
            return None
        told = self._ask("same_id", own.id.casefold())
        return tuple(told.split("\n")) if told else ()

    def _same_id_mark(self, task_id: str) -> str:
        others = (
            path for path in self.repository.state_files(task_id) if path != self.path and not self._is_itself(path)
        )
        return "\n".join(files.shown(self.repository.workspace.relative(path)) for path in others)

    def _is_itself(self, path: Path) -> bool:
        """Return whether a path leads to this very file, be it through a link on the way."""
        return path == self.path or os.path.realpath(path) == os.path.realpath(self.path)

    def leaves(self, path: str) -> bool | None:
        """Return whether a path goes through a link that leads outside."""
        return self._ask("leaves", path) == "yes"

    def _leaves_mark(self, path: str) -> str:
        root = self.repository.real_root
        try:
            real = os.path.realpath(os.path.join(root, path))
        except (OSError, ValueError):
            return "no"
        return "no" if real == root or real.startswith(root + os.sep) else "yes"

    def missing_commits(self, ids: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return which of these commits the repository does not have."""
        told = self._ask("missing_commits", *ids)
        return tuple(told.split()) if told != "?" else None

    def _missing_commits_mark(self, *ids: str) -> str:
        try:
            kinds_of = self.repository.objects.kinds
            found = kinds_of([f"{each}^{{commit}}" for each in ids])
            missing = [each for each, kind in zip(ids, found, strict=True) if kind is None]
            # Git calls an id missing too that is cut so short that several commits have it; by itself it says why.
            why = kinds_of(missing)
            return " ".join(each for each, kind in zip(missing, why, strict=True) if kind != "ambiguous")
        except GitFailed:
            return "?"

    def upstream(self, task_id: str) -> tuple[Upstream, ...] | None:
        """Return what the state files of another task say."""
        self._ask("upstream", task_id.casefold())
        paths = self.repository.state_files(task_id.casefold())
        found = tuple(found for path in paths if (found := self.repository.upstream(path)))
        return found if found or not paths else None  # it is there, and what it says nobody can tell

    def _upstream_mark(self, task_id: str) -> str:
        paths = self.repository.state_files(task_id)
        return " ".join(f"{path.name}:{self.repository.source.mark(path)}" for path in paths)

    def way_back(self, task_id: str) -> tuple[str, ...] | None:
        """Return the ids on a shortest way along `depends_on` from a task back to this file's."""
        own = names.own_file(self.path.name)
        if own is None or not own.id:
            return None
        return tuple(self._ask("way_back", task_id.casefold(), own.id.casefold()).split())

    def _way_back_mark(self, task_id: str, own_id: str) -> str:
        return " ".join(self.repository.dependencies.way(task_id, own_id))

    def earlier(self) -> tuple[Document, ...] | None:
        """Return the file as it was at the compared revision."""
        return self._compared("earlier", self.path)

    def earlier_names(self) -> tuple[str, ...] | None:
        """Return how git calls the file as it was; its mark is that of the file as it was."""
        history = self.repository.history
        if history is None:
            return None
        self._ask("earlier")
        return history.names(self.path)

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the task's archive file as it was at the compared revision."""
        return self._compared("earlier_archive", self._archive_path)

    def _compared(self, question: str, path: Path | None) -> tuple[Document, ...] | None:
        history = self.repository.history
        if history is None or path is None:
            return None
        self._ask(question)
        return history.documents(path)

    def _earlier_mark(self) -> str:
        return self.repository.history.mark(self.path) if self.repository.history else ""

    def _earlier_archive_mark(self) -> str:
        history = self.repository.history
        return history.mark(self._archive_path) if history and self._archive_path else ""

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return the files of the repository that differ from the compared revision."""
        history = self.repository.history
        if history is None:
            return None
        self._ask("changed_paths")
        return history.changed_paths

    def _changed_paths_mark(self) -> str:
        history = self.repository.history
        return files.digest("\0".join(history.changed_paths).encode("utf-8", "replace")) if history else ""
