"""What a snapshot is compared against: the base commit, the repository's state, and the snapshots recorded so far.

Refuses a repository in the middle of a merge or rebase, and a base commit that is gone. Submodules are known by the
commit they have checked out, and no further.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.statuses import COMPLETE
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree
from taskstate.verification.snapshots import drift
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Delta, Snapshot
    from taskstate.storage.git.objects import Store
    from taskstate.workspace.workspace import Loaded, Workspace


_COMMIT = "[0-9a-f]{40}([0-9a-f]{24})?"
INDEX = "index-"  # begins the name of a kept index


def require_at_rest(workspace: Workspace) -> str:
    """Return the commit that HEAD names, in a repository in which trees can be compared.

    Raises:
        TaskstateError: code "git", "no-git", "unborn" or "under-way": git is missing or too old, this is no working
            tree of git, it has no commit yet, or git is in the middle of something.
    """
    version = git.version()
    if version is None or version < git.OLDEST:
        had = "git was not found" if version is None else f"git {'.'.join(map(str, version))} is too old"
        needed = ".".join(map(str, git.OLDEST))
        raise GitFailed(had, help=f"install git {needed} or newer, or put it on the PATH")
    if git.toplevel(workspace.root) is None:
        what = f"{files.shown(workspace.root)} is no working tree of git, and snapshots are trees of git"
        raise TaskstateError(what, help="run `git init` there, and make a first commit", code="no-git")
    require_no_git_operation(workspace)
    head = git.head(workspace.root)
    unmerged = worktree.unmerged(workspace.root, workspace.is_ours)
    if unmerged:
        from taskstate.verification.snapshots.drift import first_paths

        what = f"git has not merged {first_paths(unmerged)}: the working tree is not what anybody left"
        help_ = "settle the conflict, then `git add` the file; or give it up (`git status` says how)"
        raise TaskstateError(what, help=help_, code="under-way")
    if head is None:
        what = "the branch has no commit yet, so there is nothing to compare the working tree with"
        raise TaskstateError(what, help="make a first commit, of whatever is ready", code="unborn")
    return head


def require_no_git_operation(workspace: Workspace) -> None:
    """Refuse while git is in the middle of something, such as a merge.

    Raises:
        TaskstateError: code "under-way".
    """
    under_way = worktree.under_way(workspace.root)
    if under_way:
        what = f"git is in the middle of {under_way}: the working tree is not what anybody left"
        raise TaskstateError(what, help="finish it or give it up (`git status` says how)", code="under-way")


def committed_since(workspace: Workspace, base: str, task_id: str) -> tuple[str, ...]:
    """Return the paths that any commit since one touched, also where it was taken back again, without our own files.

    Raises:
        TaskstateError: code "no-commit": there is no such commit here.
    """
    if not re.fullmatch(_COMMIT, base):
        raise no_commit(base, task_id)
    try:
        touched = git_log.passed(workspace.root, base)
    except GitFailed as error:
        if error.code != "no-commit":
            raise
        raise no_commit(base, task_id) from error
    return tuple(path for path in touched if not workspace.is_ours(path))


def no_commit(base: str, task_id: str) -> TaskstateError:
    """Return the refusal where a base commit is not here, or what was written as one is none."""
    what = f"the base commit {git.printable(base) or 'that is named'} is not in this repository"
    help_ = f'fetch it, or begin anew at HEAD: `taskstate snapshot resolve {task_id} --note "WHY"`'
    return TaskstateError(what, help=help_, code="no-commit")


def head_relation(workspace: Workspace, base: str) -> str:
    """Return how HEAD follows a commit: "after" it, "merged" with other work since, or "other" where it does not."""
    since = git.run(["rev-list", "--parents", "--end-of-options", f"{base}..HEAD", "--"], workspace.root).split(b"\n")
    try:
        git.run(["merge-base", "--is-ancestor", "--end-of-options", base, "HEAD"], workspace.root)
    except GitFailed:
        return "other"
    return "merged" if any(line.count(b" ") > 1 for line in since) else "after"


def object_folder(workspace: Workspace, snapshot: Snapshot) -> Path | None:
    """Return the folder in which the objects of a snapshot lie, for git to read; None where it names none.

    Raises:
        TaskstateError: code "path-escapes": it names a place outside of the artifacts.
    """
    if snapshot.pack is None:
        return None
    return artifacts.path_of(workspace, str(PurePosixPath(snapshot.pack).parent.parent))


def is_purged(snapshot: Snapshot) -> bool:
    """Return whether what a snapshot kept was dropped on purpose."""
    return "pack" in snapshot.values and snapshot.values["pack"] is None


def artifact_state(workspace: Workspace, snapshot: Snapshot) -> drift.Artifacts:
    """Say whether the artifacts of a snapshot are here."""
    if is_purged(snapshot):
        return drift.Artifacts.PURGED
    return drift.Artifacts.WHOLE if _has_pack(workspace, snapshot) else drift.Artifacts.LOST


def _has_pack(workspace: Workspace, snapshot: Snapshot) -> bool:
    """Return whether the pack of a snapshot is here, and looks whole by its ends; what lies between is not read."""
    named = re.fullmatch(f".*pack-({_COMMIT})[.]pack", snapshot.pack or "")
    if named is None:
        return False
    pack, name = artifacts.path_of(workspace, named[0]), bytes.fromhex(named[1])
    # A pack is named by the hash that it ends with; its index repeats that one, and ends with its own.
    return _end(pack, len(name)) == name and _end(pack.with_suffix(".idx"), 2 * len(name))[: len(name)] == name


def _end(path: Path, size: int) -> bytes:
    """Return the last bytes of a file; nothing where it cannot be read or has fewer."""
    try:
        with path.open("rb") as stream:
            stream.seek(-size, os.SEEK_END)
            return stream.read(size)
    except OSError:
        return b""


def index_name(index: Path, tree: str | None, mark: str) -> str:
    """Return the name under which an index is kept with the snapshot of a tree.

    It holds the index's time stamp, by which git knows the files that it cannot trust, and a mark of the user's index.
    """
    return f"{INDEX}{index.lstat().st_mtime_ns}-{tree}-{mark}"


def is_certainly_unchanged(workspace: Workspace, snapshot: Snapshot, folder: Path) -> bool:
    """Return whether it is certain without a closer look that no file differs, and that the same is staged.

    Where the user's index is the very same, the one that was kept tells all; else git's status report has to be the
    same too.
    """
    at = git.folders(workspace.root)
    index = next(folder.glob(f"{INDEX}*"), None)
    if at is None or index is None:
        return False
    mark, tree = worktree.index_mark(at), snapshot.tree
    same = index.name == index_name(index, tree, mark)
    if not same and index.name != index_name(index, tree, index.name.rpartition("-")[2]):
        return False  # it was copied, and git would trust files that it must not trust; or another tree is claimed
    ours, home, kept = workspace.is_ours, workspace.config.root, worktree.Kept(index, folder)
    try:
        if same:
            return not worktree.differs(workspace.root, kept, ours, home, new=True)
        report = worktree.report(workspace.root, ours, home)
        differs = worktree.differs(workspace.root, kept, ours, home, new=False)
        return files.digest(report()) == snapshot.status_report_sha and not differs
    except GitFailed:  # it is broken: the tree decides
        return False


class SnapshotBase(NamedTuple):
    """The working tree as it is now, in a temporary place with the objects of it: its tree id, and git's report."""

    workspace: Workspace
    place: worktree.Scratch
    store: Store
    tree: str
    report: bytes
    index_tree: str | None


