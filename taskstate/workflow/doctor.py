"""Examines the set-up of a repository and what stands in it, and mends what can be mended without losing anything.

Each check gives a list of ailments: what is wrong, where, and what to do. Linting is not repeated here: a doctor looks
at what lies between the files, at what interrupted commands left, and at git.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.model.write_metadata import check_seal
from taskstate.storage import files, lock
from taskstate.storage.git import client as git
from taskstate.storage.journal import CONFLICT, UNREADABLE
from taskstate.workspace import lost_updates
from taskstate.workspace.lost_updates import PROPOSAL
from taskstate.workspace.setup import PRE_COMMIT, merge_driver_state, set_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

OLDEST_GIT = git.OLDEST
_LARGE_CACHE = 256 * 1024**2
_BY_HAND = "compare it with the file, mend that by hand, then delete the record"


class Problem(NamedTuple):
    """What is wrong: `check` names the check; `path` is from the root, or empty; `fixable`: `--fix` mends it.

    A `note` is worth knowing, and no fault.
    """

    check: str
    path: str
    message: str
    help: str
    fixable: bool = False
    note: bool = False


def examine(workspace: Workspace) -> tuple[Problem, ...]:
    """Return everything that is wrong, check by check."""
    return tuple(ailment for check in CHECKS.values() for ailment in check(workspace))


def _git(workspace: Workspace) -> Iterable[Problem]:
    version = git.version()
    if version is None:
        yield Problem("git", "", "git was not found", "install git, or put it on the PATH")
    elif version < OLDEST_GIT:
        shown = ".".join(map(str, version))
        yield Problem("git", "", f"git {shown} is too old", f"install {'.'.join(map(str, OLDEST_GIT))} or newer")
    elif git.toplevel(workspace.root) is None:
        message = "this is no working tree of git: there is no history to compare with, and nothing is merged"
        yield Problem("git", "", message, "run `git init`", note=True)


def _set_up(workspace: Workspace) -> Iterable[Problem]:
    """Compare what `init` would do with what is there: ignored files, attributes, the merge driver's configuration."""
    try:
        result = set_up(workspace, pre_commit=False, dry_run=True)
    except TaskstateError as error:
        yield Problem("set-up", "", error.message, error.help)
        return
    for name in (*result.created, *result.changed):
        yield Problem("set-up", name, "it is not as `taskstate init` makes it", "run `taskstate init`", fixable=True)


def _merge_driver(workspace: Workspace) -> Iterable[Problem]:
    """Ask git itself whether our files reach the merge driver: a later line of some attributes file may undo it."""
    if git.version() is None:
        return
    try:
        state = merge_driver_state(workspace)
    except GitFailed as error:
        yield Problem("merge-driver", "", error.message, error.help)
        return
    for pattern in state.unreached:
        message = f"git merges {pattern} otherwise than by taskstate's merge driver"
        yield Problem(
            "merge-driver", ".gitattributes", message, "run `taskstate init`, and see what overrides it there"
        )
    command = state.command.split(maxsplit=1)[0] if state.command else ""
    if command and shutil.which(command) is None:
        message = f"git's merge driver is {files.shown(command)}, which is not found"
        yield Problem(
            "merge-driver", "", message, "put it on the PATH; until then git reports each merge as a conflict"
        )


def _hooks(workspace: Workspace) -> Iterable[Problem]:
    """Look whether the commit hooks that the repository asks for are installed."""
    if files.size(workspace.root / PRE_COMMIT) is None or git.toplevel(workspace.root) is None:
        return
    if b"taskstate-lint" not in files.read(workspace.root / PRE_COMMIT):
        message = "it has no hook of taskstate's"
        yield Problem("hooks", PRE_COMMIT, message, "run `taskstate init --pre-commit`", note=True)
        return
    try:
        hook = os.fsdecode(git.run(["rev-parse", "--git-path", "hooks/pre-commit"], workspace.root)).removesuffix("\n")
    except GitFailed:
        return
    if not (workspace.root / hook).exists():
        message = "its hooks are not installed in this clone: nothing is checked at a commit"
        yield Problem("hooks", PRE_COMMIT, message, "run `pre-commit install`", note=True)


def _readable(workspace: Workspace) -> Iterable[Problem]:
    for path in workspace.own_files():
        relative = workspace.relative(path)
        try:
            files.size(path)  # refuses a link
            if path in _states(workspace):
                loaded = workspace.load(path)
                check_seal(loaded.document, relative)
            else:
                decoded(files.read(path), relative)
        except TaskstateError as error:
            yield Problem("files", relative, error.message, error.help)


def _states(workspace: Workspace) -> tuple[Path, ...]:
    return workspace.state_files()


