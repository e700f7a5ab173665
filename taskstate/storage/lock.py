"""Takes the one lock that guards every write of a repository.

It is a lock of the operating system, so it ends with the process that holds it. Who holds it and since when is written
into the lock file for the message of a time-out; nothing is decided by that text (docs/decisions/009). Unlike other
modules this one reads the clock and the environment: no caller knows the moment at which the lock is taken.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import sys
import time
from contextlib import contextmanager, suppress
from itertools import takewhile

from taskstate.errors import LockTimeout, TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TIMEOUT_SECONDS = 30.0  # twenty writers in a row take ten on a loaded machine
_POLL_SECONDS = 0.005
_POLLS = 20  # of one open file; then it is opened again, since it may have been deleted
_HOLDER_BYTES = 400  # of the text that names the holder
# A command's own name: other arguments may hold anything, also secrets, and must not be shown to another user.
_COMMAND_WORD = r"[a-z][a-z-]{0,20}"


@contextmanager
def locked(path: Path, timeout: float = TIMEOUT_SECONDS) -> Iterator[None]:
    """Hold the lock on the file `path`, after waiting at most `timeout` seconds for it.

    Raises:
        LockTimeout: another process held it all the time; the message names it if the lock file does.
    """
    with files.os_errors("lock", path):
        descriptor = _acquire(path, timeout)
    try:
        _write_holder(descriptor, _this_process())
        yield
    finally:
        _write_holder(descriptor, "")  # before the release: afterwards the file may be the next holder's
        # Not by closing alone: a process that was forked meanwhile has the same open file, and with it the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _acquire(path: Path, timeout: float) -> int:
    """Lock the file at `path`, and return the descriptor that holds the lock."""
    files.make_folder(path.parent)
    end = time.monotonic() + timeout
    descriptor = _try(path)
    while descriptor is None:
        if time.monotonic() >= end:
            raise _timed_out(path, timeout)
        descriptor = _try(path, _POLLS)
    return descriptor


def _try(path: Path, polls: int = 0) -> int | None:
    """Return a descriptor that holds the lock, or None while somebody else does, also after so many `polls`."""
    descriptor = folders.open_file(path, os.O_RDWR | os.O_CREAT, 0o666)
    held = False
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise TaskstateError(
                f"cannot lock {files.shown(path)}: it is not a plain file", help="delete it", code="lock"
            )
        while not (taken := _take(descriptor)) and polls > 0:
            polls -= 1
            time.sleep(_POLL_SECONDS)
        held = taken and _is_at(path, descriptor)
    finally:
        if not held:
            os.close(descriptor)
    return descriptor if held else None


def _take(descriptor: int) -> bool:
    """Return whether nobody else held the lock, which is taken then."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether the open file is still the one at `path`: a lock on one that was deleted keeps nobody out."""
    found = folders.find(path)
    return found is not None and os.path.samestat(found, os.fstat(descriptor))


def _timed_out(path: Path, timeout: float) -> LockTimeout:
    who = holder(path) or "somebody who left no name"
    message = f"another command is writing: {files.shown(path)} was not free within {timeout:g} seconds"
    help_ = "wait until it has ended, then run this again; deleting the lock file does not help"
    return LockTimeout(f"{message}, and is held by {who}", help=help_)


def holder(path: Path) -> str:
    """Return the text in the lock file that names its holder, ready for a message; empty if there is none."""
    try:
        descriptor = folders.open_file(path, os.O_RDONLY)
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


def _write_holder(descriptor: int, text: str) -> None:
    """Overwrite the text in the lock file; if that fails, only the message of a time-out says less.

    The text is padded with blanks instead of truncating the file, which makes some file systems write to the disk at
    once. A file that has a second name (a hard link) may be somebody else's, and is left as it is.
    """
    with suppress(OSError):
        if os.fstat(descriptor).st_nlink == 1:
            os.pwrite(descriptor, text.encode("utf-8", "replace")[:_HOLDER_BYTES].ljust(_HOLDER_BYTES), 0)


def _this_process() -> str:
    """Return one line with the actor, process, host, command and time of this process."""
    words = takewhile(lambda word: re.fullmatch(_COMMAND_WORD, word), sys.argv[1:3])
    command = " ".join(["taskstate", *words])
    actor = os.environ.get("TASKSTATE_ACTOR", "")
    host = os.uname().nodename
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    prefix = f"{actor[:80]}, " if actor else ""
    return f"{prefix}process {os.getpid()} on {host[:80]} (`{command}`) since {since}\n"