@contextmanager
def snapshot_base(workspace: Workspace, delta: Delta, head: str) -> Iterator[SnapshotBase]:
    """Give a look at the working tree, in which the objects of the task's snapshots can be read.

    Raises:
        GitFailed: git cannot read a file.
    """
    from taskstate.storage.git.objects import Store

    kept = [object_folder(workspace, snapshot) for snapshot in delta.snapshots.values()]
    folder = workspace.config.root
    with worktree.scratch(workspace.root, *filter(None, kept)) as place:
        report = worktree.report(workspace.root, workspace.is_ours, folder)
        staged = worktree.staged(place, workspace.is_ours, folder)
        ours = worktree.take_in(place, workspace.is_ours, folder)
        whole = worktree.write_tree(place)
        store = Store(place, head)
        try:
            tree = store.without(whole, ours)
            index = staged()
            index_tree = index.tree and store.without(index.tree, index.ours)
            yield SnapshotBase(workspace, place, store, tree, report(), index_tree)
        finally:
            store.close()


_STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none")
_FIELDS = 8  # of a status entry, before its path


def submodule_notes(root: Path) -> tuple[str, ...]:
    """Return which submodules under `root` are changed inside, and which are not checked out; without any, nothing."""
    top = git.toplevel(root)
    if top is None or not (top / ".gitmodules").is_file():
        return ()
    try:
        dirty, absent = tuple(_dirty(top, root)), tuple(_absent(root))
    except GitFailed:
        return ()  # what needs git says so itself
    told = (f"changed inside a submodule, which no snapshot holds: {drift.first_paths(dirty)}",) if dirty else ()
    return (*told, f"not checked out, so not compared: submodule {drift.first_paths(absent)}") if absent else told


