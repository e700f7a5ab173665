"""The only caller of git, and the reader of the few facts that git keeps in plain files.

Every command asks for the repository and its HEAD, and starting git costs milliseconds: so these two are read from
`.git` where its form is the ordinary one, and asked of git where it is not. Without git, outside a repository or before
the first commit the answer is None, never a traceback. No name that comes from a user or a file is ever passed to git
where it could be taken for an option: callers put `--end-of-options` or `--` before it.
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

MINIMUM_VERSION = (2, 30)  # from here on `rev-parse` knows `--end-of-options`
_OBJECT_ID = r"[0-9a-f]{40}(?:[0-9a-f]{24})?"
_VERSION = r"git version (\d+(?:\.\d+)*)"
_OBJECT_LINE = rb"[0-9a-f]{40,64} ([a-z]+) ([0-9]+)\n"
_BATCH = 500  # names put to git together: both pipes hold them and their answers
_MAX_MESSAGE = 300
_MERGE_HEAD_PREFIX = "GITHEAD_"  # what git merge calls its commits in the environment
# The names of our own files (schemas/kinds/files.json), and some that are none.
OWN_PATTERNS = ("*-state.md", "*-archive.md", "*-impact-map.json", "*-handoff-*.md", "*-progress.json")
# Git sets these for its hooks; what the folder itself says is the same or, for a command that works elsewhere, truer.
# GIT_INDEX_FILE stays: in a pre-commit hook it names the index of the commit that is being made.
_REPOSITORY_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_PREFIX")
# These change what the patterns mean that are passed to git.
_PATHSPEC_VARIABLES = ("GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS")
# Messages in English, no prompt, no pager, no lock taken by a command that only reads.
_SETTINGS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"}


def run(
    args: Sequence[str], cwd: Path, *, stdin: bytes = b"", env: Mapping[str, str] | None = None, code: str = ""
) -> bytes:
    """Return what `git ARGS` prints when it is run in the folder `cwd`; `env` are further environment variables.

    Raises:
        GitFailed: git is missing, or it ended with another status than 0: then with its own words in the message, and
            `code` as the error's code where the caller knows what such an end means.
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
        said = printable(done.stderr.decode("utf-8", "replace")) or f"exit status {done.returncode}"
        raise GitFailed(f"git {_command(args)} failed in {printable(str(cwd))}: {said}", code=code)
    return done.stdout


def _command(args: Sequence[str]) -> str:
    """Return which of git's commands is run; the settings before it do not matter."""
    at = 0
    while at < len(args) and args[at] == "-c":
        at += 2
    return printable(" ".join(args[at : at + 1]))


def start(
    args: Sequence[str], cwd: Path, *, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> Callable[[], bytes]:
    """Start `git ARGS`, and return what waits for its end and gives what it printed, or raises as `run` does."""
    from threading import Thread

    said: list[bytes] = []
    refused: list[Exception] = []

    def ask() -> None:
        try:
            said.append(run(args, cwd, stdin=stdin, env=env))
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where the answer is asked for
            refused.append(error)

    thread = Thread(target=ask)
    thread.start()

    def answer() -> bytes:
        thread.join()
        for error in refused:
            raise error
        return said[0]

    return answer


def printable(text: str) -> str:
    """Return `text` on one line, shortened, without the control characters that a terminal would act on."""
    words = "".join(char if char.isprintable() else " " for char in text).split()
    line = " ".join(words)
    return line if len(line) <= _MAX_MESSAGE else f"{line[: _MAX_MESSAGE - 1]}…"


def toplevel(path: Path) -> Path | None:
    """Return the root of the working tree that holds the folder or file `path`, or None outside of one."""
    found = _discover(path)
    if found or "GIT_DIR" not in os.environ:
        return found
    try:  # a repository whose own folder lies elsewhere, as the environment says
        top = os.fsdecode(run(["rev-parse", "--show-toplevel"], path if path.is_dir() else path.parent))
    except GitFailed:
        return None
    return Path(top.removesuffix("\n")) if top.strip() else None


class GitFolders(NamedTuple):
    """Where a working tree and what git keeps of it are: git's own folder of it, and the one that worktrees share."""

    top: Path
    git_dir: Path
    common_dir: Path


def folders(path: Path) -> GitFolders | None:
    """Return where the working tree that holds `path` is, and git's folders of it; None outside of one."""
    top = toplevel(path)
    if top is None:
        return None
    own = _git_folder(top)
    if own is None:  # the environment names another one
        own = top / os.fsdecode(run(["rev-parse", "--absolute-git-dir"], top)).removesuffix("\n")
    return GitFolders(top, own, own / (_first_line(own / "commondir") or "."))


def is_bare(folder: Path) -> bool:
    """Return whether a folder lies in git's own folder, and in no working tree: a bare repository, as a rule."""
    if toplevel(folder) is not None:
        return False
    marks = ("HEAD", "objects", "refs")
    return any(all((above / mark).exists() for mark in marks) for above in (folder, *folder.parents))


def head(root: Path) -> str | None:
    """Return the full id of the commit that HEAD names in the repository that holds `root`, or None without one."""
    top = toplevel(root)
    if top is None:
        return None
    folder = _git_folder(top)
    found = _read_head(folder) if folder else None
    if found:
        return found
    try:  # no commit yet, or a form that is not read here (a symbolic reference to another one, a reftable)
        answer = run(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], top)
    except GitFailed:
        return None
    return answer.decode("ascii", "replace").strip() or None