def _ids(workspace: Workspace) -> Iterable[Problem]:
    """Find ids that several files bear: two branches created the same one."""
    found: dict[str, list[str]] = {}
    for path in _states(workspace):
        own = names.own_file(path.name)
        found.setdefault((own.id if own and own.id else "").casefold(), []).append(workspace.relative(path))
    for task_id, paths in found.items():
        if len(paths) > 1:
            named = ", ".join(map(files.shown, paths))
            help_ = "give one of them another id: `taskstate doctor renumber PATH NEW`"
            yield Problem("ids", paths[0], f"{len(paths)} state files have the id {task_id}: {named}", help_)


def _orphans(workspace: Workspace) -> Iterable[Problem]:
    """Find archives, handoffs and artifacts whose task is not there."""
    ids = {(own.id or "").casefold() for path in _states(workspace) if (own := names.own_file(path.name))}
    kept = [("archives", name, name) for name in files.names(workspace.state_root / "archives")]
    kept += [("handoffs", name, f"{name}-state.md") for name in files.names(workspace.state_root / "handoffs")]
    kept += [("artifacts", name, f"{name}-state.md") for name in files.names(workspace.state_root / "artifacts")]
    for folder, name, named in kept:
        own = names.own_file(named)
        if own and (own.id or "").casefold() not in ids:
            relative = workspace.relative(workspace.state_root / folder / name)
            help_ = f"bring task {files.shown(own.id or '')} back, for example from git, or delete this"
            yield Problem("orphans", relative, "it belongs to a task that is not there", help_)


def _unfinished(workspace: Workspace) -> Iterable[Problem]:
    """Find what interrupted commands and older copies left in the journal."""
    for name in files.names(workspace.journal):
        relative = workspace.relative(workspace.journal / name)
        if name.startswith(CONFLICT):
            message = "an interrupted change could not be finished: a file had been changed meanwhile"
            yield Problem("unfinished", relative, message, _BY_HAND, fixable=True)
        elif name.startswith(UNREADABLE):
            yield Problem("unfinished", relative, "it is a plan that cannot be read", "delete it")
        elif name.startswith(PROPOSAL):
            message = "a text that was gone, and could not be put back by itself"
            yield Problem("unfinished", relative, message, "take from it what is missing, then delete it")
    gone, unreadable = lost_updates.records(workspace)
    for each in gone:
        what = "a save that came while the file was replaced" if each.late else f"revision {each.revision}"
        relative = workspace.relative(each.record)
        message = f"{what} of {files.shown(each.path)} is gone from it, and kept here"
        yield Problem(
            "unfinished", relative, message, "run `taskstate doctor --fix`: it puts back what is missing", fixable=True
        )
    for path in unreadable:
        yield Problem("unfinished", workspace.relative(path), "it is a record that cannot be read", "delete it")


def _temporary(workspace: Workspace) -> Iterable[Problem]:
    for folder in own_folders(workspace):
        for name in files.names(folder):
            if files.is_temporary(name):
                message = "a killed command left it"
                yield Problem("temporary", workspace.relative(folder / name), message, "run `--fix`", fixable=True)


def own_folders(workspace: Workspace) -> tuple[Path, ...]:
    """Return the folders in which our writes may leave something: the root's, all of ours, those of state files."""
    found = {workspace.root, *(path.parent for path in workspace.own_files())}
    for place, folders, _ in os.walk(workspace.state_root):
        folders[:] = [name for name in folders if name != "recent"]
        found.add(workspace.state_root / place)
    return tuple(sorted(found))


def _lock(workspace: Workspace) -> Iterable[Problem]:
    said = lock.holder(workspace.lock)
    if said and lock.is_free(workspace.lock):
        message = f"the lock is free; the last holder was killed: {said}"
        yield Problem(
            "lock", workspace.relative(workspace.lock), message, "nothing to do: the text decides nothing", note=True
        )


def _cache(workspace: Workspace) -> Iterable[Problem]:
    folder = workspace.state_root / "cache"
    size = sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names)
    if size > _LARGE_CACHE:
        message = f"the cache takes {size // 1024**2} MiB"
        yield Problem("cache", workspace.relative(folder), message, "delete the folder: it is made anew", note=True)


CHECKS: dict[str, Callable[[Workspace], Iterable[Problem]]] = {
    "git": _git,
    "set-up": _set_up,
    "merge-driver": _merge_driver,
    "hooks": _hooks,
    "lock": _lock,  # before what takes the lock
    "unfinished": _unfinished,
    "temporary": _temporary,
    "files": _readable,
    "ids": _ids,
    "orphans": _orphans,
    "cache": _cache,
}
