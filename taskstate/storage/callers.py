"""Says by which programs this one was called: a client says nowhere else how it was started."""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def callers() -> Iterator[tuple[tuple[str, ...], bool]]:
    """Yield the words with which each program above this one was started, and whether a terminal is its input.

    The nearest is first; there are none where the system does not tell, as macOS.
    """
    process = os.getppid()
    with suppress(TaskstateError, OSError, ValueError, IndexError):
        while process > 1:
            words = files.read(f"/proc/{process}/cmdline").decode("utf-8", "replace").split("\0")
            source = folders.link_text(f"/proc/{process}/fd/0")
            yield tuple(words), source.startswith((b"/dev/pts/", b"/dev/tty"))
            process = int(files.read(f"/proc/{process}/stat").rpartition(b") ")[2].split()[1])
