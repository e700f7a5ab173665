"""Takes a snapshot: records the exact working tree that a role leaves, with what comparing and restoring it needs.

Large parts become artifacts, in a folder named after the content of the snapshot. They are written before the state
file names them, so that the previous snapshot stays complete until the new one is. Folders that no snapshot names are
deleted afterwards.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.model.config import HELD
from taskstate.model.delta_block import record_digest, with_base, with_left_tree, with_snapshots
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp
from taskstate.secrets import scan
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import committed_trees, drift, packs
from taskstate.snapshots.base import require_open
from taskstate.snapshots.changed_files import changed_files, paths_outside, scope_hash, scope_of
from taskstate.snapshots.file_list import file_list_json
from taskstate.snapshots.verify import require_match
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.storage.git.diff_hash import diff_sha256
from taskstate.storage.git.objects import GITLINK, leaves, new_objects, old_objects
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from taskstate.context.path_scope import Scope
    from taskstate.model.config import Config
    from taskstate.model.delta_block import Delta
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.file_list import ChangedFile
    from taskstate.storage.git.objects import TreeEntry
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

ACCEPTED = "drift-accepted"  # the event that accepting drift leaves
_UNCHANGED = "no changes"  # the summary of an empty diff
_LARGE = 10 * 1024 * 1024  # bytes of a diff


def take(workspace: Workspace, task_id: str, role: str, request: Request) -> Outcome[NewSnapshot]:
    """Record the working tree as `role` leaves it.

    Raises:
        TaskstateError: code "nothing-to-snapshot": nothing differs from the base, and no earlier role left work; code
            "committed": work was committed although commits are held; code "role-status": the role is done; code
            "drift": it has not begun, and the previous role left another tree; code "drift-unresolved" or
            "task-complete"; or the repository cannot be compared.
    """
    from taskstate.context.precondition import require_current  # a turn takes its snapshot without

    names = workspace.config.roles
    roles.require_role(role, names)
    head = snapshot_base.require_at_rest(workspace)
    loaded = workspace.load(workspace.locate(task_id))
    require_open(loaded.state)
    roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
    previous = roles.snapshot_needed_to_take(blocks_of(loaded.document), role, names, loaded.state.id)
    require_current(workspace, loaded)
    if previous is not None:
        require_match(workspace, task_id, previous, request)

    def job(loaded: Loaded) -> Change[NewSnapshot]:
        roles.snapshot_needed_to_take(blocks_of(loaded.document), role, names, loaded.state.id)
        return planned(workspace, loaded, role, head, request)

    try:
        return change(workspace, task_id, job, request)
    finally:  # after a failure too, or the artifacts of an unrecorded snapshot would stay
        if not request.dry_run:
            packs.sweep(workspace, task_id)


def planned(workspace: Workspace, loaded: Loaded, role: str, head: str, request: Request) -> Change[NewSnapshot]:
    """Return the change that records the working tree as `role` leaves it; the artifacts are written already.

    For a job that changes more of the file in the same write. `head` is what `base.require_at_rest` gives; it has to be
    called before, and `packs.sweep` afterwards.

    Raises:
        TaskstateError: as `take`.
    """
    blocks, state = blocks_of(loaded.document), loaded.state
    require_open(state)
    roles.require_no_drift(blocks, state.id)
    if workspace.config.coordination.commits == HELD:
        base = blocks.delta.base_commit
        _require_unmoved(workspace, state.id, head if base is None else base)
    with snapshot_base.snapshot_base(workspace, state.id, blocks.delta, head) as current:
        delta = pinned(current, state.id, blocks.delta)
        snapshot_request = SnapshotRequest(role, request, clean=_may_be_clean(workspace, blocks, role))
        snapshot = create_snapshot(current, state, delta, snapshot_request)
        if not request.dry_run:
            worktree.sweep(current.scratch)
    delta = with_left_tree(with_snapshots(delta, {role: snapshot.record}), current.tree, head)
    text = apply(loaded.document.text, set_front_matter(loaded.document, "delta", delta.values))
    return Change(text=text, notes=snapshot.notes, result=snapshot)


def pinned(current: SnapshotBase, task_id: str, delta: Delta) -> Delta:
    """Return the delta block with a base: the recorded one, or HEAD the first time.

    Raises:
        TaskstateError: code "no-commit": the recorded base is not in this repository.
    """
    based = with_base(delta, current.head) if delta.base_commit is None else delta
    if current.base_tree(based) is None:
        raise snapshot_base.no_commit(str(based.base_commit), task_id)
    # A file of an earlier version has the tree of its base, which may be all that is left of it.
    is_said = delta.base_tree and current.base_tree(delta._replace(base_tree=None)) == delta.base_tree
    return with_base(based, str(based.base_commit)) if is_said else based


def start_tree(delta: Delta, role: str, previous_role: str | None) -> str | None:
    """Return the tree with which a role began: of its turn, its snapshot, or the previous role; None for the base's."""
    turn, left, own = delta.turn, delta.left, delta.snapshots.get(role)
    if turn and turn.role == role and turn.tree:
        return (left and left.start_tree) or turn.tree
    if own:
        return own.start_tree
    previous = delta.snapshots.get(previous_role or "")
    return previous.tree if previous else None


