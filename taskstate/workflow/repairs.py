"""What `doctor --fix` and `doctor --reseal` do about each problem that `doctor` finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.merge.recovery import put_back, write_out
from taskstate.model import archive_format
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files, journal, lock
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.workflow.doctor import own_folders
from taskstate.workspace import lost_updates
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.setup import set_up
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.workflow.doctor import Problem
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def repair(workspace: Workspace, ailments: Iterable[Problem], request: Request) -> tuple[str, ...]:
    """Mend what of `ailments` can be mended safely, and return what was done; what refuses is told, and stays."""
    checks = {ailment.check for ailment in ailments if ailment.fixable or ailment.note}
    told: list[str] = []
    if "lock" in checks and lock.is_free(workspace.lock):  # taking it has cleared the text
        told.append("cleared the name of the lock's last holder")
    if "set-up" in checks:
        done = set_up(workspace, pre_commit=False)
        told += [f"set up {name}" for name in (*done.created, *done.changed)]
    if "temporary" in checks:
        told += _swept(workspace)
    if "unfinished" in checks:
        told += _put_back(workspace, request)  # first: a change that is back needs no plan to be taken back
        told += _conflicts(workspace)
    return tuple(told)


def _swept(workspace: Workspace) -> list[str]:
    with workspace.locked() as told:
        swept = [workspace.relative(folder / name) for folder in own_folders(workspace) for name in files.sweep(folder)]
    return [*told, *(f"removed {files.shown(name)}" for name in swept)]


def _conflicts(workspace: Workspace) -> list[str]:
    """Settle the plans that were set aside where it is certain that no text is lost by it."""
    told = []
    for name in files.names(workspace.journal):
        record = workspace.journal / name
        if name.startswith(journal.CONFLICT):
            with workspace.locked():
                said = _settled(workspace, record)
            told += [f"{workspace.relative(record)}: {said}"] if said else []
    return told


def _settled(workspace: Workspace, record: Path) -> str:
    """Settle one plan and return how; empty where a person has to look."""
    found = journal.set_aside(workspace.root, record)
    if found is None:
        return ""
    done, open_ = found
    if done and open_:
        where = _whereabouts(workspace, done, open_)
        if where == "both" and journal.take_back(workspace.root, done):
            said = "what it had added stands in the state file still, so it was taken back"
        elif where == "moved":
            said = "what it moved stands in the archive alone, so it is finished"
        else:
            return ""
    else:
        said = "nothing of it was left to do" if done else "nothing of it had been done, so it was dropped"
    files.delete(record)
    return said


def _whereabouts(workspace: Workspace, done: journal.Plan, open_: journal.Plan) -> str:
    """Return where the sessions of an interrupted archiving stand: in "both" files, "moved", or neither for certain."""
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
    kept = {archive_format.entry_hash(each.section.span.of(text)) for each in read_state(parse(text)).sessions}
    if not archived or not (archived <= kept or archived.isdisjoint(kept)):
        return ""
    return "both" if archived <= kept else "moved"


def _put_back(workspace: Workspace, request: Request) -> list[str]:
    told = []
    for gone in lost_updates.records(workspace)[0]:
        try:
            told.append(put_back(workspace, gone, request))
        except TaskstateError as error:
            told.append(f"{error}; {write_out(workspace, gone)}")
    return told


def reseal(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome:
    """Seal a task's state file anew, and remember in it who accepted that, when and why."""
    said = escaping.one_line(note, what="the note")
    at = timestamp(request.stamp.now)
    event = {"at": at, "actor": request.stamp.actor, "event": "resealed", "note": said}

    def job(loaded: Loaded) -> Change:
        text, before = remember(workspace, loaded.document.text, event)
        return Change(text=text, before=before, notes=("sealed anew; the note is among its events",))

    return change(workspace, task_id, job, request._replace(reseal=True))
