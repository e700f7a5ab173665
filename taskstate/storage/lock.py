"""The one lock that every write of a repository takes: the kernel's own, so that a dead holder leaves none.

Who holds it and since when stands in the lock file as text, for people alone: nothing is decided by it. See
docs/decisions/009-who-holds-the-lock.md. The clock and the environment are read here, because that text says when and
by whom, and no caller can know when the lock came free.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager, suppress
from itertools import takewhile
from typing import TYPE_CHECKING

from taskstate.errors import LockTimeout
from taskstate.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_SECONDS = 10.0
_POLL_SECONDS = 0.02
_HOLDER_BYTES = 400  # bytes of the text
_COMMAND_WORD = re.compile(r"[a-z][a-z-]{0,20}")  # a command's name, and nothing that somebody may have written


@contextmanager
def locked(path: Path, timeout: float = TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the lock file at `path`, waiting at most `timeout` seconds; the kernel frees it when its holder dies.

    Raises:
        LockTimeout: somebody else held it all the time; the message says who, as far as they said so.
    """
    from filelock import FileLock, Timeout

    with files.os_errors("lock", path):
        files.make_folder(path.parent)
        lock = FileLock(path)
        try:
            lock.acquire(timeout=timeout, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            who = holder(path) or "somebody who left no name"
            message = f"another command is writing: {files.shown(path)} was not free within {timeout:g} seconds"
            raise LockTimeout(
                f"{message}, and is held by {who}",
                help="wait until it has ended, then run this again; deleting the lock file does not help",
            ) from error
    try:
        _write_holder(path, _this_process())
        yield
    finally:
        _write_holder(path, "")
        lock.release()


def holder(path: Path) -> str:
    """Return what the lock file says of its holder, safe to be shown; empty where it says nothing."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return ""
    try:
        text = os.read(descriptor, _HOLDER_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return files.shown(text.strip())


def is_free(path: Path) -> bool:
    """Tell whether nobody holds the lock now."""
    try:
        with locked(path, timeout=0):
            return True
    except LockTimeout:
        return False


def _write_holder(path: Path, text: str) -> None:
    """Put the text over the one in the lock file; where that cannot be done, only a message is poorer.

    It is padded with blanks: cutting the file would make some file systems write to the disk at once.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            os.write(descriptor, text.encode("utf-8", "replace")[:_HOLDER_BYTES].ljust(_HOLDER_BYTES))
        finally:
            os.close(descriptor)


def _this_process() -> str:
    """Return who we are: actor, command, process, host, and the time."""
    import time

    words = takewhile(_COMMAND_WORD.fullmatch, sys.argv[1:3])
    command = " ".join(["taskstate", *words])
    actor = os.environ.get("TASKSTATE_ACTOR", "")
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    named = f"{actor[:80]}, " if actor else ""
    return f"{named}process {os.getpid()} on {host[:80]} (`{command}`) since {since}\n"
