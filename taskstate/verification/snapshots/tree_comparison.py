"""Compares a working tree with a snapshot where it is not certain at a glance that nothing differs."""

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
from taskstate.verification.snapshots.base import require_snapshot
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


def compare_trees(
    workspace: Workspace, loaded: Loaded, role: str, artifacts: Artifacts, notes: tuple[str, ...] = ()
) -> DriftReport:
    """Return how the working tree and HEAD differ from what a role left; the trees decide whether they do.

    Raises:
        TaskstateError: code "no-snapshot" or "no-commit"; or the repository is not at rest.
    """
    snapshot = require_snapshot(workspace, loaded, role)
    head = snapshot_base.require_at_rest(workspace)
    base = str(snapshot.base_commit)
    committed = snapshot_base.committed_since(workspace, base, loaded.state.id) if head != base else ()
    with snapshot_base.snapshot_base(workspace, blocks_of(loaded.document).delta, head) as seen:
        known = TreeDifferences(
            task_id=loaded.state.id,
            role=role,
            base=base,
            committed=committed,
            history=snapshot_base.head_relation(workspace, base) if committed else "after",
            same_tree=seen.tree == snapshot.tree,
            same_status=seen.index_tree == snapshot.index_tree,
            notes=notes,
            artifacts=artifacts,
        )
        if known.same_tree and not committed:
            return drift.drift_report(known)
        return drift.drift_report(_Comparison(loaded, snapshot, seen).reported(known, head))


def _is_file(root: Path, path: bytes) -> bool:
    """Return whether a file or a link is at a path, reached through no link."""
    place = os.path.join(os.fsencode(root), path)
    above = os.path.dirname(path)
    straight = os.path.realpath(os.path.dirname(place)) == os.path.join(os.path.realpath(os.fsencode(root)), above)
    return (straight or not above) and (os.path.isfile(place) or os.path.islink(place))


class _Parts(NamedTuple):
    loaded: Loaded
    snapshot: Snapshot
    seen: SnapshotBase


class _Comparison(_Parts):
    """A snapshot and the tree of now, file by file."""

    @cached_property
    def _recorded(self) -> tuple[ChangedFile, ...] | None:
        return recorded_files(self.seen.workspace, self.snapshot)

    @cached_property
    def _hashes(self) -> dict[str, str | None]:
        return {each.path: each.sha256 for each in self._recorded or ()}

    def reported(self, known: TreeDifferences, head: str) -> TreeDifferences:
        """Return what is known, and what a closer look at each file tells."""
        store, tree = self.seen.store, str(self.snapshot.tree)
        is_ours = self.seen.workspace.is_ours
        try:
            entries = leaves(store.changes(tree, self.seen.tree), is_ours)
            listed: tuple[Difference, ...] | None = drift.differences(entries, self._hash_then, self._hash_now)
            modes = drift.changed_modes(entries)
        except GitFailed:
            if known.artifacts is Artifacts.WHOLE:  # by its ends alone
                known = known._replace(artifacts=Artifacts.LOST)
            listed = self._by_list(known.base)
            modes = tuple(each.path for each in listed or () if each.change == "mode")
        at_head = store.tree_of(head)
        now = store.changes(at_head, self.seen.tree)
        scope = scope_of(self.loaded.state, self.seen.workspace.config)
        then = self.snapshot.scope_hash
        return known._replace(
            files=listed,
            modes=modes,
            own=self._own(known.committed, at_head, store.tree_of(known.base)),
            ignored=self._ignored([each.path for each in listed or () if each.change == "removed"]),
            is_clean=not leaves(now, is_ours) and self.snapshot.files_changed != (),
            same_status=files.digest(self.seen.report) == self.snapshot.status_report_sha,
            same_scope=then is None or scope_hash(self.seen, scope) == then,
            outside=paths_outside(scope, [each.path for each in listed or ()]),
        )

    def _hash_then(self, entry: TreeEntry) -> str | None:
        """Return the hash of a file as the snapshot has it: of its bytes then where they were recorded."""
        path = drift.quoted(entry.path)
        if entry.old_mode == GITLINK:
            return entry.old_id
        if path in self._hashes:
            return self._hashes[path]
        return object_hashes(self.seen, [(entry.old_mode, entry.old_id)]).get(entry.old_id)

    def _hash_now(self, entry: TreeEntry) -> str | None:
        return entry.new_id if entry.new_mode == GITLINK else file_size_and_hash(self.seen, entry)[1]

    def _own(self, committed: tuple[str, ...], head: str, base: str) -> tuple[str, ...] | None:
        """Return those of the snapshot's changed files that hold its work in HEAD, or held it in between.

        Such a file is there as the snapshot has it, as it is now, or, taken back, as it was at the base.
        """
        store = self.seen.store
        trees = (str(self.snapshot.tree), self.seen.tree, base)
        changed = [path for path in committed if drift.quoted(os.fsencode(path)) in self._hashes]
        if self._recorded is None or not store.has(*trees):
            return None
        found = ((path, store.at(head, path)) for path in changed)
        return tuple(path for path, there in found if there in [store.at(tree, path) for tree in trees])

    def _ignored(self, removed: list[str]) -> tuple[str, ...]:
        """Return which of some paths, of files that git does not take in any more, are there and ignored."""
        root = self.seen.workspace.root
        there = [each for each in removed if _is_file(root, drift.unquoted(each))]
        if not there:
            return ()
        asked = b"".join(drift.unquoted(each) + b"\0" for each in there)
        try:
            said = self.seen.place.run(["check-ignore", "-z", "--stdin"], stdin=asked)
        except GitFailed:  # it ignores none of them
            return ()
        return tuple(each for each in there if drift.unquoted(each) in said.split(b"\0"))

    def _by_list(self, base: str) -> tuple[Difference, ...] | None:
        """Return what differs by the lists of changed files alone, where the snapshot's tree is lost."""
        if self._recorded is None:
            return None
        changed = self.seen.store.changes(self.seen.store.tree_of(base), self.seen.tree)
        now = changed_files(self.seen, leaves(changed, self.seen.workspace.is_ours))
        return drift.listed_differences(self._recorded, now)
