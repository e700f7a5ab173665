"""Gives a reopened task a new base: what is handed on from now on starts from the commit that is checked out."""

from __future__ import annotations

from contextlib import closing

from taskstate.model.delta_block import with_base, without_progress
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots.committed_trees import base_tree
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta
    from taskstate.workspace.workspace import Workspace


def with_new_base(workspace: Workspace, text: str) -> str:
    """Return a state file's text with HEAD as the base of its work, and without what earlier turns left.

    A task without a delta block, and one outside of git, stays as it is.
    """
    document = parse(text, workspace.kinds)
    delta, head = blocks_of(document).delta, git.head(workspace.root)
    if not delta.values or head is None:
        return text
    was = _tree_of(workspace, delta) if delta.snapshots else None
    changed = with_base(without_progress(delta), head, was)
    return apply(text, set_front_matter(document, "delta", changed.values))


def _tree_of(workspace: Workspace, delta: Delta) -> str | None:
    from taskstate.storage.git.objects import Store

    with worktree.scratch(workspace.root) as area, closing(Store(area, str(delta.base_commit))) as store:
        return base_tree(workspace, store, delta)
