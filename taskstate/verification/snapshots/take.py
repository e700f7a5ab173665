"""Takes a snapshot: the exact working tree as a role leaves it, with all that is needed to compare and restore it.

What is bulky becomes artifacts, in a folder that is named after what the snapshot holds. They are written before the
state file names them, so that the snapshot before stays whole until the new one is; folders that no snapshot names are
swept away afterwards.
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

ACCEPTED = "drift-accepted"  # the event of which `resolving` leaves one
_UNCHANGED = "no changes"  # what a diff of nothing comes to in numbers
_LARGE = 10 * 1024 * 1024  # bytes of a diff


class TakeResult(NamedTuple):
    """What taking a snapshot gave: the write, and the diff from the base commit in numbers."""

    outcome: Outcome
    stat: str
    number: int


def take(workspace: Workspace, task_id: str, role: str, request: Request) -> TakeResult:
    """Record the working tree as `role` leaves it.

    Raises:
        TaskstateError: code "nothing-to-snapshot": nothing differs from the base commit, and nobody left anything
            before; code "committed": work was committed since; code "drift-unresolved" or "task-complete"; or the
            repository is not at rest.
    """
    roles.require_role(role, workspace.config.roles)
    head = snapshot_base.require_at_rest(workspace)

    def job(loaded: Loaded) -> Change[NewSnapshot]:
        blocks = blocks_of(loaded.document)
        require_open(loaded.state)
        roles.require_no_drift(blocks, loaded.state.id)
        base = head if blocks.delta.base_commit is None else blocks.delta.base_commit
        _require_unmoved(workspace, loaded.state.id, base)
        with snapshot_base.snapshot_base(workspace, blocks.delta, head) as seen:
            wanted = SnapshotRequest(role, base, request, clean=_may_be_clean(workspace, blocks, role))
            made = create_snapshot(seen, loaded.state, blocks.delta, wanted)
            if not request.dry_run:
                worktree.sweep(seen.place)
        delta = with_snapshots(blocks.delta, (made,))
        text = apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta))
        return Change(text=text, notes=made.notes, result=made)

    try:
        outcome = change(workspace, task_id, job, request)
    finally:
        if not request.dry_run:
            sweep(workspace, task_id)
    return TakeResult(outcome, outcome.result.stat, outcome.result.number)


def _may_be_clean(workspace: Workspace, blocks: ToolBlocks, role: str) -> bool:
    """Return whether a tree without changes may be what a role leaves: work came before it, from a role or committed.

    A role may take all of it back; and work that was committed, and accepted, is in the base commit.
    """
    names = workspace.config.roles
    if any(name in blocks.delta.snapshots for name in names[: names.index(role)]):
        return True
    return any(each.event == ACCEPTED for each in blocks.audit.events)


def _require_unmoved(workspace: Workspace, task_id: str, base: str) -> None:
    committed = snapshot_base.committed_since(workspace, base, task_id)
    if committed:
        what = f"{drift.count_files(len(committed))} committed since the base commit {base[:10]}"
        help_ = f'if that is right, begin anew at HEAD: `taskstate snapshot resolve {task_id} --note "WHY"`'
        raise TaskstateError(f"{what}: {drift.first_paths(committed)}", help=help_, code="committed")


def with_snapshots(delta: Delta, made: Sequence[NewSnapshot], base: str = "") -> dict[str, object]:
    """Return the block of a front matter that holds the snapshots, with new ones in the place of their roles' older."""
    start = base or delta.values.get("base_commit") or made[0].record["base_commit"]
    begun = delta._replace(values={**delta.values, "base_commit": start})
    return tool_blocks.with_snapshots(begun, {each.role: each.record for each in made})


class SnapshotRequest(NamedTuple):
    """Which snapshot is to be taken: whose, from which commit, for whom; a tree without changes only where `clean`."""

    role: str
    base: str
    request: Request
    clean: bool = False


class NewSnapshot(NamedTuple):
    """A snapshot that was taken: its entry in the front matter, its diff in numbers, and what to tell."""

    role: str
    record: Mapping[str, object]
    stat: str
    number: int
    notes: tuple[str, ...]


