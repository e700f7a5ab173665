"""The block `delta`: the base of the work, the open turn, what the last one left, and the snapshot of each role.

Pure and lenient, as `tool_blocks`. The functions that change the block take it as a record and return it changed; its
`values` are what the file is to have.
Nothing is written that another key says: HEAD and start of a snapshot are left out where they are those of the base,
the tree of the base where its commit gives it, what the last turn left where an open turn began with just that, and
artifacts whose path follows from their folder. What a snapshot's own artifacts say is read from their record.
"""

from __future__ import annotations

import json

from taskstate.model.loose_values import HashedFile, map_of, number_of, object_id_of, text_of, texts_of
from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_ORDER = ("base_commit", "base_tree", "turn", "left", "last_seen", "snapshots")
_SNAPSHOT_KEYS = (
    *("snapshot_time", "actor", "head", "start_tree", "tree", "index_tree", "diff_sha", "diff_stat", "scope_hash"),
    *("files_changed", "incremental_diff_sha", "incremental_diff_error", "pack"),
)
# What the file leaves to the record among the artifacts; the others in it are in the file as well.
RECORDED = (
    *("base_commit", "base_tree", "diff_sha", "scope_hash", "files_changed", "incremental_diff_sha", "status_sha256"),
)
_SNAPSHOT_TEXTS = (
    *("snapshot_time", "actor", "tree", "index_tree", "diff_sha", "diff_stat", "scope_hash"),
    *("incremental_diff_sha", "incremental_diff_error"),
)


class Turn(NamedTuple):
    """What one agent does between `start` and `finish`: its role, where it began, and the highest session then.

    It belongs to the actor that began it, and to the agent that was named then; older ones name no actor.
    """

    role: str | None
    agent: str | None
    started_at: str | None
    branch: str | None
    head: str | None
    tree: str | None
    session: int
    actor: str | None = None


class Left(NamedTuple):
    """The working tree, HEAD and branch as the last turn left them.

    `start_tree` is the tree that a role began with whose turn was paused, or work without roles: its change goes on
    from there.
    """

    tree: str | None
    head: str | None
    branch: str | None
    start_tree: str | None = None


class Snapshot(NamedTuple):
    """The working tree as a role left it.

    `head` was checked out then, and `start_tree` is the tree that the role began with, None for that of the base.
    `files_changed` are the entries of the changed files, None where only the artifact `file_list` has them. `folder`
    holds the artifacts; it is None once they are purged. The hashes of diffs, scope and list, and the tree of the base,
    are there in a file of an earlier version, and after `with_record`.
    """

    role: str
    snapshot_time: str | None
    actor: str | None
    head: str | None
    start_tree: str | None
    tree: str | None
    index_tree: str | None
    diff_from_base: str | None
    diff_sha: str | None
    diff_stat: str | None
    base_commit: str | None
    base_tree: str | None
    scope_hash: str | None
    incremental_diff: str | None
    incremental_diff_sha: str | None
    incremental_diff_error: str | None
    folder: str | None
    record: str | None
    files_changed: tuple[object, ...] | None
    file_list: HashedFile | None
    values: Mapping[str, object]


class Delta(NamedTuple):
    """Where the work starts from, the open turn, what the last one left, and the snapshot that each role left.

    `base_tree` is None where the commit says it, as it does but in a file of an earlier version.
    `last_seen` is, by role, the tree that it had before it when it last finished.
    """

    base_commit: str | None
    base_tree: str | None
    turn: Turn | None
    left: Left | None
    last_seen: Mapping[str, str]
    snapshots: Mapping[str, Snapshot]
    values: Mapping[str, object]


# Reading


def read_delta(values: Mapping[str, object]) -> Delta:
    """Return the block `delta` as a record."""
    base_commit, base_tree = text_of(values.get("base_commit")), object_id_of(values.get("base_tree"))
    turn, left, seen = (map_of(values.get(key)) for key in ("turn", "left", "last_seen"))
    snapshots = map_of(values.get("snapshots")).items()
    return Delta(
        base_commit=base_commit,
        base_tree=base_tree,
        turn=_turn(turn) if turn else None,
        left=_left(left) if left else _as_begun(_turn(turn)),
        last_seen={name: tree for name, value in seen.items() if (tree := object_id_of(value))},
        snapshots={
            name: _snapshot(name, each, base_commit) for name, each in snapshots if isinstance(each, dict) and each
        },
        values=values,
    )


def _turn(values: Mapping[str, object]) -> Turn:
    names = texts_of(values, ("role", "agent", "started_at", "branch", "actor"))
    ids = {key: object_id_of(values.get(key)) for key in ("head", "tree")}
    return Turn(**names, **ids, session=number_of(values.get("session")))


def _left(values: Mapping[str, object]) -> Left:
    ids = {key: object_id_of(values.get(key)) for key in ("tree", "head", "start_tree")}
    return Left(**ids, branch=text_of(values.get("branch")))


def _as_begun(turn: Turn) -> Left | None:
    """Return what a turn began with as what the one before it left; None for the first one."""
    return Left(turn.tree, turn.head, turn.branch) if turn.tree and turn.session else None


