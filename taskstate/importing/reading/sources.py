"""Reads the files of a source: a file, a folder, or standard input. No link is followed, and nothing is written there.

What cannot be read is a value, not an exception: the other files come in all the same.
"""

from __future__ import annotations

import os
import stat
from functools import cached_property
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.importing.records import Count, Place, Refused
from taskstate.storage import files, folders
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STANDARD_INPUT = "-"
MAX_FILE = 64 * 1024**2
MAX_RECORDS = 100_000
_SKIPPED = frozenset({".git", "node_modules", ".taskstate", "__pycache__"})
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Source:
    """What is imported: files or folders as they were named, or the bytes of standard input.

    `given` are the names as they were given, with their paths; `root` is the repository that they come into. A file in
    a single folder is called by its path from there, with `/`; a file that was itself named by its own name; in one of
    several folders the folder's name is first.
    """

    def __init__(
        self, given: tuple[tuple[str, Path], ...], data: bytes | None = None, root: Path | None = None
    ) -> None:
        self.given = given
        self._data = data
        self._root = root
        self._read: dict[str, bytes] = {}

    @property
    def is_folder(self) -> bool:
        """Whether it is one folder."""
        return len(self.given) == 1 and folders.is_folder(self.given[0][1])

    @property
    def own_name(self) -> str:
        """The last name of the path that was named first: of standard input `-`."""
        return self.given[0][1].name if self.given else STANDARD_INPUT

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the plain files in it, sorted as far as they lie in folders."""
        return tuple(name for name, (_, _, mode) in self._listed.items() if stat.S_ISREG(mode))

    @cached_property
    def _listed(self) -> dict[str, tuple[str, Path, int]]:
        """By name, of everything in it: how it is shown, its path and its mode."""
        found: dict[str, tuple[str, Path, int]] = {} if self.given else {STANDARD_INPUT: ("-", Path(), stat.S_IFREG)}
        for shown, path in self.given:
            if not folders.is_folder(path):
                found[path.name if path.name not in found else shown] = (shown, path, stat.S_IFREG)
                continue
            first = "" if len(self.given) == 1 else f"{path.name}/"
            for name, mode in _walked(path):
                found[first + name] = (f"{shown.rstrip('/')}/{name}", path / name, mode)
        return found

    def below(self, *folder_names: str, ending: str = "") -> tuple[str, ...]:
        """Return the paths of files in any of these folders of the source, with this ending."""
        starts = tuple(f"{each}/" for each in folder_names)
        return tuple(name for name in self.names if name.startswith(starts) and name.endswith(ending))

    def at(self, *paths: str) -> tuple[str, ...]:
        """Return the files that were named; of a folder, those at the first of these paths that has one.

        A path with a folder in it may stand at any depth.
        """
        if not self.is_folder:
            return self.names
        found = (tuple(each for each in self.names if _is_at(each, path)) for path in paths)
        return next(filter(None, found), ())

    def links(self, *folder_names: str, named: tuple[str, ...] = ()) -> Iterator[Refused | Count]:
        """Yield a refusal for each link, device or pipe in these folders, or in all, of one of the names; counted."""
        starts = tuple(f"{each}/" for each in folder_names)
        for name, (_, _, mode) in self._listed.items():
            is_meant = (not starts or name.startswith(starts)) and (not named or name.rpartition("/")[2] in named)
            if is_meant and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                what = "a link" if stat.S_ISLNK(mode) else "no plain file"
                yield Count(1)
                yield Refused(self.place(name), "is-link", f"it is {what}, which is not followed")

    def beside(self, *own_names: str) -> Source:
        """Return a source with the files of these names that lie beside the one file that was named, too."""
        if len(self.given) != 1 or self.is_folder:
            return self
        shown, path = self.given[0]
        others = ((str(Path(shown).with_name(each)), path.with_name(each)) for each in own_names if each != path.name)
        return Source((*self.given, *(each for each in others if _is_plain_file(each[1]))))

    def place(self, name: str, line: int = 1, column: int = 0) -> Place:
        """Return a place in one of its files."""
        return Place(files.shown(self._listed[name][0]) if name in self._listed else name, line, column)

    def folder_of(self, name: str, above: int = 0) -> str:
        """Return the name of the folder that holds a file, or of one so many levels above; empty for standard input."""
        return "".join(each.name for each in [*self._listed[name][1].parents][above : above + 1]) if self.given else ""

    def from_root(self, name: str) -> str:
        """Return the path of a file from the root of the repository that it comes into; empty for one outside of it."""
        path = self._listed[name][1]
        return path.relative_to(self._root).as_posix() if self._root and path.is_relative_to(self._root) else ""

    def origin_of(self, place: Place) -> str:
        """Return where the file of a place lies: from the root of the repository, else from above what was given."""
        if place.path not in self._by_place:
            return self.own_name
        path = self._listed[self._by_place[place.path]][1]
        tops = (self._root, *(real.parent for _, real in self.given))
        return next((path.relative_to(top).as_posix() for top in tops if top and path.is_relative_to(top)), path.name)

    @cached_property
    def _by_place(self) -> dict[str, str]:
        return {self.place(name).path: name for name in self._listed}

    def content(self, name: str) -> bytes:
        """Return the bytes of a file, as they were when it was first read.

        Raises:
            TaskstateError: it cannot be read, is no plain file, is too large, or changed meanwhile.
        """
        if name not in self._read:
            self._read[name] = self._bytes(name)
        return self._read[name]

    def _bytes(self, name: str) -> bytes:
        if self._data is not None:
            return self._data
        path = self._listed[name][1]
        before = folders.find(path)
        data = files.read(path, MAX_FILE)
        after = folders.find(path)
        if before is None or after is None or _mark(before) != _mark(after):
            message = f"{files.shown(path)} was changed while it was read"
            raise TaskstateError(message, help="run this again", code="stale")
        return data

    def text(self, name: str) -> str | Refused:
        """Return the text of a file with LF as line ends, or why it cannot be taken."""
        try:
            data = self.content(name)
        except TaskstateError as error:
            return Refused(self.place(name), error.code, error.message)
        encoding = next((each for mark, each in _MARKS if data.startswith(mark)), "utf-8")
        try:
            return with_newlines(data.decode(encoding), "\n")
        except UnicodeDecodeError as error:
            why = f"it is not UTF-8: byte {error.start} does not belong there"
            return Refused(self.place(name, data.count(b"\n", 0, error.start) + 1), "not-utf8", why)

    def markdown(self, name: str) -> str | Refused:
        """Return the text of a Markdown file, or why it cannot be taken: it may hold an unfinished merge, too."""
        text = self.text(name)
        conflict = next(iter(find_conflicts(text)), None) if isinstance(text, str) else None
        if isinstance(text, str) and conflict:
            line = text.count("\n", 0, conflict.span.start) + 1
            return Refused(self.place(name, line), "conflict", "a merge conflict is left here")
        return text


def _is_plain_file(path: Path) -> bool:
    found = folders.find(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def _is_at(name: str, path: str) -> bool:
    return name == path or ("/" in path and name.endswith(f"/{path}"))


def _mark(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _walked(top: Path) -> list[tuple[str, int]]:
    """Return path and mode of all that lies in a folder, sorted; folders of tools are not entered."""
    start = len(f"{top}{os.sep}")
    with files.os_errors("list", top):
        walk = folders.walk(top, lambda _path, name: name not in _SKIPPED)
        found = [(path[start:].replace(os.sep, "/"), each.st_mode) for path, each in folders.walked_statuses(walk)]
    return sorted(found, key=lambda each: each[0].split("/"))


def open_source(paths: Iterable[tuple[str, Path]], root: Path | None = None) -> Source:
    """Return the source at some paths, each with the name by which it was given; `root` is where tasks come into.

    Raises:
        TaskstateError: there is nothing, or it is a link or no plain file.
    """
    given = tuple((name, _checked(name, path)) for name, path in paths)
    return Source(given, root=Path(os.path.realpath(root)) if root else None)


def _checked(name: str, path: Path) -> Path:
    real = Path(os.path.realpath(path.parent)) / path.name if path.name else Path(os.path.realpath(path))
    found = folders.find(real)
    if found is None:
        raise TaskstateError(f"{files.shown(name)} does not exist", help="check the path", code="not-found")
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        what = "a link, which is not followed" if stat.S_ISLNK(found.st_mode) else "no file and no folder"
        raise TaskstateError(f"{files.shown(name)} is {what}", help="name the file itself", code="is-link")
    return real
