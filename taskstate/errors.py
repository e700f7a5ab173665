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
    from typing import Any, Self

_INTERRUPTED = 130  # the exit status after Ctrl-C


class TaskstateError(Exception):
    """The job could not be done.

    `message` says what failed and where, `help` what to do about it, and `code` names the case for programs.
    """

    code = "error"

    def __init__(self, message: str, *, help: str = "", code: str = "") -> None:  # noqa: A002 - the field's own word
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
        code: str = "",
        shown: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, help=help, code=code)
        self.reasons = reasons
        self.shown = shown


class EditConflict(TaskstateError):
    """Two edits of one plan touch the same text."""

    code = "edit-conflict"


class CannotEdit(TaskstateError):
    """The text is written in a form (an alias, a tag, a duplicate key …) that cannot be changed safely."""

    code = "cannot-edit"


class StaleFile(TaskstateError):
    """The file on disk changed after the plan was made."""

    code = "stale"


class LockTimeout(TaskstateError):
    """Another writer held the repository's lock for longer than we wait."""

    code = "lock-timeout"


class GitFailed(TaskstateError):
    """Git is missing, too old, or refused the command."""

    code = "git"


class Ended(KeyboardInterrupt):
    """The system tells this process to end: handled wherever Ctrl-C is, so that nothing stays that was for a while."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


def end(number: int, _frame: object) -> None:
    """Handle a signal that asks this process to end; the next one ends it at once."""
    import _signal  # type: ignore[import-not-found]  # as in `__main__`

    _signal.signal(number, _signal.SIG_DFL)
    raise Ended(number)


def interrupted_status(error: BaseException | None) -> int:
    """Return the exit status for an error that comes of Ctrl-C or another signal that ends us, 0 for any other error.

    Python makes another error of it while it builds a class, for example.
    """
    while error and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    if isinstance(error, Ended):
        return error.status
    return _INTERRUPTED if error else 0


class Held:
    """Holds the signals that ask this process to end: they are obeyed at the end of the `with` block.

    An exception in the wrong moment would leave behind what nobody knows of yet, or any more: a program, a temporary
    file, one of several files. Within the block `release` has them obeyed as they come, and `hold` holds them again; of
    blocks within each other all have to be released. Only signals that nobody else handles, and only in the main
    thread, where alone Python allows it.
    """

    def __init__(self) -> None:
        self._is_released = False
        self._before: dict[int, Any] = {}  # what handled each signal
        self._number = 0  # of the signal that was held

    def __enter__(self) -> Self:
        """Hold the signals from now on."""
        import _signal  # as in `end`

        usual = (_signal.default_int_handler, _signal.SIG_DFL, end)
        ending = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP)
        handlers = {number: _signal.getsignal(number) for number in ending}
        self._before = {n: each for n, each in handlers.items() if each in usual or isinstance(each, Held)}
        try:
            for number in self._before:
                _signal.signal(number, self)
        except ValueError:  # this is not the main thread
            self._before = {}
        return self

    def __exit__(self, *_: object) -> None:
        """Obey a signal that came, and have all handled as before."""
        import _signal

        self._is_released = True
        for number, handler in self._before.items():
            _signal.signal(number, handler)
        self._obey()

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        self._number = number
        if self._is_released:
            self._obey()

    def release(self) -> None:
        """Obey from now on, also a signal that came before."""
        self._is_released = True
        self._obey()

    def hold(self) -> None:
        """Only remember from now on."""
        self._is_released = False

    def _obey(self) -> None:
        """Leave as the signal that came demands, if there was one."""
        number, self._number = self._number, 0
        handler = self._before.get(number)
        if callable(handler):  # it raises, unless it is one that holds them around this one
            handler(number, None)
        elif number:
            raise SystemExit(128 + number)
