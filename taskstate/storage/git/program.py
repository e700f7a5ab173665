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

from taskstate.errors import GitFailed
from taskstate.storage.git.discovery import discover, first_line, git_folder
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

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
# repository, and in the hook's own one git finds the same by itself. GIT_INDEX_FILE stays: in a pre-commit hook it
# names the index of the commit that is being made.
_REPOSITORY_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
_DROPPED = (
    # These change the meaning of the patterns that are passed to git.
    *("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"),
    "GIT_EXTERNAL_DIFF",  # a program that would make the diffs
)
_OBJECT_LINE = rb"[0-9a-f]{40,64} ([a-z]+) ([0-9]+)\n"
# Names that are sent to `git cat-file` together. More could block for ever: git stops reading names when the pipe with
# its answers is full, and we do not read answers before all names are written.
_BATCH = 500
_MAX_MESSAGE = 300
_PARTIAL = rb"(?im)^\s*(?:promisor\s*(?:=\s*true\s*)?$|partialclone\s*=)"
_FETCH_ALL = "this clone is partial, and nothing is fetched for you: run `git fetch --refetch --no-filter` first"


def run(
    args: Sequence[str], cwd: Path, *, stdin: bytes = b"", env: Mapping[str, str] | None = None, code: str = ""
) -> bytes:
    """Run `git ARGS` in the folder `cwd` and return its standard output; `env` are further environment variables.

    Raises:
        GitFailed: git is missing, or its exit status is not 0. Then git's standard error is in the message, and `code`
            is the error's code, for a caller that knows what the failure means.
    """
    import subprocess

    command, environment = _start_of(args, cwd, env)
    try:
        done = subprocess.run(command, cwd=cwd, env=environment, input=stdin, capture_output=True, check=False)
    except OSError as error:
        raise _not_started(error, cwd) from error
    if done.returncode:
        reason = printable(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        help_ = _FETCH_ALL if is_partial(cwd) else ""
        raise GitFailed(f"git {_name_of(args)} failed in {printable(str(cwd))}: {reason}", code=code, help=help_)
    return done.stdout


def _start_of(args: Sequence[str], cwd: Path, env: Mapping[str, str] | None) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the command line and the environment for git; GIT_DIR stays where it alone names the repository."""
    dropped = (*_DROPPED, *_REPOSITORY_VARIABLES) if discover(cwd) else _DROPPED
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return ("git", *_FLAGS, *args), {**kept, **_SETTINGS, **(env or {})}


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
    """Start `git ARGS`, and return a function that waits for its output; that one raises the errors of `run`."""
    from threading import Thread

    output: list[bytes] = []
    errors: list[Exception] = []

    def work() -> None:
        try:
            output.append(run(args, cwd, stdin=stdin, env=env))
        except Exception as error:  # noqa: BLE001 - any error is raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=work)
    thread.start()

    def wait() -> bytes:
        thread.join()
        for error in errors:
            raise error
        return output[0]

    return wait


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
        return re.search(_PARTIAL, config.read_bytes()) is not None
    except OSError:
        return False


class Objects:
    """Reads objects of one repository through one long-lived `git cat-file`: a process for each would take minutes.

    `env` are further environment variables of that process. In a partial clone an object that is not here is an error
    that says so: it must not look like one that does not exist.
    """

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._env = env or {}
        self._processes: dict[tuple[int, str], subprocess.Popen[bytes]] = {}
        self._partial: bool | None = None  # not looked at yet

    def __reduce__(self) -> tuple[type[Objects], tuple[Path, Mapping[str, str]]]:
        return Objects, (self._root, self._env)  # pipes cannot be pickled: the other process starts its own git

    def read(self, name: str) -> bytes | None:
        """Return the content of the object that `name` (an id, or `REV:path`) means, or None if there is none.

        Raises:
            GitFailed: code "partial-clone": it is not in this partial clone; git is missing, or has ended.
        """
        return next(self.contents([name]))

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each object as `read` returns it, with fewer round trips."""
        stdin, stdout = self._pipes("--batch")
        for at in range(0, len(names), _BATCH):
            chunk = names[at : at + _BATCH]
            self._ask(stdin, [name for name in chunk if _is_askable(name)])
            for name in chunk:
                size = _parse_object_line(stdout.readline())[1] if _is_askable(name) else None
                if size is None:
                    self._require_absent(name)
                yield None if size is None else stdout.read(size + 1)[:-1]  # git ends each content with a line end

    def kinds(self, names: Sequence[str]) -> list[str | None]:
        """Return the type ("blob", "commit" …) of the object that each name means, None if there is none.

        The type of an abbreviated id that fits several objects is "ambiguous".
        """
        stdin, stdout = self._pipes("--batch-check")
        kinds: dict[str, str | None] = {}
        askable = [name for name in names if _is_askable(name)]
        for at in range(0, len(askable), _BATCH):
            chunk = askable[at : at + _BATCH]
            self._ask(stdin, chunk)
            kinds.update((name, _parse_object_line(stdout.readline())[0]) for name in chunk)
        return [kinds.get(name) for name in names]

    def close(self) -> None:
        """End the processes of git."""
        for (owner, _), process in self._processes.items():
            if owner == os.getpid():  # after a fork the parent's processes are in the table too
                process.communicate()
        self._processes.clear()

    def _ask(self, stdin: IO[bytes], names: Sequence[str]) -> None:
        """Send names to git, one a line."""
        try:
            stdin.write("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
            stdin.flush()
        except OSError as error:
            raise GitFailed(f"git cat-file ended in {printable(str(self._root))}: {error.strerror}") from error

    def _require_absent(self, name: str) -> None:
        """Refuse to go on without an object that the repository has, but not this partial clone of it."""
        if self._partial is None:
            self._partial = is_partial(self._root)
        if not self._partial or not _is_askable(name):
            return
        try:  # this names an object without reading it
            found = run(["rev-parse", "--verify", "--quiet", "--end-of-options", name], self._root, env=self._env)
        except GitFailed:
            return
        message = f"{printable(name)} ({found.decode('ascii', 'replace')[:10]}) is not in {printable(str(self._root))}"
        raise GitFailed(message, code="partial-clone", help=_FETCH_ALL)

    def _pipes(self, mode: str) -> tuple[IO[bytes], IO[bytes]]:
        # By process id: a forked child that used its parent's pipes would take answers meant for the parent.
        process = self._processes.get((os.getpid(), mode)) or self._start(mode)
        if process.stdin is None or process.stdout is None:
            raise GitFailed("git cat-file has no pipes")
        return process.stdin, process.stdout

    def _start(self, mode: str) -> subprocess.Popen[bytes]:
        import subprocess

        command, environment = _start_of(["cat-file", mode], self._root, self._env)
        try:
            process = subprocess.Popen(
                command,
                cwd=self._root,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise _not_started(error, self._root) from error
        return self._processes.setdefault((os.getpid(), mode), process)


def _is_askable(name: str) -> bool:
    """Return whether git can be asked: a line end in a name would make two questions of it, and shift all answers."""
    return "\n" not in name and "\0" not in name


def _parse_object_line(line: bytes) -> tuple[str | None, int | None]:
    """Return type and size from a line of `git cat-file`; other lines end with `missing` or `ambiguous`."""
    match = re.fullmatch(_OBJECT_LINE, line)
    if match is None:
        return ("ambiguous" if line.endswith(b" ambiguous\n") else None), None
    return match[1].decode("ascii"), int(match[2])
