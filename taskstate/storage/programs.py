"""Starts every program but git, which `git.client` starts: nothing else in taskstate starts one.

What may be started is decided by the callers: the command line of an argument, one that was allowed with
`taskstate trust`, this Python for filling in a template, the `taskstate` of the PATH for its version, and the demo's
own steps. No word of a file is ever part of
the text that a shell reads.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from typing import IO


def start(words: Sequence[str], root: Path, *, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a program in `root`, without a shell, with pipes for its output and its errors.

    Raises:
        OSError, ValueError: the system cannot start it.
    """
    import subprocess

    return subprocess.Popen(
        words,
        cwd=root,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a process group of its own, so that what it starts can be ended with it
    )


def start_in_shell(command: str, root: Path) -> subprocess.Popen[bytes]:
    """Start a command line in a shell in `root`, with an empty input and one pipe for all that it prints.

    Raises:
        OSError, ValueError: the system cannot start it.
    """
    import subprocess

    return subprocess.Popen(  # noqa: S602 - running the caller's own command line is what is asked for
        f" {command}",  # a dash at its beginning would make an option for the shell of it
        shell=True,
        cwd=root,
        stdin=subprocess.DEVNULL,  # no terminal: it could not be answered
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,  # so that what it starts can be ended with it
    )


def run(words: Sequence[str], *, stdin: bytes, timeout: float) -> subprocess.CompletedProcess[bytes]:
    """Run a program with this input until it ends, or kill it after `timeout` seconds.

    Raises:
        OSError: the system cannot start it.
        TimeoutError: it took too long.
    """
    import subprocess

    try:
        return subprocess.run(words, input=stdin, capture_output=True, timeout=timeout, check=False)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError from error


def run_step(words: Sequence[str], root: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a step of the demo, and return its output with its errors as text."""
    import subprocess

    return subprocess.run(
        words,
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
