"""What a snapshot is compared with: the working tree and HEAD, the base commit, and the recorded snapshots.

Refuses a repository in the middle of a merge or rebase, and a missing base commit. A submodule counts as the commit
that it has checked out; changes inside it are not compared.
"""

from __future__ import annotations

import os
import re
from contextlib import closing, contextmanager

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.statuses import COMPLETE
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import drift, packs
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import new_objects
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import preconditions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.model.task_state import TaskState
    from taskstate.storage.git.objects import Store
    from taskstate.workspace.workspace import Loaded, Workspace


_COMMIT = "[0-9a-f]{40}([0-9a-f]{24})?"
INDEX = "index-"  # prefix of the name of a kept copy of the index


def require_at_rest(workspace: Workspace) -> str:
    """Return the commit of HEAD, in a repository whose trees can be compared.

    Raises:
        TaskstateError: code "git": git is missing or too old; "no-git": this is no git working tree; "unborn": it has
            no commit yet; "under-way": git is in the middle of an operation.
    """
    git.require_version()
    if git.toplevel(workspace.root) is None:
        message = f"{files.shown(workspace.root)} is not a working tree of git, and snapshots are trees of git"
        raise TaskstateError(message, help="run `git init` there, and make a first commit", code="no-git")
    require_no_git_operation(workspace)
    head = git.head(workspace.root)
    unmerged = worktree.unmerged(workspace.root)
    if unmerged and all(map(workspace.is_ours, unmerged)):
        from shlex import quote

        names = " ".join(map(quote, unmerged))
        message = f"git has not merged {drift.first_paths(unmerged)}, so nobody has decided which version is right"
        help_ = f"see that the file says what it should (`taskstate lint`), then `git add -- {names}`"
        raise TaskstateError(message, help=help_, code="under-way")
    if unmerged:
        message = f"git has not merged {drift.first_paths(unmerged)}, so the working tree cannot be compared"
        help_ = "resolve the conflict, then `git add` the file; or abort the merge (`git status` says how)"
        raise TaskstateError(message, help=help_, code="under-way")
    if head is None:
        message = "the branch has no commit yet, so there is nothing to compare the working tree with"
        raise TaskstateError(message, help="make a first commit, of whatever is ready", code="unborn")
    return head


def require_no_git_operation(workspace: Workspace) -> None:
    """Refuse while git is in the middle of an operation, such as a merge or a rebase.

    Raises:
        TaskstateError: code "under-way".
    """
    operation = git.operation_in_progress(workspace.root)
    if operation:
        message = f"git is in the middle of {operation}, so the working tree cannot be compared"
        raise TaskstateError(message, help="finish or abort it (`git status` says how)", code="under-way")


def committed_since(workspace: Workspace, base: str, task_id: str) -> tuple[str, ...]:
    """Return the paths that any commit since `base` touched, reverted changes included, without our own files.

    Raises:
        TaskstateError: code "no-commit": the base commit is not in this repository.
    """
    if not re.fullmatch(_COMMIT, base):
        raise no_commit(base, task_id)
    try:
        touched = git_log.paths_touched_by_commits(workspace.root, base)
    except GitFailed as error:
        if error.code != "no-commit":
            raise
        raise no_commit(base, task_id) from error
    return tuple(path for path in touched if not workspace.is_ours(path))


def no_commit(base: str, task_id: str) -> TaskstateError:
    """Return the error for a base commit that is missing here, or that is no commit id."""
    message = f"the base commit {git.printable(base) or 'that is named'} is not in this repository"
    fetch = "fetch it (in a shallow clone: `git fetch --unshallow`)"
    help_ = f'{fetch}, or start again at HEAD: `taskstate snapshot resolve {task_id} --note "WHY"`'
    return TaskstateError(message, help=help_, code="no-commit")


def index_name(index: Path, tree: str | None, mark: str) -> str:
    """Return the file name under which a copy of the index is kept with a snapshot.

    It holds the modification time of the copy, by which git knows which files it must not trust, and a mark of the
    user's own index.
    """
    return f"{INDEX}{folders.status(index).st_mtime_ns}-{tree}-{mark}"