def user_name(root: Path) -> str | None:
    """Return the name that git would write into a commit, or None where none is set."""
    try:
        name = run(["config", "--get", "user.name"], root)
    except GitFailed:
        return None
    return printable(name.decode("utf-8", "replace")) or None


def is_shallow(root: Path) -> bool:
    """Return whether the repository that holds `root` lacks a part of its history."""
    found = folders(root)
    return found is not None and (found.common_dir / "shallow").exists()


def resolve_commit(root: Path, revision: str) -> str:
    """Return the full id of the commit that `revision` names.

    Raises:
        GitFailed: code "no-commit": it names none here; or git is missing.
    """
    # `:/words` takes all that follows for words, and means a commit anyway.
    name = revision if revision.startswith(":/") else f"{revision}^{{commit}}"
    found = run(["rev-parse", "--verify", "--end-of-options", name], root, code="no-commit")
    return found.decode("ascii", "replace").strip()


def merge_heads(root: Path) -> tuple[str, ...]:
    """Return the commits that are being merged into HEAD, none while no merge is under way.

    In its hook pre-merge-commit git has not written MERGE_HEAD yet, and tells them by the environment.
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
    """Return git's version, such as (2, 39, 5), or None where git is missing."""
    try:
        said = run(["version"], Path())
    except GitFailed:
        return None
    found = re.match(_VERSION, said.decode("utf-8", "replace"))
    return tuple(int(part) for part in found[1].split(".")) if found else None


def _environment(cwd: Path) -> dict[str, str]:
    dropped = (*_PATHSPEC_VARIABLES, *_REPOSITORY_VARIABLES) if _discover(cwd) else _PATHSPEC_VARIABLES
    return {name: value for name, value in (os.environ | _SETTINGS).items() if name not in dropped}


def _discover(path: Path) -> Path | None:
    """Return the nearest folder at or above `path` that is a working tree of git."""
    start = path.absolute()
    return next((folder for folder in (start, *start.parents) if _git_folder(folder)), None)


def _git_folder(top: Path) -> Path | None:
    """Return git's own folder of the working tree `top`: `.git`, or what the `.git` file of a worktree names."""
    entry = top / ".git"
    if not entry.is_dir():
        line = _first_line(entry)
        if not line.startswith("gitdir: "):
            return None
        entry = top / line.removeprefix("gitdir: ")
    return entry if (entry / "HEAD").is_file() or (entry / "HEAD").is_symlink() else None


def _first_line(path: Path) -> str:
    """Return the first line of a small file of git's, or nothing where there is no such plain file."""
    if not path.is_file():
        return ""
    try:
        with path.open("rb") as stream:
            return os.fsdecode(stream.readline(4096)).rstrip("\r\n")
    except OSError:
        return ""


def _read_head(folder: Path) -> str | None:
    """Return the commit that HEAD names, in the ordinary forms: detached, a loose reference, a packed one."""
    line = _first_line(folder / "HEAD")
    if re.fullmatch(_OBJECT_ID, line):
        return line
    reference = line.removeprefix("ref: ").strip()
    if not line.startswith("ref: refs/") or ".." in reference:
        return None
    common = folder / (_first_line(folder / "commondir") or ".")
    for place in (folder, common):  # a worktree has a few references of its own
        loose = _first_line(place / reference)
        if re.fullmatch(_OBJECT_ID, loose):
            return loose
    return _read_packed_reference(common / "packed-refs", reference)


def _read_packed_reference(path: Path, reference: str) -> str | None:
    """Return what the list of packed references says of one."""
    if not path.is_file():
        return None
    try:
        lines = os.fsdecode(path.read_bytes())
    except OSError:
        return None
    found = re.search(rf"^({_OBJECT_ID}) {re.escape(reference)}\r?$", lines, re.MULTILINE)
    return found[1] if found else None


