"""Starts git: nothing else in taskstate does.

A repository may be a stranger's, and git runs programs, opens connections and writes where its configuration says so.
Each start is therefore made harmless here, for all callers alike; the reason stands beside each setting. A name that
comes from a user or a file is never passed where git could take it for an option: callers put `--end-of-options` or
`--` before it.

What still runs is a `filter` that git's own configuration names (such as Git LFS), where git has to read a file's
content: without it, every file would seem to be changed. A clone brings no configuration with it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import partial

from taskstate.errors import GitFailed
from taskstate.storage.files import MAX_BYTES
from taskstate.storage.git.discovery import (
    bare_folder,
    discover,
    first_line,
    foreign,
    foreign_variables,
    git_folder,
    small_file,
)
from taskstate.storage.signals import Held
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from threading import Event
    from typing import IO

    from taskstate.error_codes import ErrorCode

_FLAGS = (
    "--no-pager",  # `core.pager` is a program
    "--no-optional-locks",  # what only reads, such as `status`, must not lock and rewrite the user's index
    *("-c", "core.fsmonitor=false"),  # a program that git asks what has changed
    *("-c", f"core.hooksPath={os.devnull}"),  # hooks are programs; one runs when an index is written
    *("-c", "protocol.allow=never"),  # no connection, and no `ext::program`; see GIT_ALLOW_PROTOCOL
    *("-c", "safe.bareRepository=explicit"),  # committed files can look like a repository with its own configuration
)
_SETTINGS = {
    "LC_ALL": "C",  # messages in English
    "GIT_ALLOW_PROTOCOL": "",  # no protocol: `protocol.allow` gives way to a `protocol.ext.allow` of the repository
    "GIT_NO_LAZY_FETCH": "1",  # in a partial clone, looking for an object must not fetch it
    "GIT_TERMINAL_PROMPT": "0",  # nobody is there to answer
    "GIT_OPTIONAL_LOCKS": "0",  # as above, also for what git itself starts, such as `status` in a submodule
    "GIT_PAGER": "cat",  # as above, for the same
}
# Git sets these for its hooks. They are removed: a command that works in another repository must not use the hook's
# repository, and in the hook's own one git finds the same by itself. GIT_INDEX_FILE stays unless it is of another
# repository: in a pre-commit hook it names the index of the commit that is being made.
_REPOSITORY_FOLDERS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR")
_DROPPED = (
    # These change the meaning of the patterns that are passed to git.
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    "GIT_EXTERNAL_DIFF",  # a program that would make the diffs
)
_CHUNK = 64 * 1024
_PAUSE = 0.01  # seconds
_LISTEN = 0.2  # seconds after which a wait looks for a signal: one that comes as it begins to wait does not wake Python
_MAX_MESSAGE = 300
_MUCH = "list what is not part of the project in .gitignore, or set `root` in taskstate.toml to a smaller part of it"
_PARTIAL = rb"(?im)^[ \t]*(?:promisor[ \t]*(?:=[ \t]*true[ \t]*)?\r?$|partialclone[ \t]*=)"
FETCH_ALL = "this clone is partial, and nothing is fetched for you: run `git fetch --refetch --no-filter` first"

# Git whose output somebody will wait for, by the event of its end: which thread started it, and its process.
_awaited: dict[Event, tuple[int, list[subprocess.Popen[bytes]]]] = {}


def run(
    args: Sequence[str],
    cwd: Path,
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] | None = None,
    code: ErrorCode | None = None,
) -> bytes:
    """Run `git ARGS` in the folder `cwd` and return its standard output; `env` are further environment variables.

    Raises:
        GitFailed: git is missing, or its exit status is not 0. Then git's standard error is in the message, and `code`
            is the error's code, for a caller that knows what the failure means. Code "too-large": its output is longer
            than `files.MAX_BYTES`.
    """
    return _run(args, cwd, stdin, partial(open_pipes, args, cwd, env, errors=True), code)


def _run(
    args: Sequence[str],
    cwd: Path,
    stdin: bytes,
    begin: Callable[[], subprocess.Popen[bytes]],
    code: ErrorCode | None = None,
) -> bytes:
    with Held() as held:  # a signal in the instant of the start would leave git running
        status, output, said = _outcome(begin(), held, stdin)
    if len(output) > MAX_BYTES:
        message = f"git {_name_of(args)} says more than {MAX_BYTES // 1024**2} MiB in {printable(str(cwd))}"
        raise GitFailed(message, code="too-large", help=_MUCH)
    if status:
        reason = printable(said.decode("utf-8", "replace")) or f"exit status {status}"
        help_ = FETCH_ALL if is_partial(cwd) else ""
        raise GitFailed(f"git {_name_of(args)} failed in {printable(str(cwd))}: {reason}", code=code, help=help_)
    return output


def open_pipes(
    args: Sequence[str], cwd: Path, env: Mapping[str, str] | None, *, errors: bool
) -> subprocess.Popen[bytes]:
    """Start `git ARGS` with pipes, which the caller has to read; without `errors`, standard error goes nowhere.

    Raises:
        GitFailed: git is missing, or the system refuses.
    """
    import subprocess

    command, environment = _start_of(args, cwd, env)
    pipe, stderr = subprocess.PIPE, subprocess.PIPE if errors else subprocess.DEVNULL
    try:
        return subprocess.Popen(command, cwd=cwd, env=environment, stdin=pipe, stdout=pipe, stderr=stderr)
    except OSError as error:
        raise _not_started(error, cwd) from error


def _outcome(process: subprocess.Popen[bytes], held: Held, stdin: bytes) -> tuple[int, bytes, bytes]:
    """Return exit status, standard output and the beginning of standard error; git is ended where it says too much.

    A repository decides how much git says, so what is read into memory has a bound.
    """
    from threading import Thread

    if process.stdin is None or process.stdout is None or process.stderr is None:
        raise GitFailed("git has no pipes")
    said: list[bytes] = []
    beside = [Thread(target=_read_beginning, args=(process.stderr, said))]
    if stdin:
        beside.append(Thread(target=_feed, args=(process.stdin, stdin)))
    else:
        process.stdin.close()
    with process:
        try:
            held.release()
            for each in beside:
                each.start()
            output = process.stdout.read(MAX_BYTES + 1)
            if len(output) > MAX_BYTES:
                process.kill()
        except BaseException:  # Ctrl-C ends git, too
            held.hold()
            process.kill()
            raise
        finally:
            held.hold()
            for each in beside:
                if each.is_alive():  # else it has ended, or Ctrl-C came before it was started
                    each.join()
    return process.returncode, output, b"".join(said)


def _read_beginning(stream: IO[bytes], said: list[bytes]) -> None:
    """Read a stream to its end, so that git does not wait for us, and keep the first part."""
    with suppress(OSError, ValueError):  # it was closed because of Ctrl-C
        said.append(stream.read(_CHUNK))
        while stream.read(_CHUNK):
            continue


def _feed(stream: IO[bytes], data: bytes) -> None:
    with suppress(OSError, ValueError):  # git has ended: its exit status says why; or it was closed because of Ctrl-C
        stream.write(data)
    with suppress(OSError, ValueError):
        stream.close()


def _start_of(args: Sequence[str], cwd: Path, env: Mapping[str, str] | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command line and the environment for git; GIT_DIR stays where it alone names the repository."""
    top = discover(cwd)
    dropped = (*_DROPPED, *_REPOSITORY_FOLDERS, "GIT_PREFIX", *foreign_variables(top)) if top else _DROPPED
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    flags: tuple[str, ...] = ()
    if top:
        # Else `core.worktree` in the configuration of an unpacked archive would make git read, and keep, other files.
        place = {"GIT_WORK_TREE": str(top)}
    elif foreign(cwd):  # git would find what is another folder's
        place = {"GIT_DIR": os.devnull}
    elif not kept.get("GIT_DIR") and bare_folder(cwd):  # where GIT_DIR named it, git would not look whose it is
        place, flags = {}, ("-c", "safe.bareRepository=all")
    else:  # what is relative counts from our own folder, and git is started in another
        place = {name: os.path.abspath(kept[name]) for name in _REPOSITORY_FOLDERS if kept.get(name)}
    return ("git", *_FLAGS, *flags, *args), {**kept, **_SETTINGS, **place, **(env or {})}


