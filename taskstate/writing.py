"""Changes tasks on disk: every write of a state file goes through here.

Under the one lock the file is read anew, the job plans on what it reads, the result is stamped and proved, and the plan
is carried out. A file that somebody changed in between is read and planned again; it is never overwritten.
"""

from __future__ import annotations

import difflib
import time
from typing import TYPE_CHECKING, NamedTuple

from taskstate import files, guards, journal, kinds, lost, recent, secrets
from taskstate.document import parse
from taskstate.errors import StaleFile, TaskstateError
from taskstate.stamp import Stamp, check_seal, stamped
from taskstate.state import TaskState, read_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.document import Document
    from taskstate.workspace import Loaded, Workspace

_ATTEMPTS = 5
_PAUSE = 0.02  # seconds


class Request(NamedTuple):
    """Who asks for a change and when, the revision that the file must still be at, and whether to show it only.

    Only who accepts what was changed by hand in a block that is the tool's own asks for a change that seals it anew.
    """

    stamp: Stamp
    expect: str = ""
    dry_run: bool = False
    reseal: bool = False


class Change(NamedTuple):
    """What a job makes of a state file: its text before the stamp, other files' changes that go ahead, what to tell.

    What receives text is changed before what gives it away: `after` are the changes that take text out of other files.

    A job that had to read or stamp the text itself hands on its state, and the text with its stamp. The new revision is
    higher than `above`.
    """

    text: str
    before: journal.Plan = ()
    notes: tuple[str, ...] = ()
    state: TaskState | None = None
    stamped: str = ""
    above: int = 0
    after: journal.Plan = ()


class Outcome(NamedTuple):
    """What a change did: `revision` is the file's token afterwards, `diff` the unified diff of a dry run."""

    path: str
    revision: str
    changed: bool
    notes: tuple[str, ...] = ()
    diff: str = ""


def change(workspace: Workspace, task_id: str, job: Callable[[Loaded], Change], request: Request) -> Outcome:
    """Change a task's state file: `job` plans on what is on disk now, the result is stamped, proved and written.

    Raises:
        TaskstateError: the file is not at the expected revision, cannot be changed safely, or keeps changing.
    """

    def guarded(loaded: Loaded) -> Change:
        guards.require_whole(loaded)
        return job(loaded)

    with workspace.locked() as told:
        return _change(workspace, workspace.locate(task_id), guarded, request, told)


def change_at(workspace: Workspace, path: Path, job: Callable[[Loaded], Change], request: Request) -> Outcome:
    """Change one of our own files by its path, as `change` does; only a state file that can be read is stamped."""
    with workspace.locked() as told:
        return _change(workspace, path, job, request, told)


def _change(
    workspace: Workspace, path: Path, job: Callable[[Loaded], Change], request: Request, told: tuple[str, ...]
) -> Outcome:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE)  # who saves in place needs an instant to end
        loaded = workspace.load(path)
        if not loaded.data and attempt + 1 < _ATTEMPTS:
            continue  # emptied, and about to be written
        noticed = lost.notice(workspace, loaded.relative, loaded.data)
        told += noticed.told
        guards.require_writable(loaded, request.expect, sealed=not request.reseal)
        if noticed.revision > loaded.state.revision:
            loaded = loaded._replace(state=loaded.state._replace(revision=noticed.revision))
        planned = job(loaded)
        try:
            return _write(workspace, loaded, planned, request, told)
        except StaleFile:
            continue
    what = f"{workspace.relative(path)} was changed by somebody each time that it was to be written"
    raise StaleFile(what, help="run this again")


def _write(workspace: Workspace, loaded: Loaded, change: Change, request: Request, told: tuple[str, ...]) -> Outcome:
    notes = (*told, *change.notes)
    if change.text == loaded.document.text and not change.before:
        return Outcome(path=loaded.relative, revision=loaded.token, changed=False, notes=notes)
    text, planned = change.text, change.state or read_state(parse(change.text))
    before = loaded.state if loaded.document.front_matter else _made_readable(loaded, planned)
    revision = before.revision
    if _is_stamped(loaded, planned.document):
        revision = max(revision, change.above) + 1
        text = change.stamped or stamped(text, request.stamp, revision=revision, state=planned)
    guards.require_sound(loaded, text, planned)
    data = text.encode()
    plan = (*change.before, journal.Replace(loaded.relative, loaded.digest, data), *change.after)
    if not request.dry_run:
        journal.write(workspace.root, workspace.journal, plan)
    diff = "".join(_diff(workspace, operation) for operation in plan) if request.dry_run else ""
    return Outcome(
        path=loaded.relative, revision=f"{revision}-{files.digest(data)[:8]}", changed=True, notes=notes, diff=diff
    )


def _made_readable(loaded: Loaded, planned: TaskState) -> TaskState:
    """Return what a file says whose front matter a fix has mended; only now can its seal be seen to be broken."""
    check_seal(planned.document, loaded.relative)
    return planned


def create_file(workspace: Workspace, relative: str, text: str, request: Request) -> Outcome:
    """Write a new state file, stamped; nothing that exists is ever overwritten."""
    if request.expect:
        what = f"{relative} is to be created, so it is at no revision yet"
        raise TaskstateError(what, help="leave --expect-revision out", code="revision")
    with workspace.locked() as told:
        data = stamped(text, request.stamp, revision=1).encode()
        operation = journal.Create(relative, data)
        diff = _diff(workspace, operation) if request.dry_run else ""
        if not request.dry_run:
            journal.write(workspace.root, workspace.journal, (operation,))
            recent.forget(workspace.journal, relative)  # of an earlier file of that name
    return Outcome(path=relative, revision=f"1-{files.digest(data)[:8]}", changed=True, notes=told, diff=diff)


def _diff(workspace: Workspace, operation: journal.Operation) -> str:
    """Return the unified diff of one operation against what is on disk."""
    if not isinstance(operation, journal.Create | journal.Replace | journal.Append):
        return ""
    path = workspace.root / operation.path
    old = files.read(path) if not isinstance(operation, journal.Create) else b""
    new = old + operation.data if isinstance(operation, journal.Append) else operation.data
    return unified_diff(operation.path, old.decode(), new.decode(), is_new=isinstance(operation, journal.Create))


def unified_diff(name: str, old: str, new: str, *, is_new: bool = False) -> str:
    """Return the unified diff of a file's text, each line ended by LF; what looks like a credential is masked in it."""
    before, after = (text.replace("\r\n", "\n").replace("\r", "\n").split("\n") for text in (old, new))
    before, after = (lines[:-1] if lines[-1] == "" else lines for lines in (before, after))
    lines = difflib.unified_diff(before, after, "/dev/null" if is_new else f"a/{name}", f"b/{name}", lineterm="")
    return secrets.masked("".join(line + "\n" for line in lines))


def _is_stamped(loaded: Loaded, document: Document) -> bool:
    """Return whether a write leaves its marks: in every state file whose front matter can be read, in no other file."""
    own = kinds.own_file(loaded.relative)
    return (
        own is not None and own.type == "state" and (bool(loaded.document.front_matter) or bool(document.front_matter))
    )
