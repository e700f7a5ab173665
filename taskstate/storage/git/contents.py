"""Reads objects of a repository, none that is larger than a bound: a commit may hold gigabytes under any name."""

from __future__ import annotations

import os
import re

from taskstate.errors import GitFailed
from taskstate.storage.files import MAX_TEXT
from taskstate.storage.git.process import FETCH_ALL, is_partial, open_pipes, printable, run
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import IO

_OBJECT_LINE = rb"[0-9a-f]{40,64} ([a-z]+) ([0-9]+)\n"
# Names that are sent to `git cat-file` together. More could block for ever: git stops reading names when the pipe with
# its answers is full, and we do not read answers before all names are written.
_BATCH = 500
_PIECE = 1024 * 1024  # bytes of an object
_is_no_path = re.compile(r"(?:\A|/)(?:\.{0,2}|\.(?i:git))(?:/|\Z)").search


class _Found(NamedTuple):
    """An object: whether there is one, and its content; None where it is too large, too."""

    exists: bool
    content: bytes | None


class Entry(NamedTuple):
    """What a commit has at a path: mode (of the form of `st_mode`), object id, and size; -1 where git says none."""

    mode: int
    id: str
    size: int


class Objects:
    """Reads objects of one repository through one long-lived `git cat-file`: a process for each would take minutes.

    `env` are further environment variables of that process; an object of more than `most` bytes is not read, since a
    stranger's commit may hold gigabytes under any name. In a partial clone an object that is not here is an error that
    says so: it must not look like one that does not exist.
    """

    def __init__(self, root: Path, env: Mapping[str, str] | None = None, *, most: int = MAX_TEXT) -> None:
        self._root = root
        self._env = env or {}
        self._most = most
        self._processes: dict[tuple[int, str], subprocess.Popen[bytes]] = {}
        self._partial: bool | None = None  # not looked at yet

    def __reduce__(self) -> tuple[Callable[..., Objects], tuple[Path, Mapping[str, str], int]]:
        return _objects, (self._root, self._env, self._most)  # pipes cannot be pickled: the other one starts its own

    def read(self, name: str, path: str = "") -> bytes | None:
        """Return the content of the object that `name` (an id, or `REV:path`) means, or None if there is none.

        `path` is how messages call it, where the name is an id.

        Raises:
            GitFailed: code "too-large": it is; code "partial-clone": it is not in this partial clone; git is missing,
                or has ended.
        """
        (found,) = self._found([name])
        if found.exists and found.content is None:
            called = path or (name if ":" in name else f"the object {name}")
            message = f"{printable(called)} holds more than {self._most // 1024**2} MiB in git"
            raise GitFailed(message, code="too-large", help="commit a smaller one")
        return found.content

    def contents(self, names: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the content of each object, with fewer round trips; None if there is none, or it is too large.

        Raises:
            GitFailed: as `read`, but for "too-large".
        """
        for found in self._found(names):
            yield found.content

    def digests(self, names: Sequence[str]) -> Iterator[tuple[int, str] | None]:
        """Yield the size of each object and its SHA-256, however large it is, or None if there is none.

        Raises:
            GitFailed: as `read`, but for "too-large".
        """
        from hashlib import sha256

        for name in names:  # one by one: while a large one is read, git must not wait with the next
            stdout = self._ask("--batch", [name])
            size = _parse_object_line(stdout.readline())[1]
            if size is None:
                self._require_absent(name)
                yield None
                continue
            digest, rest = sha256(), size
            while rest > 0 and (piece := stdout.read(min(rest, _PIECE))):
                digest.update(piece)
                rest -= len(piece)
            stdout.read(1)  # git ends each content with a line end
            yield size, digest.hexdigest()

    def _found(self, names: Sequence[str]) -> Iterator[_Found]:
        rest = [*names]
        while rest:
            chunk = rest[:_BATCH]
            read = 0
            for found in self._answers(chunk):
                read += 1
                yield found
            rest = rest[read:]

    def _answers(self, names: Sequence[str]) -> Iterator[_Found]:
        """Yield what git answers, up to the first object that is too large, which is not waited for."""
        stdout = self._ask("--batch", [name for name in names if _is_askable(name)])
        for name in names:
            size = _parse_object_line(stdout.readline())[1] if _is_askable(name) else None
            if size is None:
                self._require_absent(name)
                yield _Found(exists=False, content=None)
            elif size > self._most:
                process = self._processes.pop((os.getpid(), "--batch"))
                process.kill()
                process.communicate()
                yield _Found(exists=True, content=None)
                return
            else:
                yield _Found(exists=True, content=stdout.read(size + 1)[:-1])  # git ends each content with a line end

    def kinds(self, names: Sequence[str]) -> list[str | None]:
        """Return the type ("blob", "commit" …) of the object that each name means, None if there is none.

        The type of an abbreviated id that fits several objects is "ambiguous".
        """
        kinds: dict[str, str | None] = {}
        askable = [name for name in names if _is_askable(name)]
        for at in range(0, len(askable), _BATCH):
            chunk = askable[at : at + _BATCH]
            stdout = self._ask("--batch-check", chunk)
            kinds.update((name, _parse_object_line(stdout.readline())[0]) for name in chunk)
        return [kinds.get(name) for name in names]

    def run(self, args: Sequence[str]) -> bytes:
        """Run `git ARGS` where these objects are read, and return its standard output.

        Raises:
            GitFailed: as `run`.
        """
        return run(args, self._root, env=self._env)

    def entries(self, commit: str) -> dict[str, Entry]:
        """Return all files, links and submodules of a commit, by path from its top.

        Raises:
            GitFailed: as `run`; or a path of it leads elsewhere.
        """
        args = ["ls-tree", "-r", "-z", "-l", "--full-tree", "--end-of-options", commit]
        listed = (each.partition(b"\t") for each in self.run(args).split(b"\0") if each)
        found = {os.fsdecode(name): _entry(*head.split()) for head, _, name in listed}
        wrong = next(filter(_is_no_path, found), None)
        if wrong is not None:
            raise GitFailed(f"the commit {commit} holds {printable(wrong)}, which git does not check out")
        return found

    def require_whole(self) -> None:
        """Refuse what was made of answers of which some may be missing.

        Raises:
            GitFailed: git has ended in between.
        """
        if any(process.poll() is not None for process in self._processes.values()):
            raise GitFailed(f"git cat-file ended in {printable(str(self._root))}", help="run the command again")

    def close(self) -> None:
        """End the processes of git."""
        for (owner, _), process in self._processes.items():
            if owner == os.getpid():  # after a fork the parent's processes are in the table too
                process.kill()  # it may be about to say what nobody wants to know any more
                process.communicate()
        self._processes.clear()

    def _ask(self, mode: str, names: Sequence[str]) -> IO[bytes]:
        """Send names to git, one a line, and return the stream with the answers."""
        # By process id: a forked child that used its parent's pipes would take answers meant for the parent.
        process = self._processes.get((os.getpid(), mode)) or self._start(mode)
        if process.stdin is None or process.stdout is None:
            raise GitFailed("git cat-file has no pipes")
        try:
            process.stdin.write("".join(f"{name}\n" for name in names).encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except OSError as error:
            raise GitFailed(f"git cat-file ended in {printable(str(self._root))}: {error.strerror}") from error
        return process.stdout

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
        raise GitFailed(message, code="partial-clone", help=FETCH_ALL)

    def _start(self, mode: str) -> subprocess.Popen[bytes]:
        process = open_pipes(["cat-file", mode], self._root, self._env, errors=False)
        return self._processes.setdefault((os.getpid(), mode), process)


def _objects(root: Path, env: Mapping[str, str], most: int) -> Objects:
    return Objects(root, env, most=most)


def _entry(mode: bytes, _kind: bytes, object_id: bytes, size: bytes) -> Entry:
    return Entry(int(mode, 8), object_id.decode("ascii"), int(size) if size.isdigit() else -1)


def _is_askable(name: str) -> bool:
    """Return whether git can be asked: a line end in a name would make two questions of it, and shift all answers."""
    return "\n" not in name and "\0" not in name


def _parse_object_line(line: bytes) -> tuple[str | None, int | None]:
    """Return type and size from a line of `git cat-file`; other lines end with `missing` or `ambiguous`."""
    match = re.fullmatch(_OBJECT_LINE, line)
    if match is None:
        return ("ambiguous" if line.endswith(b" ambiguous\n") else None), None
    return match[1].decode("ascii"), int(match[2])