def _not_started(error: OSError, cwd: Path) -> GitFailed:
    where = f"cannot run git in {printable(str(cwd))}"
    if not isinstance(error, FileNotFoundError):
        return GitFailed(f"{where}: {error.strerror}")
    if not cwd.is_dir():
        return GitFailed(f"{where}: there is no such folder")
    return GitFailed("git was not found", help="install git, or put it on the PATH")


def _name_of(args: Sequence[str]) -> str:
    """Return the name of the git command in `args`, without the `-c` settings before it."""
    index = 0
    while index < len(args) and args[index] == "-c":
        index += 2
    return printable(" ".join(args[index : index + 1]))


def start(
    args: Sequence[str], cwd: Path, *, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Callable[[], bytes]:
    """Start `git ARGS`, and return a function that waits for its output; that one raises the errors of `run`.

    Where nobody waits for it until this process ends, `end_started` ends git.
    """
    from threading import Event, Thread, get_ident

    begun: list[subprocess.Popen[bytes]] = []
    output: list[bytes] = []
    errors: list[Exception] = []

    def begin() -> subprocess.Popen[bytes]:
        begun.append(open_pipes(args, cwd, env, errors=True))
        return begun[0]

    def work() -> None:
        try:
            output.append(_run(args, cwd, stdin, begin))
        except Exception as error:  # noqa: BLE001 - any error is raised again in the caller's thread
            errors.append(error)
        finally:
            ended.set()

    def wait() -> bytes:
        while not ended.wait(_LISTEN):  # not for the thread: after Ctrl-C in that, Python takes it for an ended one
            continue
        _awaited.pop(ended, None)
        for error in errors:
            raise error
        return output[0]

    ended = Event()
    with Held():  # else a signal in between would leave one that is waited for at the end and was never started
        Thread(target=work).start()
        _awaited[ended] = get_ident(), begun
    return wait


def end_started(*, everywhere: bool = False) -> None:
    """End git that was started by this thread, or `everywhere`, and that nobody has waited for.

    It may be writing, or be waiting for a file that says nothing.
    """
    from _thread import get_ident  # that of `threading`, which most commands need not import

    for ended, (started_by, begun) in [*_awaited.items()]:
        if everywhere or started_by == get_ident():
            _awaited.pop(ended, None)
            while not ended.is_set():  # it may be starting git now
                for each in begun:
                    each.kill()
                ended.wait(_PAUSE)


def printable(text: str) -> str:
    """Return `text` as one line of limited length, without characters that a terminal would act on."""
    words = "".join(char if char.isprintable() else " " for char in text).split()
    line = " ".join(words)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def is_partial(path: Path) -> bool:
    """Return whether `path` lies in a partial clone, which lacks objects that git would fetch when it needs them."""
    top = discover(path)
    folder = top and git_folder(top)
    if folder is None:
        return False
    try:
        config = folder / (first_line(folder / "commondir") or ".") / "config"
        return re.search(_PARTIAL, small_file(config) or b"") is not None
    except OSError:
        return False
