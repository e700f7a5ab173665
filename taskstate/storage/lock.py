"""Takes the one lock that guards every write of a repository.

It is a lock of the operating system, so it ends with the process that holds it. Who holds it and since when is written
into the lock file for the message of a time-out; nothing is decided by that text (docs/decisions/009). Unlike other
modules this one reads the clock and the environment: no caller knows the moment at which the lock is taken.
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

TIMEOUT_SECONDS = 30.0  # twenty writers in a row take ten on a loaded machine
_POLL_SECONDS = 0.02
_HOLDER_BYTES = 400  # of the text that names the holder
# A command's own name: other arguments may hold anything, also secrets, and must not be shown to another user.
_COMMAND_WORD = re.compile(r"[a-z][a-z-]{0,20}")


@contextmanager
def locked(path: Path, timeout: float = TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the lock on the file `path`, after waiting at most `timeout` seconds for it.

    Raises:
        LockTimeout: another process held it all the time; the message names it if the lock file does.
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
        _write_holder(path, "")  # before the release: afterwards the file may be the next holder's
        lock.release()


def holder(path: Path) -> str:
    """Return the text in the lock file that names its holder, ready for a message; empty if there is none."""
    try:
        # Whatever lies at `path`: a link is not followed, and a FIFO does not block.
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
    """Return whether nobody holds the lock at this moment."""
    try:
        with locked(path, timeout=0):
            return True
    except LockTimeout:
        return False


def _write_holder(path: Path, text: str) -> None:
    """Overwrite the text in the lock file; if that fails, only the message of a time-out says less.

    The text is padded with blanks instead of truncating the file, which makes some file systems write to the disk at
    once.
    """
    with suppress(OSError):
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
        try:
            os.write(descriptor, text.encode("utf-8", "replace")[:_HOLDER_BYTES].ljust(_HOLDER_BYTES))
        finally:
            os.close(descriptor)


def _this_process() -> str:
    """Return one line with the actor, process, host, command and time of this process."""
    import time

    words = takewhile(_COMMAND_WORD.fullmatch, sys.argv[1:3])
    command = " ".join(["taskstate", *words])
    actor = os.environ.get("TASKSTATE_ACTOR", "")
    host = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    prefix = f"{actor[:80]}, " if actor else ""
    return f"{prefix}process {os.getpid()} on {host[:80]} (`{command}`) since {since}\n"
