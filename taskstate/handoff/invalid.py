"""Finds documents among a task's open handoffs that are not valid: written by hand, or never completed.

Such a document says that somebody handed over, so no command passes it over in favour of an older one. What is wrong
with it is for the linter to say, which callers pass as `errors_in`.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.handoff.document import ACCEPTED
from taskstate.handoff.document_files import HandoffFile, archive_path, document_name
from taskstate.handoff.paths import folder, is_handoff_path
from taskstate.messages import typed_path
from taskstate.model.names import time_of_handoff
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from taskstate.error_codes import ErrorCode
    from taskstate.handoff.document_files import HandoffDocuments
    from taskstate.workspace.workspace import Workspace

    # Given the path, the text and the creation time of a document, the code and message of each error in it.
    Validator: TypeAlias = Callable[[str, str, str], tuple[tuple[str, str], ...]]

INVALID: ErrorCode = "handoff-invalid"
_UNKNOWN_TIME = "1970-01-01T00:00:00Z"
# A path that is gone since, or a second document, does not make a document another one: the linter tells of it.
_MAY_CHANGE = frozenset({"TS805", "TS807"})


class InvalidHandoff(NamedTuple):
    """A document that is not valid, and what is wrong with it."""

    file: HandoffFile
    findings: tuple[str, ...]


def invalid_documents(
    workspace: Workspace, task_id: str, documents: HandoffDocuments, errors_in: Validator
) -> tuple[InvalidHandoff, ...]:
    """Return the documents of a task that are not valid, but for those that were accepted."""
    waiting = [each for each in documents.read if each.status != ACCEPTED and each.path != archive_path(each.path)]
    found = (InvalidHandoff(each, _findings(workspace, task_id, each, errors_in)) for each in waiting)
    strays = (InvalidHandoff(each, _findings(workspace, task_id, each, errors_in)) for each in documents.strays)
    return (*strays, *(each for each in found if each.findings))


def _findings(workspace: Workspace, task_id: str, file: HandoffFile, errors_in: Validator) -> tuple[str, ...]:
    """Return what is wrong with a document; one of another name is judged as if it had a document's name."""
    has_name = is_handoff_path(file.path, task_id)
    path = file.path if has_name else f"{folder(task_id)}/{document_name('1', _UNKNOWN_TIME)}"
    errors = errors_in(f"{workspace.config.root}/{path}", file.document.text, file.text("created_at") or _UNKNOWN_TIME)
    named = () if has_name else ("its name is not phase-<P>-handoff-<YYYYMMDDTHHMMSSZ>.md",)
    return (*named, *(message for code, message in errors if code not in _MAY_CHANGE))


def require_valid(workspace: Workspace, task_id: str, documents: HandoffDocuments, errors_in: Validator) -> None:
    """Refuse to go on while a document that is not valid lies among the open handoffs, unless a newer one is valid.

    Raises:
        TaskstateError: code "handoff-invalid": the message names the document and all that is wrong with it.
    """
    invalid = invalid_documents(workspace, task_id, documents, errors_in)
    unresolved = pending(documents, invalid)
    if unresolved:
        raise invalid_error(workspace, task_id, unresolved[0])


def pending(documents: HandoffDocuments, invalid: tuple[InvalidHandoff, ...]) -> tuple[InvalidHandoff, ...]:
    """Return those documents that no other one is newer than; one without a time in its name may be the newest."""
    wrong = {each.file.path for each in invalid}
    others = (*(each.path for each in documents.read if each.path not in wrong), *dict(documents.unreadable))
    newest = max(map(time_of_handoff, others), default="")
    return tuple(
        each for each in invalid if not time_of_handoff(each.file.path) or time_of_handoff(each.file.path) > newest
    )


def invalid_error(workspace: Workspace, task_id: str, invalid: InvalidHandoff) -> TaskstateError:
    """Return the error for a document that is not valid, with the command that makes it one."""
    path = f"{workspace.config.root}/{invalid.file.path}"
    message = f"the handoff {path} is not valid: {'; '.join(invalid.findings)}"
    return TaskstateError(message, help=cure(task_id, path), code=INVALID)


def cure(task_id: str, path: str) -> str:
    """Return how a document that is not valid is put right."""
    command = f"`taskstate handoff new {task_id} --from {typed_path(path)}`"
    return f"complete it, and {command} takes it over; or move it elsewhere"