def create_snapshot(seen: SnapshotBase, state: TaskState, delta: Delta, wanted: SnapshotRequest) -> NewSnapshot:
    """Take a snapshot of what is seen, and write its artifacts; its record is for the front matter that holds `delta`.

    Raises:
        TaskstateError: code "nothing-to-snapshot", or the world refuses.
    """
    found = _found(delta, seen, wanted)
    if not found.entries and not wanted.clean:
        what = f"nothing to snapshot: the working tree does not differ from the base commit {wanted.base[:10]}"
        help_ = "take it when work is there; what git ignores is no part of a snapshot"
        raise TaskstateError(what, help=help_, code="nothing-to-snapshot")
    config = seen.workspace.config
    scope = scope_of(state, config)
    record = _record(state, _Making(seen, found, wanted, scope))
    return NewSnapshot(wanted.role, record, found.stat or _UNCHANGED, len(found.files), _notes(found, scope, config))


class _Found(NamedTuple):
    entries: tuple[TreeEntry, ...]
    objects: tuple[str, ...]
    files: tuple[ChangedFile, ...]
    stat: str
    diff: bytes
    incremental: bytes | None
    incremental_error: str | None
    nested: tuple[str, ...]


class _Making(NamedTuple):
    seen: SnapshotBase
    found: _Found
    wanted: SnapshotRequest
    scope: Scope


def _found(delta: Delta, seen: SnapshotBase, wanted: SnapshotRequest) -> _Found:
    workspace, store, tree = seen.workspace, seen.store, seen.tree
    whole = store.tree_of(wanted.base)
    changed = store.changes(whole, tree)
    entries = leaves(changed, workspace.is_ours)
    base = _without_ours(seen, whole, changed)
    staged = store.changes(whole, seen.index_tree) if seen.index_tree else ()
    objects = {*new_objects(changed), *new_objects(staged), tree, *filter(None, [seen.index_tree])}
    diffed = store.diff(base, tree)
    listed = changed_files(seen, entries)
    stat, diff = diffed()
    before = roles.previous_role(wanted.role, workspace.config.roles)
    incremental, error = _incremental(seen, delta, before) if before else (None, None)
    nested = _nested(changed, staged)
    return _Found(entries, tuple(sorted(objects)), listed, stat, diff, incremental, error, nested)


def _nested(changed: Iterable[TreeEntry], staged: Iterable[TreeEntry]) -> tuple[str, ...]:
    """Return the repositories in the tree that are no submodules, since the user's index does not have them.

    What `changed`, and is `staged`, is so since the same commit.
    """
    now, index = ({each.path: each for each in entries} for entries in (changed, staged))
    found = []
    for path in sorted({*now, *index}):
        here = now[path].new_mode if path in now else index[path].old_mode
        if here == GITLINK != (index[path].new_mode if path in index else now[path].old_mode):
            found.append(drift.quoted(path))
    return tuple(found)


def _without_ours(seen: SnapshotBase, tree: str, changed: Iterable[TreeEntry]) -> str:
    """Return the id of a commit's tree without our files, which are among what changed from it to a tree without."""
    ours = [each.path for each in changed if each.old_mode != TREE and seen.workspace.is_ours(os.fsdecode(each.path))]
    return seen.store.without(tree, ours)


def _incremental(seen: SnapshotBase, delta: Delta, before: str) -> tuple[bytes | None, str | None]:
    """Return the diff from the tree of the role before, or why there is none."""
    snapshot = delta.snapshots.get(before)
    if snapshot is None or snapshot.tree is None:
        return None, f"{before} left no snapshot"
    try:
        return seen.store.diff(snapshot.tree, seen.tree)()[1], None
    except GitFailed:
        return None, f"the tree of {before}'s snapshot is gone: its artifacts are not here"


# The record and its artifacts


def _record(state: TaskState, making: _Making) -> dict[str, object]:
    seen, found, wanted, scope = making
    record: dict[str, object] = {
        "base_commit": wanted.base,
        "snapshot_time": timestamp(wanted.request.stamp.now),
        "actor": wanted.request.stamp.actor,
        "tree": seen.tree,
        "index_tree": seen.index_tree,
        "diff_from_base": None,
        "diff_sha": drift.diff_sha256(found.diff),
        "diff_stat": found.stat or _UNCHANGED,
        "status_report_sha": files.digest(seen.report),
        "scope_hash": scope_hash(seen, scope),
        "files_changed": None,
    }
    if roles.previous_role(wanted.role, seen.workspace.config.roles):
        record["incremental_diff"] = None
        record["incremental_diff_sha"] = None if found.incremental is None else drift.diff_sha256(found.incremental)
        record["incremental_diff_error"] = found.incremental_error
    _store(state.id, making, record)
    return record


