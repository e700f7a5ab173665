"""Repairs the problems that `doctor` finds: `doctor --fix` and `doctor --reseal`."""

from __future__ import annotations

from collections import Counter
from contextlib import closing, suppress

from taskstate.doctor.examine import own_folders
from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR
from taskstate.lint.fixer import fix_file
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.queries.interface import CLOCK, HISTORY
from taskstate.lint.runner import LintRequest, open_run
from taskstate.model import names
from taskstate.model.derived_values import COUNTS, PROGRESS, fix_edits
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.recovery.archives import cures_of
from taskstate.recovery.bring_back import bring_back
from taskstate.setup.repository import set_up
from taskstate.storage import files, lock
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.archive_file import read_archive
from taskstate.writing import damage, keeping, losses
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event
from taskstate.writing.writer import change, change_at

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.doctor.problem import CheckName, RepositoryProblem
    from taskstate.lint.queries.repository import Repository
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


def repair(workspace: Workspace, problems: Iterable[RepositoryProblem], request: Request) -> tuple[str, ...]:
    """Repair the problems that can be repaired safely; return a message for each repair, done or refused."""
    checks = {problem.check for problem in problems if problem.fixable or problem.note}

    def is_found(name: CheckName) -> bool:
        return name in checks

    messages: list[str] = []
    if is_found("lock") and lock.is_free(workspace.lock):  # a lock that is taken and released again names no holder
        messages.append("cleared the name of the lock's last holder")
    if is_found("set-up"):
        set_up_result = set_up(workspace, pre_commit=False)
        messages += [f"set up {name}" for name in (*set_up_result.created, *set_up_result.changed)]
    if is_found("temporary"):
        messages += _sweep(workspace)
    messages += _bring_back(workspace, request)
    return tuple(messages)


def _sweep(workspace: Workspace) -> list[str]:
    with workspace.locked() as notes:
        swept = [workspace.shown(folder / name) for folder in own_folders(workspace) for name in files.sweep(folder)]
    return [*notes, *(f"removed {files.shown(name)}" for name in swept)]


def _bring_back(workspace: Workspace, request: Request) -> list[str]:
    """Bring back what is gone, and mend the state files that are damaged."""
    messages: list[str] = []
    tasks: dict[str, None] = {}
    for path in workspace.counted("mending", workspace.state_files()):
        own = names.own_file(path.name)
        try:
            loaded = workspace.load(path)
            is_mended = bool(damage.damage_of(workspace, loaded)) and _mended(workspace, loaded, request)
            messages += [f"{loaded.relative}: its fault is fixed"] if is_mended else []
            loaded = workspace.load(path) if is_mended else loaded
            found = bool(damage.damage_of(workspace, loaded)) or any(cures_of(workspace, loaded))
        except TaskstateError as error:
            found = error.code in damage.CODES
        if own and own.id and found:
            tasks[own.id.casefold()] = None
    tasks = {loss.task: None for loss in losses.find_losses(workspace) if loss.items} | tasks
    for task_id in tasks:
        try:
            messages.append(brought_back(workspace, task_id, request))
        except TaskstateError as error:
            messages.append(str(error))
    return messages


class _OfFileAlone(RepositoryQueries):
    """The answers about a text that is not written yet, from its past alone: what goes with it is not either."""

    def __init__(self, repository: Repository, path: Path) -> None:
        super().__init__(repository, path)
        self.answerable &= {HISTORY, CLOCK}

    def archive(self) -> None:
        """Say nothing of the archive."""


def brought_back(workspace: Workspace, task_id: str, request: Request) -> str:
    """Bring back what is gone of a task, but for what lint refuses, and return a message.

    Raises:
        TaskstateError: the system refuses.
    """
    run, _ = open_run(workspace, workspace.config, LintRequest(timestamp(request.metadata.now), None, remember=False))

    def errors_in(name: str, text: str) -> int:
        found = engine.check(text, name, run.config, _OfFileAlone(run.repository, workspace.root / name))
        return sum(each.severity == ERROR for each in found)

    with closing(run.repository):
        return bring_back(workspace, task_id, request, errors_in)


def _mended(workspace: Workspace, loaded: Loaded, request: Request) -> bool:
    """Mend a damaged file by the fixes of its faults, if these make it whole and take no word away."""
    asked = LintRequest(now=timestamp(request.metadata.now), against=None, remember=False)
    run, _ = open_run(workspace, workspace.config, asked)
    path = workspace.root / loaded.relative
    with closing(run.repository):
        for unsafe in (False, True):
            with suppress(TaskstateError):
                planned = fix_file(run, path, request._replace(dry_run=True), unsafe=unsafe)
                if planned.changed and not Counter(loaded.document.text.split()) - Counter(planned.text.split()):
                    return fix_file(run, path, request, unsafe=unsafe).changed
    return False


def let_go(workspace: Workspace, task_id: str, request: Request) -> str:
    """Accept what is gone of a task, and its file as it is, and return a message.

    Raises:
        TaskstateError: code "not-found": there is no such task; code "damaged": the file cannot be read.
    """
    with workspace.locked():
        loss = losses.find_loss(workspace, task_id)
        if loss:
            keeping.let_go(workspace, loss._replace(items=loss.items | loss.reflog | loss.taken))
    try:
        path = workspace.locate(task_id)
    except TaskstateError:
        if loss is None:
            raise
        return f"task {task_id}: {losses.names_of(loss.items)} let go"
    found = damage.damage_of(workspace, workspace.load(path))
    if found:
        change_at(workspace, path, lambda loaded: _accepted(workspace, loaded), request)
    if loss is None and not found:
        return f"task {task_id}: nothing is gone"
    gone = loss.items | loss.taken if loss else {}
    what = f"{losses.names_of(gone)} let go" if gone else "its file is accepted as it is"
    return f"task {task_id}: {what}"


def _accepted(workspace: Workspace, loaded: Loaded) -> Change[None]:
    """Return the change that makes a file say what it holds."""
    if damage.is_unreadable(loaded):
        found = damage.damage_of(workspace, loaded)
        help_ = "fix it by hand, or run `taskstate doctor --fix`"
        raise TaskstateError(f"{found}; such a file cannot be accepted", help=help_, code=damage.CODE)
    text = loaded.document.text
    if loaded.state.archived and read_archive(workspace, loaded.state.id).size is None:
        text = apply(text, set_front_matter(loaded.document, "archive_path", None))
    document = loaded.document.with_text(text)
    return Change(
        text=apply(text, fix_edits(document, read_state(document), COUNTS, PROGRESS)),  # also without a Progress Log
        revision_above=loaded.state.revision,
        must_write=True,
    )


def reseal(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome:
    """Compute the seal of a task's state file again, and record in its events who accepted that, when and why."""
    reason = escaping.one_line(note, what="the note")
    event = request.metadata.event("resealed", note=reason)

    def job(loaded: Loaded) -> Change:
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before, notes=("sealed again; the note is among its events",))

    return change(workspace, task_id, job, request._replace(reseal=True, even_dropped=True))
