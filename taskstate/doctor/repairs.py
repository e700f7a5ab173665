"""Repairs the problems that `doctor` finds: `doctor --fix` and `doctor --reseal`."""

from __future__ import annotations

from taskstate.doctor.examine import own_folders
from taskstate.errors import TaskstateError
from taskstate.model import archive_format, names
from taskstate.model.derived_values import derived_edits
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.recovery.archives import cures_of
from taskstate.recovery.bring_back import bring_back
from taskstate.setup.repository import set_up
from taskstate.storage import files, journal, lock
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
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

    from taskstate.doctor.examine import CheckName, RepositoryProblem
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
    messages += _bring_back(workspace, request)  # first: afterwards a plan may have nothing left to take back
    if is_found("unfinished"):
        messages += _settle_conflicts(workspace)
    return tuple(messages)


def _sweep(workspace: Workspace) -> list[str]:
    with workspace.locked() as notes:
        swept = [workspace.shown(folder / name) for folder in own_folders(workspace) for name in files.sweep(folder)]
    return [*notes, *(f"removed {files.shown(name)}" for name in swept)]


def _settle_conflicts(workspace: Workspace) -> list[str]:
    """Settle the plans that were set aside, as far as it is certain that no text gets lost."""
    messages = []
    for record in workspace.private.files(journal.JOURNAL):
        if record.name.startswith(journal.CONFLICT):
            with workspace.locked():
                message = _settle(workspace, record)
            messages += [f"{workspace.shown(record)}: {message}"] if message else []
    return messages


def _settle(workspace: Workspace, record: Path) -> str:
    """Settle one plan and return how, empty if a person has to decide."""
    plans = journal.split_by_progress(workspace.root, record)
    if plans is None:
        return ""
    done, open_ = plans
    if done and open_:
        location = _sessions_location(workspace, done, open_)
        if location == "both" and journal.undo(workspace.root, done):
            message = "what it had added stands in the state file still, so it was taken back"
        elif location == "moved":
            message = "what it moved stands in the archive alone, so it is finished"
        else:
            return ""
    else:
        message = "nothing of it was left to do" if done else "nothing of it had been done, so it was dropped"
    files.delete(record)
    return message


def _sessions_location(workspace: Workspace, done: journal.Plan, open_: journal.Plan) -> str:
    """Return where the sessions of an interrupted archiving are: in "both" files, "moved", or empty if unclear."""
    added = [each for each in done if isinstance(each, journal.Append | journal.Create)]
    changed = [each for each in open_ if isinstance(each, journal.Replace)]
    if len(added) != len(done) or len(changed) != 1 or len(open_) != 1:
        return ""
    batch = "".join(each.data.decode("utf-8", "replace") for each in added)
    archived = {
        archive_format.entry_hash(section.span.of(entries).replace("##", "###", 1))
        for entries in archive_format.read_batches(batch)
        for section in parse(entries).sections
        if section.level == archive_format.ENTRY_LEVEL and "session" in section.title.casefold()[:8]
    }
    text = files.read(files.inside(workspace.root, changed[0].path)).decode("utf-8", "replace")
    in_state_file = {
        archive_format.entry_hash(each.section.span.of(text))
        for each in read_state(parse(text, workspace.kinds)).sessions
    }
    if not archived or not (archived <= in_state_file or archived.isdisjoint(in_state_file)):
        return ""
    return "both" if archived <= in_state_file else "moved"


def _bring_back(workspace: Workspace, request: Request) -> list[str]:
    """Bring back what is gone, and mend the state files that are damaged."""
    tasks = {loss.task: None for loss in losses.find_losses(workspace) if loss.items}
    for path in workspace.state_files():
        own = names.own_file(path.name)
        try:
            loaded = workspace.load(path)
            found = bool(damage.damage_of(workspace, loaded)) or any(cures_of(workspace, loaded))
        except TaskstateError as error:
            found = error.code in damage.CODES
        if own and own.id and found:
            tasks[own.id.casefold()] = None
    messages = []
    for task_id in tasks:
        try:
            messages.append(bring_back(workspace, task_id, request))
        except TaskstateError as error:
            messages.append(str(error))
    return messages


def let_go(workspace: Workspace, task_id: str, request: Request) -> str:
    """Accept what is gone of a task, and its file as it is, and return a message.

    Raises:
        TaskstateError: code "not-found": there is no such task; code "damaged": the file cannot be read.
    """
    with workspace.locked():
        loss = losses.find_loss(workspace, task_id)
        if loss:
            keeping.let_go(workspace, loss)
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
    what = f"{losses.names_of(loss.items)} let go" if loss and loss.items else "its file is accepted as it is"
    return f"task {task_id}: {what}"


def _accepted(workspace: Workspace, loaded: Loaded) -> Change[None]:
    """Return the change that makes a file say what it holds."""
    if damage.is_unreadable(loaded):
        found = damage.damage_of(workspace, loaded)
        help_ = "mend it by hand, or run `taskstate doctor --fix`"
        raise TaskstateError(f"{found}; such a file cannot be accepted", help=help_, code=damage.CODE)
    text = loaded.document.text
    if loaded.state.archived and read_archive(workspace, loaded.state.id).size is None:
        text = apply(text, set_front_matter(loaded.document, "archive_path", None))
    return Change(
        text=apply(text, derived_edits(loaded.document.with_text(text))),
        revision_above=loaded.state.revision,
        must_write=True,
    )


def reseal(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome:
    """Compute the seal of a task's state file again, and record in its events who accepted that, when and why."""
    reason = escaping.one_line(note, what="the note")
    now = timestamp(request.metadata.now)
    event = {"at": now, "actor": request.metadata.actor, "event": "resealed", "note": reason}

    def job(loaded: Loaded) -> Change:
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before, notes=("sealed anew; the note is among its events",))

    return change(workspace, task_id, job, request._replace(reseal=True, even_dropped=True))
