"""Compares the working tree with a snapshot file by file, where the quick check cannot prove that nothing differs."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.storage.git.objects import GITLINK, leaves
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.changed_files import (
    changed_files,
    file_size_and_hash,
    object_hashes,
    paths_outside,
    recorded_files,
    scope_hash,
    scope_of,
)
from taskstate.verification.snapshots.drift import Artifacts, ChangedFile, Difference, DriftReport, TreeDifferences

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.tool_blocks import Snapshot
    from taskstate.storage.git.objects import TreeEntry
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.workspace.workspace import Loaded, Workspace


def compare_trees(workspace: Workspace, loaded: Loaded, snapshot: Snapshot, found: TreeDifferences) -> DriftReport:
    """Return how the working tree and HEAD differ from a snapshot, added to `found`; the git trees decide.

    Raises:
        TaskstateError: code "no-commit"; or the repository cannot be compared.
    """
    head, base = snapshot_base.require_at_rest(workspace), found.base
    committed = snapshot_base.committed_since(workspace, base, found.task_id) if head != base else ()
    with snapshot_base.snapshot_base(workspace, blocks_of(loaded.document).delta, head) as current:
        found = found._replace(
            committed=committed,
            history=snapshot_base.head_relation(workspace, base) if committed else "after",
            same_tree=current.tree == snapshot.tree,
            same_status=current.index_tree == snapshot.index_tree,
        )
        if found.same_tree and not committed:
            return drift.drift_report(found)
        return drift.drift_report(_Comparison(loaded, snapshot, current).complete(found, head))


def _is_file(root: Path, path: bytes) -> bool:
    """Return whether a file or a link exists at a path, in a folder reached through no link."""
    full_path = os.path.join(os.fsencode(root), path)
    folder = os.path.dirname(path)
    real_root = os.path.realpath(os.fsencode(root))
    through_no_link = os.path.realpath(os.path.dirname(full_path)) == os.path.join(real_root, folder)
    return (through_no_link or not folder) and (os.path.isfile(full_path) or os.path.islink(full_path))


class _ComparisonFields(NamedTuple):  # apart, since cached properties need the `__dict__` of a subclass
    loaded: Loaded
    snapshot: Snapshot
    current: SnapshotBase


class _Comparison(_ComparisonFields):
    """A snapshot and the current working tree, compared file by file."""

    @cached_property
    def _recorded(self) -> tuple[ChangedFile, ...] | None:
        return recorded_files(self.current.workspace, self.snapshot)

    @cached_property
    def _hashes(self) -> dict[str, str | None]:
        return {each.path: each.sha256 for each in self._recorded or ()}

    def complete(self, found: TreeDifferences, head: str) -> TreeDifferences:
        """Return `found` with the differences of each file."""
        store, tree = self.current.store, str(self.snapshot.tree)
        is_ours = self.current.workspace.is_ours
        try:
            entries = leaves(store.changes(tree, self.current.tree), is_ours)
            differences: tuple[Difference, ...] | None = drift.differences(entries, self._hash_then, self._hash_now)
            modes = drift.changed_modes(entries)
        except GitFailed:
            if found.artifacts is Artifacts.WHOLE:  # the quick test of the pack's two ends was wrong
                found = found._replace(artifacts=Artifacts.LOST)
            differences = self._by_list(found.base)
            modes = tuple(each.path for each in differences or () if each.change == "mode")
        head_tree = store.tree_of(head)
        since_head = store.changes(head_tree, self.current.tree)
        scope = scope_of(self.loaded.state, self.current.workspace.config)
        recorded_scope = self.snapshot.scope_hash
        return found._replace(
            files=differences,
            modes=modes,
            own=self._own(found.committed, head_tree, store.tree_of(found.base)),
            ignored=self._ignored([each.path for each in differences or () if each.change == "removed"]),
            is_clean=not leaves(since_head, is_ours) and self.snapshot.files_changed != (),
            same_status=files.digest(self.current.report) == self.snapshot.status_report_sha,
            same_scope=recorded_scope is None or scope_hash(self.current, scope) == recorded_scope,
            outside=paths_outside(scope, [each.path for each in differences or ()]),
        )

    def _hash_then(self, entry: TreeEntry) -> str | None:
        """Return the hash of a file in the snapshot: as recorded on disk then, else of the git object."""
        path = drift.quoted(entry.path)
        if entry.old_mode == GITLINK:
            return entry.old_id
        if path in self._hashes:
            return self._hashes[path]
        return object_hashes(self.current, [(entry.old_mode, entry.old_id)]).get(entry.old_id)

    def _hash_now(self, entry: TreeEntry) -> str | None:
        return entry.new_id if entry.new_mode == GITLINK else file_size_and_hash(self.current, entry)[1]

    def _own(self, committed: tuple[str, ...], head: str, base: str) -> tuple[str, ...] | None:
        """Return the committed files that contain the snapshot's work, in HEAD or in a commit since that was reverted.

        Such a file is in HEAD as in the snapshot, as in the working tree, or (reverted) as at the base commit.
        """
        store = self.current.store
        trees = (str(self.snapshot.tree), self.current.tree, base)
        changed = [path for path in committed if drift.quoted(os.fsencode(path)) in self._hashes]
        if self._recorded is None or not store.has(*trees):
            return None
        at_head = ((path, store.at(head, path)) for path in changed)
        return tuple(path for path, entry in at_head if entry in [store.at(tree, path) for tree in trees])

    def _ignored(self, removed: list[str]) -> tuple[str, ...]:
        """Return those of the paths missing from the tree that exist, but are ignored by git."""
        root = self.current.workspace.root
        existing = [each for each in removed if _is_file(root, drift.unquoted(each))]
        if not existing:
            return ()
        stdin = b"".join(drift.unquoted(each) + b"\0" for each in existing)
        try:
            ignored = self.current.scratch.run(["check-ignore", "-z", "--stdin"], stdin=stdin)
        except GitFailed:  # `git check-ignore` exits with 1 where it ignores none of them
            return ()
        return tuple(each for each in existing if drift.unquoted(each) in ignored.split(b"\0"))

    def _by_list(self, base: str) -> tuple[Difference, ...] | None:
        """Return the differences by the lists of changed files alone, where the snapshot's tree is lost."""
        if self._recorded is None:
            return None
        changed = self.current.store.changes(self.current.store.tree_of(base), self.current.tree)
        current_files = changed_files(self.current, leaves(changed, self.current.workspace.is_ours))
        return drift.listed_differences(self._recorded, current_files)
