"""Checks a state file before it is changed, and its new text before it is written.

Each check raises an error that says what to do. None of them reads or changes anything on disk.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.document_kinds import PERMANENT, TASK, kind_names
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.model.write_metadata import check_seal
from taskstate.typed import TYPE_CHECKING
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from taskstate.error_codes import ErrorCode
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded

_EXPECTED = "14, or 14-1a2b3c4d as `taskstate show ID` prints it"


def require_writable(loaded: Loaded, expected: str, *, sealed: bool = True) -> None:
    """Refuse a file that is not at the `expected` revision, has a newer format, or (`sealed`) whose seal is broken.

    Raises:
        TaskstateError: code "usage", "revision", "newer-format" or "seal-broken".
    """
    require_revision(loaded, expected)
    version = loaded.document.front_matter.get("taskstate")
    if isinstance(version, int) and version > FORMAT:
        message = (
            f"{loaded.relative} has format version {version}, and {FORMAT} is the newest that this taskstate knows"
        )
        raise TaskstateError(message, help="update taskstate", code="newer-format")
    if sealed:
        check_seal(loaded.document, loaded.relative)


def require_revision(loaded: Loaded, expected: str) -> None:
    """Refuse a file that is not at the `expected` revision or token; empty accepts any.

    Raises:
        TaskstateError: code "revision" if it is at another one, "usage" if `expected` is not a revision.
    """
    if not expected:
        return
    number, dash, digest = expected.partition("-")
    if not re.fullmatch(r"[0-9]{1,18}", number) or (dash and not digest):
        raise TaskstateError(f"{expected!r} is not a revision", help=f"write {_EXPECTED}", code="usage")
    if int(number) != loaded.state.revision or (dash and not loaded.digest.startswith(digest.lower())):
        raise TaskstateError(
            f"{loaded.relative} was changed: it is at revision {loaded.token} now, not {expected}",
            help="read the file again, then decide whether the change is still right",
            code="revision",
        )


def require_whole(loaded: Loaded) -> None:
    """Refuse a state file whose front matter cannot be read, or names another task, or a kind that there is not.

    Raises:
        TaskstateError: code "unreadable", "file-name" or "unknown-kind".
    """
    document, own = loaded.document, names.own_file(loaded.relative)
    problems = [problem for problem in document.problems if problem.kind.startswith("front-matter-")]
    if problems or not document.front_matter:
        line = document.position(problems[0].span.start).line + 1 if problems else 1
        message = problems[0].message if problems else "the front matter is empty"
        raise TaskstateError(
            f"{loaded.relative}, line {line}: {message}", help="fix it; `taskstate lint` says how", code="unreadable"
        )
    file_id = own.id if own else None
    if file_id and file_id.casefold() != loaded.state.id.casefold():
        message = f"{loaded.relative}: the file's name says {file_id}, and its task_id {loaded.state.id}"
        raise TaskstateError(message, help="make them agree; `taskstate lint` says how", code="file-name")
    kind, known = document.front_matter.get("kind", TASK), kind_names(document.kinds)
    if kind not in known:  # what it holds would be judged by another one
        help_ = f"correct it: the kinds here are {', '.join(known)}"
        raise TaskstateError(
            f"{loaded.relative} has the kind {kind!r}, which does not exist", help=help_, code="unknown-kind"
        )


def require_not_dropped(state: TaskState) -> None:
    """Refuse a task that was dropped: nobody works on it until it is reopened.

    Raises:
        TaskstateError: code "dropped".
    """
    if state.status == DROPPED:
        help_ = f'`taskstate reopen {state.id} --note "WHY"` reopens it'
        raise TaskstateError(f"task {state.id} is dropped", help=help_, code="dropped")


def require_not_complete(state: TaskState, so: str, *, code: ErrorCode = "complete") -> None:
    """Refuse a task that is complete; the message ends with what follows from that.

    Raises:
        TaskstateError: code "complete", or the one given.
    """
    if state.status == COMPLETE:
        help_ = f'`taskstate reopen {state.id} --note "WHY"` reopens it'
        raise TaskstateError(f"task {state.id} is complete{so}", help=help_, code=code)


def require_work(state: TaskState, lacks: str, help_: str = "") -> None:
    """Refuse the permanent task, which is no work to be done; `lacks` says what it has not.

    Raises:
        TaskstateError: code "kind".
    """
    if state.kind == PERMANENT:
        message = f"task {state.id} is the permanent task, which has no {lacks}"
        raise TaskstateError(message, help=help_ or "`taskstate next` names the task to work on", code="kind")


def require_sound(loaded: Loaded, after: TaskState) -> None:
    """Refuse a new text that has problems which the file on disk has not: a bug of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe".
    """
    before = {problem.kind for problem in loaded.state.problems}
    new = [problem for problem in after.problems if problem.kind not in before]
    was = loaded.state.text("task_id")
    if new or (was and after.id != was):
        reasons = "; ".join(dict.fromkeys(problem.message for problem in new))
        raise TaskstateError(
            f"{loaded.relative} cannot be changed safely: {reasons or 'its task_id would change'}",
            help="run `taskstate lint` on it first",
            code="unsafe",
        )
