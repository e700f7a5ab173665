"""Finds trees that a task recorded among git's commits, and says what is missing where no commit here has them.

The objects of a snapshot lie among the artifacts of the clone where it was taken. Once its work is committed, git
brings it into every clone: the tree of such a commit, without taskstate's own files, is the tree that was recorded.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.loose_values import OBJECT_ID
from taskstate.snapshots import packs
from taskstate.storage.git import client as git
from taskstate.storage.git.log import commits_besides
from taskstate.storage.git.objects import TREE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.error_codes import ErrorCode
    from taskstate.model.delta_block import Delta
    from taskstate.storage.git.objects import Store
    from taskstate.workspace.workspace import Workspace

_MOST = 200  # commits that are looked at: each takes some milliseconds


def without_ours(workspace: Workspace, store: Store, commit: str, clean: str | None = None) -> str:
    """Return the id of a commit's tree under the root without taskstate's own files, which is made where it is new.

    `clean` is a similar tree that has none of them: what is equal in both need not be listed then.

    Raises:
        TaskstateError: code "no-commit": there is no such commit.
    """
    # The folder at once, and not each of the thousands of files in it.
    tree = store.without(store.tree_of(commit), [os.fsencode(workspace.config.root)])
    if clean is None:
        ours = [os.fsencode(path) for path in store.paths(tree, ()) if workspace.is_ours(path)]
    else:
        changes = store.changes(tree, clean)
        ours = [each.path for each in changes if each.old_mode != TREE and workspace.is_ours(os.fsdecode(each.path))]
    return store.without(tree, ours)


def base_tree(
    workspace: Workspace, store: Store, delta: Delta, tree_of: Callable[[str], str] | None = None
) -> str | None:
    """Return the tree that a task's work starts from: that of its commit, else as a snapshot here has kept it.

    None where neither is here. A file of an earlier version names the tree itself. `tree_of` is as `without_ours`.
    """
    commit = delta.base_commit
    if delta.base_tree is not None and store.has(delta.base_tree):
        return delta.base_tree
    if re.fullmatch(OBJECT_ID, commit or ""):
        try:
            return tree_of(str(commit)) if tree_of else without_ours(workspace, store, str(commit))
        except TaskstateError as error:
            if error.code != "no-commit":
                raise
    kept = (packs.whole(workspace, each) for each in delta.snapshots.values())
    trees = (each.base_tree for each in kept if each.base_commit == commit and each.base_tree)
    return next((tree for tree in trees if store.has(tree)), None)


def is_here(workspace: Workspace, store: Store, tree: str, since: str | None) -> bool:
    """Return whether a recorded tree can be read: it was kept here, or a commit has it (see `is_committed`)."""
    return store.has(tree) or is_committed(workspace, store, tree, since)


def is_committed(workspace: Workspace, store: Store, tree: str, since: str | None) -> bool:
    """Return whether a commit of this clone has a tree, which can be read then.

    `since` is the commit that was checked out when the tree was recorded: it is looked at first, then what came after.
    """
    clean = None
    for commit in _candidates(workspace, since):
        with suppress(TaskstateError):  # a shallow or partial clone lacks some of them
            clean = without_ours(workspace, store, commit, clean)
            if clean == tree:
                return True
    return False


def _candidates(workspace: Workspace, since: str | None) -> Iterator[str]:
    """Yield HEAD, the commit of then, and those that came after it, the oldest first; without it the newest ones."""
    head = git.head(workspace.root)
    yield from dict.fromkeys(filter(None, (head, since)))
    try:
        known = git.resolve_commit(workspace.root, since) if since else ""
    except GitFailed:
        known = ""
    with suppress(GitFailed):
        for commit in commits_besides(workspace.root, known, _MOST):
            if commit not in {head, since}:
                yield commit


def not_here(workspace: Workspace, what: str, *, code: ErrorCode = "objects-lost") -> TaskstateError:
    """Return the error for a tree that was recorded in another clone, and that no commit here has.

    `what` says which one it is, such as "what implementer left".
    """
    message = f"{what} is not here: no commit in this clone has it, and artifacts stay in the clone of their snapshot"
    deeper = "`git fetch --unshallow` brings earlier commits; or " if git.is_shallow(workspace.root) else ""
    help_ = f"{deeper}have it committed and pushed there, then `git pull`; or copy the task's folder under artifacts/"
    return TaskstateError(message, help=help_, code=code)
