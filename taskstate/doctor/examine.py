"""Checks the set-up of a repository, its files and the leftovers of interrupted commands; `doctor` prints the result.

Each check yields problems with a message, a path and help; `doctor.repairs` repairs those that are fixable. What
`lint` finds inside a file is not repeated here.
"""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.doctor.autosaved import remarks
from taskstate.doctor.preflight import preflight
from taskstate.doctor.problem import RepositoryProblem
from taskstate.doctor.reaching import not_reaching
from taskstate.doctor.starting import not_starting, uninstalled_hooks
from taskstate.doctor.task_files import check_files, untold
from taskstate.doctor.versions import differences
from taskstate.doctor.weakened import weakenings
from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, typed_path
from taskstate.model import names
from taskstate.model.names import ARTIFACTS
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import CLOSED
from taskstate.permanent.impact import storage as impact_storage
from taskstate.setup.repository import GIT_CONFIG, merge_driver_state, set_up
from taskstate.storage import files, folders, installed, journal, kept_records, lock, replaced_texts
from taskstate.storage.git import client as git
from taskstate.storage.private import FALLBACK
from taskstate.storage.transaction import paths_of
from taskstate.typed import TYPE_CHECKING
from taskstate.views.removed import since_commit
from taskstate.workspace import artifacts, task_index
from taskstate.workspace.config_files import config_name
from taskstate.workspace.misnamed import misnamed_files, near_names
from taskstate.writing import losses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taskstate.doctor.problem import CheckName
    from taskstate.doctor.task_files import Progress
    from taskstate.workspace.workspace import Workspace

OLDEST_GIT = git.MINIMUM_VERSION
_LARGE_CACHE = 256 * 1024**2
_PRIVATE = ("", journal.JOURNAL, kept_records.FOLDER, replaced_texts.FOLDER, "cache")


def examine(workspace: Workspace, progress: Progress = untold) -> tuple[RepositoryProblem, ...]:
    """Run all checks and return their problems; `progress` is told how many of how many files are read."""
    once, order = dict.fromkeys(CHECKS.values()), [*CHECKS]
    made = (check_files(workspace, progress) if check is check_files else check(workspace) for check in once)
    found = (problem for problems in made for problem in problems)
    return tuple(sorted(found, key=lambda each: order.index(each.check)))


def _check_weakened(workspace: Workspace) -> Iterable[RepositoryProblem]:
    name = config_name(workspace.root)
    for key, message in weakenings(workspace.config):
        help_ = "if you did not decide that, look at who did"
        yield RepositoryProblem("weakened", name, f"`{key}`: {message}", help_, note=True)


def _check_git(workspace: Workspace) -> Iterable[RepositoryProblem]:
    version = git.version()
    if version is None:
        yield RepositoryProblem("git", "", "git was not found", "install git, or put it on the PATH")
    elif version < OLDEST_GIT:
        shown = ".".join(map(str, version))
        yield RepositoryProblem(
            "git", "", f"git {shown} is too old", f"install {'.'.join(map(str, OLDEST_GIT))} or newer"
        )
    elif workspace.private.foreign:
        shown = files.shown(workspace.private.foreign)
        message = f"it points to {shown}, the repository of another folder, which is neither read nor written"
        help_ = "delete it; if you copied a worktree, run `git worktree add` instead, and take its files over"
        yield RepositoryProblem("git", ".git", message, help_)
    elif git.toplevel(workspace.root) is None:
        message = "this is not a working tree of git: there is no history to compare with, and nothing is merged"
        yield RepositoryProblem("git", "", message, "run `git init`", note=True)


