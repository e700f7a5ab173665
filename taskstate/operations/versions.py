"""A task as each worktree has it, for operations that only look."""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from taskstate.operations.call import Call
    from taskstate.workspace.workspace import Loaded, Workspace


class Version(NamedTuple):
    """A task as a worktree has it: the branch where it differs between them, and the path of another one."""

    workspace: Workspace
    loaded: Loaded
    branch: str = ""
    root: str = ""

    @property
    def path(self) -> str:
        """The path of the file, which is right here."""
        return os.path.join(self.root, self.loaded.relative)


def versions(call: Call, value: str, load: Callable[[str], Loaded]) -> tuple[Version, ...]:
    """Return a task as this worktree, which must `load` it where it has it, and others have it, the newest first.

    Raises:
        TaskstateError: none has it, or it cannot be read here.
    """
    from taskstate.model.names import parse_task_id
    from taskstate.storage.git.client import has_worktrees
    from taskstate.views import repository

    found, task = [], parse_task_id(value).casefold()
    read = repository.read(call.workspace) if has_worktrees(call.workspace.root) else None
    for each in read.tasks if read else ():
        tree = each.tree
        if each.task.id.casefold() == task and tree.name:
            call.report_found((f"{tree.name}: {each.problem}",) if each.problem else ())
            with suppress(TaskstateError):  # the problem says so
                loaded = tree.workspace.load(tree.workspace.root / each.task.path)
                found.append(Version(tree.workspace, loaded, each.branch, tree.name))
        elif each.task.id.casefold() == task:
            found.append(Version(call.workspace, load(value), each.branch))
    call.problems(read.unread if read else ())
    return tuple(found) or (Version(call.workspace, load(value)),)


def first_of(found: tuple[Version, ...]) -> Version:
    """Return the version of this worktree, which commands here change; else the newest."""
    return next((each for each in found if not each.root), found[0])


def shape(found: tuple[Version, ...], of: Callable[[Version], dict[str, Any]]) -> dict[str, Any]:
    """Return this worktree's version as JSON values, with those of the others."""
    shapes = [of(each) | ({"branch": each.branch, "worktree": each.root} if each.root else {}) for each in found]
    own = shapes.pop(found.index(first_of(found)))
    return own | ({"elsewhere": shapes} if shapes else {})


def text(found: tuple[Version, ...], of: Callable[[Version], str]) -> str:
    """Return the newest version and this worktree's as text, by branch, with a line for each of the others."""
    blocks = []
    for each in found:
        first, newline, rest = of(each).partition("\n")
        label = f" [{each.branch}]" if each.branch else ""
        also = f"also{label}: {each.loaded.state.status or 'unknown'}, {each.path}"
        blocks.append(f"{first}{label}{newline}{rest}" if each is found[0] or not each.root else also)
    return "\n\n".join(blocks)
