"""A task as each worktree has it, for operations that only look."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from taskstate.operations.call import Call
    from taskstate.views.repository import Repository
    from taskstate.workspace.workspace import Loaded, Workspace


class Version(NamedTuple):
    """A task as a worktree has it: its branch, where it differs between them, and the path of another one."""

    workspace: Workspace
    loaded: Loaded
    branch: str = ""
    root: str = ""

    @property
    def path(self) -> str:
        """The path of the file, in full where it is in another worktree."""
        return f"{self.root}/{self.loaded.relative}" if self.root else self.loaded.relative


def versions(
    call: Call, value: str, load: Callable[[str], Loaded], read: Repository | None = None
) -> Sequence[Version]:
    """Return a task as this worktree, which must `load` it where it has it, and others have it, the newest first.

    Who has `read` the repository already gives it.

    Raises:
        TaskstateError: none has it, or it cannot be read.
    """
    from taskstate.model.names import parse_task_id
    from taskstate.storage.git.client import has_worktrees
    from taskstate.views import repository

    if read is None and not has_worktrees(call.workspace.root):
        return [Version(call.workspace, load(value))]
    read, task = read or repository.read(call.workspace), parse_task_id(value).casefold()
    found = []
    for each in (each for each in read.tasks if each.task.id.casefold() == task):
        root, there = each.tree.name, each.tree.workspace
        call.report_found((f"{root}: {each.problem}",) if root and each.problem else ())
        if not (root and each.task.problem):
            loaded = there.load(there.root / each.task.path) if root else load(value)
            found.append(Version(there, loaded, each.branch, root))
    call.problems(read.unread)
    return found or [Version(call.workspace, load(value))]


def first_of(found: Sequence[Version]) -> Version:
    """Return the version of this worktree, which commands here change; else the newest."""
    return next((each for each in found if not each.root), found[0])


def shape(found: Sequence[Version], of: Callable[[Version], dict[str, Any]]) -> dict[str, Any]:
    """Return this worktree's version as JSON values, with those of the others."""
    shapes = [of(each) | ({"branch": each.branch, "worktree": each.root} if each.root else {}) for each in found]
    own = shapes.pop(found.index(first_of(found)))
    return own | ({"elsewhere": shapes} if shapes else {})


def text(found: Sequence[Version], of: Callable[[Version], str]) -> str:
    """Return the newest version and this worktree's as text, by branch, with a line for each of the others."""
    blocks = []
    for each in found:
        first, newline, rest = of(each).partition("\n")
        label = f" [{each.branch}]" if each.branch else ""
        also = f"also{label}: {each.loaded.state.status or 'unknown'}, {each.path}"
        blocks.append(f"{first}{label}{newline}{rest}" if each is found[0] or not each.root else also)
    return "\n\n".join(blocks)
