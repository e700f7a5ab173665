"""What has changed since an earlier tree of a task, as a diff to read: before a role begins, or when a turn goes on."""

from __future__ import annotations

from taskstate.errors import GitFailed
from taskstate.model.write_metadata import blocks_of
from taskstate.secrets.mask import masked
from taskstate.snapshots import packs
from taskstate.snapshots.drift import Artifacts, DriftReport, TreeDifferences
from taskstate.snapshots.drift_report import drift_report
from taskstate.snapshots.tree_comparison import compare_with_current
from taskstate.snapshots.verify import held_paths
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.tree_comparison import Earlier
    from taskstate.workspace.workspace import Loaded

SHOWN = 60  # lines of a diff


class Since(NamedTuple):
    """What has changed since an earlier tree, and the tree that is there now.

    `stat` and `lines` are the diff from then to now: its summary, and its first lines. They are empty where the tree of
    then is not here. `command` shows all of it.
    """

    report: DriftReport
    tree: str
    head: str
    stat: str
    lines: tuple[str, ...]
    more: int
    command: str


def changes_since(current: SnapshotBase, loaded: Loaded, then: Earlier, *, role: str = "") -> Since:
    """Compare a working tree with an earlier one of a task; nothing is written.

    `role` is the role whose snapshot recorded the tree; without one it is what the last turn left, or began with.
    """
    workspace, tree = current.workspace, then.tree
    snapshot = _snapshot(blocks_of(loaded.document).delta, tree, role)
    artifacts = packs.artifact_state(workspace, snapshot) if snapshot else Artifacts.ABSENT
    if packs.has_tree(workspace, loaded.state.id, tree):
        artifacts = Artifacts.WHOLE
    held, words = held_paths(workspace, loaded), role or "the last turn"
    found = TreeDifferences(loaded.state.id, words, then.head or "", artifacts=artifacts, held=held)
    report = drift_report(compare_with_current(current, loaded, then._replace(snapshot=snapshot), found))
    stat, lines = _diff(current, tree)
    command = f"taskstate snapshot diff {loaded.state.id} --type now" + (f" --role {role}" if role else "")
    report = report._replace(look=command)
    return Since(report, current.tree, current.head, stat, lines[:SHOWN], max(0, len(lines) - SHOWN), command)


def _snapshot(delta: Delta, tree: str, role: str) -> Snapshot | None:
    """Return the snapshot that recorded a tree: of the role, or the first that did."""
    named = [delta.snapshots[role]] if role in delta.snapshots else delta.snapshots.values()
    return next((each for each in named if each.tree == tree), None)


def _diff(current: SnapshotBase, tree: str) -> tuple[str, tuple[str, ...]]:
    if tree == current.tree or not current.store.has(tree):
        return "", ()
    try:
        stat, content = current.store.diff(tree, current.tree)()
    except GitFailed:  # an object of it is not here
        return "", ()
    text = masked(content.decode("utf-8", "replace"), current.workspace.config.secrets.allow)
    return stat, tuple(text.splitlines())
