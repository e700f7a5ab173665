"""Runs the command line as a process of its own: as `taskstate`, and as `python -m taskstate`."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what of `signal` is built in: the rest takes a millisecond
import atexit
import gc
import os
import sys

from taskstate.cli.lean_imports import import_lean

# Objects that are made before the garbage collector looks for cycles. Importing makes tens of thousands that all stay,
# and so does reading a large file: with Python's own 700 it looks at them again and again, in vain. A server sets less.
_GARBAGE = 1_000_000
_INTERRUPTED = 130


def run() -> None:
    """Run one command, and end the process with its exit status.

    The interpreter is not taken apart, which takes as long as starting it: the system frees everything at once.
    """
    try:
        gc.set_threshold(_GARBAGE)
        import_lean()
        from taskstate.cli.main import main

        status = main()
    except KeyboardInterrupt:  # before `main` handles it, or while it does
        status = _INTERRUPTED
    _signal.signal(_signal.SIGINT, _signal.SIG_IGN)  # the command is done; only a traceback could come of it
    atexit._run_exitfuncs()  # noqa: SLF001 - `multiprocessing` ends its processes so, too; there is no public name
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # `main` has said what there was to say about it
            continue
    os._exit(status)


if __name__ == "__main__":
    run()
