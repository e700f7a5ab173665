"""Brings back what a snapshot recorded: single files into the working tree, and the diffs that it kept."""

from __future__ import annotations

import errno
import os
import stat
import zlib
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import GITLINK, LINK, TREE, Store
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.base import require_open, require_snapshot
from taskstate.verification.snapshots.changed_files import recorded_files
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.model.tool_blocks import Snapshot
    from taskstate.workspace.workspace import Workspace

FROM_BASE, INCREMENTAL = "from-base", "incremental"
_GZIP = 16 + zlib.MAX_WBITS


# Files


class _Kept(NamedTuple):
    """A file of a snapshot: its path in git's bytes as text, its mode, and the object that holds it."""

    path: str
    mode: str
    object_id: str

    @property
    def name(self) -> str:
        """The path as a report shows it."""
        return drift.quoted(os.fsencode(self.path))

    @property
    def governs(self) -> bool:
        """Whether the file says how git checks others out."""
        return self.path.rpartition("/")[2] == ".gitattributes"


class RestoreResult(NamedTuple):
    """What was put back, by path, and what to know of it."""

    paths: tuple[str, ...]
    notes: tuple[str, ...]


def restore(
    workspace: Workspace, task_id: str, role: str, names: Sequence[str], *, dry_run: bool = False
) -> RestoreResult:
    """Put the snapshot's version of files back into the working tree; `names` are paths as a report shows them.

    All of them are looked up, and their places too, before the first is written. Files with git's attributes go first,
    since the others are checked out as those say.

    Raises:
        TaskstateError: code "task-complete"; code "not-found": the snapshot has no such file; code "objects-lost"; or a
            place cannot be written, or git is in the middle of something.
    """
    roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    require_open(loaded.state)
    snapshot = require_snapshot(workspace, loaded, role)
    snapshot_base.require_at_rest(workspace)
    kept = snapshot_base.object_folder(workspace, snapshot)
    with worktree.scratch(workspace.root, *([kept] if kept else [])) as place:
        store = Store(place, str(snapshot.tree))
        try:
            looked_up = {each.path: each for each in (_kept(workspace, store, snapshot, name) for name in names)}
            found = sorted(looked_up.values(), key=lambda each: (not each.governs, each.path.count("/")))
            contents = {each: _content(place, store, each) for each in found}
            for each in found:
                _require_place(workspace.root, each)
            for each in () if dry_run else found:
                if found[0].governs:  # what was read is not what the attributes say that are back now
                    contents[each] = _content(place, store, each)
                _put(workspace.root / each.path, each.mode, contents[each])
        finally:
            store.close()
    return RestoreResult(tuple(each.name for each in looked_up.values()), _remarks(workspace, snapshot, contents))


def _kept(workspace: Workspace, store: Store, snapshot: Snapshot, name: str) -> _Kept:
    path = _normal(os.fsdecode(drift.unquoted(name)))
    above = path.rpartition("/")[0]
    if above:
        files.inside(workspace.root, above)
    tree = str(snapshot.tree)
    if not store.has(tree):
        raise objects_lost(snapshot)
    found = store.at(tree, path) if path else None
    if found is None:
        what = f"the snapshot has no file {files.shown(name)}"
        help_ = "name a file as the report shows it; one that came later is deleted by hand"
        raise TaskstateError(what, help=help_, code="not-found")
    mode, object_id = found
    if mode in {TREE, GITLINK}:
        what = f"{files.shown(name)} is a {'folder' if mode == TREE else 'submodule'} in the snapshot"
        help_ = "name the files in it" if mode == TREE else f"check its commit out there: {object_id}"
        raise TaskstateError(what, help=help_, code="not-a-file")
    if not store.has(object_id):
        raise objects_lost(snapshot)
    return _Kept(path, mode, object_id)


def _normal(path: str) -> str:
    """Return a path without the parts that say nothing; one that begins at the root of the disk stays as it is."""
    if path.startswith("/"):
        return path
    return "/".join(part for part in path.split("/") if part not in {"", "."})


def _require_place(root: Path, kept: _Kept) -> None:
    """Refuse a path at which no file can be put now."""
    target = root / kept.path
    if target.is_dir() and not target.is_symlink():
        help_ = "move it out of the way first"
        raise TaskstateError(f"{files.shown(kept.name)} is a folder now", help=help_, code="not-a-file")
    with files.os_errors("write", target):
        above = next(folder for folder in target.parents if os.path.lexists(folder))
        if not above.is_dir():
            help_ = "move that out of the way first"
            there = files.shown(above.relative_to(root))
            what = f"{files.shown(kept.name)} cannot be put back: {there} is no folder now"
            raise TaskstateError(what, help=help_, code="not-a-file")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(above))


def objects_lost(snapshot: Snapshot) -> TaskstateError:
    """Return the refusal where a snapshot's objects are gone."""
    if snapshot_base.is_purged(snapshot):
        what, help_ = "the snapshot was purged: nothing can be put back from it", "git may have the file in a commit"
        return TaskstateError(what, help=help_, code="objects-lost")
    what = "the objects of the snapshot are not here: its artifacts are lost or broken"
    by = f" from the clone in which {snapshot.actor} took it" if snapshot.actor else " from where it was taken"
    return TaskstateError(what, help=f"copy the task's folder under artifacts/{by}", code="objects-lost")


