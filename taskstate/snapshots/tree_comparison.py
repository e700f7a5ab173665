"""Compares the working tree with a snapshot file by file, where the quick check cannot prove that nothing differs."""

from __future__ import annotations

import os
from contextlib import closing
from functools import cached_property

from taskstate.errors import GitFailed
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.changed_files import (
    changed_files,
    file_size_and_hash,
    object_hashes,
    paths_outside,
    recorded_files,
    scope_hash,
    scope_of,
)
from taskstate.snapshots.changes_by_others import Explainer
from taskstate.snapshots.committed_trees import is_committed, is_here
from taskstate.snapshots.drift import Artifacts, Difference, Explained, TreeDifferences
from taskstate.snapshots.file_list import listed_differences, not_comparable, untracked_paths
from taskstate.storage import files, folders
from taskstate.storage.git import history, movement, worktree
from taskstate.storage.git.objects import GITLINK, Store, leaves
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from taskstate.model.delta_block import Snapshot
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.file_list import ChangedFile
    from taskstate.storage.git.objects import TreeEntry
    from taskstate.workspace.workspace import Loaded, Workspace

NO_DIFF = "the old tree is not in this clone, so there is no diff: files are compared by the lists in the state file"


class Earlier(NamedTuple):
    """A working tree of before: its tree, the commit that was checked out, and the snapshot that recorded it.

    `log` is the hash of the log that is being recorded now, which may lie in the tree. The tree of now may have been
    `read` already.
    """

    tree: str
    head: str | None
    snapshot: Snapshot | None = None
    log: str = ""
    read: SnapshotBase | None = None


def compare_trees(workspace: Workspace, loaded: Loaded, earlier: Earlier, found: TreeDifferences) -> TreeDifferences:
    """Return how the working tree differs from an earlier one, added to `found`; the git trees decide.

    Raises:
        TaskstateError: the repository cannot be compared.
    """
    delta, read = blocks_of(loaded.document).delta, earlier.read
    head = read.head if read else snapshot_base.require_at_rest(workspace)
    with snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head, read) as current:
        return compare_with_current(current, loaded, earlier, found)


def compare_with_current(
    current: SnapshotBase, loaded: Loaded, earlier: Earlier, found: TreeDifferences
) -> TreeDifferences:
    """Return how a working tree that was read already differs from an earlier one, added to `found`."""
    workspace, store = current.workspace, current.store
    if found.artifacts is not Artifacts.WHOLE and is_committed(workspace, store, earlier.tree, earlier.head):
        found = found._replace(artifacts=Artifacts.WHOLE)
    explainer = Explainer(loaded, current, earlier.head, earlier.log)
    comparison = _Comparison(loaded, earlier, current, explainer)
    found = found._replace(
        tree=current.tree,
        same_tree=current.tree == earlier.tree,
        same_status=comparison.has_same_stage(),
        committed=explainer.committed(earlier.tree),
        commits=explainer.commits,
        left=explainer.left,
    )
    return found if found.same_tree else comparison.complete(found)


def compare_snapshots(
    workspace: Workspace, loaded: Loaded, snapshots: tuple[Snapshot, Snapshot]
) -> tuple[Difference, ...] | None:
    """Return the files in which a later snapshot differs from an earlier one; None where one of them is not here."""
    kept = packs.object_folders(workspace, loaded.state.id, blocks_of(loaded.document).delta)
    old, new = (str(each.tree) for each in snapshots)
    with worktree.scratch(workspace.root, *kept) as area, closing(Store(area, old)) as store:
        if not all(is_here(workspace, store, str(each.tree), each.head) for each in snapshots):
            return None
        entries = leaves(store.changes(old, new), workspace.is_ours)
        both = [pair for each in entries for pair in ((each.old_mode, each.old_id), (each.new_mode, each.new_id))]
        hashes = object_hashes(store, both)
        return drift.differences(
            entries,
            lambda each: hashes.get(each.old_id, each.old_id),
            lambda each: hashes.get(each.new_id, each.new_id),
        )


def _is_file(root: Path, path: bytes) -> bool:
    """Return whether a file or a link exists at a path, in a folder reached through no link."""
    full_path = root / os.fsdecode(path)
    return folders.is_file(full_path) or folders.is_link(full_path)


class _ComparisonFields(NamedTuple):  # apart, since cached properties need the `__dict__` of a subclass
    loaded: Loaded
    earlier: Earlier
    current: SnapshotBase
    explainer: Explainer


