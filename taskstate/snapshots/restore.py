"""Restores files of a snapshot in the working tree."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, closing

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.base import require_open, require_snapshot
from taskstate.snapshots.changed_files import recorded_files
from taskstate.snapshots.committed_trees import is_here, not_here
from taskstate.snapshots.drift import Artifacts
from taskstate.snapshots.verify import superseded_by
from taskstate.storage import files, folders, replaced_texts
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import GITLINK, LINK, TREE, Store
from taskstate.storage.replaced_texts import ReplacedText
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.model.delta_block import Snapshot
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class _SnapshotFile(NamedTuple):
    """A file of a snapshot: its path (git's bytes, decoded with surrogates), its mode, and its object id."""

    path: str
    mode: str
    object_id: str

    @property
    def name(self) -> str:
        """The path as a report prints it."""
        return drift.quoted(os.fsencode(self.path))

    @property
    def has_attributes(self) -> bool:
        """Whether the file holds git attributes, which decide how other files are checked out."""
        return self.path.rpartition("/")[2] == ".gitattributes"


class RestoreResult(NamedTuple):
    """The restored paths, each with the id under which what stood there is kept or "", and notes on them."""

    kept: Mapping[str, str]
    notes: tuple[str, ...]


def restore(workspace: Workspace, task_id: str, role: str, names: Sequence[str], request: Request) -> RestoreResult:
    """Restore the snapshot's version of files in the working tree; `names` are paths as a report prints them.

    Without a role it is what the last turn left.
    All files and their target folders are checked, and what they replace is kept, before the first is written; what
    somebody writes there until it is replaced is kept, too. Files
    with git attributes come first, since the others are checked out according to them.

    Raises:
        TaskstateError: code "task-complete"; code "role-status": a later role went on from it; code "not-found": the
            snapshot has no such file; code "objects-lost"; or a path cannot be written, or git is in the middle of an
            operation.
    """
    if role:
        roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    require_open(loaded.state)
    snapshot = require_snapshot(workspace, loaded, role) if role else packs.left_by_last_turn(loaded)
    delta = blocks_of(loaded.document).delta
    later = superseded_by(blocks_of(loaded.document), role, workspace.config.roles) if role else ""
    if later:
        message = f"{later} went on from what {role} left, and is done: this would overwrite what {later} left"
        help_ = f'give the work back first: `taskstate role reopen {loaded.state.id} {role} --note "WHY"`'
        raise TaskstateError(message, help=help_, code="role-status")
    snapshot_base.require_at_rest(workspace)
    packed, tree = packs.object_folders(workspace, loaded.state.id, delta), str(snapshot.tree)
    with worktree.scratch(workspace.root, *packed) as scratch, closing(Store(scratch, tree)) as store:
        if not is_here(workspace, store, tree, snapshot.head):
            raise objects_lost(workspace, snapshot)
        by_path = {each.path: each for each in (_find(workspace, store, snapshot, name) for name in names)}
        _require_allowed(scratch, by_path)
        ordered = sorted(by_path.values(), key=lambda each: (not each.has_attributes, each.path.count("/")))
        contents = {each: _content(scratch, store, each) for each in ordered}
        for each in ordered:
            _require_writable_path(workspace.root, each)
        replaced = _Replaced(workspace, timestamp(request.metadata.now))
        for each in () if request.dry_run else ordered:
            replaced.keep(each, _present(workspace.root / each.path), contents[each])
        for each in () if request.dry_run else ordered:
            if ordered[0].has_attributes:  # read again: the attributes just restored may change the content
                contents[each] = _content(scratch, store, each)
            _put(workspace.root / each.path, each, contents[each], replaced)
    restored = {each.name: replaced.ids.get(each, "") for each in by_path.values()}
    return RestoreResult(restored, _filter_note(workspace, snapshot, contents))


class _Replaced:
    """Keeps what stands where other bytes are written; the id by the file is that of the last, where it changed."""

    def __init__(self, workspace: Workspace, at: str) -> None:
        self._private, self._at = workspace.private, at
        self.ids, self._data = dict[_SnapshotFile, str](), dict[_SnapshotFile, bytes]()

    def keep(self, file: _SnapshotFile, present: bytes, content: bytes) -> None:
        """Keep what is `present` at a file, unless that is kept already, or is the content to be written.

        Raises:
            TaskstateError: it cannot be kept.
        """
        if present not in {content, self._data.get(file)}:
            text = ReplacedText(file.path, present, "snapshot verify --restore")
            self.ids[file], self._data[file] = replaced_texts.keep(self._private, text, self._at), present


def _present(target: Path) -> bytes:
    """Return the bytes of a file, or where a link leads; empty where there is neither."""
    with files.os_errors("read", target):
        if folders.is_link(target):
            return folders.link_text(target)
        size = files.size(target) if folders.is_file(target) else None
    return b"" if size is None else files.read(target, max(size, files.MAX_BYTES))


def _require_allowed(scratch: worktree.Scratch, paths: Mapping[str, _SnapshotFile]) -> None:
    refused = worktree.refused_paths(scratch, {path: each.object_id for path, each in paths.items()})
    if refused:
        message = f"{paths[refused[0]].name} is a name that git never checks out"
        help_ = "somebody made this snapshot by hand: look at its other files, too"
        raise TaskstateError(message, help=help_, code="path-escapes")


def _find(workspace: Workspace, store: Store, snapshot: Snapshot, name: str) -> _SnapshotFile:
    """Return a file of the snapshot by its path as a report prints it."""
    path = _normal(os.fsdecode(drift.unquoted(name)))
    folder = path.rpartition("/")[0]
    if folder:
        files.inside(workspace.root, folder)
    tree = str(snapshot.tree)
    entry = store.at(tree, path) if path else None
    if entry is None:
        message = f"the snapshot has no file {files.shown(name)}"
        help_ = "name a file as the report shows it; one that came later is deleted by hand"
        raise TaskstateError(message, help=help_, code="not-found")
    mode, object_id = entry
    if mode in {TREE, GITLINK}:
        message = f"{files.shown(name)} is a {'folder' if mode == TREE else 'submodule'} in the snapshot"
        help_ = "name the files in it" if mode == TREE else f"check its commit out there: {object_id}"
        raise TaskstateError(message, help=help_, code="not-a-file")
    if not store.has(object_id):
        raise objects_lost(workspace, snapshot)
    return _SnapshotFile(path, mode, object_id)


def _normal(path: str) -> str:
    """Return a path without empty and `.` parts; an absolute path stays as it is."""
    if path.startswith("/"):
        return path
    return "/".join(part for part in path.split("/") if part not in {"", "."})


def _require_writable_path(root: Path, file: _SnapshotFile) -> None:
    """Refuse a path at which no file can be written now."""
    target = root / file.path
    if folders.is_folder(target):
        help_ = "move it out of the way first"
        raise TaskstateError(f"{files.shown(file.name)} is a folder now", help=help_, code="not-a-file")
    with files.os_errors("write", target):
        folder = next(parent for parent in target.parents if folders.exists(parent))
        if not folders.is_folder(folder):
            help_ = "move that out of the way first"
            obstacle = files.shown(folder.relative_to(root))
            message = f"{files.shown(file.name)} cannot be put back: {obstacle} is not a folder now"
            raise TaskstateError(message, help=help_, code="not-a-file")
        if not folders.may(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def objects_lost(workspace: Workspace, snapshot: Snapshot) -> TaskstateError:
    """Return the error for a snapshot whose git objects are missing."""
    state = packs.artifact_state(workspace, snapshot)
    if state is Artifacts.ABSENT:
        return not_here(workspace, f"what {snapshot.role} left")
    if state is Artifacts.PURGED:
        message, help_ = "the snapshot was purged: nothing can be put back from it", "git may have the file in a commit"
        return TaskstateError(message, help=help_, code="objects-lost")
    message = "nothing can be put back from the snapshot: its artifacts are broken, and no commit here has its tree"
    help_ = "a backup, or another clone, may have the task's folder under artifacts/"
    return TaskstateError(message, help=help_, code="objects-lost")


def _content(scratch: worktree.Scratch, store: Store, file: _SnapshotFile) -> bytes:
    """Return the content of a file as git would check it out: with its line ends, and through its filters.

    Raises:
        TaskstateError: code "objects-lost": its object is damaged; or a filter fails.
    """
    if file.mode == LINK:
        return store.read(file.object_id)
    path = f"--path={scratch.prefix}{file.path}"
    try:
        return scratch.run(["cat-file", "--filters", path, "--end-of-options", file.object_id])
    except GitFailed:
        if _is_intact(scratch, file.object_id):
            raise  # the object is intact, so it is the filter that fails
        message = f"{files.shown(file.name)} cannot be read from the snapshot: its artifacts are broken"
        help_ = "copy the task's folder under artifacts/ from another clone or a backup; `git fsck` tells of git's own"
        raise TaskstateError(message, help=help_, code="objects-lost") from None


def _is_intact(scratch: worktree.Scratch, object_id: str) -> bool:
    try:
        scratch.run(["cat-file", "blob", "--end-of-options", object_id])
    except GitFailed:
        return False
    return True


def _put(target: Path, file: _SnapshotFile, content: bytes, replaced: _Replaced) -> None:
    """Write one file, atomically replacing what is at its path; a link there is replaced, never followed.

    git records only whether a file is executable, so an existing file keeps the rest of its mode. What somebody wrote
    into it since it was kept is kept, too: it is read before the rename, and once more after it.
    """
    with files.os_errors("write", target), ExitStack() as stack:
        files.make_folder(target.parent)
        old_stat = folders.find(target)
        like = old_stat if old_stat and stat.S_ISREG(old_stat.st_mode) else None
        if file.mode == LINK:
            temporary = stack.enter_context(files.temporary_file(target, b""))
            # A link cannot be written into an open file: only the name of the temporary file is used.
            folders.remove(temporary)
            folders.make_link(temporary, content)
        else:
            temporary = stack.enter_context(files.temporary_file(target, content, like))
            mode_bits = stat.S_IMODE(folders.status(temporary).st_mode)
            executable = mode_bits | (mode_bits & 0o444) >> 2
            folders.set_mode(temporary, executable if file.mode.endswith("755") else mode_bits & ~0o111)
        before = stack.enter_context(os.fdopen(folders.open_file(target, os.O_RDONLY), "rb")) if like else None
        replaced.keep(file, before.read() if before else _present(target), content)
        folders.rename(temporary, target)
        if before:
            before.seek(0)
            replaced.keep(file, before.read(), content)
        folders.sync(target.parent)


def _filter_note(workspace: Workspace, snapshot: Snapshot, contents: Mapping[_SnapshotFile, bytes]) -> tuple[str, ...]:
    """Return a note on files whose bytes differ from the recorded ones, though git regards them as equal."""
    hashes = {each.path: each.sha256 for each in recorded_files(workspace, snapshot) or ()}
    now = {each.name: files.digest(content) for each, content in contents.items()}
    changed = [name for name, sha256 in now.items() if hashes.get(name) not in {None, sha256}]
    if not changed:
        return ()
    return (f"as git checks them out, with other line endings or filters: {drift.first_paths(changed)}",)