def _check_set_up(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report what `init` would create or change: ignored files, attributes, the merge driver's configuration.

    A clone gets the files from git, and the configuration from no one.
    """
    try:
        result = set_up(workspace, pre_commit=False, dry_run=True)
    except TaskstateError as error:
        yield RepositoryProblem("set-up", "", error.message, error.help)
        return
    missing, help_ = (*result.created, *result.changed), "run `taskstate init`"
    if set(missing) <= set(GIT_CONFIG) and GIT_CONFIG[0] in missing and not merge_driver_state(workspace).command:
        message = "this clone was never set up: git merges its task files like any other text"
        yield RepositoryProblem("set-up", "", message, help_, fixable=True)
        return
    for name in missing:
        yield RepositoryProblem("set-up", name, "it is not as `taskstate init` writes it", help_, fixable=True)


def _check_merge_driver(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Ask git whether our files reach the merge driver: a later line of any attributes file may override ours."""
    if git.version() is None:
        return
    try:
        state = merge_driver_state(workspace)
    except GitFailed as error:
        yield RepositoryProblem("merge-driver", "", error.message, error.help)
        return
    for pattern in state.unreached:
        message = f"git merges {pattern} without taskstate's merge driver"
        help_ = "run `taskstate init`, and see what overrides it there"
        yield RepositoryProblem("merge-driver", ".gitattributes", message, help_)
    if state.program and not installed.program(state.program):
        message = f"git's merge driver is {files.shown(state.program)}, which is not found"
        help_ = "put it on the PATH; until then git reports each merge as a conflict"
        yield RepositoryProblem("merge-driver", "", message, help_)


def _check_hooks(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for each in uninstalled_hooks(workspace):
        yield RepositoryProblem("hooks", each.path, each.message, each.help, note=each.note)


def _check_removed(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report what is gone since the last commit: state files of open tasks, and archives that a task needs."""
    found, remarks = since_commit(workspace)
    for each in found:
        yield RepositoryProblem("removed", each.path, each.diagnostic.message, each.diagnostic.help)
    for remark in remarks:
        yield RepositoryProblem("removed", "", remark, "what is gone since the last commit is not known", note=True)


def _check_ids(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report files with nearly the name of a state file, and ids of several files, as after a merge of two branches."""
    for each in near_names(workspace):
        yield RepositoryProblem("ids", each.path, each.message, each.cure)
    paths_by_id: dict[str, list[str]] = {}
    for path in workspace.state_files():
        own = names.own_file(path.name)
        paths_by_id.setdefault((own.id if own and own.id else "").casefold(), []).append(workspace.relative(path))
    for task_id, paths in paths_by_id.items():
        if len(paths) > 1:
            shown = ", ".join(map(files.shown, paths))
            help_ = f"give one of them another id: `taskstate doctor renumber {typed_path(paths[-1])} NEW`"
            yield RepositoryProblem("ids", paths[0], f"{len(paths)} state files have the id {task_id}: {shown}", help_)


def _check_permanent(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report several active permanent tasks, and an Impact Map in a file that is not what its section says."""
    indexed = (each for each in task_index.all_tasks(workspace) if each.kind == PERMANENT and not each.problem)
    active = sorted((each for each in indexed if each.status not in CLOSED), key=lambda each: names.id_key(each.id))
    for task in active[1:]:
        message = f"there are several active permanent tasks; everybody reads {active[0].id}"
        help_ = f"move what counts there, and close this one: `taskstate permanent close {task.id}`"
        yield RepositoryProblem("permanent", task.path, message, help_, note=True)
    for task in active:
        try:
            loaded = workspace.load(workspace.root / task.path)
            impact_storage.load_map(workspace, loaded)
        except TaskstateError as error:
            if error.code == "impact-map":
                yield RepositoryProblem("permanent", task.path, error.message, error.help)


def _check_orphans(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report archives, handoffs and artifacts whose task does not exist."""
    ids = {(own.id or "").casefold() for path in workspace.state_files() if (own := names.own_file(path.name))}
    places = (("archives", ""), ("handoffs", "-state.md"), ("artifacts", "-state.md"))
    found = [(folder, name, end) for folder, end in places for name in files.names(workspace.state_root / folder)]
    owned = [(folder, name, own.id or "") for folder, name, end in found if (own := names.own_file(f"{name}{end}"))]
    orphans = [each for each in owned if each[2].casefold() not in ids]
    told = {each.told.casefold() for each in misnamed_files(workspace)} if orphans else set()  # whose they may be
    for folder, name, task_id in orphans:
        if task_id.casefold() in told:
            continue
        away = f"`taskstate purge {task_id}` deletes it" if folder == ARTIFACTS else "delete this"
        if folder == ARTIFACTS and artifacts.has_lasting(workspace, task_id):
            away = "delete this: it holds words that are recorded nowhere"
        help_ = f"bring task {files.shown(task_id)} back, for example from git, or {away}"
        place = workspace.state_root / folder / name
        if folders.is_folder(place) and not any(each.names or each.error for each in folders.walk(place)):
            continue  # left by a command that was killed, without anything in it
        relative = workspace.relative(place)
        yield RepositoryProblem("orphans", relative, "it belongs to a task that is not there", help_)


def _check_journal(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report what interrupted commands left in the journal."""
    for path in workspace.private.files(journal.JOURNAL):
        if not (path.name.startswith(journal.PENDING) or files.is_temporary(path.name)):
            message = "it is a plan that cannot be carried out"
            yield RepositoryProblem("unfinished", workspace.shown(path), message, "delete it")
    for path, plan in journal.waiting(workspace.private):
        touched = ", ".join(files.shown(each) for operation in plan for each in paths_of(operation))
        help_ = "every command prints first what this change waits for; once that is done, the next command finishes it"
        yield RepositoryProblem("unfinished", workspace.shown(path), f"an unfinished change of {touched} waits", help_)


def _check_kept(workspace: Workspace) -> Iterable[RepositoryProblem]:
    """Report what commands acknowledged and the files no longer hold, and kept copies that cannot be read."""
    if workspace.private.refusal:
        message = f"{workspace.config.root}/{FALLBACK} is not used: {workspace.private.refusal}"
        yield RepositoryProblem("kept", "", message, "move it away, and look at what put it there")
    if workspace.private.unlinked:
        shown = files.shown(workspace.private.unlinked)
        message = f"{shown} names no working tree, so what is kept lies in {workspace.config.root}/{FALLBACK}"
        help_ = "if it is this one's: `git config core.worktree` with its path lets it lie with git"
        yield RepositoryProblem("kept", "", message, help_, note=True)
    records, strange = kept_records.records(workspace.private)
    for loss in losses.find_losses(workspace, records):
        if loss.items or loss.taken:
            path, _, message = loss.message().partition(": ")
            what, _, help_ = message.partition(": ")
            yield RepositoryProblem("kept", path, what, help_, fixable=bool(loss.items))
        if loss.reflog:
            help_ = "take them from there, if they are wanted"
            yield RepositoryProblem("kept", loss.path, loss.note(), help_, note=True)
    for record in records:
        try:
            record.plan()
        except (ValueError, TaskstateError) as error:
            message = f"a kept copy cannot be read: {error}"
            yield RepositoryProblem("kept", workspace.shown(record.path), message, "delete it", note=True)
    for other in strange:
        yield RepositoryProblem("kept", workspace.shown(other), "it is not a kept copy", "delete it", note=True)
    replaced = len(replaced_texts.texts(workspace.private))
    if replaced:
        message = f"{counted(replaced, 'text')} that commands replaced {'is' if replaced == 1 else 'are'} kept"
        help_ = "`taskstate doctor kept list` lists them; `… show ID` prints one, `… discard ID` deletes it"
        yield RepositoryProblem("kept", "", message, help_, note=True)


def _check_temporary_files(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for folder in own_folders(workspace):
        for name in files.names(folder):
            if files.is_temporary(name):
                message = "a killed command left it"
                yield RepositoryProblem(
                    "temporary", workspace.shown(folder / name), message, "run `--fix`", fixable=True
                )


def own_folders(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders in which our writes may leave temporary files."""
    places = {workspace.root, *(path.parent for path in workspace.own_files())}
    places.update(folder / kind for folder in workspace.private.read for kind in _PRIVATE)
    places.update(Path(each.path) for each in folders.walk(workspace.state_root))
    return tuple(sorted(places))


def _check_lock(workspace: Workspace) -> Iterable[RepositoryProblem]:
    holder = lock.holder(workspace.lock)
    if holder and lock.is_free(workspace.lock):
        message = f"the lock is free; the last holder was killed: {holder}"
        help_ = "nothing to do: only the old name is left in it"
        yield RepositoryProblem("lock", workspace.relative(workspace.lock), message, help_, note=True)


def _check_cache(workspace: Workspace) -> Iterable[RepositoryProblem]:
    places = [folder / "cache" for folder in workspace.private.read]
    walked = (each for place in places for each in folders.walk(place))
    paths = (os.path.join(each.path, name) for each in walked for name in each.names)
    size = sum(status.st_size for _, status in folders.statuses(paths))
    if size > _LARGE_CACHE:
        message = f"the cache takes {size // 1024**2} MiB"
        yield RepositoryProblem(
            "cache", workspace.shown(places[0]), message, "delete the folder: it is made again", note=True
        )


def _check_clients(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for each in (*not_starting(workspace), *not_reaching(workspace)):
        yield RepositoryProblem("clients", each.path, each.message, each.help, note=each.note)


def _check_autosave(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for message, help_ in remarks(workspace):
        yield RepositoryProblem("autosave", "", message, help_, note=True)


def _check_versions(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for each in differences(workspace):
        yield RepositoryProblem("versions", each.path, each.message, each.help)


def _check_prompts(workspace: Workspace) -> Iterable[RepositoryProblem]:
    for each in preflight(workspace):
        yield RepositoryProblem("prompts", f"{each.path}:{each.line}", each.message, each.help)


CHECKS: dict[CheckName, Callable[[Workspace], Iterable[RepositoryProblem]]] = {
    "weakened": _check_weakened,
    "git": _check_git,
    "set-up": _check_set_up,
    "merge-driver": _check_merge_driver,
    "hooks": _check_hooks,
    "clients": _check_clients,
    "autosave": _check_autosave,
    "versions": _check_versions,
    "prompts": _check_prompts,
    "lock": _check_lock,  # before the checks that take the lock, which clears the last holder
    "unfinished": _check_journal,
    "kept": _check_kept,
    "temporary": _check_temporary_files,
    "files": check_files,
    "removed": _check_removed,
    "attention": check_files,
    "archives": check_files,
    "ids": _check_ids,
    "permanent": _check_permanent,
    "orphans": _check_orphans,
    "artifacts": check_files,
    "cache": _check_cache,
}