class _Comparison(_ComparisonFields):
    """An earlier tree and the current working tree, compared file by file."""

    @cached_property
    def _recorded(self) -> tuple[ChangedFile, ...] | None:
        snapshot = self.earlier.snapshot
        return recorded_files(self.current.workspace, snapshot) if snapshot else None

    @cached_property
    def _hashes(self) -> dict[str, str | None]:
        return {each.path: each.sha256 for each in self._recorded or () if each.content}

    def has_same_stage(self) -> bool:
        """Return whether the user's index holds what it held then, as far as that is known."""
        snapshot, moved = self.earlier.snapshot, self.explainer.movement
        if snapshot is None or moved is None or moved.came or moved.lost:
            return True
        # What is not recorded was as HEAD had it.
        recorded = snapshot.index_tree or self.current.without_ours(self.current.head)
        return self.current.index_tree == recorded

    def complete(self, found: TreeDifferences) -> TreeDifferences:
        """Return `found` with the differences of each file."""
        try:
            changes = self.current.store.changes(self.earlier.tree, self.current.tree)
        except GitFailed:
            return self._by_list(found)
        entries = leaves(changes, self.current.workspace.is_ours)
        explained = {each.path: by for each in entries if (by := self.explainer.by(each.path))}
        drifted = [each for each in entries if each.path not in explained]
        changed = drift.differences(drifted, self._hash_then, self._hash_now)
        told = drift.differences([each for each in entries if each.path in explained], _no_hash, _no_hash)
        found = found._replace(
            files=changed,
            explained=tuple(Explained(each.path, each.change, *explained[drift.unquoted(each.path)]) for each in told),
            modes=drift.changed_modes(drifted),
        )
        found = self._with_circumstances(found)
        return found._replace(taken_by=self._taken_by(drifted)) if found.is_clean and drifted else found

    def _taken_by(self, entries: Sequence[TreeEntry]) -> str:
        """Return in words what git has recorded of changes that are gone; empty for nothing."""
        root, snapshot = self.current.workspace.root, self.earlier.snapshot
        blobs = {each.path: each.old_id for each in entries if each.old_id}
        stash = history.stash_with(root, blobs) if blobs else ""
        if stash:
            return f"{stash} has them"
        is_reset = snapshot is not None and movement.was_reset(root, snapshot.snapshot_time or "")
        return "they were undone by `git reset`, of which git's reflog tells" if is_reset else ""

    def _with_circumstances(self, found: TreeDifferences) -> TreeDifferences:
        """Return `found` with what else differs: status, scope, and what is ignored or gone."""
        workspace, snapshot = self.current.workspace, self.earlier.snapshot
        snapshot = packs.whole(workspace, snapshot) if snapshot else None
        scope = scope_of(self.loaded.state, workspace.config)
        paths = [each.path for each in found.files or ()]
        report = packs.status_report_sha(workspace, snapshot) if snapshot else None
        recorded_scope = snapshot.scope_hash if snapshot else None
        return found._replace(
            ignored=self._ignored([each.path for each in found.files or () if each.change == "removed"]),
            is_clean=not self.explainer.dirty and bool(snapshot) and self._recorded != (),
            same_status=report is None or files.digest(self.current.report) == report,
            same_scope=recorded_scope is None or scope_hash(self.current, scope) == recorded_scope,
            outside=paths_outside(scope, paths),
        )

    def _hash_then(self, entry: TreeEntry) -> str | None:
        """Return the hash of a file in the earlier tree: as recorded on disk then, else of the git object."""
        path = drift.quoted(entry.path)
        if entry.old_mode == GITLINK:
            return entry.old_id
        if path in self._hashes:
            return self._hashes[path]
        return object_hashes(self.current.store, [(entry.old_mode, entry.old_id)]).get(entry.old_id)

    def _hash_now(self, entry: TreeEntry) -> str | None:
        return entry.new_id if entry.new_mode == GITLINK else file_size_and_hash(self.current, entry)[1]

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

    def _by_list(self, found: TreeDifferences) -> TreeDifferences:
        """Return `found` with the differences by the lists of changed files alone, where the earlier tree is not here.

        In another clone only files that git tracks count: those of another machine that it does not track are not here.
        """
        if found.artifacts is Artifacts.WHOLE:  # the quick test of the pack's two ends was wrong
            found = found._replace(artifacts=Artifacts.BROKEN)
        base = self.current.base_tree(blocks_of(self.loaded.document).delta)
        if self._recorded is None or base is None:
            return self._with_circumstances(found._replace(files=None))
        changes = leaves(self.current.store.changes(base, self.current.tree), self.current.workspace.is_ours)
        now = changed_files(self.current, changes)
        unknown = [each for each in not_comparable(self._recorded, now) if self._is_doubtful(drift.unquoted(each))]
        untold = [each for each in not_comparable(self._recorded, now) if each not in unknown]
        # A list without hashes is not the one of the artifacts, which are on the machine where it was left.
        is_elsewhere = not all(each.content for each in self._recorded)
        not_here = untracked_paths(self._recorded, now) if is_elsewhere else ()
        differing = {each.path: each for each in listed_differences(self._recorded, now) if each.path not in not_here}
        differing |= {
            each.path: Difference(each.path, "modified", None, each.sha256) for each in now if each.path in unknown
        }
        explained = {path: by for path in differing if (by := self.explainer.by(drift.unquoted(path)))}
        drifted = tuple(each for path, each in sorted(differing.items()) if path not in explained)
        found = found._replace(
            files=drifted,
            explained=tuple(Explained(path, differing[path].change, *by) for path, by in sorted(explained.items())),
            modes=tuple(each.path for each in drifted if each.change == "mode"),
            notes=(*found.notes, NO_DIFF, *_untold(untold)),
        )
        return self._with_circumstances(found)

    def _is_doubtful(self, path: bytes) -> bool:
        """Return whether a file of which the lists say too little may be changed here, or comes from another line."""
        moved = self.explainer.movement
        return path in self.explainer.dirty or (moved is not None and not moved.keeps_all)


def _untold(paths: list[str]) -> tuple[str, ...]:
    """Return a note on files of which nothing here says whether they are as they were left."""
    return (f"cannot be told here whether it is as it was left: {drift.first_paths(paths)}",) if paths else ()


def _no_hash(entry: TreeEntry) -> None:  # noqa: ARG001 - what is explained is told without hashes
    return None
