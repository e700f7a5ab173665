"""Compares the working tree with what the last turn left, or an open one began with, and shows it as a diff."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import first_of
from taskstate.model import roles
from taskstate.model.write_metadata import blocks_of
from taskstate.validation import secrets
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift, packs
from taskstate.verification.snapshots.tree_comparison import Earlier, compare_with_current

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.delta_block import Delta
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.verification.snapshots.drift import DriftReport
    from taskstate.workspace.workspace import Loaded, Workspace

_MAX_LINES = 60  # of a diff
_NAMED = 5  # files in a line


class TreeChanges(NamedTuple):
    """How the working tree differs from an earlier one: the report, and the stat and the lines of the diff.

    `report` is None where there is nothing to compare with.
    """

    report: DriftReport | None = None
    stat: str = ""
    diff: tuple[str, ...] = ()

    @property
    def drift(self) -> bool:
        """Whether something differs that nothing explains."""
        return self.report is not None and self.report.drift

    @property
    def named(self) -> tuple[str, ...]:
        """The paths that differ and that nothing explains."""
        return tuple(each.path for each in self.report.files) if self.report else ()

    @property
    def committed(self) -> tuple[str, ...]:
        """The paths that were committed since as they had been left."""
        return self.report.committed if self.report else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be told and is no drift."""
        return self.report.notes if self.report else ()

    def shown(self, task_id: str) -> tuple[str, ...]:
        """Return the diff in lines: its stat, its beginning, and the command for all of it."""
        cut = len(self.diff) - _MAX_LINES
        more = (f"… {cut} more lines: `taskstate snapshot diff {task_id} --type now`",) if cut > 0 else ()
        return (*filter(None, [self.stat]), *self.diff[:_MAX_LINES], *more)

    def refusal(self, command: str) -> TaskstateError:
        """Return the error that refuses to go on from a tree that nobody has looked at."""
        message = f"the working tree is not what the last turn left: {first_of(self.named, _NAMED)}"
        help_ = f'take it back, or go on from it: `taskstate {command} --accept-drift "WHY"`'
        return TaskstateError(message, help=help_, code="drift")


@contextmanager
def current_tree(workspace: Workspace, loaded: Loaded) -> Iterator[SnapshotBase]:
    """Yield the working tree as it is now.

    Raises:
        TaskstateError: code "no-git", "unborn" or "under-way"; or the tree cannot be read.
    """
    head = snapshot_base.require_at_rest(workspace)
    with snapshot_base.snapshot_base(workspace, loaded.state.id, blocks_of(loaded.document).delta, head) as current:
        yield current


def left_before(delta: Delta, role: str, names: tuple[str, ...]) -> Earlier | None:
    """Return the tree that the last turn left, else the one that the previous role's snapshot recorded, else None."""
    if delta.left and delta.left.tree:
        return Earlier(delta.left.tree, delta.left.head)
    previous = roles.previous_role(role, names) if role in names else None
    snapshot = delta.snapshots.get(previous or "")
    return Earlier(snapshot.tree, snapshot.head, snapshot) if snapshot and snapshot.tree else None


def changes_since(current: SnapshotBase, loaded: Loaded, earlier: Earlier | None) -> TreeChanges:
    """Return how the working tree differs from an earlier one."""
    if earlier is None or (current.tree, current.head) == (earlier.tree, earlier.head):
        return TreeChanges()
    artifacts = packs.artifact_state(current.workspace, earlier.snapshot) if earlier.snapshot else drift.Artifacts.WHOLE
    nothing = drift.TreeDifferences(loaded.state.id, "the last turn", earlier.head or "", artifacts=artifacts)
    report = drift.drift_report(compare_with_current(current, loaded, earlier, nothing))
    if current.tree == earlier.tree:
        return TreeChanges(report)
    try:
        stat, diff = current.store.diff(earlier.tree, current.tree)()
    except GitFailed:
        return TreeChanges(report)
    allowed = current.workspace.config.secrets.allow
    text = secrets.masked(diff.decode("utf-8", "replace"), allowed)
    return TreeChanges(report, stat, tuple(text.splitlines()))