def start_listing(
    folder: Path, patterns: Sequence[str] = OWN_PATTERNS, without: str = ""
) -> Callable[[], tuple[str, ...] | None]:
    """Begin to list the files under `folder` that git tracks or does not ignore, and return what waits for their paths.

    The paths are relative to `folder`, with `/`, none of them in its folder `without`; a tracked file that was deleted
    is among them. Outside a repository and without git there is None.
    """
    if toplevel(folder) is None:
        return lambda: None
    others = (f":(exclude,literal){without}",) if without else ()
    listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns, *others)
    ended = start(listing, folder)

    def listed() -> tuple[str, ...] | None:
        try:
            return tuple(dict.fromkeys(os.fsdecode(name) for name in ended().split(b"\0") if name))
        except GitFailed:
            return None

    return listed


class Objects:
    """Reads objects of one repository through one process, since thousands of git processes would take minutes.

    `env` are further environment variables of that process.
    """

    def __init__(self, root: Path, env: Mapping[str, str] | None = None) -> None:
        self._root = root
        self._env = env or {}
        self._processes: dict[tuple[int, str], subprocess.Popen[bytes]] = {}

    def __reduce__(self) -> tuple[type[Objects], tuple[Path, Mapping[str, str]]]:
        return Objects, (self._root, self._env)  # another process starts its own

    def read(self, name: str) -> bytes | None:
        """Return the content of the object that `name` (an id, or `REV:path`) means, or None where there is none."""
        stdin, stdout = self._pipes("--batch")
        ((_, size),) = self._asked(stdin, stdout, [name])
        return None if size is None else stdout.read(size + 1)[:-1]

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each object as `read` gives it; many are asked for at a time."""
        stdin, stdout = self._pipes("--batch")
        for at in range(0, len(names), _BATCH):
            chunk = names[at : at + _BATCH]
            stdin.write("".join(f"{name}\n" for name in chunk).encode("utf-8", "surrogateescape"))
            stdin.flush()
            for _ in chunk:
                _, size = _parse_object_line(stdout.readline())
                yield None if size is None else stdout.read(size + 1)[:-1]

    def kinds(self, names: Sequence[str]) -> list[str | None]:
        """Return the type ("blob", "commit" …) of the object that each name means, None where there is none.

        An id that is cut too short, so that several objects have it, is "ambiguous".
        """
        stdin, stdout = self._pipes("--batch-check")
        chunks = [names[at : at + _BATCH] for at in range(0, len(names), _BATCH)]
        return [kind for chunk in chunks for kind, _ in self._asked(stdin, stdout, chunk)]

    def close(self) -> None:
        """End the processes."""
        for (owner, _), process in self._processes.items():
            if owner == os.getpid():
                process.communicate()
        self._processes.clear()

    def _asked(self, stdin: IO[bytes], stdout: IO[bytes], names: Sequence[str]) -> list[tuple[str | None, int | None]]:
        """Return type and size of the object that each name means; its content follows where that was asked for."""
        askable = [name for name in names if "\n" not in name and "\0" not in name]  # the protocol has a name a line
        try:
            stdin.write("".join(f"{name}\n" for name in askable).encode("utf-8", "surrogateescape"))
            stdin.flush()
            answers = [_parse_object_line(stdout.readline()) for _ in askable]
        except OSError as error:
            raise GitFailed(f"git cat-file ended in {printable(str(self._root))}: {error.strerror}") from error
        told = dict(zip(askable, answers, strict=True))
        return [told.get(name, (None, None)) for name in names]

    def _pipes(self, mode: str) -> tuple[IO[bytes], IO[bytes]]:
        process = self._processes.get((os.getpid(), mode)) or self._start(mode)  # a fork must not share the pipes
        if process.stdin is None or process.stdout is None:
            raise GitFailed("git cat-file has no pipes")
        return process.stdin, process.stdout

    def _start(self, mode: str) -> subprocess.Popen[bytes]:
        import subprocess

        # A look must not go to the network.
        environment = {**_environment(self._root), "GIT_NO_LAZY_FETCH": "1", **self._env}
        try:
            started = subprocess.Popen(
                ["git", "cat-file", mode],
                cwd=self._root,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise GitFailed("git was not found", help="install git, or put it on the PATH") from error
        return self._processes.setdefault((os.getpid(), mode), started)


def _parse_object_line(line: bytes) -> tuple[str | None, int | None]:
    """Return the type and size that git tells of an object; others are `… missing` or `… ambiguous`."""
    found = re.fullmatch(_OBJECT_LINE, line)
    if found is None:
        return ("ambiguous" if line.endswith(b" ambiguous\n") else None), None
    return found[1].decode("ascii"), int(found[2])