def _may_be_clean(workspace: Workspace, blocks: ToolBlocks, role: str) -> bool:
    """Return whether a role may leave an unchanged tree: where earlier roles left work, or drift was accepted.

    A role may revert all earlier work; committed work that was accepted may be part of the base; and a turn, such as a
    review, may change nothing.
    """
    if blocks.delta.turn:
        return True
    names = workspace.config.roles
    if any(name in blocks.delta.snapshots for name in names[: names.index(role)]):
        return True
    return any(each.event == ACCEPTED for each in blocks.audit.events)


def _require_unmoved(workspace: Workspace, task_id: str, base: str) -> None:
    committed = snapshot_base.committed_since(workspace, base, task_id)
    if committed:
        message = f"commits are held, and {drift.count_files(len(committed))} were committed since {base[: git.SHORT]}"
        help_ = f'if that is right, start again at HEAD: `taskstate snapshot resolve {task_id} --note "WHY"`'
        raise TaskstateError(f"{message}: {drift.first_paths(committed)}", help=help_, code="committed")


class SnapshotRequest(NamedTuple):
    """The snapshot to take: its role, how it is written, and whether an unchanged tree is allowed (`clean`)."""

    role: str
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

    The block has its base already (see `pinned`).

    Raises:
        TaskstateError: code "nothing-to-snapshot"; or git or the disk fails.
    """
    content = _read_content(delta, current, request)
    if not content.entries and not request.clean:
        base = str(delta.base_commit)[: git.SHORT]
        message = f"nothing to snapshot: the working tree does not differ from the base commit {base}"
        help_ = "take it when work is there; what git ignores is not part of a snapshot"
        raise TaskstateError(message, help=help_, code="nothing-to-snapshot")
    config = current.workspace.config
    scope = scope_of(state, config)
    record = _record(state, _Draft(current, content, request, scope))
    notes = _notes(content, scope, config)
    return NewSnapshot(request.role, record, content.stat or _UNCHANGED, len(content.files), notes)


class _Ends(NamedTuple):
    """Where the change of a snapshot begins: the base's commit and its tree, and the tree that the role began with."""

    commit: str | None
    base: str
    start: str


class _Content(NamedTuple):
    """What a snapshot records of the working tree; `nested` are repositories in it that are no submodules."""

    ends: _Ends
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
    previous_role = roles.previous_role(request.role, workspace.config.roles)
    base = str(current.base_tree(delta))
    start = start_tree(delta, request.role, previous_role) or base
    changes = store.changes(base, tree)
    entries = leaves(changes, workspace.is_ours)
    staged = store.changes(base, current.index_tree) if current.index_tree else ()
    # Both sides of each change are packed, so that start and end can be compared when no commit holds them any more.
    objects = {*new_objects(changes), *old_objects(changes), *new_objects(staged), base, tree}
    objects |= {*filter(None, [current.index_tree])}
    if start != base:  # else they are the same
        objects |= _objects_of_change(current, start)
    read_diff = store.diff(base, tree)
    files = changed_files(current, entries)
    stat, diff = read_diff()
    incremental, error = _incremental(current, delta, previous_role) if previous_role else (None, None)
    nested = _nested(changes, staged)
    ends, packed = _Ends(delta.base_commit, base, start), tuple(sorted(objects))
    return _Content(ends, entries, packed, files, stat, diff, incremental, error, nested)


def _objects_of_change(current: SnapshotBase, start: str) -> set[str]:
    """Return the objects in which the tree that a role began with differs from the current one; none if it is lost."""
    if not current.store.has(start):
        return set()
    changes = current.store.changes(start, current.tree)
    return {start, *old_objects(changes), *new_objects(changes)}


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


