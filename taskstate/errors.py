"""The exceptions that a caller would handle differently.

What is wrong with somebody's text is never an exception: it is a value (`Problem`, `Fault`, `Diagnostic`). Exceptions
are for a world that refuses. Only the command line turns them into an exit status.

    TaskstateError            it could not be done; exit status 2
    ├── EditConflict          two edits of one plan touch the same text
    ├── CannotEdit            the text's form does not allow a safe change by span
    ├── StaleFile             the file is no longer what the plan was made for; plan again
    ├── LockTimeout           another writer holds the lock
    └── GitFailed             git is missing or refused
"""

from __future__ import annotations


class TaskstateError(Exception):
    """It could not be done: the message says what and where, `help` what to do, `code` names the case for programs."""

    code = "error"

    def __init__(self, message: str, *, help: str = "", code: str = "") -> None:  # noqa: A002 - the field's own word
        super().__init__(message)
        self.message = message
        self.help = help
        if code:
            self.code = code

    def __str__(self) -> str:
        """Return the one line that a person reads: the message, and what to do."""
        return f"{self.message}: {self.help}" if self.help else self.message


class EditConflict(TaskstateError):
    """Two edits of one plan touch the same text."""

    code = "edit-conflict"


class CannotEdit(TaskstateError):
    """The text's form (an alias, a tag, a duplicate key …) does not allow a safe change by span."""

    code = "cannot-edit"


class StaleFile(TaskstateError):
    """The file on disk is no longer the one that the plan was made for."""

    code = "stale"


class LockTimeout(TaskstateError):
    """Another writer holds the repository's lock for too long."""

    code = "lock-timeout"


class GitFailed(TaskstateError):
    """Git is missing, too old, or refused."""

    code = "git"
