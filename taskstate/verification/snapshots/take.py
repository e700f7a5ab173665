"""Takes a snapshot: records the exact working tree that a role leaves, with what comparing and restoring it needs.

Large parts become artifacts, in a folder named after the content of the snapshot. They are written before the state
file names them, so that the previous snapshot stays complete until the new one is. Folders that no snapshot names are
deleted afterwards.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, LockTimeout, TaskstateError
from taskstate.model import roles, tool_blocks
from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp
from taskstate.storage import files
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import GITLINK, TREE, leaves, new_objects
from taskstate.syntax.edits import apply
from taskstate.validation import secrets
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.base import require_open
from taskstate.verification.snapshots.changed_files import changed_files, paths_outside, scope_hash, scope_of
from taskstate.workspace import artifacts
from taskstate.workspace.change import Change
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from taskstate.context.path_scope import Scope
    from taskstate.model.config import Config
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Delta, ToolBlocks
    from taskstate.storage.git.objects import TreeEntry
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.verification.snapshots.drift import ChangedFile
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

ACCEPTED = "drift-accepted"  # the event that accepting drift leaves
_UNCHANGED = "no changes"  # the summary of an empty diff
_LARGE = 10 * 1024 * 1024  # bytes of a diff


def take(workspace: Workspace, task_id: str, role: str, request: Request) -> Outcome[NewSnapshot]:
    """Record the working tree as `role` leaves it.

    Raises:
        TaskstateError: code "nothing-to-snapshot": nothing differs from the base commit, and no earlier role left work;
            code "committed": work was committed since; code "drift-unresolved" or "task-complete"; or the repository
            cannot be compared.
    """
    roles.require_role(role, workspace.config.roles)
    head = snapshot_base.require_at_rest(workspace)

    def job(loaded: Loaded) -> Change[NewSnapshot]:
        blocks = blocks_of(loaded.document)
        require_open(loaded.state)
        roles.require_no_drift(blocks, loaded.state.id)
        base = head if blocks.delta.base_commit is None else blocks.delta.base_commit
        _require_unmoved(workspace, loaded.state.id, base)
        with snapshot_base.snapshot_base(workspace, blocks.delta, head) as current:
            snapshot_request = SnapshotRequest(role, base, request, clean=_may_be_clean(workspace, blocks, role))
            snapshot = create_snapshot(current, loaded.state, blocks.delta, snapshot_request)
            if not request.dry_run:
                worktree.sweep(current.scratch)
        delta = with_snapshots(blocks.delta, (snapshot,))
        text = apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta))
        return Change(text=text, notes=snapshot.notes, result=snapshot)

    try:
        return change(workspace, task_id, job, request)
    finally:  # after a failure too, or the artifacts of an unrecorded snapshot would stay
        if not request.dry_run:
            sweep(workspace, task_id)


def _may_be_clean(workspace: Workspace, blocks: ToolBlocks, role: str) -> bool:
    """Return whether a role may leave an unchanged tree: where earlier roles left work, or it was committed.

    A role may revert all earlier work; and committed work that was accepted is part of the base commit.
    """
    names = workspace.config.roles
    if any(name in blocks.delta.snapshots for name in names[: names.index(role)]):
        return True
    return any(each.event == ACCEPTED for each in blocks.audit.events)


def _require_unmoved(workspace: Workspace, task_id: str, base: str) -> None:
    committed = snapshot_base.committed_since(workspace, base, task_id)
    if committed:
        message = f"{drift.count_files(len(committed))} committed since the base commit {base[:10]}"
        help_ = f'if that is right, begin anew at HEAD: `taskstate snapshot resolve {task_id} --note "WHY"`'
        raise TaskstateError(f"{message}: {drift.first_paths(committed)}", help=help_, code="committed")


def with_snapshots(delta: Delta, created: Sequence[NewSnapshot], base: str = "") -> dict[str, object]:
    """Return the delta block with new snapshots, each in place of its role's earlier one."""
    base_commit = base or delta.values.get("base_commit") or created[0].record["base_commit"]
    started = delta._replace(values={**delta.values, "base_commit": base_commit})
    return tool_blocks.with_snapshots(started, {each.role: each.record for each in created})


class SnapshotRequest(NamedTuple):
    """The snapshot to take: its role, its base commit, and whether an unchanged tree is allowed (`clean`)."""

    role: str
    base: str
    write_request: Request
    clean: bool = False


class NewSnapshot(NamedTuple):
    """A new snapshot: its record for the front matter, the summary of its diff, its number of files, and notes."""

    role: str
    record: Mapping[str, object]
    stat: str
    number: int
    notes: tuple[str, ...]