def _incremental(current: SnapshotBase, delta: Delta, previous_role: str) -> tuple[bytes | None, str | None]:
    """Return the diff since the previous role's snapshot, or the reason why there is none."""
    snapshot = delta.snapshots.get(previous_role)
    if snapshot is None or snapshot.tree is None:
        return None, f"{previous_role} left no snapshot"
    with suppress(GitFailed):  # an object of it is not here
        if current.has(snapshot.tree, snapshot.head):
            return current.store.diff(snapshot.tree, current.tree)()[1], None
    return None, f"{committed_trees.not_here(current.workspace, f'what {previous_role} left').message}"


# The record and its artifacts


def _record(state: TaskState, draft: _Draft) -> dict[str, object]:
    """Return what is recorded of a snapshot, after writing its artifacts: their record, and then the file, has it."""
    current, content, request, scope = draft
    metadata, incremental = request.write_request.metadata, content.incremental
    file_list = file_list_json(content.files)
    is_staged = current.index_tree != current.without_ours(current.head)
    record: dict[str, object] = {
        "base_commit": content.ends.commit,
        "base_tree": content.ends.base,
        "head": current.head,
        "start_tree": content.ends.start,
        "tree": current.tree,
        "index_tree": current.index_tree if is_staged else None,
        "diff_sha": diff_sha256(content.diff),
        "diff_stat": content.stat or _UNCHANGED,
        "scope_hash": scope_hash(current, scope),
        "files_changed": {"count": len(content.files), "sha256": sha256(file_list)},
        "incremental_diff_sha": None if incremental is None else diff_sha256(incremental),
        "incremental_diff_error": content.incremental_error,
        "status_sha256": files.digest(current.report),
    }
    # The time and the actor stay out of the record, so that an unchanged tree taken again keeps its folder.
    folder = _store(state.id, draft, canonical_json(record).encode(), file_list.encode())
    told = {"snapshot_time": timestamp(metadata.now), "actor": metadata.actor, **record, "pack": folder}
    return {**told, "start_tree": None if content.ends.start == content.ends.base else content.ends.start}


def _store(task_id: str, draft: _Draft, record: bytes, file_list: bytes) -> str:
    """Write the artifacts of a snapshot, and return the path of their folder; for a dry run only the path."""
    current, content, request, _ = draft
    workspace, role = current.workspace, request.role
    folder = f"{role}/{record_digest(record)}"
    relative = artifacts.relative_path(task_id, folder)
    if request.write_request.dry_run:
        return relative
    target = artifacts.absolute_path(workspace, relative)
    packed = current.store.pack(content.objects, target)
    written = {
        "status": current.report,
        "from-base.diff.gz": artifacts.gzipped(content.diff),
        "files.json": file_list,
        "record.json": record,
    }
    if content.incremental is not None:
        written["incremental.diff.gz"] = artifacts.gzipped(content.incremental)
    for name, data in written.items():
        artifacts.write(workspace, task_id, f"{folder}/{role}-{name}", data)
    _keep_index(current, target, trusted=not content.nested)
    packed()
    return relative


def _keep_index(current: SnapshotBase, folder: Path, *, trusted: bool) -> None:
    """Keep a copy of the temporary index if it is trusted: later comparisons need not read unchanged files then.

    It is not trusted where a repository that is no submodule stands in it as one: git would not notice that it becomes
    a plain folder of files.
    """
    index = current.scratch.own_index
    copy = folder / snapshot_base.index_name(index, current.tree, current.scratch.mark)
    with files.os_errors("write", copy):
        for name in files.names(folder):
            if name.startswith(snapshot_base.INDEX):
                folders.remove(folder / name)
        if trusted:
            folders.copy(index, copy)


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
        notes.append(f"warning: the files of {repositories} are not part of the snapshot: {nested}; {advice}")
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
    secrets_found = scan.find(added[:_LARGE].decode("utf-8", "replace"), config.secrets.allow)
    kinds = ", ".join(sorted({each.kind for each in secrets_found}))
    notes = [f"warning: the diff adds what looks like {kinds}; it is kept as it is"] if kinds else []
    if len(added) > _LARGE:
        size = _LARGE // 1024**2
        notes.append(f"warning: only the first {size} MB of the added lines were searched for credentials")
    return notes
