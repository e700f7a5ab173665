"""Brings back what a snapshot recorded: single files into the working tree, and the diffs that it kept."""

from __future__ import annotations

import os
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate import artifacts, delta, files, git, ground, roles, worktree
from taskstate.errors import TaskstateError
from taskstate.listing import recorded_files
from taskstate.packs import GITLINK, LINK, TREE, Store
from taskstate.snapshots import require_snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.workspace import Workspace

FROM_BASE, INCREMENTAL = "from-base", "incremental"
_GZIP = 16 + zlib.MAX_WBITS
_PATHS = {FROM_BASE: "diff_from_base", INCREMENTAL: "incremental_diff"}
_HASHES = {FROM_BASE: "diff_sha", INCREMENTAL: "incremental_diff_sha"}


# Files


class _Kept(NamedTuple):
    """A file of a snapshot: where it belongs, its mode, and its bytes as they stand in a working tree."""

    place: Path
    mode: str
    content: bytes


class Restored(NamedTuple):
    """What was put back, by path, and what to know of it."""

    paths: tuple[str, ...]
    notes: tuple[str, ...]


def restore(workspace: Workspace, task_id: str, role: str, names: Sequence[str], *, dry_run: bool = False) -> Restored:
    """Put the snapshot's version of files back into the working tree; `names` are paths as a report shows them.

    All of them are looked up before the first is written.

    Raises:
        TaskstateError: code "not-found": the snapshot has no such file; code "objects-lost"; or a place cannot be
            written.
    """
    roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    snapshot = require_snapshot(workspace, loaded, role)
    kept = ground.kept_in(workspace, snapshot)
    with worktree.scratch(workspace.root, *([kept] if kept else [])) as place:
        store = Store(place, str(snapshot["tree"]))
        try:
            found = {name: _kept(workspace, store, place, snapshot, name) for name in dict.fromkeys(names)}
        finally:
            store.close()
    for each in () if dry_run else found.values():
        _put(each)
    return Restored(tuple(found), _remarks(workspace, snapshot, found))


def _kept(workspace: Workspace, store: Store, place: worktree.Scratch, snapshot: Mapping[str, Any], name: str) -> _Kept:
    path = os.fsdecode(delta.unquoted(name))
    above = path.rpartition("/")[0]
    if above:
        files.inside(workspace.root, above)
    tree = str(snapshot["tree"])
    found = store.at(tree, path) if store.has(tree) and path else None
    if found is None and not store.has(tree):
        raise lost_snapshot(str(snapshot.get("actor", "")))
    if found is None:
        what = f"the snapshot has no file {files.shown(name)}"
        help_ = "name a file as the report shows it; one that came later is deleted by hand"
        raise TaskstateError(what, help=help_, code="not-found")
    mode, object_id = found
    if mode in {TREE, GITLINK}:
        what = f"{files.shown(name)} is a {'folder' if mode == TREE else 'submodule'} in the snapshot"
        help_ = "name the files in it" if mode == TREE else f"check its commit out there: {object_id}"
        raise TaskstateError(what, help=help_, code="not-a-file")
    target = workspace.root / path
    if target.is_dir() and not target.is_symlink():
        help_ = "move it out of the way first"
        raise TaskstateError(f"{files.shown(name)} is a folder now", help=help_, code="not-a-file")
    if not store.has(object_id):
        raise lost_snapshot(str(snapshot.get("actor", "")))
    content = store.read(object_id) if mode == LINK else _smudged(place, path, object_id)
    return _Kept(target, mode, content)


def lost_snapshot(actor: str) -> TaskstateError:
    """Return the refusal where a snapshot's objects are gone."""
    what = "the objects of the snapshot are not here: its artifacts are lost or broken"
    by = f" from the clone in which {actor} took it" if actor else " from where it was taken"
    return TaskstateError(what, help=f"copy the task's folder under artifacts/{by}", code="objects-lost")


