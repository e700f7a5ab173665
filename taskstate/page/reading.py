"""Reads what a document shows of the repository, once: the tasks of all worktrees, and what needs a person."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.operations.call import Call, Conditions
from taskstate.operations.status import look
from taskstate.page.findings import Linter
from taskstate.page.forms import Form
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from markupsafe import Markup

    from taskstate.page.forms import Refused
    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository, Shown


class _Site(NamedTuple):
    """What is shown, and to whom: the folder in which commands would run, who writes, and whether nobody does.

    What is read later is made for one time, `now`; it is not live.
    """

    root: Path
    config: str = ""
    actor: str = ""
    is_read_only: bool = False
    token: str = ""  # of whoever may write; a page that is served alone has one
    now: str = ""

    def call(self, *, writes: bool = False, expect: str = "") -> Call:
        """Return a call of an operation, for one answer."""
        conditions = Conditions(lambda: self.root, "", self.config, self.actor, expect=expect, is_verbose=True)
        return Call(conditions._replace(now=self.now, via="page" if writes else ""), writes=writes, as_data=not writes)


class Site(_Site):
    """What is shown, and to whom, with what lasts from answer to answer."""

    @cached_property
    def linter(self) -> Linter:
        """What the linter finds."""
        return Linter(lambda root: (self._replace(root=Path(root), config="") if root else self).call())

    @cached_property
    def writer(self) -> str:
        """Who writes from the page, as the commands name them."""
        return self.call().request().metadata.actor


class Reading:
    """The repository as one document shows it."""

    def __init__(self, site: Site, refused: Refused | None = None) -> None:
        self.site = site
        self.call = site.call()
        self.now = self.call.now()
        self.is_live = not site.now
        self.refused = refused  # what was to be written, where this is the answer to that

    @property
    def form_token(self) -> Markup | str:
        """The token that forms send, or nothing where there are none; it is not masked, since it is no leak."""
        from markupsafe import Markup

        return "" if self.site.is_read_only else Markup(self.site.token)  # noqa: S704 - made by us, of letters

    def refused_at(self, task: str, place: str) -> Refused | None:
        """Return why a write was refused, if it was the one of this form."""
        told = self.refused
        return told if told and (told.task.casefold(), told.place) == (task.casefold(), place) else None

    @property
    def name(self) -> str:
        """The name of the repository: that of its folder."""
        return self.site.root.name

    @cached_property
    def _looked(self) -> tuple[Repository, tuple[Need, ...]]:
        return look(self.call, is_listed=True)

    @property
    def repository(self) -> Repository:
        """The tasks of all worktrees."""
        return self._looked[0]

    @property
    def needs(self) -> Sequence[Need]:
        """What needs a person, what is counted, and what is unknown."""
        return self._looked[1]

    @cached_property
    def listed(self) -> Sequence[Need]:
        """What needs a person, one by one."""
        return [each for each in self.needs if each.is_listed]

    @cached_property
    def branch(self) -> str:
        """The branch of the worktree that is shown."""
        return self.repository.trees[0].branch

    @property
    def version(self) -> str:
        """The version of this program."""
        return VERSION

    @cached_property
    def place(self) -> str:
        """The folder of the repository, from the home of who serves it where it lies there."""
        root, home = str(self.call.workspace.root), os.path.expanduser("~")
        return f"~{root.removeprefix(home)}" if root.startswith(f"{home}{os.sep}") else root

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], Shown]:
        return {(each.task.id, each.branch): each for each in reversed(self.repository.tasks)}

    def shown(self, need: Need) -> Shown | None:
        """Return the task of a need, as it is in the worktree that the need is of; None where it is no task's."""
        return self._by_place.get((need.task, need.branch))

    @cached_property
    def _branches(self) -> Mapping[tuple[str, str], str]:
        return {(each.task.id.casefold(), each.tree.name): each.branch for each in self.repository.tasks}

    def branch_of(self, task: str, worktree: str) -> str:
        """Return as which branch a task is shown as a worktree has it; nothing where all have the same."""
        return self._branches.get((task.casefold(), worktree), "")

    def form(self, shown: Shown, *, of_drift: bool = False) -> Form | None:
        """Return what the forms of a task send back, of drift the working tree, too; None where it cannot be read."""
        workspace = shown.tree.workspace
        try:
            loaded = workspace.load(workspace.root / shown.task.path)
            return Form(
                shown.task.id, loaded.token, shown.tree.now.tree if of_drift else "", shown.tree.name, shown.branch
            )
        except TaskstateError:
            return None
