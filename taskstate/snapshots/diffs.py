"""The diffs of a task: those that a role's snapshot kept, and those from an earlier tree to the working tree now.

Above a kept diff stands what came in meanwhile by a pull, a merge, a rebase or a checkout: it is in the diff, and not
what the role did.
"""

from __future__ import annotations

import zlib
from contextlib import closing, suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.base import require_snapshot
from taskstate.snapshots.committed_trees import base_tree, is_here, not_here
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import movement, worktree
from taskstate.storage.git.diff_hash import diff_sha256
from taskstate.storage.git.objects import Store
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.storage.git.movement import Commit
    from taskstate.workspace.workspace import Loaded, Workspace

FROM_BASE, INCREMENTAL, NOW, SEEN = "from-base", "incremental", "now", "seen"
KINDS = (FROM_BASE, INCREMENTAL, NOW, SEEN)
_GZIP = 16 + zlib.MAX_WBITS
_MAX_DIFF = 128 * 1024**2  # bytes of an unpacked diff
_SHOWN = 10  # commits above a diff


class Diff(NamedTuple):
    """A diff: the path of its artifact (empty if it was made now), its content, and its summary in numbers.

    `came_in` are lines on what others brought in meanwhile.
    """

    path: str
    content: bytes
    stat: str | None
    came_in: tuple[str, ...] = ()


def diff_of(workspace: Workspace, task_id: str, role: str, kind: str) -> Diff:
    """Return a diff of a role: one that its snapshot kept, or one from an earlier tree to the working tree.

    `kind` is one of `KINDS`. For `NOW` an empty role means what the last turn left.

    Raises:
        TaskstateError: code "no-snapshot", "no-diff", "artifact-lost", "artifact-broken" or "objects-lost".
    """
    if not role and kind != NOW:
        message = f"a diff of the type {kind} is that of a role: --role is missing"
        raise TaskstateError(message, help=f"the roles are {', '.join(workspace.config.roles)}", code="usage")
    if role:
        roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    if kind in {NOW, SEEN}:
        tree, since = _earlier_tree(workspace, loaded, role, kind)
        stat, content = to_now(workspace, loaded, tree, since)
        return Diff("", content, stat)
    return _kept(workspace, loaded, role, kind)


def to_now(workspace: Workspace, loaded: Loaded, tree: str, since: str | None) -> tuple[str, bytes]:
    """Return the diff from an earlier tree of a task to the working tree, and its summary.

    `since` is the commit that was checked out then.

    Raises:
        TaskstateError: code "objects-lost": the tree is not here; or the repository cannot be compared.
    """
    head, delta = snapshot_base.require_at_rest(workspace), blocks_of(loaded.document).delta
    base = snapshot_base.snapshot_base(workspace, loaded.state.id, delta, head)
    with base as current, suppress(GitFailed):  # an object of it is not here
        if current.has(tree, since):
            return current.store.diff(tree, current.tree)()
    raise not_here(workspace, "the tree of then")


def _earlier_tree(workspace: Workspace, loaded: Loaded, role: str, kind: str) -> tuple[str, str | None]:
    """Return the tree that a diff to now begins with, and the commit that was checked out then."""
    delta = blocks_of(loaded.document).delta
    if kind == SEEN:
        tree, since = delta.last_seen.get(role), delta.base_commit
    elif role:
        snapshot = require_snapshot(workspace, loaded, role)
        tree, since = snapshot.tree, snapshot.head
    else:
        begun = delta.turn if delta.turn and delta.turn.tree else delta.left
        tree, since = (begun.tree, begun.head) if begun else (None, None)
    if tree:
        return tree, since
    what = f"{role} has looked at no tree before" if kind == SEEN else "no turn has left a tree yet"
    help_ = "see its diff from the base: leave --type out"
    raise TaskstateError(f"task {loaded.state.id}: {what}", help=help_, code="no-diff")