def _smudged(place: worktree.Scratch, path: str, object_id: str) -> bytes:
    """Return the content of a file as git would check it out: with its line ends, and through its filters."""
    return place.run(["cat-file", "--filters", f"--path={place.prefix}{path}", object_id])


def _put(kept: _Kept) -> None:
    """Write one file; what stands at its place is replaced at once, also a link, which is never followed."""
    with files.told("write", kept.place):
        files.make_folder(kept.place.parent)
        if kept.mode == LINK:
            with files.temporary_file(kept.place, b"") as temporary:
                temporary.unlink()
                os.symlink(kept.content, os.fsencode(temporary))
                temporary.replace(kept.place)
        else:
            with files.temporary_file(kept.place, kept.content) as temporary:
                readable = temporary.stat().st_mode & 0o777
                temporary.chmod(readable | (readable & 0o444) >> 2 if kept.mode.endswith("755") else readable & ~0o111)
                temporary.replace(kept.place)
        files.sync_folder(kept.place.parent)


def _remarks(workspace: Workspace, snapshot: Mapping[str, Any], found: Mapping[str, _Kept]) -> tuple[str, ...]:
    """Return where the bytes are not those that were recorded, though git takes both for the same."""
    recorded = {each.path: each.sha256 for each in recorded_files(workspace, snapshot) or ()}
    other = [name for name, each in found.items() if recorded.get(name) not in {None, files.digest(each.content)}]
    return (
        (f"as git checks them out, with other line ends or filters than then: {delta.named(other)}",) if other else ()
    )


# Diffs


class Diff(NamedTuple):
    """A diff that a snapshot kept: its artifact's path from the root, and its bytes."""

    path: str
    content: bytes
    stat: str | None


def diff_of(workspace: Workspace, task_id: str, role: str, kind: str) -> Diff:
    """Return a diff that a role's snapshot kept, as it was taken.

    Raises:
        TaskstateError: code "no-snapshot", "no-diff", "artifact-lost" or "artifact-broken".
    """
    roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    snapshot = require_snapshot(workspace, loaded, role)
    relative = snapshot.get(_PATHS[kind])
    if not isinstance(relative, str):
        raise _no_diff(snapshot, role, kind)
    path = artifacts.path_of(workspace, relative)
    if files.size(path) is None:
        what = f"the artifact {files.shown(relative)} is not here"
        help_ = "artifacts are not in git: copy it from the clone in which the snapshot was taken"
        raise TaskstateError(what, help=help_, code="artifact-lost")
    with files.told("read", path):
        packed = path.read_bytes()
    content = _unpacked(packed)
    if content is None or delta.normalised_sha(content) != snapshot.get(_HASHES[kind]):
        what = f"the artifact {files.shown(relative)} is broken: it is not what the snapshot recorded"
        raise TaskstateError(
            what, help=f"`taskstate snapshot take {task_id} --role {role}` makes it anew", code="artifact-broken"
        )
    stat = snapshot.get("diff_stat")
    return Diff(workspace.relative(path), content, stat if kind == FROM_BASE and isinstance(stat, str) else None)


def _unpacked(packed: bytes) -> bytes | None:
    try:
        return zlib.decompress(packed, _GZIP)
    except zlib.error:
        return None


def _no_diff(snapshot: Mapping[str, Any], role: str, kind: str) -> TaskstateError:
    """Return why a snapshot has no diff of a kind."""
    why = snapshot.get("incremental_diff_error")
    if kind == FROM_BASE or snapshot.get(_HASHES[kind]):
        what, help_ = f"the diff of {role} was purged", "its numbers and its hash are in the file's events"
    elif isinstance(why, str):
        what, help_ = f"{role} has no incremental diff: {git.printable(why)}", "see its diff from the base commit"
    else:
        what = f"{role} has no incremental diff: no role comes before it"
        help_ = "its diff from the base commit is all that it did: leave --type out"
    return TaskstateError(what, help=help_, code="no-diff")
