"""Compares the working tree with what the last turn left, or an open one began with, for `start` and its refusals."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import roles
from taskstate.snapshots.drift import TREE_DIGITS
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.changes_since import Since
    from taskstate.workspace.workspace import Loaded

START = "{start}"  # stands in a cure for the one command that passes all that can be accepted
_NAMED = 5  # files in a line


class EarlierTree(NamedTuple):
    """A tree of before, the commit that was checked out then, and the role whose snapshot recorded it, if one did.

    `log` is the hash of a log that is being recorded now: such a file is no change of the tree.
    """

    tree: str
    head: str | None
    role: str = ""
    log: str = ""


class TreeChanges(NamedTuple):
    """How the working tree differs from an earlier one; `since` is None where there is nothing to compare with."""

    since: Since | None = None

    @property
    def drift(self) -> bool:
        """Whether something differs that nothing explains."""
        return self.since is not None and self.since.report.drift

    @property
    def stat(self) -> str:
        """The summary of the diff."""
        return self.since.stat if self.since else ""

    @property
    def is_of_here(self) -> bool:
        """Whether somebody changed files in this clone: what was left was here."""
        return self.since is not None and self.since.report.is_here

    @property
    def named(self) -> tuple[str, ...]:
        """The paths that differ and that nothing explains."""
        return tuple(each.path for each in self.since.report.files) if self.since else ()

    @property
    def committed(self) -> tuple[str, ...]:
        """The paths that were committed since as they had been left."""
        return self.since.report.committed if self.since else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be told and is no drift."""
        return self.since.report.notes if self.since else ()

    def told(self, task_id: str) -> tuple[str, ...]:
        """Return the diff in lines, with what becomes of it and the command that takes it back: the turn has begun."""
        if self.since is None:
            return ()
        from taskstate.snapshots.drift_report import ANY_FILE, to_restore

        verify, report = f"taskstate snapshot verify {task_id}", self.since.report
        more = (f"\u2026 {self.since.more} more lines: `{verify}` names the files",) if self.since.more else ()
        is_new = all(each.change == "added" for each in report.files)
        named = to_restore(report.files) or ANY_FILE
        back = "delete what you do not want" if is_new else f"put it back: `{verify} {named}`"
        is_known = report.is_here and report.files
        advice = f"go on, and it counts as this turn's; or {back}" if is_known else report.message
        return (*filter(None, [self.since.stat]), *self.since.lines, *more, advice)

    def shown(self) -> tuple[str, ...]:
        """Return the diff in lines: its stat, its beginning, and the command for all of it."""
        if self.since is None:
            return ()
        which = (f"the working tree: {self.since.tree[:TREE_DIGITS]} (for --expect-tree)",)
        more = (f"\u2026 {self.since.more} more lines: `{self.since.command}`",) if self.since.more else ()
        return (*filter(None, [self.stat]), *self.since.lines, *more, *which)

    def refusal(self, *, in_turn: bool = False, hooked: bool = False) -> TaskstateError:
        """Return the error that refuses to go on from a tree that nobody has looked at.

        An open turn may be at it, or, where the repository is `hooked`, a commit hook may have rewritten files.
        """
        go_on = f"go on from it: {START}"
        if self.since and not self.since.report.is_here:
            help_ = f"have it committed and pushed in the clone where it was left, then `git pull`; or {go_on}"
            return TaskstateError(self.since.report.message, help=help_, code="drift")
        what = first_of(self.named, _NAMED) if self.named else self.since.report.message if self.since else ""
        message = f"the working tree is not what the last turn left: {what}"
        by_hook = " (a commit hook may have rewritten it: run `pre-commit run` before `finish`)" if hooked else ""
        back = "let the open turn end, since it may be its work" if in_turn else "undo it"
        help_ = f"{back}, or {go_on}{by_hook}"
        return TaskstateError(message, help=help_, code="drift")


def left_before(delta: Delta, role: str, names: tuple[str, ...]) -> EarlierTree | None:
    """Return the tree that the last turn left, else the one that the previous role's snapshot recorded, else None."""
    if delta.left and delta.left.tree:
        return EarlierTree(delta.left.tree, delta.left.head)
    previous = roles.previous_role(role, names) if role in names else None
    snapshot = delta.snapshots.get(previous or "")
    return EarlierTree(snapshot.tree, snapshot.head, snapshot.role) if snapshot and snapshot.tree else None


def changes(current: SnapshotBase, loaded: Loaded, earlier: EarlierTree | None) -> TreeChanges:
    """Return how the working tree differs from an earlier one."""
    if earlier is None or (current.tree, current.head) == (earlier.tree, earlier.head):
        return TreeChanges()
    from taskstate.snapshots.changes_since import changes_since  # most turns begin on the tree that was left
    from taskstate.snapshots.tree_comparison import Earlier

    then = Earlier(earlier.tree, earlier.head, log=earlier.log)
    return TreeChanges(changes_since(current, loaded, then, role=earlier.role))