def create_snapshot(current: SnapshotBase, state: TaskState, delta: Delta, request: SnapshotRequest) -> NewSnapshot:
    """Take a snapshot of the current working tree and write its artifacts; its record is for the `delta` block.

    Raises:
        TaskstateError: code "nothing-to-snapshot"; or git or the disk fails.
    """
    content = _read_content(delta, current, request)
    if not content.entries and not request.clean:
        message = f"nothing to snapshot: the working tree does not differ from the base commit {request.base[:10]}"
        help_ = "take it when work is there; what git ignores is no part of a snapshot"
        raise TaskstateError(message, help=help_, code="nothing-to-snapshot")
    config = current.workspace.config
    scope = scope_of(state, config)
    record = _record(state, _Draft(current, content, request, scope))
    notes = _notes(content, scope, config)
    return NewSnapshot(request.role, record, content.stat or _UNCHANGED, len(content.files), notes)


class _Content(NamedTuple):
    """What a snapshot records of the working tree; `nested` are repositories in it that are no submodules."""

    entries: tuple[TreeEntry, ...]
    objects: tuple[str, ...]
    files: tuple[ChangedFile, ...]
    stat: str
    diff: bytes
    incremental: bytes | None
    incremental_error: str | None
    nested: tuple[str, ...]


class _Draft(NamedTuple):
    """All that the record of a snapshot is made from."""

    current: SnapshotBase
    content: _Content
    request: SnapshotRequest
    scope: Scope


def _read_content(delta: Delta, current: SnapshotBase, request: SnapshotRequest) -> _Content:
    """Read from git and from disk what a snapshot records."""
    workspace, store, tree = current.workspace, current.store, current.tree
    base_tree = store.tree_of(request.base)
    changes = store.changes(base_tree, tree)
    entries = leaves(changes, workspace.is_ours)
    base_without_ours = _without_ours(current, base_tree, changes)
    staged = store.changes(base_tree, current.index_tree) if current.index_tree else ()
    objects = {*new_objects(changes), *new_objects(staged), tree, *filter(None, [current.index_tree])}
    read_diff = store.diff(base_without_ours, tree)
    files = changed_files(current, entries)
    stat, diff = read_diff()
    previous_role = roles.previous_role(request.role, workspace.config.roles)
    incremental, error = _incremental(current, delta, previous_role) if previous_role else (None, None)
    nested = _nested(changes, staged)
    return _Content(entries, tuple(sorted(objects)), files, stat, diff, incremental, error, nested)


def _nested(changed: Iterable[TreeEntry], staged: Iterable[TreeEntry]) -> tuple[str, ...]:
    """Return the repositories in the tree that are no submodules, since the user's index does not contain them.

    `changed` and `staged` are the changes since the same commit.
    """
    in_tree, index = ({each.path: each for each in entries} for entries in (changed, staged))
    result = []
    for path in sorted({*in_tree, *index}):
        tree_mode = in_tree[path].new_mode if path in in_tree else index[path].old_mode
        if tree_mode == GITLINK != (index[path].new_mode if path in index else in_tree[path].old_mode):
            result.append(drift.quoted(path))
    return tuple(result)


def _without_ours(current: SnapshotBase, tree: str, changed: Iterable[TreeEntry]) -> str:
    """Return the id of a commit's tree without our files, which are among the changes since that commit."""
    is_ours = current.workspace.is_ours
    ours = [each.path for each in changed if each.old_mode != TREE and is_ours(os.fsdecode(each.path))]
    return current.store.without(tree, ours)


def _incremental(current: SnapshotBase, delta: Delta, previous_role: str) -> tuple[bytes | None, str | None]:
    """Return the diff since the previous role's snapshot, or the reason why there is none."""
    snapshot = delta.snapshots.get(previous_role)
    if snapshot is None or snapshot.tree is None:
        return None, f"{previous_role} left no snapshot"
    try:
        return current.store.diff(snapshot.tree, current.tree)()[1], None
    except GitFailed:
        return None, f"the tree of {previous_role}'s snapshot is gone: its artifacts are not here"


# The record and its artifacts


def _record(state: TaskState, draft: _Draft) -> dict[str, object]:
    current, content, request, scope = draft
    record: dict[str, object] = {
        "base_commit": request.base,
        "snapshot_time": timestamp(request.write_request.metadata.now),
        "actor": request.write_request.metadata.actor,
        "tree": current.tree,
        "index_tree": current.index_tree,
        "diff_from_base": None,
        "diff_sha": drift.diff_sha256(content.diff),
        "diff_stat": content.stat or _UNCHANGED,
        "status_report_sha": files.digest(current.report),
        "scope_hash": scope_hash(current, scope),
        "files_changed": None,
    }
    if roles.previous_role(request.role, current.workspace.config.roles):
        record["incremental_diff"] = None
        record["incremental_diff_sha"] = None if content.incremental is None else drift.diff_sha256(content.incremental)
        record["incremental_diff_error"] = content.incremental_error
    _store(state.id, draft, record)
    return record


