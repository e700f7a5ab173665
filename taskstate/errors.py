"""The exceptions that taskstate raises: one class for each case that a caller would handle differently.

A mistake in a user's file is never an exception; it is returned as a value (`Problem`, `Fault`, `Diagnostic`).
Exceptions report what keeps a job from being done: a lock, git, a file that changed meanwhile. Only the command line
turns them into an exit status.

    TaskstateError            the job could not be done; exit status 2
    ├── SeveralReasons        several things stand in the way, and all of them are told
    ├── EditConflict          two edits of one plan touch the same text
    ├── CannotEdit            the text is written in a form that cannot be changed safely
    ├── StaleFile             the file changed after the plan was made; plan again
    ├── LockTimeout           another writer holds the lock
    └── GitFailed             git is missing or refused
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.error_codes import ErrorCode


class TaskstateError(Exception):
    """The job could not be done.

    `message` says what failed and where, `help` what to do about it, and `code` names the case for programs: one of
    `error_codes`.
    """

    code: ErrorCode = "error"

    def __init__(self, message: str, *, help: str = "", code: ErrorCode | None = None) -> None:  # noqa: A002 - the field's own word
        super().__init__(message)
        self.message = message
        self.help = help
        if code:
            self.code = code

    def __str__(self) -> str:
        """Return the message and the help as one line."""
        return f"{self.message}: {self.help}" if self.help else self.message


class SeveralReasons(TaskstateError):
    """Several things stand in the way: `reasons` has a line for each, `shown` is what people should see before them."""

    def __init__(
        self,
        message: str,
        reasons: tuple[str, ...],
        *,
        help: str = "",  # noqa: A002 - the field's own word
        code: ErrorCode | None = None,
        shown: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, help=help, code=code)
        self.reasons = reasons
        self.shown = shown


class EditConflict(TaskstateError):
    """Two edits of one plan touch the same text."""

    code: ErrorCode = "edit-conflict"


class CannotEdit(TaskstateError):
    """The text is written in a form (an alias, a tag, a duplicate key …) that cannot be changed safely."""

    code: ErrorCode = "cannot-edit"


class StaleFile(TaskstateError):
    """The file on disk changed after the plan was made."""

    code: ErrorCode = "stale"


class LockTimeout(TaskstateError):
    """Another writer held the repository's lock for longer than we wait."""

    code: ErrorCode = "lock-timeout"


class GitFailed(TaskstateError):
    """Git is missing, too old, or refused the command."""

    code: ErrorCode = "git"