def is_certainly_unchanged(workspace: Workspace, snapshot: Snapshot, folder: Path) -> bool:
    """Return whether the index copy alone proves that no file and nothing staged differs from the snapshot.

    Where the user's index has changed since, git's status report must be the same too. False means unknown: the trees
    have to be compared.
    """
    git_folders = git.folders(workspace.root)
    index = next((folder / name for name in files.names(folder) if name.startswith(INDEX)), None)
    if git_folders is None or index is None:
        return False
    mark, tree = worktree.index_mark(git_folders), snapshot.tree
    index_is_same = index.name == index_name(index, tree, mark)
    if not index_is_same and index.name != index_name(index, tree, index.name.rpartition("-")[2]):
        # Its time stamp or tree does not fit its name. A copied file has a later time, and git would take files for
        # unchanged that were edited in the same second as the index was written ("racy git").
        return False
    is_ours, state_folder, kept_index = workspace.is_ours, workspace.config.root, worktree.SavedIndex(index, folder)
    try:
        if index_is_same:
            return not worktree.differs_from_index(workspace.root, kept_index, is_ours, state_folder, new=True)
        report = worktree.start_status(workspace.root, is_ours, state_folder)
        differs = worktree.differs_from_index(workspace.root, kept_index, is_ours, state_folder, new=False)
        return files.digest(report()) == packs.status_report_sha(workspace, snapshot) and not differs
    except GitFailed:  # the kept index is damaged: compare the trees
        return False


class SnapshotBase(NamedTuple):
    """The current working tree as a git tree in temporary storage, with git's status report and the staged tree.

    `head` is the commit that is checked out; `trees` are those of commits that were asked for already, and `others`
    what each task was asked for that changed the working tree: the files, by who changed them.
    """

    workspace: Workspace
    scratch: worktree.Scratch
    store: Store
    head: str
    tree: str
    report: bytes
    index_tree: str | None
    trees: dict[str, str]
    others: dict[str, dict[tuple[str, str], frozenset[bytes]]]

    def without_ours(self, commit: str) -> str:
        """Return the id of a commit's tree under the root without taskstate's own files.

        Raises:
            TaskstateError: code "no-commit": there is no such commit.
        """
        from taskstate.snapshots import committed_trees  # not where the quick check proves that nothing has changed

        if commit not in self.trees:
            self.trees[commit] = committed_trees.without_ours(self.workspace, self.store, commit, self.tree)
        return self.trees[commit]

    def has(self, tree: str, since: str | None) -> bool:
        """Return whether a recorded tree can be read; `since` is the commit that was checked out then."""
        from taskstate.snapshots import committed_trees

        return committed_trees.is_here(self.workspace, self.store, tree, since)

    def base_tree(self, delta: Delta) -> str | None:
        """Return the tree that the task's work starts from; None where neither it nor its commit is here."""
        from taskstate.snapshots import committed_trees

        return committed_trees.base_tree(self.workspace, self.store, delta, self.without_ours)


@contextmanager
def snapshot_base(
    workspace: Workspace, task_id: str, delta: Delta, head: str, read: SnapshotBase | None = None
) -> Iterator[SnapshotBase]:
    """Yield the current working tree as a git tree, next to which the trees that the task has kept can be read.

    It is not read again where it was `read` already, next to those of another task.

    Raises:
        GitFailed: git cannot read a file.
    """
    from taskstate.storage.git.objects import Store

    folder, kept = workspace.config.root, packs.object_folders(workspace, task_id, delta)
    if read:
        known = (read.scratch.objects, *read.scratch.object_folders)
        with worktree.scratch(workspace.root, *known, *kept) as area, closing(Store(area, head)) as store:
            yield read._replace(store=store)
        return
    with worktree.scratch(workspace.root, *kept) as scratch:
        report = worktree.start_status(workspace.root, workspace.is_ours, folder)
        stage = worktree.start_staged_tree(scratch, workspace.is_ours, folder)
        own_paths = worktree.update_index(scratch, workspace.is_ours, folder)
        full_tree = worktree.write_tree(scratch)
        with closing(Store(scratch, head)) as store:
            tree = store.without(full_tree, own_paths)
            index = stage()
            index_tree = index.tree and store.without(index.tree, index.ours)
            yield SnapshotBase(workspace, scratch, store, head, tree, report(), index_tree, {}, {})


class CurrentTree(NamedTuple):
    """The working tree as it is now: its tree id without taskstate's own files, HEAD, and the branch."""

    tree: str
    head: str
    branch: str | None


def current_tree(workspace: Workspace) -> CurrentTree:
    """Return the working tree as it is now; nothing is kept of it.

    Raises:
        TaskstateError: the repository cannot be compared, as in `require_at_rest`.
        GitFailed: git cannot read a file.
    """
    head = require_at_rest(workspace)
    tree = worktree.tree_id(workspace.root, workspace.is_ours, folder=workspace.config.root)
    return CurrentTree(str(tree), head, git.branch(workspace.root))


