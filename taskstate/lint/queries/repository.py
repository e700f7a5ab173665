"""What all files of one lint run share: the run's cache, the time, and the revision that is compared with."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from taskstate.lint.queries.interface import ARCHIVE, CLOCK, GIT, HISTORY, REPOSITORY, UPSTREAM
from taskstate.storage.git import client as git
from taskstate.workspace.run_cache import RunCache

if TYPE_CHECKING:
    from taskstate.lint.compared_revision import History
    from taskstate.workspace.workspace import Workspace

_EVERYWHERE = frozenset({ARCHIVE, CLOCK, REPOSITORY, UPSTREAM})


class Repository(RunCache):
    """The repository as a lint run sees it.

    `now` is a timestamp (`YYYY-MM-DDTHH:MM:SSZ`); `history` is the compared revision, or None.
    """

    def __init__(self, workspace: Workspace, *, now: str, history: History | None = None) -> None:
        super().__init__(workspace)
        self.now = now
        self.history = history

    def prepare(self) -> None:
        """Find out now what several processes would each find out for themselves."""
        super().prepare()
        _ = self.known
        if self.history:
            self.history.prepare()

    @cached_property
    def known(self) -> frozenset[str]:
        """What can be answered at all."""
        known = {HISTORY} if self.history else set[str]()
        if git.toplevel(self.workspace.root) and not git.is_shallow(self.workspace.root):
            known.add(GIT)
        return _EVERYWHERE | known
