"""Lists the files that the working tree changes since the base commit, and those outside of the task's scope."""

from __future__ import annotations

import os

from taskstate.context.path_scope import Scope, read_scope
from taskstate.errors import TaskstateError
from taskstate.model.loose_values import json_of
from taskstate.snapshots import drift, packs
from taskstate.snapshots.drift import quoted
from taskstate.snapshots.file_list import ChangedFile, item, read_file_list
from taskstate.storage import file_state, files
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import GITLINK
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.model.config import Config
    from taskstate.model.delta_block import Snapshot
    from taskstate.model.task_state import TaskState
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.storage.git.objects import Store, TreeEntry
    from taskstate.workspace.workspace import Workspace


def changed_files(current: SnapshotBase, entries: Iterable[TreeEntry]) -> tuple[ChangedFile, ...]:
    """Return the files that differ from the base commit as a snapshot records them, sorted by path."""
    entries = tuple(entries)
    untracked = {path for state, path in worktree.status_entries(current.report) if state == b"??"}
    prefix = os.fsencode(current.scratch.prefix)
    base_hashes = _base_hashes(current, entries)
    pairs = ((each, base_hashes.get(each.old_id)) for each in entries)
    return tuple(sorted(_file(current, each, old, new=prefix + each.path in untracked) for each, old in pairs))


def _base_hashes(current: SnapshotBase, entries: Iterable[TreeEntry]) -> dict[str, str]:
    """Return the hashes of the files' contents at the base commit; a missing object means a broken repository."""
    try:
        return object_hashes(current.store, ((each.old_mode, each.old_id) for each in entries))
    except TaskstateError as error:
        message = "the repository lacks a git object that the base commit needs"
        help_ = "`git fsck` names what is missing; fetch it, or copy it from another clone"
        raise TaskstateError(f"{message}: {error.message}", help=help_, code=error.code) from error


def _file(current: SnapshotBase, entry: TreeEntry, previous: str | None, *, new: bool) -> ChangedFile:
    status = "?" if entry.status == "A" and new else entry.status
    if not entry.new_id:
        return ChangedFile(quoted(entry.path), status, None, 0, None, previous)
    size, sha256 = file_size_and_hash(current, entry)
    return ChangedFile(quoted(entry.path), status, entry.new_mode, size, sha256, previous)


def file_size_and_hash(current: SnapshotBase, entry: TreeEntry) -> tuple[int, str | None]:
    """Return size and hash of a file of the newer tree: from disk, or from git where a sparse checkout omits it."""
    if entry.new_mode == GITLINK:
        return 0, None
    on_disk = file_state.file_on_disk(current.workspace.root, os.fsdecode(entry.path))
    if on_disk:
        return on_disk
    return next(current.store.digests((entry.new_id,)))


def object_hashes(store: Store, objects: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the SHA-256 of git objects by their ids; `objects` are pairs of mode and id. Submodules have none.

    Raises:
        TaskstateError: code "objects-lost": an object is missing.
    """
    ids = tuple(dict.fromkeys(each for mode, each in objects if each and mode != GITLINK))
    return {each: sha256 for each, (_, sha256) in zip(ids, store.digests(ids), strict=True)}


def recorded_files(workspace: Workspace, snapshot: Snapshot) -> tuple[ChangedFile, ...] | None:
    """Return the changed files that a snapshot recorded; None where neither the state file nor the artifact lists them.

    The artifact has the list in full. It counts where it says what the state file says.
    """
    snapshot = packs.whole(workspace, snapshot)
    brief = None if snapshot.files_changed is None else read_file_list(snapshot.files_changed)
    listed = snapshot.file_list
    data = artifacts.read(workspace, listed.path) if listed and listed.path is not None else None
    if listed is None or data is None or (listed.sha256 is not None and files.digest(data) != listed.sha256):
        return brief
    full = read_file_list(json_of(data))
    if brief is not None and full is not None and [*map(item, full)] != [*map(item, brief)]:
        return brief
    return full if listed.sha256 is not None or brief is not None else None


def scope_of(state: TaskState, config: Config) -> Scope:
    """Return which files belong to a task, according to its Repository Paths."""
    section, document = state.subsection("Static Context", "Repository Paths"), state.document
    items = (item.content.of(document.text) for item in document.items(section.body)) if section else ()
    return read_scope(items, config.scope)


def scope_hash(current: SnapshotBase, scope: Scope) -> str | None:
    """Return the hash of the paths in the tree that belong to a task; None where the task names no paths."""
    if not scope.inside:
        return None
    paths = current.store.paths(current.tree, _literal_prefixes(scope))
    return drift.scope_hash(path for path in paths if scope.covers(path))


def _literal_prefixes(scope: Scope) -> tuple[str, ...]:
    """Return the paths that a scope's patterns begin with, up to the first wildcard; empty if any path may match."""
    prefixes = set()
    for parts in scope.inside.starts:
        literal = next((index for index, part in enumerate(parts) if "\\" in part), len(parts))
        prefixes.add("/".join(parts[:literal]))
    return () if "" in prefixes else tuple(sorted(prefixes))


def paths_outside(scope: Scope, changed: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that do not belong to a task; empty where the task names no paths."""
    return tuple(path for path in changed if not scope.covers(path)) if scope.inside else ()