def _store(task_id: str, draft: _Draft, record: dict[str, object]) -> None:
    """Write the artifacts of a snapshot, and add their paths to its record; for a dry run only the paths."""
    current, content, request, _ = draft
    workspace, role, real = current.workspace, request.role, not request.write_request.dry_run
    file_list = drift.file_list_json(content.files)
    # The time and the actor stay out of the folder's name, so that an unchanged tree taken again keeps its folder.
    hashed = {key: value for key, value in record.items() if key not in {"snapshot_time", "actor"}}
    folder = f"{role}/{sha256(canonical_json(hashed) + file_list)[:16]}"
    kept = artifacts.absolute_path(workspace, artifacts.relative_path(task_id, folder))
    target = kept if real else current.scratch.folder / "kept"
    packed = current.store.pack(content.objects, target)

    def written(name: str, data: bytes) -> str:
        if real:
            return artifacts.write(workspace, task_id, f"{folder}/{name}", data)
        return artifacts.relative_path(task_id, f"{folder}/{name}")

    written(f"{role}-status", current.report)
    record["diff_from_base"] = written(f"{role}-from-base.diff.gz", artifacts.gzipped(content.diff))
    if content.incremental is not None:
        record["incremental_diff"] = written(f"{role}-incremental.diff.gz", artifacts.gzipped(content.incremental))
    record["files_changed"] = [each._asdict() for each in content.files]
    if len(content.files) > drift.LISTED:
        path = written(f"{role}-files.json", file_list.encode())
        record["files_changed"] = {"count": len(content.files), "sha256": sha256(file_list), "path": path}
    if real:
        _keep_index(current, target, trusted=not content.nested)
    record["pack"] = artifacts.relative_path(task_id, f"{folder}/pack/{packed().name}")


def _keep_index(current: SnapshotBase, folder: Path, *, trusted: bool) -> None:
    """Keep a copy of the temporary index if it is trusted: later comparisons need not read unchanged files then.

    It is not trusted where a repository that is no submodule stands in it as one: git would not notice that it becomes
    a plain folder of files.
    """
    index = current.scratch.own_index
    copy = folder / snapshot_base.index_name(index, current.tree, current.scratch.mark)
    with files.os_errors("write", copy):
        for older in folder.glob(f"{snapshot_base.INDEX}*"):
            older.unlink()
        if trusted:
            shutil.copy2(index, copy)


def sweep(workspace: Workspace, task_id: str) -> None:
    """Delete the folders of a task's roles that no snapshot names."""
    with suppress(LockTimeout), workspace.locked():  # the next snapshot sweeps again
        loaded = workspace.load(workspace.locate(task_id))
        snapshots = blocks_of(loaded.document).delta.snapshots
        task_folder = artifacts.absolute_path(workspace, artifacts.relative_path(loaded.state.id))
        for role in workspace.config.roles:
            object_folder = snapshot_base.object_folder(workspace, snapshots[role]) if role in snapshots else None
            for name in files.names(task_folder / role):
                if task_folder / role / name != object_folder:
                    shutil.rmtree(task_folder / role / name, ignore_errors=True)


# Notes


def _notes(content: _Content, scope: Scope, config: Config) -> tuple[str, ...]:
    notes = []
    outside_scope = paths_outside(scope, [each.path for each in content.files])
    if outside_scope:
        count = drift.count_files(len(outside_scope))
        notes.append(f"warning: {count} outside of the Repository Paths: {drift.first_paths(outside_scope)}")
    if content.nested:
        repositories = (
            "a repository of its own"
            if len(content.nested) == 1
            else f"{len(content.nested)} repositories of their own"
        )
        advice = "have git ignore it, or add it as a submodule"
        nested = drift.first_paths(content.nested)
        notes.append(f"warning: the files of {repositories} are no part of the snapshot: {nested}; {advice}")
    if len(content.diff) > _LARGE:
        size = len(content.diff) / 1024**2
        notes.append(f"warning: the diff holds {size:.1f} MB: see whether a generated or binary file got into the tree")
    notes += _secrets(content.diff, config)
    if content.incremental_error:
        notes.append(f"there is no diff from the role before: {content.incremental_error}")
    return tuple(notes)


def _secrets(diff: bytes, config: Config) -> list[str]:
    """Return warnings where added lines of the diff look like credentials, or where not all of them were searched.

    The diff keeps them as they are: it has to be exact.
    """
    lines = [line[1:] for line in diff.split(b"\n") if line.startswith(b"+") and not line.startswith(b"+++ ")]
    added = b"\n".join(lines)
    secrets_found = secrets.find(added[:_LARGE].decode("utf-8", "replace"), config.secrets.allow)
    kinds = ", ".join(sorted({each.kind for each in secrets_found}))
    notes = [f"warning: the diff adds what looks like {kinds}; it is kept as it is"] if kinds else []
    if len(added) > _LARGE:
        size = _LARGE // 1024**2
        notes.append(f"warning: only the first {size} MB of the added lines were searched for credentials")
    return notes
