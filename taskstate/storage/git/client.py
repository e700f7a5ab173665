"""Runs git, and reads the root and HEAD of a repository without starting it.

Every command needs the root and HEAD, and starting git costs milliseconds: they are read from the files in `.git` where
these have the usual form, and otherwise from git. Without git, outside a repository or before the first commit the
answer is None. A name that comes from a user or a file is never passed where git could take it for an option: callers
put `--end-of-options` or `--` before it.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import IO

MINIMUM_VERSION = (2, 30)  # the first whose `rev-parse` knows `--end-of-options`
_OBJECT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_VERSION = r"git version (\d+(?:\.\d+)*)"
_OBJECT_LINE = rb"[0-9a-f]{40,64} ([a-z]+) ([0-9]+)\n"
# Names that are sent to `git cat-file` together. More could block for ever: git stops reading names when the pipe with
# its answers is full, and we do not read answers before all names are written.
_BATCH = 500
_MAX_MESSAGE = 300
_MERGE_HEAD_PREFIX = "GITHEAD_"  # of the variables in which `git merge` passes its commits to hooks
# These match the names of all our own files (schemas/kinds/files.json), and of some others.
OWN_PATTERNS = ("*-state.md", "*-archive.md", "*-impact-map.json", "*-handoff-*.md", "*-progress.json")
# Git sets these for its hooks. They are removed: a command that works in another repository must not use the hook's
# repository, and in the hook's own one git finds the same by itself. GIT_INDEX_FILE stays: in a pre-commit hook it
# names the index of the commit that is being made.
_REPOSITORY_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
# These change the meaning of the patterns that are passed to git.
_PATHSPEC_VARIABLES = ("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")
# Messages in English, no prompt, no pager. GIT_OPTIONAL_LOCKS: a command that only reads, such as `git status`, must
# not lock the index to refresh it, which would make a git command of the user's fail at that moment.
_SETTINGS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"}


def run(
    args: Sequence[str], cwd: Path, *, stdin: bytes = b"", env: Mapping[str, str] | None = None, code: str = ""
) -> bytes:
    """Run `git ARGS` in the folder `cwd` and return its standard output; `env` are further environment variables.

    Raises:
        GitFailed: git is missing, or its exit status is not 0. Then git's standard error is in the message, and `code`
            is the error's code, for a caller that knows what the failure means.
    """
    import subprocess

    try:
        done = subprocess.run(
            ["git", *args],
            cwd=cwd,
            input=stdin,
            env={**_environment(cwd), **(env or {})},
            capture_output=True,
            check=False,
        )
    except FileNotFoundError as error:
        if not cwd.is_dir():
            raise GitFailed(f"cannot run git in {printable(str(cwd))}: there is no such folder") from error
        raise GitFailed("git was not found", help="install git, or put it on the PATH") from error
    except OSError as error:
        raise GitFailed(f"cannot run git in {printable(str(cwd))}: {error.strerror}") from error
    if done.returncode:
        reason = printable(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise GitFailed(f"git {_command(args)} failed in {printable(str(cwd))}: {reason}", code=code)
    return done.stdout


def _command(args: Sequence[str]) -> str:
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


def toplevel(path: Path) -> Path | None:
    """Return the root of the working tree that contains the folder or file `path`, or None outside of one."""
    root = _discover(path)
    if root or "GIT_DIR" not in os.environ:
        return root
    try:  # GIT_DIR names a repository that lies elsewhere
        top = os.fsdecode(run(["rev-parse", "--show-toplevel"], path if path.is_dir() else path.parent))
    except GitFailed:
        return None
    return Path(top.removesuffix("\n")) if top.strip() else None


class GitFolders(NamedTuple):
    """The folders of a working tree: its root, its own git folder, and the one that all worktrees share.

    The last two are what git calls GIT_DIR and GIT_COMMON_DIR; they are the same unless it is a linked worktree.
    """

    top: Path
    git_dir: Path
    common_dir: Path


def folders(path: Path) -> GitFolders | None:
    """Return the folders of the working tree that contains `path`; None outside of one."""
    top = toplevel(path)
    if top is None:
        return None
    git_dir = _git_folder(top)
    if git_dir is None:  # it lies elsewhere, as GIT_DIR says
        git_dir = top / os.fsdecode(run(["rev-parse", "--absolute-git-dir"], top)).removesuffix("\n")
    common = git_dir / (_first_line(git_dir / "commondir") or ".")
    return GitFolders(top, git_dir, Path(os.path.normpath(common)))


def is_bare(folder: Path) -> bool:
    """Return whether a folder lies in a bare repository (or in the `.git` folder of another one)."""
    if toplevel(folder) is not None:
        return False
    markers = ("HEAD", "objects", "refs")
    return any(all((parent / marker).exists() for marker in markers) for parent in (folder, *folder.parents))


def head(root: Path) -> str | None:
    """Return the full id of the commit at HEAD of the repository that contains `root`, or None if there is none."""
    top = toplevel(root)
    if top is None:
        return None
    folder = _git_folder(top)
    commit = _read_head(folder) if folder else None
    if commit:
        return commit
    try:  # no commit yet, or a form that `_read_head` does not know (a branch that is a symbolic reference, a reftable)
        output = run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], top)
    except GitFailed:
        return None
    return output.decode("ascii", "replace").strip() or None


def user_name(root: Path) -> str | None:
    """Return the configured `user.name`, or None if it is not set."""
    try:
        name = run(["config", "--get", "user.name"], root)
    except GitFailed:
        return None
    return printable(name.decode("utf-8", "replace")) or None


def is_shallow(root: Path) -> bool:
    """Return whether the repository that contains `root` is a shallow clone."""
    at = folders(root)
    return at is not None and (at.common_dir / "shallow").exists()


def resolve_commit(root: Path, revision: str) -> str:
    """Return the full id of the commit that `revision` names.

    Raises:
        GitFailed: code "no-commit": it names none here; or git is missing.
    """
    # After `:/` git takes everything, also `^{commit}`, for the words to search for. It always gives a commit.
    name = revision if revision.startswith(":/") else f"{revision}^{{commit}}"
    output = run(["rev-parse", "--verify", "--end-of-options", name], root, code="no-commit")
    return output.decode("ascii", "replace").strip()


def merge_heads(root: Path) -> tuple[str, ...]:
    """Return the ids of the commits that are being merged into HEAD; empty if no merge is in progress.

    When git runs the hook pre-merge-commit it has not written MERGE_HEAD yet; the ids are then in the environment.
    """
    top = toplevel(root)
    folder = _git_folder(top) if top else None
    if folder is None:
        return ()
    try:
        lines = (folder / "MERGE_HEAD").read_text(encoding="ascii", errors="replace").split()
    except OSError:
        lines = [
            name.removeprefix(_MERGE_HEAD_PREFIX) for name in sorted(os.environ) if name.startswith(_MERGE_HEAD_PREFIX)
        ]
    return tuple(line for line in lines if re.fullmatch(_OBJECT_ID, line))


def version() -> tuple[int, ...] | None:
    """Return git's version, such as (2, 39, 5), or None if git is missing."""
    try:
        output = run(["version"], Path())
    except GitFailed:
        return None
    match = re.match(_VERSION, output.decode("utf-8", "replace"))
    return tuple(int(part) for part in match[1].split(".")) if match else None


