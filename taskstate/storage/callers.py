"""Says by which programs this one was called: a client says nowhere else how it was started."""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Caller(NamedTuple):
    """A program that is running: the words that it was started with, and whether a terminal is its input."""

    words: tuple[str, ...]
    at_terminal: bool


def callers() -> Iterator[Caller]:
    """Yield the programs above this one, the nearest first; none where the system does not tell, as macOS."""
    process = os.getppid()
    with suppress(TaskstateError, OSError, ValueError, IndexError):
        while process > 1:
            words = files.read(f"/proc/{process}/cmdline").decode("utf-8", "replace").split("\0")
            source = folders.link_text(f"/proc/{process}/fd/0")
            yield Caller(tuple(words), source.startswith((b"/dev/pts/", b"/dev/tty")))
            process = int(files.read(f"/proc/{process}/stat").rpartition(b") ")[2].split()[1])