def _content(place: worktree.Scratch, store: Store, kept: _Kept) -> bytes:
    """Return the bytes of a file as git would check it out: with its line ends, and through its filters.

    Raises:
        TaskstateError: code "objects-lost": its object is broken; or a filter fails.
    """
    if kept.mode == LINK:
        return store.read(kept.object_id)
    path = f"--path={place.prefix}{kept.path}"
    try:
        return place.run(["cat-file", "--filters", path, "--end-of-options", kept.object_id])
    except GitFailed:
        if _is_whole(place, kept.object_id):
            raise  # it is the filter that fails
        raise _broken(kept) from None


def _is_whole(place: worktree.Scratch, object_id: str) -> bool:
    try:
        place.run(["cat-file", "blob", "--end-of-options", object_id])
    except GitFailed:
        return False
    return True


def _broken(kept: _Kept) -> TaskstateError:
    what = f"{files.shown(kept.name)} cannot be read from the snapshot: its artifacts are broken"
    help_ = "copy the task's folder under artifacts/ from another clone or a backup; `git fsck` tells of git's own"
    return TaskstateError(what, help=help_, code="objects-lost")


def _put(target: Path, mode: str, content: bytes) -> None:
    """Write one file; what stands at its place is replaced at once, also a link, which is never followed.

    Git knows of a mode only whether a file is a program: a file that is there keeps what else its mode says.
    """
    with files.os_errors("write", target):
        files.make_folder(target.parent)
        if mode == LINK:
            with files.temporary_file(target, b"") as temporary:
                temporary.unlink()
                os.symlink(content, os.fsencode(temporary))
                temporary.replace(target)
        else:
            before = target.lstat() if os.path.lexists(target) else None
            like = before if before and stat.S_ISREG(before.st_mode) else None
            with files.temporary_file(target, content, like) as temporary:
                told = stat.S_IMODE(temporary.stat().st_mode)
                temporary.chmod(told | (told & 0o444) >> 2 if mode.endswith("755") else told & ~0o111)
                temporary.replace(target)
        files.sync_folder(target.parent)


def _remarks(workspace: Workspace, snapshot: Snapshot, contents: Mapping[_Kept, bytes]) -> tuple[str, ...]:
    """Return where the bytes are not those that were recorded, though git takes both for the same."""
    recorded = {each.path: each.sha256 for each in recorded_files(workspace, snapshot) or ()}
    other = [
        each.name for each, content in contents.items() if recorded.get(each.name) not in {None, files.digest(content)}
    ]
    if not other:
        return ()
    return (f"as git checks them out, with other line ends or filters than then: {drift.first_paths(other)}",)


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
    relative, sha = _kept_diff(snapshot, kind)
    if relative is None:
        raise _no_diff(snapshot, role, kind)
    path = artifacts.path_of(workspace, relative)
    if files.size(path) is None:
        what = f"the artifact {files.shown(relative)} is not here"
        help_ = "artifacts are not in git: copy it from the clone in which the snapshot was taken"
        raise TaskstateError(what, help=help_, code="artifact-lost")
    with files.os_errors("read", path):
        packed = path.read_bytes()
    content = _unpacked(packed)
    if content is None or drift.diff_sha256(content) != sha:
        what = f"the artifact {files.shown(relative)} is broken: it is not what the snapshot recorded"
        raise TaskstateError(
            what, help=f"`taskstate snapshot take {task_id} --role {role}` makes it anew", code="artifact-broken"
        )
    return Diff(workspace.relative(path), content, snapshot.diff_stat if kind == FROM_BASE else None)


def _kept_diff(snapshot: Snapshot, kind: str) -> tuple[str | None, str | None]:
    """Return the path of the artifact that keeps a diff of a kind, and the diff's hash."""
    if kind == FROM_BASE:
        return snapshot.diff_from_base, snapshot.diff_sha
    return snapshot.incremental_diff, snapshot.incremental_diff_sha


def _unpacked(packed: bytes) -> bytes | None:
    try:
        return zlib.decompress(packed, _GZIP)
    except zlib.error:
        return None


def _no_diff(snapshot: Snapshot, role: str, kind: str) -> TaskstateError:
    """Return why a snapshot has no diff of a kind."""
    why = snapshot.incremental_diff_error
    if kind == FROM_BASE or snapshot.incremental_diff_sha:
        what, help_ = f"the diff of {role} was purged", "its numbers and its hash are in the file's events"
    elif why is not None:
        what, help_ = f"{role} has no incremental diff: {git.printable(why)}", "see its diff from the base commit"
    else:
        what = f"{role} has no incremental diff: no role comes before it"
        help_ = "its diff from the base commit is all that it did: leave --type out"
    return TaskstateError(what, help=help_, code="no-diff")