def _environment(cwd: Path) -> dict[str, str]:
    """Return the environment for git; GIT_DIR stays where it alone names the repository of `cwd`."""
    dropped = (*_PATHSPEC_VARIABLES, *_REPOSITORY_VARIABLES) if _discover(cwd) else _PATHSPEC_VARIABLES
    return {name: value for name, value in (os.environ | _SETTINGS).items() if name not in dropped}


def _discover(path: Path) -> Path | None:
    """Return the nearest folder at or above `path` that is the root of a working tree."""
    start = path.absolute()
    return next((folder for folder in (start, *start.parents) if _git_folder(folder)), None)


def _git_folder(top: Path) -> Path | None:
    """Return the git folder of the working tree `top`: `.git`, or the one that the `.git` file of a worktree names."""
    entry = top / ".git"
    if not entry.is_dir():
        line = _first_line(entry)
        if not line.startswith("gitdir: "):
            return None
        entry = top / line.removeprefix("gitdir: ")
    return entry if (entry / "HEAD").is_file() or (entry / "HEAD").is_symlink() else None


def _first_line(path: Path) -> str:
    """Return the first line of a small file of git's; empty if there is no such plain file."""
    if not path.is_file():  # opening a FIFO would block
        return ""
    try:
        with path.open("rb") as stream:
            return os.fsdecode(stream.readline(4096)).rstrip("\r\n")
    except OSError:
        return ""


def _read_head(folder: Path) -> str | None:
    """Return the commit that HEAD names in one of the usual forms: detached, a loose reference, a packed one."""
    line = _first_line(folder / "HEAD")
    if re.fullmatch(_OBJECT_ID, line):
        return line
    reference = line.removeprefix("ref: ").strip()
    if not line.startswith("ref: refs/") or ".." in reference:  # must not lead out of the git folder
        return None
    common = folder / (_first_line(folder / "commondir") or ".")
    for references in (folder, common):  # a worktree has a few references of its own, such as `refs/bisect`
        commit = _first_line(references / reference)
        if re.fullmatch(_OBJECT_ID, commit):
            return commit
    return _read_packed_reference(common / "packed-refs", reference)


def _read_packed_reference(path: Path, reference: str) -> str | None:
    """Return the object id of a reference in the file `packed-refs`, or None."""
    if not path.is_file():
        return None
    try:
        lines = os.fsdecode(path.read_bytes())
    except OSError:
        return None
    match = re.search(rf"^({_OBJECT_ID}) {re.escape(reference)}\r?$", lines, re.MULTILINE)
    return match[1] if match else None