def _kept(workspace: Workspace, loaded: Loaded, role: str, kind: str) -> Diff:
    """Return a diff that a role's snapshot kept.

    Raises:
        TaskstateError: code "no-snapshot", "no-diff", "artifact-lost" or "artifact-broken".
    """
    snapshot = packs.whole(workspace, require_snapshot(workspace, loaded, role))
    relative, sha, has_one = snapshot.diff_from_base, snapshot.diff_sha, True
    if kind == INCREMENTAL:
        relative, sha = snapshot.incremental_diff, snapshot.incremental_diff_sha
        has_previous = roles.previous_role(role, workspace.config.roles) is not None
        has_one = has_previous and not snapshot.incremental_diff_error
    if snapshot.folder is None or not has_one:
        raise _no_diff(snapshot, role, is_purged=has_one)
    packed = artifacts.read(workspace, relative) if relative else None
    content = _unpacked(packed or b"")
    name = workspace.relative(artifacts.absolute_path(workspace, relative)) if relative else ""
    if content is None or sha != diff_sha256(content):
        content, name = _made_again(workspace, loaded, snapshot, kind), ""
    if content is None or sha not in {None, diff_sha256(content)}:
        if packed is None:
            raise not_here(workspace, f"the diff of {role}", code="artifact-lost")
        message = f"the artifact {files.shown(relative or '')} is broken: it is not what the snapshot recorded"
        help_ = "a backup may have the task's folder under artifacts/"
        raise TaskstateError(message, help=help_, code="artifact-broken")
    stat = snapshot.diff_stat if kind == FROM_BASE else None
    return Diff(name, content, stat, _came_in(workspace, loaded, snapshot, kind))


def _made_again(workspace: Workspace, loaded: Loaded, snapshot: Snapshot, kind: str) -> bytes | None:
    """Return the diff between the trees that a snapshot names, from what is kept here or committed; else None."""
    delta = blocks_of(loaded.document).delta
    previous = delta.snapshots.get(roles.previous_role(snapshot.role, workspace.config.roles) or "")
    end = str(snapshot.tree)
    kept = packs.object_folders(workspace, loaded.state.id, delta)
    with worktree.scratch(workspace.root, *kept) as area, closing(Store(area, end)) as store, suppress(GitFailed):
        start, since = base_tree(workspace, store, delta), delta.base_commit
        if kind == INCREMENTAL:
            start, since = (previous.tree, previous.head) if previous else (None, None)
        ends = ((start, since), (end, snapshot.head))
        if start and all(is_here(workspace, store, str(tree), head) for tree, head in ends):
            return store.diff(start, end)()[1]
    return None


def _came_in(workspace: Workspace, loaded: Loaded, snapshot: Snapshot, kind: str) -> tuple[str, ...]:
    """Return lines on the commits that others brought in between the two ends of a diff, newest first."""
    delta = blocks_of(loaded.document).delta
    start = _start_head(delta, snapshot, kind, workspace.config.roles)
    moved = (
        movement.movement(workspace.root, start, snapshot.head, workspace.is_ours) if start and snapshot.head else None
    )
    if moved is None:
        return ()
    own = movement.made_here(workspace.root)
    lines = _lines("came in meanwhile, and is in this diff", [each for each in moved.came if each.id not in own])
    return (*lines, *_lines("left meanwhile with the branch", [each for each in moved.lost if each.id not in own]))


def _start_head(delta: Delta, snapshot: Snapshot, kind: str, names: tuple[str, ...]) -> str | None:
    """Return the commit that was checked out at the start of a diff."""
    if kind == FROM_BASE:
        return delta.base_commit
    previous = delta.snapshots.get(roles.previous_role(snapshot.role, names) or "")
    return previous.head if previous else None


def _lines(what: str, commits: list[Commit]) -> tuple[str, ...]:
    if not commits:
        return ()
    paths = sorted({drift.quoted(path.encode("utf-8", "surrogateescape")) for each in commits for path in each.paths})
    number = "1 commit" if len(commits) == 1 else f"{len(commits)} commits"
    head = f"{what}: {number}, in {drift.count_files(len(paths))}: {drift.first_paths(paths)}"
    more = (f"  and {len(commits) - _SHOWN} more",) if len(commits) > _SHOWN else ()
    return (head, *(f"  {each.words}" for each in commits[:_SHOWN]), *more)


def _unpacked(packed: bytes) -> bytes | None:
    """Return the content of a gzip file, or None where it is none or holds more than `_MAX_DIFF` bytes."""
    reader = zlib.decompressobj(_GZIP)
    try:
        content = reader.decompress(packed, _MAX_DIFF)  # a small file can expand to gigabytes
    except zlib.error:
        return None
    return content if reader.eof else None


def _no_diff(snapshot: Snapshot, role: str, *, is_purged: bool) -> TaskstateError:
    """Return the error that says why a snapshot has no diff of this kind."""
    error = snapshot.incremental_diff_error
    if error is not None:
        message, help_ = f"{role} has no incremental diff: {git.printable(error)}", "see its diff from the base commit"
    elif is_purged:
        message = f"the diff of {role} was purged"
        help_ = "its numbers are in the file, and what was committed in `git log -p`"
    else:
        message = f"{role} has no incremental diff: no role comes before it"
        help_ = "its diff from the base commit is all that it did: leave --type out"
    return TaskstateError(message, help=help_, code="no-diff")
