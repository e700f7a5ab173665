"""Repairs the problems that `doctor` finds: `doctor --fix` and `doctor --reseal`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.merge.recovery import restore_lost_update, write_proposal
from taskstate.model import archive_format
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files, journal, lock
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.workflow.doctor import own_folders
from taskstate.workspace import lost_updates
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import add_event
from taskstate.workspace.setup import set_up
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.workflow.doctor import RepositoryProblem
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def repair(workspace: Workspace, problems: Iterable[RepositoryProblem], request: Request) -> tuple[str, ...]:
    """Repair the problems that can be repaired safely; return a message for each repair, done or refused."""
    checks = {problem.check for problem in problems if problem.fixable or problem.note}
    messages: list[str] = []
    if "lock" in checks and lock.is_free(workspace.lock):  # a lock that is taken and released again names no holder
        messages.append("cleared the name of the lock's last holder")
    if "set-up" in checks:
        set_up_result = set_up(workspace, pre_commit=False)
        messages += [f"set up {name}" for name in (*set_up_result.created, *set_up_result.changed)]
    if "temporary" in checks:
        messages += _sweep(workspace)
    if "unfinished" in checks:
        messages += _put_back_lost(workspace, request)  # first: afterwards a plan may have nothing left to take back
        messages += _settle_conflicts(workspace)
    return tuple(messages)


def _sweep(workspace: Workspace) -> list[str]:
    with workspace.locked() as notes:
        swept = [workspace.relative(folder / name) for folder in own_folders(workspace) for name in files.sweep(folder)]
    return [*notes, *(f"removed {files.shown(name)}" for name in swept)]


def _settle_conflicts(workspace: Workspace) -> list[str]:
    """Settle the plans that were set aside, as far as it is certain that no text gets lost."""
    messages = []
    for name in files.names(workspace.journal):
        record = workspace.journal / name
        if name.startswith(journal.CONFLICT):
            with workspace.locked():
                message = _settle(workspace, record)
            messages += [f"{workspace.relative(record)}: {message}"] if message else []
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
    in_state_file = {archive_format.entry_hash(each.section.span.of(text)) for each in read_state(parse(text)).sessions}
    if not archived or not (archived <= in_state_file or archived.isdisjoint(in_state_file)):
        return ""
    return "both" if archived <= in_state_file else "moved"


def _put_back_lost(workspace: Workspace, request: Request) -> list[str]:
    messages = []
    for lost in lost_updates.records(workspace)[0]:
        try:
            messages.append(restore_lost_update(workspace, lost, request))
        except TaskstateError as error:
            messages.append(f"{error}; {write_proposal(workspace, lost)}")
    return messages


def reseal(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome:
    """Compute the seal of a task's state file again, and record in its events who accepted that, when and why."""
    reason = escaping.one_line(note, what="the note")
    now = timestamp(request.metadata.now)
    event = {"at": now, "actor": request.metadata.actor, "event": "resealed", "note": reason}

    def job(loaded: Loaded) -> Change:
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before, notes=("sealed anew; the note is among its events",))

    return change(workspace, task_id, job, request._replace(reseal=True))
