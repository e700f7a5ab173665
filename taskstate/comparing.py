"""Compares a working tree with a snapshot where it is not certain at a glance that nothing differs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate import delta, files, ground
from taskstate.delta import Difference, File, Seen, Verified
from taskstate.errors import GitFailed
from taskstate.listing import changed_files, hashes, held, outside, recorded_files, scope_hash, scope_of
from taskstate.packs import leaves
from taskstate.snapshots import LOST, require_snapshot
from taskstate.stamp import front_matter_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.ground import Look
    from taskstate.packs import Entry
    from taskstate.workspace import Loaded, Workspace


def compared(workspace: Workspace, loaded: Loaded, role: str, notes: tuple[str, ...] = ()) -> Verified:
    """Return how the working tree and HEAD differ from what a role left; the trees decide whether they do.

    Raises:
        TaskstateError: code "no-snapshot" or "no-commit"; or the repository is not at rest.
    """
    values = front_matter_values(loaded.document)
    snapshot = require_snapshot(workspace, loaded, role)
    head = ground.require_at_rest(workspace)
    base = str(snapshot.get("base_commit"))
    committed = ground.committed_since(workspace, base) if head != base else ()
    with ground.look(workspace, values, head) as seen:
        known = Seen(
            task_id=loaded.state.id,
            role=role,
            base=base,
            committed=committed,
            history=ground.history(workspace, base) if committed else "after",
            same_tree=seen.tree == snapshot.get("tree"),
            same_status=seen.index_tree == snapshot.get("index_tree"),
            notes=notes,
        )
        if known.same_tree and not committed:
            return delta.judged(known)
        return delta.judged(_Comparison(loaded, snapshot, seen).reported(known, head))


class _Parts(NamedTuple):
    loaded: Loaded
    snapshot: Mapping[str, Any]
    seen: Look


class _Comparison(_Parts):
    """A snapshot and the tree of now, file by file."""

    @cached_property
    def _recorded(self) -> tuple[File, ...] | None:
        return recorded_files(self.seen.workspace, self.snapshot)

    @cached_property
    def _hashes(self) -> dict[str, str | None]:
        return {each.path: each.sha256 for each in self._recorded or ()}

    def reported(self, known: Seen, head: str) -> Seen:
        """Return what is known, and what a closer look at each file tells."""
        store, tree = self.seen.store, str(self.snapshot.get("tree"))
        is_ours = self.seen.workspace.is_ours
        try:
            entries = leaves(store.changes(tree, self.seen.tree), is_ours)
            listed: tuple[Difference, ...] | None = delta.differences(entries, self._hash_then, self._hash_now)
            modes = delta.modes_differ(entries)
        except GitFailed:
            known = known._replace(notes=(LOST,))
            listed = self._by_list(known.base)
            modes = tuple(each.path for each in listed or () if each.change == "mode")
        now = store.changes(store.tree_of(head), self.seen.tree)
        scope = scope_of(self.loaded.state, self.seen.workspace.config)
        then = self.snapshot.get("scope_hash")
        return known._replace(
            files=listed,
            modes=modes,
            is_clean=not leaves(now, is_ours) and self.snapshot.get("files_changed") != [],
            same_status=files.digest(self.seen.report) == self.snapshot.get("status_report_sha"),
            same_scope=then is None or scope_hash(self.seen, scope) == then,
            outside=outside(scope, [each.path for each in listed or ()]),
        )

    def _hash_then(self, entry: Entry) -> str | None:
        """Return the hash of a file as the snapshot has it: of its bytes then where they were recorded."""
        path = delta.quoted(entry.path)
        if path in self._hashes:
            return self._hashes[path]
        return hashes(self.seen, [(entry.old_mode, entry.old_id)]).get(entry.old_id)

    def _hash_now(self, entry: Entry) -> str | None:
        return held(self.seen, entry)[1]

    def _by_list(self, base: str) -> tuple[Difference, ...] | None:
        """Return what differs by the lists of changed files alone, where the snapshot's tree is lost."""
        if self._recorded is None:
            return None
        changed = self.seen.store.changes(self.seen.store.tree_of(base), self.seen.tree)
        now = changed_files(self.seen, leaves(changed, self.seen.workspace.is_ours))
        return delta.listed_differences(self._recorded, now)
