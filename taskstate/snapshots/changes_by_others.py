"""Explains why a file differs from an earlier tree: it came in by commits, or another task of this tree changed it.

By commits: every commit that HEAD had then is in its line now, or has an equal one there; a new commit changed the
file, which is as HEAD has it; and no snapshot of this task changed it. What another task changed in its turns is
explained, too, unless it lies in the Repository Paths of this task; and so is a new file that holds a log of checks
that the task has recorded. All else is drift.
"""

from __future__ import annotations

import os
from functools import cached_property

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.statuses import COMPLETE
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.changed_files import recorded_files, scope_of
from taskstate.snapshots.drift import Artifacts
from taskstate.snapshots.log_files import log_files
from taskstate.storage.git import movement
from taskstate.storage.git.objects import leaves
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.context.path_scope import Scope
    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.log_files import LogFiles
    from taskstate.storage.git.movement import Commit, Movement
    from taskstate.workspace.workspace import Loaded


class _ExplainerFields(NamedTuple):  # apart, since cached properties need the `__dict__` of a subclass
    loaded: Loaded
    current: SnapshotBase
    head: str | None
    log: str = ""


class Explainer(_ExplainerFields):
    """What explains differences between the working tree and an earlier one, when `head` was checked out.

    `log` is the hash of the log of checks that is being recorded.
    """

    @cached_property
    def movement(self) -> Movement | None:
        """How HEAD moved since; None where the commit of then is not here."""
        if self.head is None:
            return None
        workspace = self.current.workspace
        return movement.movement(workspace.root, self.head, self.current.head, workspace.is_ours)

    @property
    def commits(self) -> tuple[Commit, ...]:
        """What HEAD has got since."""
        return self.movement.came if self.movement else ()

    @property
    def left(self) -> tuple[Commit, ...] | None:
        """The commits that HEAD has no more; None where the commit of then is not here."""
        return self.movement.lost if self.movement else None

    def by(self, path: bytes) -> tuple[str, str] | None:
        """Return what explains that a file differs: commits, that it is a log, or a task's id and its open turn."""
        if self._came_by_commits(path):
            return drift.COMMITS, ""
        if self._is_log(path):
            return drift.LOG, ""
        if self._scope.inside and self._scope.covers(os.fsdecode(path)):
            return None
        return next((task for task, paths in self._by_other_tasks.items() if path in paths), None)

    def _came_by_commits(self, path: bytes) -> bool:
        if self.movement is None or not self.movement.keeps_all or path not in self._touched:
            return False
        return path not in self.dirty and path not in self._own

    def _is_log(self, path: bytes) -> bool:
        return self._logs.has(path) and path in self._new

    @cached_property
    def _logs(self) -> LogFiles:
        return log_files(self.current.workspace.root, blocks_of(self.loaded.document), self.log)

    @cached_property
    def _new(self) -> frozenset[bytes]:
        """The files that the base had not: a source that was there is no log, whatever somebody writes into it."""
        base = self.current.base_tree(blocks_of(self.loaded.document).delta)
        changed = self.current.store.changes(base, self.current.tree) if base else ()
        return frozenset(each.path for each in changed if not each.old_id)

    @cached_property
    def _touched(self) -> frozenset[bytes]:
        """The files that the commits changed which HEAD has got since."""
        return frozenset(os.fsencode(path) for each in self.commits for path in each.paths)

    @cached_property
    def dirty(self) -> frozenset[bytes]:
        """The files that differ from HEAD."""
        return self._changed(self.current.store.tree_of(self.current.head), self.current.tree)

    @cached_property
    def _scope(self) -> Scope:
        return scope_of(self.loaded.state, self.current.workspace.config)

    @cached_property
    def _own(self) -> frozenset[bytes]:
        """The files that the task's snapshots changed."""
        delta = blocks_of(self.loaded.document).delta
        base = self.current.base_tree(delta)
        return frozenset().union(*(self._of_snapshot(each, base) for each in delta.snapshots.values()))

    def _of_snapshot(self, snapshot: Snapshot, base: str | None) -> frozenset[bytes]:
        starts = [each for each in (base, snapshot.start_tree) if each]
        try:
            if starts and packs.artifact_state(self.current.workspace, snapshot) is Artifacts.WHOLE:
                return frozenset().union(*(self._changed(start, str(snapshot.tree)) for start in starts))
        except GitFailed:
            pass  # a tree is gone, so the list has to say it
        listed = recorded_files(self.current.workspace, snapshot) or ()
        return frozenset(drift.unquoted(each.path) for each in listed)

    def _changed(self, old: str, new: str) -> frozenset[bytes]:
        entries = leaves(self.current.store.changes(old, new), self.current.workspace.is_ours)
        return frozenset(each.path for each in entries)

    def committed(self, tree: str) -> tuple[str, ...]:
        """Return the files that HEAD has as `tree` has them, and had otherwise then: work that was committed since."""
        store, now = self.current.store, self.current.store.tree_of(self.current.head)
        if self.head is None or not self.commits:
            return ()
        try:
            moved = self._changed(store.tree_of(self.head), now)
            return tuple(drift.quoted(each) for each in sorted(moved - self._changed(tree, now)))
        except TaskstateError:  # the commit of then, or the tree, is not here
            return ()

    # Other tasks

    @cached_property
    def _by_other_tasks(self) -> Mapping[tuple[str, str], frozenset[bytes]]:
        """The files that other tasks changed in this tree, by the task's id, and behind them those of open turns."""
        known, own_id = self.current.others, self.loaded.state.id.casefold()
        found = dict[tuple[str, str], frozenset[bytes]]()
        for task_id in packs.tasks_with_artifacts(self.current.workspace):
            if task_id.casefold() != own_id:
                if task_id not in known:
                    known[task_id] = self._of_task(task_id)
                found |= known[task_id]
        return dict(sorted(found.items(), key=lambda each: bool(each[0][1])))

    def _of_task(self, task_id: str) -> dict[tuple[str, str], frozenset[bytes]]:
        """Return the files that a task changed in this tree, and behind them those of its open turn."""
        workspace = self.current.workspace
        try:
            loaded = workspace.load(workspace.locate(task_id))
        except TaskstateError:
            return {}  # it is gone, or cannot be read, which `taskstate lint` reports
        if loaded.state.status == COMPLETE:
            return {}
        delta, turn = blocks_of(loaded.document).delta, open_turns.of_document(loaded.document, loaded.state.id)
        spans = {(task_id, ""): tuple(self._spans(task_id, delta))}
        if turn and turn.tree and packs.has_tree(workspace, task_id, turn.tree):
            words = f"{turn.words}, last write {loaded.state.text('updated_at')}"
            spans[task_id, words] = ((turn.tree, self.current.tree),)
        if not any(spans.values()):
            return {}
        with snapshot_base.snapshot_base(workspace, task_id, delta, self.current.head, self.current) as beside:
            other = Explainer(self.loaded, beside, None)
            return {by: frozenset().union(*map(other._between, each)) for by, each in spans.items()}

    def _between(self, span: tuple[str, str]) -> frozenset[bytes]:
        """Return the files that differ between two trees, and that are as the second has them."""
        try:
            return self._changed(*span) - self._changed(span[1], self.current.tree)
        except GitFailed:
            return frozenset()  # a tree of another machine, or one that is gone

    def _spans(self, task_id: str, delta: Delta) -> Iterator[tuple[str, str]]:
        """Yield the trees with which the turns of a task in this working tree began and ended, and its snapshots."""
        workspace, base, left = self.current.workspace, self.current.base_tree(delta), delta.left
        began = left and (left.start_tree or (None if delta.snapshots else base))
        if left and left.tree and began and packs.has_tree(workspace, task_id, left.tree):
            yield began, left.tree
        for snapshot in delta.snapshots.values():
            start = snapshot.start_tree or base
            if snapshot.tree and start and packs.artifact_state(workspace, snapshot) is Artifacts.WHOLE:
                yield start, snapshot.tree
