"""Runs the command line as a process of its own: as `taskstate`, and as `python -m taskstate`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what of `signal` is built in: the rest takes a millisecond
import atexit
import os
import sys

_ENDING = (_signal.SIGTERM, _signal.SIGHUP)
_SIGNALLED = 128  # and the signal's number are the exit status of who was ended by it
_SOON = 0.001  # seconds


def run() -> None:
    """Run one command, and end the process with its exit status.

    The interpreter is not taken apart, since the system frees everything at once: 7 to 9 % of the processor time of
    `lint` of one file, `list` and `next`. Nothing else that spares start-up time by unusual means brought 5 %.
    """
    for descriptor in (1, 2):
        try:  # where another program made it so, a full pipe would lose output without a word
            os.set_blocking(descriptor, True)
        except OSError:  # it is closed
            continue
    try:  # Ctrl-C may come at once
        status = _status()
    except BaseException as error:
        from taskstate.errors import interrupted_status

        status = interrupted_status(error)
        if not status:
            raise
    for number in (_signal.SIGINT, *_ENDING):
        _signal.signal(number, _signal.SIG_IGN)  # the command is done; only a traceback could come of it
    program = sys.modules.get("taskstate.storage.git.program")
    if program:  # nobody waits any more for what git says
        program.end_started(everywhere=True)
    atexit._run_exitfuncs()  # noqa: SLF001 - `multiprocessing` ends its processes so, too; there is no public name
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # `main` has said what there was to say about it
            continue
    os._exit(status)


def _status() -> int:
    """Run one command, and return its exit status."""
    from taskstate.errors import end

    sys.unraisablehook = _obeyed_soon
    for number in _ENDING:
        if _signal.getsignal(number) == _signal.SIG_DFL:  # `nohup` has it ignored
            _signal.signal(number, end)
    from taskstate.cli.main import main

    return main()


def _obeyed_soon(ignored: sys.UnraisableHookArgs) -> None:
    """Have Ctrl-C, or another signal that ends us, obeyed where Python ignores it: in what it runs behind each import.

    It cannot be raised from here, where it would be ignored again. So the signal comes once more.
    """
    from taskstate.errors import end, interrupted_status

    number = interrupted_status(ignored.exc_value) - _SIGNALLED
    if number < 0:
        sys.__unraisablehook__(ignored)
        return
    if _signal.getsignal(number) == _signal.SIG_DFL:  # as `end` leaves it
        _signal.signal(number, end)
    _signal.signal(_signal.SIGALRM, lambda *_: _signal.raise_signal(number))
    _signal.setitimer(_signal.ITIMER_REAL, _SOON)


if __name__ == "__main__":
    run()
