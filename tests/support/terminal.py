"""A real terminal for tests: a process runs in one, and what a person would see is returned."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import termios
import tty
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

_SIZE = (40, 120)


def seen(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    typed: str = "",
    until: Callable[[bytes], bool] | None = None,
) -> tuple[int, str]:
    """Run a command with standard output and error on one terminal; return its exit status and what was written there.

    What is `typed` is its standard input, from the same terminal; without that it has none.
    Ctrl-C is pressed when what was written is such as is waited for (`until`).
    `env` is added to the environment of the tests, from which NO_COLOR is left out.
    """
    ours, theirs = pty.openpty()
    tty.setraw(theirs, termios.TCSANOW)  # line ends arrive as they were written
    termios.tcsetwinsize(theirs, _SIZE)
    around = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    with subprocess.Popen(
        [*map(str, command)],
        cwd=cwd,
        env=around | {"TERM": "xterm"} | dict(env or {}),
        stdin=theirs if typed else subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        os.write(ours, typed.encode())
        written = b""
        for piece in pieces(ours):
            was_there, written = bool(until and until(written)), written + piece
            if until and until(written) and not was_there:
                process.send_signal(signal.SIGINT)
    os.close(ours)
    return process.returncode, written.decode()


def pieces(terminal: int) -> Iterator[bytes]:
    """Yield what is written to the terminal until everybody has closed it."""
    with suppress(OSError):  # this is how Linux says that the other side is closed
        while piece := os.read(terminal, 65536):
            yield piece
