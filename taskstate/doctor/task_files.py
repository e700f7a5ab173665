"""Checks our files one by one, each with all that belongs to it: ten thousand tasks are read once, and none is kept.

So one pass answers several checks: a task's file, its name, its archive, its artifacts, and what to look at in it.
"""

from __future__ import annotations

from contextlib import closing, suppress

from taskstate.archive.doubled import TAKE_OUT
from taskstate.brief.attention import attention
from taskstate.doctor.problem import RepositoryProblem
from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.model.names import ARTIFACTS
from taskstate.model.statuses import CLOSED
from taskstate.model.write_metadata import check_seal
from taskstate.permanent.readers import standings
from taskstate.recovery.archives import PUT_BACK, verified
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING
from taskstate.views.facts import is_active
from taskstate.workspace import artifacts, task_index
from taskstate.workspace.misnamed import misnaming
from taskstate.writing import damage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TypeAlias

    from taskstate.permanent.readers import Standings
    from taskstate.workspace.workspace import Loaded, Workspace

    Progress: TypeAlias = Callable[[int, int], None]


def untold(_done: int, _all: int, /) -> None:
    """Tell nobody how far it is."""


def check_files(workspace: Workspace, progress: Progress = untold) -> Iterator[RepositoryProblem]:
    """Report what is wrong with each of our files, and with what belongs to it; each is read once, by itself."""
    states, standing = workspace.state_files(), standings(workspace)
    own, with_artifacts = (
        dict.fromkeys((*states, *workspace.own_files())),
        files.names(workspace.state_root / ARTIFACTS),
    )
    with closing(folders.Lookout()) as lookout:
        for number, path in enumerate(own, 1):
            progress(number, len(own))
            status, task_id = "", task_index.id_in(path.name)
            try:
                if number > len(states):
                    decoded(files.read(path, lookout=lookout), workspace.relative(path))
                    continue
                loaded = workspace.load(path, lookout=lookout)
                status = loaded.state.status
            except TaskstateError as error:
                yield RepositoryProblem("files", workspace.relative(path), error.message, error.help)
            else:
                yield from _of_state(workspace, loaded)
                yield from _attention(workspace, loaded, standing)
                loaded.document.forget_derived()
            if f"task-{task_id}" in with_artifacts:
                yield from _artifacts(workspace, task_id, status)


def _of_state(workspace: Workspace, loaded: Loaded) -> Iterator[RepositoryProblem]:
    """Yield whether a state file is damaged, has another name than it says, and disagrees with its seal or archive."""
    found, misnamed = damage.damage_of(workspace, loaded), misnaming(workspace, loaded)
    if found:
        message = found.removeprefix(f"{loaded.relative} is ")
        yield RepositoryProblem("files", loaded.relative, message, damage.advice(workspace, loaded), fixable=True)
    else:
        try:
            check_seal(loaded.document, loaded.relative)
        except TaskstateError as error:
            yield RepositoryProblem("files", loaded.relative, error.message, error.help)
    if misnamed:
        yield RepositoryProblem("ids", misnamed.path, misnamed.message, misnamed.cure)
    if not found and names.own_id(loaded.relative) == loaded.state.id.casefold():  # else whose archive is it?
        with suppress(TaskstateError):  # reported with the files
            yield from _archive(workspace, loaded)


def _archive(workspace: Workspace, loaded: Loaded) -> Iterator[RepositoryProblem]:
    """Yield what `archive verify` finds: archives that were changed, sessions that stand in the log, too."""
    for each in verified(workspace, loaded).problems:
        place, fixable = f"{each.path}:{each.line}", each.help in {PUT_BACK, TAKE_OUT}
        yield RepositoryProblem("archives", place, each.message, each.help, fixable=fixable, note=not each.fatal)


def _attention(workspace: Workspace, loaded: Loaded, standing: Standings) -> Iterator[RepositoryProblem]:
    """Yield what to look at in a task that is at work: open findings, drift, a stale context."""
    for each in attention(workspace, loaded, standing=standing) if is_active(loaded) else ():
        help_ = f"see `taskstate status {loaded.state.id}`"
        yield RepositoryProblem("attention", loaded.relative, each.line, help_, note=True)


def _artifacts(workspace: Workspace, task_id: str, status: str) -> Iterator[RepositoryProblem]:
    """Yield artifacts that closing a task could not delete, and sessions that were refused and are not recorded."""
    relative = f"{workspace.config.root}/{artifacts.relative_path(task_id)}"
    for line in artifacts.unrecorded(workspace, task_id):
        message, _, help_ = line.partition(": ")
        yield RepositoryProblem("artifacts", relative, message, help_, note=True)
    if status in CLOSED and artifacts.has_any(workspace, task_id) and not artifacts.has_lasting(workspace, task_id):
        message = f"artifacts of task {task_id}, which is {status}, are left"
        yield RepositoryProblem("artifacts", relative, message, f"`taskstate purge {task_id}` deletes them")