def with_record(snapshot: Snapshot, record: bytes | None) -> Snapshot:
    """Return a snapshot with what the record among its artifacts says; as it is where that is not the right one.

    The folder of the artifacts is named after the hash of the record.
    """
    if record is None or not snapshot.folder or not snapshot.folder.endswith(f"/{record_digest(record)}"):
        return snapshot
    said = map_of(json.loads(record))
    full = _snapshot(snapshot.role, {**said, **snapshot.values}, snapshot.head)
    return full._replace(values=snapshot.values)


def record_digest(record: bytes) -> str:
    """Return the name of the folder that holds the artifacts of a snapshot with this record."""
    return hashes.sha256(record)[:16]


def _snapshot(role: str, values: Mapping[str, object], base_commit: str | None) -> Snapshot:
    listed, pack = values.get("files_changed"), text_of(values.get("pack"))
    start = f"{pack}/{role}-" if pack else ""
    texts = texts_of(values, _SNAPSHOT_TEXTS)
    return Snapshot(
        **texts,
        role=role,
        head=object_id_of(values.get("head")) or object_id_of(base_commit),
        start_tree=object_id_of(values.get("start_tree")),
        base_commit=text_of(values.get("base_commit")),
        base_tree=object_id_of(values.get("base_tree")),
        diff_from_base=f"{start}from-base.diff.gz" if start else None,
        incremental_diff=f"{start}incremental.diff.gz" if start and texts["incremental_diff_sha"] else None,
        folder=pack,
        record=f"{start}record.json" if start else None,
        files_changed=tuple(listed) if isinstance(listed, list) else None,
        file_list=HashedFile(f"{start}files.json", text_of(map_of(listed).get("sha256"))) if start else None,
        values=values,
    )


# Changing


def with_base(delta: Delta, commit: str, was: str | None = None) -> Delta:
    """Return the block with the commit that the work starts from.

    Snapshots keep what they took from the base of before, of which `was` is the tree, if it is known.
    """
    if delta.base_commit == commit:
        return _changed(delta, {"base_tree": None})
    fixed = {
        name: _sorted({**_present({"head": each.head, "start_tree": each.start_tree or was}), **each.values})
        for name, each in delta.snapshots.items()
    }
    snapshots = {**map_of(delta.values.get("snapshots")), **fixed}
    return _changed(delta, {"base_commit": commit, "base_tree": None, "snapshots": snapshots or None})


def with_turn(delta: Delta, turn: Turn | None) -> Delta:
    """Return the block with an open turn, or with None for `turn` without one."""
    left = delta.values.get("left") or (delta.left and _present(delta.left._asdict()))
    same = turn is not None and delta.left == _as_begun(turn)
    return _changed(delta, {"turn": turn and _present(turn._asdict()), "left": None if same else left})


def with_left(delta: Delta, left: Left | None) -> Delta:
    """Return the block with what the last turn left."""
    return _changed(delta, {"left": left and _present(left._asdict())})


def with_left_tree(delta: Delta, tree: str, head: str) -> Delta:
    """Return the block after a snapshot: what the last turn left, if one did, is the tree that was recorded now."""
    return with_left(delta, delta.left._replace(tree=tree, head=head)) if delta.left else delta


def with_last_seen(delta: Delta, role: str, tree: str) -> Delta:
    """Return the block with the tree that a role has just looked at."""
    return _changed(delta, {"last_seen": {**delta.last_seen, role: tree}})


def with_snapshots(delta: Delta, changed: Mapping[str, Mapping[str, object]]) -> Delta:
    """Return the block with new snapshots for some roles, given as the values of their records."""
    new = {name: snapshot_values(delta, values) for name, values in changed.items()}
    return _changed(delta, {"snapshots": {**map_of(delta.values.get("snapshots")), **new} or None})


def snapshot_values(delta: Delta, values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a snapshot without those that are null, or that the base or the artifacts say already."""
    said = {"head": delta.base_commit, **{key: values.get(key) for key in RECORDED}}
    kept = {key: value for key, value in values.items() if value is not None and said.get(key) != value}
    if "pack" in values:
        kept["pack"] = values["pack"]  # null says that the artifacts were purged
    return _sorted(kept)


def without_snapshots(delta: Delta, names: tuple[str, ...]) -> Delta:
    """Return the block without the snapshots of these roles."""
    kept = {name: each for name, each in map_of(delta.values.get("snapshots")).items() if name not in names}
    return _changed(delta, {"snapshots": kept or None})


def without_progress(delta: Delta) -> Delta:
    """Return the block without turn, left tree and last looks, as work begins anew after a task is reopened."""
    return _changed(delta, {"turn": None, "left": None, "last_seen": None})


def _changed(delta: Delta, changes: Mapping[str, object]) -> Delta:
    merged = {**delta.values, **changes}
    keys = [*_ORDER, *(key for key in merged if key not in _ORDER)]
    return read_delta({key: merged[key] for key in keys if merged.get(key) is not None})


def _present(values: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if value is not None}


def _sorted(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a snapshot in the canonical order."""
    return {key: values[key] for key in (*_SNAPSHOT_KEYS, *values) if key in values}
