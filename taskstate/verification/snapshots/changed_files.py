"""The files that a working tree changes, as a snapshot lists them, and which of them belong to a task."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from taskstate.context.path_scope import Scope, read_scope
from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import GITLINK
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.drift import ChangedFile, quoted
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.model.config import Config
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Snapshot
    from taskstate.storage.git.objects import TreeEntry
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.workspace.workspace import Workspace

_WILD = frozenset("*?[\\")


def changed_files(seen: SnapshotBase, entries: Iterable[TreeEntry]) -> tuple[ChangedFile, ...]:
    """Return what a snapshot records of the files that differ from the base commit, sorted by path."""
    entries = tuple(entries)
    fresh = {path for state, path in worktree.status_entries(seen.report) if state == b"??"}
    prefix = os.fsencode(seen.place.prefix)
    before = _before(seen, entries)
    listed = (_file(seen, each, before.get(each.old_id), new=prefix + each.path in fresh) for each in entries)
    return tuple(sorted(listed))


def _before(seen: SnapshotBase, entries: Iterable[TreeEntry]) -> dict[str, str]:
    """Return the hashes of what the base commit has; where that is not here, the repository itself is broken."""
    try:
        return object_hashes(seen, ((each.old_mode, each.old_id) for each in entries))
    except TaskstateError as error:
        what = "the repository lacks a git object that the base commit needs"
        help_ = "`git fsck` names what is missing; fetch it, or copy it from another clone"
        raise TaskstateError(f"{what}: {error.message}", help=help_, code=error.code) from error


def _file(seen: SnapshotBase, entry: TreeEntry, then: str | None, *, new: bool) -> ChangedFile:
    status = "?" if entry.status == "A" and new else entry.status
    if not entry.new_id:
        return ChangedFile(quoted(entry.path), status, None, 0, None, then)
    size, now = file_size_and_hash(seen, entry)
    return ChangedFile(quoted(entry.path), status, entry.new_mode, size, now, then)


def file_size_and_hash(seen: SnapshotBase, entry: TreeEntry) -> tuple[int, str | None]:
    """Return size and hash of a file of the newer tree: on disk, or as git has it where a sparse checkout lacks it."""
    if entry.new_mode == GITLINK:
        return 0, None
    on_disk = worktree.held(seen.workspace.root, os.fsdecode(entry.path))
    if on_disk:
        return on_disk
    content = seen.store.read(entry.new_id)
    return len(content), files.digest(content)


def object_hashes(seen: SnapshotBase, objects: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the SHA-256 of what git has as objects of some mode, by their ids; nothing for submodules.

    Raises:
        TaskstateError: code "objects-lost": one is not here.
    """
    ids = tuple(dict.fromkeys(each for mode, each in objects if each and mode != GITLINK))
    return {each: files.digest(content) for each, content in zip(ids, seen.store.contents(ids), strict=True)}


def recorded_files(workspace: Workspace, snapshot: Snapshot) -> tuple[ChangedFile, ...] | None:
    """Return the changed files that a snapshot recorded; None where the artifact that lists them is not as it was."""
    listed = snapshot.file_list
    if listed is None:
        return drift.read_file_list(snapshot.files_changed)
    data = None if listed.path is None else artifacts.read(workspace, listed.path)
    if data is None or files.digest(data) != listed.sha256:
        return None
    return drift.read_file_list(json.loads(data))


def scope_of(state: TaskState, config: Config) -> Scope:
    """Return which files belong to a task, as its Repository Paths say."""
    section, document = state.subsection("Static Context", "Repository Paths"), state.document
    items = (item.content.of(document.text) for item in document.items(section.body)) if section else ()
    return read_scope(items, config.scope)


def scope_hash(seen: SnapshotBase, scope: Scope) -> str | None:
    """Return the hash of the paths of the tree that belong to a task; None where it does not say which do."""
    if not scope.inside:
        return None
    return drift.scope_hash(path for path in seen.store.paths(seen.tree, _beginnings(scope)) if scope.covers(path))


def _beginnings(scope: Scope) -> tuple[str, ...]:
    """Return the folders and files that a scope lies in; none where it may lie anywhere."""
    found = set()
    for parts in scope.inside:
        plain = next((at for at, part in enumerate(parts) if _WILD & set(part)), len(parts))
        found.add("/".join(parts[:plain]))
    return () if "" in found else tuple(sorted(found))


def paths_outside(scope: Scope, changed: Iterable[str]) -> tuple[str, ...]:
    """Return the paths that do not belong to a task; none where it does not say what does."""
    return tuple(path for path in changed if not scope.covers(path)) if scope.inside else ()
