"""Runs the command line as a process of its own: as `taskstate`, and as `python -m taskstate`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what of `signal` is built in: the rest takes a millisecond
import atexit
import gc
import os
import sys

from taskstate.cli.lean_imports import import_lean
from taskstate.errors import Ended, end

# Objects that are made before the garbage collector looks for cycles. Importing makes tens of thousands that all stay,
# and so does reading a large file: with Python's own 700 it looks at them again and again, in vain. A server sets less.
_GARBAGE = 1_000_000
_INTERRUPTED = 130
_ENDING = (_signal.SIGTERM, _signal.SIGHUP)


def run() -> None:
    """Run one command, and end the process with its exit status.

    The interpreter is not taken apart, which takes as long as starting it: the system frees everything at once.
    """
    for descriptor in (1, 2):
        try:  # where another program made it so, a full pipe would lose output without a word
            os.set_blocking(descriptor, True)
        except OSError:  # it is closed
            continue
    for number in _ENDING:
        if _signal.getsignal(number) == _signal.SIG_DFL:  # `nohup` has it ignored
            _signal.signal(number, end)
    try:
        gc.set_threshold(_GARBAGE)
        import_lean()
        from taskstate.cli.main import main

        status = main()
    except KeyboardInterrupt as error:  # before `main` handles it, or while it does
        status = error.status if isinstance(error, Ended) else _INTERRUPTED
    for number in (_signal.SIGINT, *_ENDING):
        _signal.signal(number, _signal.SIG_IGN)  # the command is done; only a traceback could come of it
    atexit._run_exitfuncs()  # noqa: SLF001 - `multiprocessing` ends its processes so, too; there is no public name
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # `main` has said what there was to say about it
            continue
    os._exit(status)


if __name__ == "__main__":
    run()
