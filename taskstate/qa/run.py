"""Runs the validation commands of a task, one after the other, and says how each ended and which files changed.

What may run is decided before, in `trust`. Nothing is written but a temporary log without a name, so that a run that is
killed or interrupted leaves nothing behind. The log that comes out is fit to be kept: without terminal escapes,
with credentials masked, and of limited size.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager

from taskstate.errors import TaskstateError
from taskstate.evidence.process import Ended, run_in_shell
from taskstate.model.tool_blocks import CheckResult
from taskstate.qa import results as qa_results
from taskstate.qa.log_parser import read_log, text_chunks
from taskstate.qa.trust import shown
from taskstate.secrets.mask import masked
from taskstate.storage import temporary
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.storage.git.objects import Store, leaves
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO

    from taskstate.evidence.process import Following
    from taskstate.workspace.workspace import Workspace

LOG_LIMIT = 10 * 1024**2  # bytes of the logs of all commands together
_HEAD = 4  # one part in so many of what is kept of a long log is its beginning; tools tell their results at the end
_NOT_STARTED, _NOT_FOUND = 126, 127  # as a shell says of a command that it cannot run, or does not find
_NO_MODULE = re.compile(rb"(?m)^\S*python[\d.]*: No module named \S+\s*\Z")  # as of `python -m`, with status 1


class CommandRun(NamedTuple):
    """The results of commands by their text on one line, their log, and what they left in the working tree.

    `changed` are the tracked files whose content differs from before; `untracked` those that git neither tracks nor
    ignores and that are new, changed or gone. taskstate's own files do not count. Both are empty without git.
    """

    results: Mapping[str, CheckResult]
    log: bytes
    changed: tuple[str, ...] = ()
    untracked: tuple[str, ...] = ()


def run_commands(workspace: Workspace, commands: Sequence[str], *, timeout: float, progress: Following) -> CommandRun:
    """Run commands in the root of the repository, each for at most `timeout` seconds, and all of them in any case.

    `progress` is told of each command before it runs, in one line, and of what it prints.

    Raises:
        GitFailed: git cannot read the working tree.
    """
    results: dict[str, CheckResult] = {}
    logs = []
    with _watched(workspace) as changes:
        for number, command in enumerate(commands, 1):
            name = _name(workspace, command, results)
            with progress(f"running {name} ({number} of {len(commands)})") as follow:
                output, ended = _run(workspace, command, timeout, LOG_LIMIT // len(commands), follow)
            results[name] = _result(workspace, output, ended, timeout)
            logs.append(f"$ {shown(command)}\n{_text(output)}\n({_ending(ended, timeout)})\n")
        changed, untracked = changes()
    log = masked("".join(logs), workspace.config.secrets.allow).encode("utf-8", "replace")
    return CommandRun(results, log, changed, untracked)


def _name(workspace: Workspace, command: str, others: Mapping[str, CheckResult]) -> str:
    """Return the name of a command's result: its text on one line; a number tells it from another of that name."""
    text = shown(" ".join(command.split()))
    text = f"$ {text}" if text.startswith("x-") else text  # such keys of a front matter belong to others
    text = masked(text, workspace.config.secrets.allow)
    name, number = qa_results.shortened(text), 1
    while name in others:
        number += 1
        name = f"{qa_results.shortened(text, qa_results.MAX_TEXT - 10)} ({number})"
    return name


def _result(workspace: Workspace, output: bytes, ended: Ended, timeout: float) -> CheckResult:
    """Return the result of a command: the exit status decides, and its text has the figures that its output tells."""
    if ended.exit_status in {_NOT_STARTED, _NOT_FOUND} or (ended.exit_status and _NO_MODULE.search(output)):
        text = f"{qa_results.CANNOT_RUN}, {_ending(ended, timeout)}"
    elif ended.exit_status or ended.timed_out:
        figures = "" if ended.timed_out else _figures(workspace, output)
        text = qa_results.result_of(figures, ended.exit_status).text if figures else _ending(ended, timeout)
    else:
        text = qa_results.result_of(_figures(workspace, output)).text or _ending(ended, timeout)
    is_ok = not ended.exit_status and not ended.timed_out
    return CheckResult(is_ok, masked(text, workspace.config.secrets.allow))


