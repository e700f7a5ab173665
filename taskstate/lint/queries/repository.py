"""What all files of one lint run share (the run's cache, the time, the compared revision), and one file among them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from taskstate.lint.queries.interface import ARCHIVE, CLOCK, GIT, HISTORY, REPOSITORY, UPSTREAM
from taskstate.model import names
from taskstate.storage.git import client as git
from taskstate.workspace.run_cache import RunCache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.lint.compared_revision import ComparedRevision
    from taskstate.workspace.workspace import Workspace

_EVERYWHERE = frozenset({ARCHIVE, CLOCK, REPOSITORY, UPSTREAM})
_T = TypeVar("_T")


class Repository(RunCache):
    """The repository as a lint run sees it.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`); `history` is the compared revision, or None.
    """

    def __init__(self, workspace: Workspace, *, now: str, history: ComparedRevision | None = None) -> None:
        super().__init__(workspace)
        self.now = now
        self.history = history

    def prepare(self) -> None:
        """Find out now what several processes would each find out for themselves."""
        super().prepare()
        _ = self.answerable
        if self.history:
            self.history.prepare()

    @cached_property
    def answerable(self) -> frozenset[str]:
        """What can be answered at all."""
        known = {HISTORY} if self.history else set[str]()
        if git.toplevel(self.workspace.root) and not git.is_shallow(self.workspace.root):
            known.add(GIT)
        return _EVERYWHERE | known

    def once(self, key: tuple[str, ...], find: Callable[[], _T]) -> _T:
        """Return what `find` finds, and for the same key the same again until what was read is forgotten."""
        if key not in self.memo:
            self.memo[key] = find()
        found: _T = self.memo[key]
        return found


class File:
    """The file that questions are about, in its repository."""

    def __init__(self, repository: Repository, path: Path) -> None:
        self.repository = repository
        self.path = path

    @cached_property
    def id(self) -> str:
        """The id of the task, as the file's own name bears it; empty where it bears none."""
        own = names.own_file(self.path.name)
        return own.id or "" if own else ""

    @cached_property
    def archive_path(self) -> Path | None:
        """Where the archive file of the task lies, or would; None where the name bears no id."""
        workspace = self.repository.workspace
        return workspace.state_root / workspace.archive_path(self.id) if self.id else None