def _dirty(top: Path, root: Path) -> Iterator[str]:
    """Yield the submodules in which a file is changed or new."""
    for entry in git.run(["-c", "core.fsmonitor=false", *_STATUS, "--", "."], root).split(b"\0"):
        fields = entry.split(b" ", _FIELDS)
        if len(fields) > _FIELDS and fields[2].startswith(b"S") and fields[2][2:] != b"..":
            path = os.path.relpath(os.path.join(os.fsencode(top), fields[_FIELDS]), os.fsencode(root))
            yield drift.quoted(path)


def _absent(root: Path) -> Iterator[str]:
    """Yield the submodules of which nothing is there but a folder, or not even that."""
    for entry in git.run(["ls-files", "-s", "-z", "--", "."], root).split(b"\0"):
        told, _, path = entry.partition(b"\t")
        if told.startswith(b"160000 ") and not os.path.lexists(os.path.join(os.fsencode(root), path, b".git")):
            yield drift.quoted(path)


def require_open(state: TaskState) -> None:
    """Refuse a task that is complete: what was to be compared has been handed down, and its artifacts dropped.

    Raises:
        TaskstateError: code "task-complete".
    """
    if state.status == COMPLETE:
        what = f"task {state.id} is complete, so its snapshots stay as they are"
        help_ = f'`taskstate reopen {state.id} --note "WHY"` takes it back to work'
        raise TaskstateError(what, help=help_, code="task-complete")


def require_snapshot(workspace: Workspace, loaded: Loaded, role: str) -> Snapshot:
    """Return the snapshot of a role.

    Raises:
        TaskstateError: code "no-snapshot"; code "bad-snapshot": what it names as a tree is no object id.
    """
    task_id = loaded.state.id
    snapshot = blocks_of(loaded.document).delta.snapshots.get(role)
    if snapshot is None or snapshot.tree is None:
        what = f"task {task_id}: {role} has left no snapshot of the working tree"
        help_ = f"take it when the role's work is done: `taskstate snapshot take {task_id} --role {role}`"
        if files.names(artifacts.path_of(workspace, artifacts.name_of(task_id, role))):
            help_ += "; if git has set the state file back, `taskstate doctor --fix` brings back what it said"
        raise TaskstateError(what, help=help_, code="no-snapshot")
    roles.require_ids(snapshot, f"task {task_id}: the snapshot of {role}")
    return snapshot
