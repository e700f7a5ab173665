"""What has changed since an earlier tree of a task, as a diff to read: before a role begins, or when a turn goes on."""

from __future__ import annotations

from taskstate.errors import GitFailed
from taskstate.model.write_metadata import blocks_of
from taskstate.secrets.mask import masked
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import packs
from taskstate.snapshots.drift import LAST_TURN, Artifacts, DriftReport, TreeDifferences
from taskstate.snapshots.drift_report import drift_report
from taskstate.snapshots.tree_comparison import Earlier, compare_with_current
from taskstate.snapshots.verify import held_paths
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.workspace.workspace import Loaded, Workspace

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


def changes_since(current: SnapshotBase, loaded: Loaded, then: Earlier, *, role: str = "", at_work: str = "") -> Since:
    """Compare a working tree with an earlier one of a task; nothing is written.

    `role` is the role whose snapshot recorded the tree; without one it is what the last turn left, or began with.
    What differs is no drift while somebody is `at_work`.
    """
    workspace, tree = current.workspace, then.tree
    snapshot = _snapshot(blocks_of(loaded.document).delta, tree, role)
    artifacts = packs.artifact_state(workspace, snapshot) if snapshot else Artifacts.ABSENT
    if packs.has_tree(workspace, loaded.state.id, tree):
        artifacts = Artifacts.WHOLE
    held, words = held_paths(workspace, loaded), role or LAST_TURN
    found = TreeDifferences(loaded.state.id, words, then.head or "", artifacts=artifacts, held=held, at_work=at_work)
    report = drift_report(compare_with_current(current, loaded, then._replace(snapshot=snapshot), found))
    stat, lines = _diff(current, tree)
    command = f"taskstate snapshot diff {loaded.state.id} --type now" + (f" --role {role}" if role else "")
    report = report._replace(look=command)
    return Since(report, current.tree, current.head, stat, lines[:SHOWN], max(0, len(lines) - SHOWN), command)


def since_last_turn(workspace: Workspace, loaded: Loaded) -> DriftReport:
    """Compare the working tree with what the last turn left, as the one before it, where one is open.

    Raises:
        TaskstateError: as `left_by_last_turn`; or the repository cannot be compared.
    """
    left, delta = packs.left_by_last_turn(loaded), blocks_of(loaded.document).delta
    head = snapshot_base.require_at_rest(workspace)
    with snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head) as current:
        at_work = "the open turn" if delta.turn else ""
        return changes_since(current, loaded, Earlier(str(left.tree), left.head), at_work=at_work).report


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
