"""Says which files of a task's output have changed since it was completed, and which of that was told already.

A change that the very commit makes that completes the task is none, such as a formatter's: it came with the output.
"""

from __future__ import annotations

from taskstate.errors import GitFailed
from taskstate.messages import first_of
from taskstate.storage import file_state, files
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.chain_quotes import Upstream
    from taskstate.storage.file_state import FileChange
    from taskstate.workspace.workspace import Workspace

_NAMED = 5  # files in a line


def changed_files(workspace: Workspace, upstream: Upstream) -> tuple[FileChange, ...]:
    """Return the files that are as neither the output named them nor the commit has them that completed the task."""
    then = dict(upstream.files)
    changed = file_state.changes_since(workspace.root, upstream.files)
    return tuple(each for each in changed if not _came_with_it(workspace, upstream, each, then[each.path]))


def _came_with_it(workspace: Workspace, upstream: Upstream, changed: FileChange, then: str | None) -> bool:
    """Return whether a file is as it is in the commit that brought its recorded hash into the task's state file."""
    if not then or not changed.sha256 or git.head(workspace.root) is None:
        return False
    find = ["log", "-1", "--format=%H", "--no-show-signature", f"-S{then}", "--", f":(literal){upstream.path}"]
    try:
        commit = git.run(find, workspace.root).decode("ascii").strip()
        content = git.run(["cat-file", "--filters", f"{commit}:./{changed.path}"], workspace.root) if commit else None
    except GitFailed:  # no such file in it, or it is not here
        return False
    return content is not None and files.digest(content) == changed.sha256


def told(workspace: Workspace, task_id: str, upstream: Upstream, *, once: bool) -> tuple[str, ...]:
    """Return a line on changed files of an output, with what settles it; none where there are none.

    With `once` it is about those of which the task was not told.
    """
    changed = untold(workspace, task_id, upstream) if once else changed_files(workspace, upstream)
    if not changed:
        return ()
    named = first_of([each.words for each in changed], _NAMED)
    cure = (
        f'if `taskstate chain output {upstream.id}` is not true any more, `taskstate reopen {upstream.id} --note "WHY"`'
    )
    return (f"since task {upstream.id} was completed: {named}; {cure}",)


def untold(workspace: Workspace, task_id: str, upstream: Upstream) -> tuple[FileChange, ...]:
    """Return the changed files of an output of which a task was not told yet, or not of this content."""
    known = _told(workspace)
    changed = changed_files(workspace, upstream)
    return tuple(each for each in changed if known.get(_name(task_id, upstream, each)) != _content(each))


def remember(workspace: Workspace, task_id: str, upstream: Upstream) -> None:
    """Note that a task was told of the changed files of an output."""
    known = _told(workspace)
    for each in untold(workspace, task_id, upstream):
        known.put(_name(task_id, upstream, each), _content(each))
    known.save()


def _told(workspace: Workspace) -> Cache[str]:
    return Cache(workspace.private.cache("told.json"), str)


def _name(task_id: str, upstream: Upstream, changed: FileChange) -> str:
    return f"{task_id.casefold()} {upstream.id.casefold()} {changed.path}"


def _content(changed: FileChange) -> str:
    return changed.sha256 or changed.words
