"""The repository as one lint run sees it: the run's cache, the time, the compared revision; and one file in it."""

from __future__ import annotations

from functools import cached_property

from taskstate.lint.queries.interface import ARCHIVE, CLOCK, GIT, HISTORY, REPOSITORY, UPSTREAM
from taskstate.model import names
from taskstate.storage.file_sources import Disk
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, TypeVar
from taskstate.workspace.run_cache import RunCache

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.lint.compared_revision import ComparedRevision
    from taskstate.workspace.workspace import Workspace

_EVERYWHERE = frozenset({ARCHIVE, CLOCK, REPOSITORY, UPSTREAM})
_T = TypeVar("_T")


class Repository(RunCache):
    """The repository in one lint run.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`); `history` is the compared revision, or None. With `defers_cycles`
    no task depends on itself, as nearly everywhere: whoever knows all files looks for cycles when they are checked.
    """

    defers_cycles = False

    def __init__(self, workspace: Workspace, *, now: str, history: ComparedRevision | None = None) -> None:
        super().__init__(workspace)
        self.now = now
        self.history = history

    def prepare(self) -> None:
        """Compute now what otherwise every worker process would compute for itself."""
        super().prepare()
        _ = self.answerable
        if self.history:
            self.history.prepare()

    @cached_property
    def answerable(self) -> frozenset[str]:
        """The kinds of queries that can be answered here."""
        source = self.workspace.source
        if not isinstance(source, Disk) and not source.commit:  # what else belongs to the repository is not there
            return _EVERYWHERE - {REPOSITORY}
        kinds = {HISTORY} if self.history else set[str]()
        # A shallow clone lacks old commits: whether one exists cannot be said there.
        if git.is_repository(self.workspace.root) and not git.is_shallow(self.workspace.root):
            kinds.add(GIT)
        return _EVERYWHERE | kinds

    def once(self, key: tuple[str, ...], compute: Callable[[], _T]) -> _T:
        """Return the result of `compute`, which is called once for a key and then kept until `forget`."""
        if key not in self.memo:
            self.memo[key] = compute()
        result: _T = self.memo[key]
        return result


class File:
    """The file that queries are about, in its repository."""

    def __init__(self, repository: Repository, path: Path) -> None:
        self.repository = repository
        self.path = path

    @cached_property
    def id(self) -> str:
        """The id of the task from the file's name; empty where it has none."""
        own = names.own_file(self.path.name)
        return own.id or "" if own else ""

    @cached_property
    def archive_path(self) -> Path | None:
        """The path of the task's archive file, which may not exist; None where the file's name has no id."""
        workspace = self.repository.workspace
        return workspace.state_root / workspace.archive_path(self.id) if self.id else None