def _store(task_id: str, making: _Making, record: dict[str, object]) -> None:
    """Write the artifacts of a snapshot, and what names them into its record; for a dry run the paths alone."""
    seen, found, wanted, _ = making
    workspace, role, real = seen.workspace, wanted.role, not wanted.request.dry_run
    listed = drift.file_list_json(found.files)
    held = {key: value for key, value in record.items() if key not in {"snapshot_time", "actor"}}
    folder = f"{role}/{sha256(canonical_json(held) + listed)[:16]}"
    target = artifacts.path_of(workspace, artifacts.name_of(task_id, folder)) if real else seen.place.folder / "kept"
    packed = seen.store.pack(found.objects, target)

    def written(name: str, data: bytes) -> str:
        if real:
            return artifacts.write(workspace, task_id, f"{folder}/{name}", data)
        return artifacts.name_of(task_id, f"{folder}/{name}")

    written(f"{role}-status", seen.report)
    record["diff_from_base"] = written(f"{role}-from-base.diff.gz", artifacts.gzipped(found.diff))
    if found.incremental is not None:
        record["incremental_diff"] = written(f"{role}-incremental.diff.gz", artifacts.gzipped(found.incremental))
    record["files_changed"] = [each._asdict() for each in found.files]
    if len(found.files) > drift.LISTED:
        path = written(f"{role}-files.json", listed.encode())
        record["files_changed"] = {"count": len(found.files), "sha256": sha256(listed), "path": path}
    if real:
        _keep_index(seen, target, trusted=not found.nested)
    record["pack"] = artifacts.name_of(task_id, f"{folder}/pack/{packed().name}")


def _keep_index(seen: SnapshotBase, folder: Path, *, trusted: bool) -> None:
    """Keep the temporary index, if trusted: a later look at the tree need not read the files that it knows.

    One in which a plain repository stands as a submodule is not: git would not see it become a folder of files.
    """
    index = seen.place.own_index
    kept = folder / snapshot_base.index_name(index, seen.tree, seen.place.mark)
    with files.os_errors("write", kept):
        for older in folder.glob(f"{snapshot_base.INDEX}*"):
            older.unlink()
        if trusted:
            shutil.copy2(index, kept)


def sweep(workspace: Workspace, task_id: str) -> None:
    """Delete what lies in the folders of a task's roles and belongs to no snapshot of theirs."""
    with suppress(LockTimeout), workspace.locked():  # the next one sweeps too
        loaded = workspace.load(workspace.locate(task_id))
        snapshots = blocks_of(loaded.document).delta.snapshots
        home = artifacts.path_of(workspace, artifacts.name_of(loaded.state.id))
        for role in workspace.config.roles:
            kept = snapshot_base.object_folder(workspace, snapshots[role]) if role in snapshots else None
            for name in files.names(home / role):
                if home / role / name != kept:
                    shutil.rmtree(home / role / name, ignore_errors=True)


# What to tell


def _notes(found: _Found, scope: Scope, config: Config) -> tuple[str, ...]:
    notes = []
    strays = paths_outside(scope, [each.path for each in found.files])
    if strays:
        count = drift.count_files(len(strays))
        notes.append(f"warning: {count} outside of the Repository Paths: {drift.first_paths(strays)}")
    if found.nested:
        what = "a repository of its own" if len(found.nested) == 1 else f"{len(found.nested)} repositories of their own"
        how = "have git ignore it, or add it as a submodule"
        nested = drift.first_paths(found.nested)
        notes.append(f"warning: the files of {what} are no part of the snapshot: {nested}; {how}")
    if len(found.diff) > _LARGE:
        size = len(found.diff) / 1024**2
        notes.append(f"warning: the diff holds {size:.1f} MB: see whether a generated or binary file got into the tree")
    notes += _secrets(found.diff, config)
    if found.incremental_error:
        notes.append(f"there is no diff from the role before: {found.incremental_error}")
    return tuple(notes)


def _secrets(diff: bytes, config: Config) -> list[str]:
    """Return a warning where a line that the diff adds looks like a credential; the diff keeps it exactly.

    Another one says where not all of it was searched.
    """
    lines = [line[1:] for line in diff.split(b"\n") if line.startswith(b"+") and not line.startswith(b"+++ ")]
    added = b"\n".join(lines)
    found = secrets.find(added[:_LARGE].decode("utf-8", "replace"), config.secrets.allow)
    kinds = ", ".join(sorted({each.kind for each in found}))
    notes = [f"warning: the diff adds what looks like {kinds}; it is kept as it is"] if kinds else []
    if len(added) > _LARGE:
        size = _LARGE // 1024**2
        notes.append(f"warning: only the first {size} MB of the added lines were searched for credentials")
    return notes