def _figures(workspace: Workspace, output: bytes) -> str:
    """Return what a log says, in one line, with what failed first; several results are told apart by their names."""
    found = sorted(read_log(output, workspace.config.qa).items(), key=lambda each: (each[1].ok, each[0]))
    # A percentage needs its name: else nobody would know that it is coverage.
    return ", ".join(
        f"{name} {result.text}" if len(found) > 1 or "cov" in name else result.text for name, result in found
    )


def _ending(ended: Ended, timeout: float) -> str:
    if ended.timed_out:
        return f"timed out after {timeout:g} s"
    # As a shell has it for a command that a signal ended.
    return f"exit status {128 - ended.exit_status if ended.exit_status < 0 else ended.exit_status}"


def _text(output: bytes) -> str:
    return "".join(text_chunks(output)).rstrip("\n")


# The output


def _run(
    workspace: Workspace, command: str, timeout: float, limit: int, follow: Callable[[bytes], None]
) -> tuple[bytes, Ended]:
    """Run one command; return its output, without the middle where it is longer than `limit` bytes."""
    with _temporary_file(workspace) as file:
        log = _LimitedLog(file, limit)

        def keep(chunk: bytes) -> None:
            log.write(chunk)
            follow(chunk)

        try:
            ended = run_in_shell(workspace.root, command, keep, timeout=timeout)
        except TaskstateError as error:
            if error.code != "command":
                raise
            log.write(f"{error.message}\n".encode())
            ended = Ended(_NOT_STARTED)
        return log.read(), ended


@contextmanager
def _temporary_file(workspace: Workspace) -> Iterator[IO[bytes]]:
    """Yield a file without a name, in the private folder if there is one: the output may be for the user alone."""
    folder = workspace.private.write
    if folder:
        make_folder(folder)
    with temporary.nameless_file(folder) as file:
        yield file


class _LimitedLog:
    """Output in a file: all of it up to a limit, else its beginning and its end, with a line that says so."""

    def __init__(self, file: IO[bytes], limit: int) -> None:
        self._file = file
        self._limit = limit
        self._head = limit // _HEAD
        self._left_out = 0

    def write(self, chunk: bytes) -> None:
        """Append a piece of output; at twice the limit the middle goes, so that this costs little on average."""
        self._file.write(chunk)
        if self._file.tell() > 2 * self._limit:
            self._drop_middle()

    def _drop_middle(self) -> None:
        keep = self._limit - self._head
        dropped = self._file.tell() - self._limit
        self._file.seek(-keep, os.SEEK_END)
        tail = self._file.read()
        self._file.seek(self._head)
        self._file.write(tail)
        self._file.truncate()
        self._left_out += dropped

    def read(self) -> bytes:
        """Return what was kept."""
        if self._file.tell() > self._limit:
            self._drop_middle()
        self._file.seek(0)
        output = self._file.read()
        if not self._left_out:
            return output
        # Half a line could be half of a credential, which nobody would know for one.
        head, tail = output[: self._head].rpartition(b"\n")[0], output[self._head :].partition(b"\n")[2]
        left_out = self._left_out + len(output) - len(head) - len(tail)
        return head + f"\n[{left_out:,} bytes are left out here]\n".encode() + tail


# The working tree


@contextmanager
def _watched(workspace: Workspace) -> Iterator[Callable[[], tuple[tuple[str, ...], tuple[str, ...]]]]:
    """Yield a function that returns the tracked and the untracked files that have changed since the beginning."""
    if git.toplevel(workspace.root) is None:
        yield lambda: ((), ())
        return
    folder = workspace.config.root
    with worktree.scratch(workspace.root) as place:
        tracked = frozenset(place.run(["ls-files", "-z", "--cached", "--", "."]).split(b"\0"))
        worktree.update_index(place, workspace.is_ours, folder)
        before = worktree.write_tree(place)

        def changes() -> tuple[tuple[str, ...], tuple[str, ...]]:
            worktree.update_index(place, workspace.is_ours, folder)
            store = Store(place, before)
            try:
                found = leaves(store.changes(before, worktree.write_tree(place)), workspace.is_ours)
            finally:
                store.close()
            paths = sorted((each.path not in tracked, os.fsdecode(each.path)) for each in found)
            return (
                tuple(path for is_new, path in paths if not is_new),
                tuple(path for is_new, path in paths if is_new),
            )

        yield changes
