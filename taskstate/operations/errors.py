"""Errors as doors tell them: several reasons in one message, and a fault of our own as one line and a log file."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.errors import SeveralReasons


def in_one(error: SeveralReasons) -> TaskstateError:
    """Return an error that has its reasons in its message."""
    return TaskstateError(f"{error.message}: {'; '.join(error.reasons)}", help=error.help, code=error.code)


def our_fault(error: Exception) -> TaskstateError:
    """Return the error for an internal fault; the traceback goes into a log file."""
    import traceback

    from taskstate.secrets.mask import masked
    from taskstate.storage.temporary import lasting_file

    trace = masked("".join(traceback.format_exception(error)))  # a traceback quotes values, which may be secret
    log = lasting_file("taskstate-fault-", ".log", trace)
    message = f"a fault of taskstate's own: {type(error).__name__}"
    return TaskstateError(message, help=f"please report it; the details are in {log}", code="fault")