def start_listing(
    folder: Path, patterns: Sequence[str] = OWN_PATTERNS, without: str = ""
) -> Callable[[], tuple[str, ...] | None]:
    """Start listing the files under `folder` that git tracks or does not ignore.

    Returns a function that waits for the paths: relative to `folder`, with `/`, and none in its folder `without`. A
    tracked file that was deleted is among them. Outside a repository and without git it returns None.
    """
    if toplevel(folder) is None:
        return lambda: None
    excluded = (f":(exclude,literal){without}",) if without else ()
    args = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns, *excluded)
    output = start(args, folder)

    def paths() -> tuple[str, ...] | None:
        try:
            # A file in conflict is listed once for each of its versions.
            return tuple(dict.fromkeys(os.fsdecode(name) for name in output().split(b"\0") if name))
        except GitFailed:
            return None

    return paths


class Objects:
    """Reads objects of one repository through one long-lived `git cat-file`: a process for each would take minutes.

    `env` are further environment variables of that process.
    """

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._env = env or {}
        self._processes: dict[tuple[int, str], subprocess.Popen[bytes]] = {}

    def __reduce__(self) -> tuple[type[Objects], tuple[Path, Mapping[str, str]]]:
        return Objects, (self._root, self._env)  # pipes cannot be pickled: the other process starts its own git

    def read(self, name: str) -> bytes | None:
        """Return the content of the object that `name` (an id, or `REV:path`) means, or None if there is none."""
        stdin, stdout = self._pipes("--batch")
        ((_, size),) = self._query(stdin, stdout, [name])
        return None if size is None else stdout.read(size + 1)[:-1]  # git ends each content with a line end

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each object as `read` returns it, with fewer round trips."""
        stdin, stdout = self._pipes("--batch")
        for start in range(0, len(names), _BATCH):
            chunk = names[start : start + _BATCH]
            stdin.write("".join(f"{name}\n" for name in chunk).encode("utf-8", "surrogateescape"))
            stdin.flush()
            for _ in chunk:
                _, size = _parse_object_line(stdout.readline())
                yield None if size is None else stdout.read(size + 1)[:-1]

    def kinds(self, names: Sequence[str]) -> list[str | None]:
        """Return the type ("blob", "commit" …) of the object that each name means, None if there is none.

        The type of an abbreviated id that fits several objects is "ambiguous".
        """
        stdin, stdout = self._pipes("--batch-check")
        chunks = [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]
        return [kind for chunk in chunks for kind, _ in self._query(stdin, stdout, chunk)]

    def close(self) -> None:
        """End the processes of git."""
        for (owner, _), process in self._processes.items():
            if owner == os.getpid():  # after a fork the parent's processes are in the table too
                process.communicate()
        self._processes.clear()

    def _query(self, stdin: IO[bytes], stdout: IO[bytes], names: Sequence[str]) -> list[tuple[str | None, int | None]]:
        """Return type and size of the object that each name means; after `--batch` its content is still to be read."""
        # The protocol has one name a line: a line end in a name would make two questions of it, and shift all answers.
        valid = [name for name in names if "\n" not in name and "\0" not in name]
        try:
            stdin.write("".join(f"{name}\n" for name in valid).encode("utf-8", "surrogateescape"))
            stdin.flush()
            answers = [_parse_object_line(stdout.readline()) for _ in valid]
        except OSError as error:
            raise GitFailed(f"git cat-file ended in {printable(str(self._root))}: {error.strerror}") from error
        by_name = dict(zip(valid, answers, strict=True))
        return [by_name.get(name, (None, None)) for name in names]

    def _pipes(self, mode: str) -> tuple[IO[bytes], IO[bytes]]:
        # By process id: a forked child that used its parent's pipes would take answers meant for the parent.
        process = self._processes.get((os.getpid(), mode)) or self._start(mode)
        if process.stdin is None or process.stdout is None:
            raise GitFailed("git cat-file has no pipes")
        return process.stdin, process.stdout

    def _start(self, mode: str) -> subprocess.Popen[bytes]:
        import subprocess

        # In a partial clone, looking for an object must not fetch it from the network.
        environment = {**_environment(self._root), "GIT_NO_LAZY_FETCH": "1", **self._env}
        try:
            process = subprocess.Popen(
                ["git", "cat-file", mode],
                cwd=self._root,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise GitFailed("git was not found", help="install git, or put it on the PATH") from error
        return self._processes.setdefault((os.getpid(), mode), process)


def _parse_object_line(line: bytes) -> tuple[str | None, int | None]:
    """Return type and size from a line of `git cat-file`; other lines end with `missing` or `ambiguous`."""
    match = re.fullmatch(_OBJECT_LINE, line)
    if match is None:
        return ("ambiguous" if line.endswith(b" ambiguous\n") else None), None
    return match[1].decode("ascii"), int(match[2])
