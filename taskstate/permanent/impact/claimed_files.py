"""The files of a claim: those that somebody names, and those that a task's change touches so far."""

from __future__ import annotations

import posixpath

from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots.committed_trees import not_here
from taskstate.snapshots.drift import quoted
from taskstate.snapshots.verify import newest_role
from taskstate.storage.files import shown
from taskstate.storage.git.objects import leaves
from taskstate.syntax.escaping import one_line
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.model.delta_block import Delta
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.workspace.workspace import Loaded, Workspace

BASE, SNAPSHOT = "base", "snapshot"


def named_files(given: Iterable[str], paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the paths that somebody names, sorted; a folder stands for the repository's files in it.

    Raises:
        TaskstateError: code "path": one leads out of the repository; code "control-characters" or "usage".
    """
    found: set[str] = set()
    for text in given:
        name = one_line(text, what="a path of --files").replace("\\", "/")
        reason = escape_reason(name)
        if reason:
            help_ = "name it from the repository's root, with / between its parts"
            raise TaskstateError(f"the path {shown(name)} {reason}", help=help_, code="path")
        name = posixpath.normpath(name)
        below = [each for each in paths if name == "." or each.startswith(f"{name}/")]
        found.update(below or [name])
    if not found:
        help_ = "name them: `--files src/a.py,src/b.py`, or `--files -` for one per line on standard input"
        raise TaskstateError("no files are named", help=help_, code="usage")
    return tuple(sorted(found))


def changed_files(workspace: Workspace, loaded: Loaded, since: str = BASE) -> tuple[str, ...]:
    """Return the files that a task's change touches: those that differ from its base, or from its last snapshot.

    Before the task has a base they are those that differ from HEAD.

    Raises:
        TaskstateError: the repository cannot be compared; code "no-snapshot"; code "no-commit": the base, or the
            snapshot's tree, is not here.
    """
    head, delta = snapshot_base.require_at_rest(workspace), blocks_of(loaded.document).delta
    with snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head) as current:
        tree = _tree(current, loaded, delta, since)
        entries = leaves(current.store.changes(tree, current.tree), workspace.is_ours)
        return tuple(sorted(quoted(each.path) for each in entries))


def has_base(loaded: Loaded) -> bool:
    """Return whether a task says from which commit or tree its work starts."""
    delta = blocks_of(loaded.document).delta
    return delta.base_commit is not None or delta.base_tree is not None


def _tree(current: SnapshotBase, loaded: Loaded, delta: Delta, since: str) -> str:
    if since == SNAPSHOT:
        role = newest_role(delta, current.workspace.config.roles)
        snapshot = delta.snapshots[role] if role else None
        if snapshot is None or snapshot.tree is None:
            message = f"task {loaded.state.id} has no snapshot"
            command = f"`taskstate impact check {loaded.state.id} --files F,F`"
            help_ = f"name the files ({command}), or give --diff alone for what it has changed since it began"
            raise TaskstateError(message, help=help_, code="no-snapshot")
        if not current.has(snapshot.tree, snapshot.head):
            raise not_here(current.workspace, f"what {role} left", code="no-commit")
        return snapshot.tree
    if not has_base(loaded):
        return current.without_ours(current.head)
    base = current.base_tree(delta)
    if base is not None:
        return base
    raise snapshot_base.no_commit(str(delta.base_commit or ""), loaded.state.id)