def keep_current_tree(workspace: Workspace, loaded: Loaded) -> CurrentTree:
    """Return the working tree as it is now, after keeping among the artifacts what HEAD lacks of it.

    So it can be compared later, for as long as the delta block names it as the tree of a turn, as left, or as seen.

    Raises:
        TaskstateError: the repository cannot be compared, or the folder cannot be written.
        GitFailed: git cannot read a file.
    """
    head, task_id = require_at_rest(workspace), loaded.state.id
    with snapshot_base(workspace, task_id, blocks_of(loaded.document).delta, head) as current:
        keep(current, task_id)
        return CurrentTree(current.tree, head, git.branch(workspace.root))


def keep(current: SnapshotBase, task_id: str) -> None:
    """Keep among the artifacts of a task what HEAD lacks of a working tree that was read already."""
    if not packs.has_tree(current.workspace, task_id, current.tree):
        changes = current.store.changes(current.store.tree_of(current.head), current.tree, with_deleted=False)
        folder = packs.tree_folder(current.workspace, task_id, current.tree)
        current.store.pack(sorted({*new_objects(changes), current.tree}), folder)()


_STATUS = ("status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames", "--ignore-submodules=none")
_FIELDS = 8  # of a status entry, before its path


def submodule_notes(root: Path) -> tuple[str, ...]:
    """Return notes on submodules under `root` that have local changes or are not checked out."""
    top = git.toplevel(root)
    if top is None or not folders.is_file(top / ".gitmodules"):
        return ()
    try:
        dirty, absent = tuple(_dirty(top, root)), tuple(_absent(root))
    except GitFailed:
        return ()  # only notes: whatever really needs git reports its failure itself
    notes = (f"changed inside a submodule, which no snapshot holds: {drift.first_paths(dirty)}",) if dirty else ()
    return (*notes, f"not checked out, so not compared: submodule {drift.first_paths(absent)}") if absent else notes


def _dirty(top: Path, root: Path) -> Iterator[str]:
    """Yield the submodules with changed or new files inside."""
    for entry in git.run([*_STATUS, "--", "."], root).split(b"\0"):
        fields = entry.split(b" ", _FIELDS)
        if len(fields) > _FIELDS and fields[2].startswith(b"S") and fields[2][2:] != b"..":
            path = os.path.relpath(os.path.join(os.fsencode(top), fields[_FIELDS]), os.fsencode(root))
            yield drift.quoted(path)


def _absent(root: Path) -> Iterator[str]:
    """Yield the submodules that are not checked out."""
    for entry in git.run(["ls-files", "-s", "-z", "--", "."], root).split(b"\0"):
        mode_and_id, _, path = entry.partition(b"\t")
        if mode_and_id.startswith(b"160000 ") and not folders.exists(root / os.fsdecode(path) / ".git"):
            yield drift.quoted(path)


def require_open(state: TaskState) -> None:
    """Refuse a task that is complete or dropped: its artifacts are deleted.

    Raises:
        TaskstateError: code "task-complete" or "dropped".
    """
    preconditions.require_work(state, "work to take a snapshot of")
    preconditions.require_not_dropped(state)
    preconditions.require_not_complete(state, ", so its snapshots stay as they are", code="task-complete")


def require_snapshot(workspace: Workspace, loaded: Loaded, role: str) -> Snapshot:
    """Return the snapshot of a role.

    Raises:
        TaskstateError: code "no-snapshot"; code "bad-snapshot": its tree is no object id; where there is none and none
            can be taken, what `require_at_rest` says.
    """
    task_id = loaded.state.id
    snapshot = blocks_of(loaded.document).delta.snapshots.get(role)
    if snapshot is None or snapshot.tree is None:
        if loaded.state.status == COMPLETE:
            message = f"task {task_id} is complete, and what {role} left is purged"
            raise TaskstateError(message, help="what was committed is in `git log -p`", code="no-snapshot")
        require_at_rest(workspace)  # else none can be taken
        message = f"task {task_id}: {role} has left no snapshot of the working tree"
        help_ = f"take it when the role's work is done: `taskstate snapshot take {task_id} --role {role}`"
        if packs.has_artifacts(workspace, task_id, role):
            help_ += "; if git has set the state file back, `taskstate doctor --fix` brings back what it said"
        raise TaskstateError(message, help=help_, code="no-snapshot")
    roles.require_ids(snapshot, f"task {task_id}: the snapshot of {role}")
    return snapshot
