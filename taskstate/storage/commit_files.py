"""Reads files from a listing, as that of a commit: what it does not hold is not there, whatever lies on disk.

A link is a text that names a path; it is followed only where it stays in the commit. A blob whose content is not what
its id says is an error: git itself does not look.
"""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from functools import cached_property

from taskstate.errors import GitFailed, TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from taskstate.storage.git.contents import Entry

_MOST_LINKS = 40  # on the way to a file, as on Linux
_HASHES = {40: "sha1", 64: "sha256"}  # by the length of an object id
_WILDCARDS, _ANY = frozenset("*?["), "**"


class ListedFiles:
    """The files of a listing, at paths below `root`, which need not exist.

    `content` reads what an entry of it stands for; the path is for messages. `commit` is the id of the commit that
    lists them, if one does, and `objects` read what else that has.
    """

    def __init__(
        self,
        root: Path,
        entries: Mapping[str, Entry],
        content: Callable[[Entry, Path | str], bytes],
        objects: git.Objects,
        commit: str = "",
    ) -> None:
        self.root = root
        self.entries = entries
        self._content = content
        self.objects = objects
        self.commit = commit

    @cached_property
    def _folders(self) -> Mapping[str, tuple[str, ...]]:
        """The names in each folder, by its path from the root; the root itself is the empty path."""
        found: dict[str, dict[str, None]] = {"": {}}
        for path in self.entries:
            folder, _, name = path.rpartition("/")
            while name not in found.setdefault(folder, {}):
                found[folder][name] = None
                if not folder:
                    break
                folder, _, name = folder.rpartition("/")
        return {folder: tuple(sorted(names)) for folder, names in found.items()}

    def _name(self, path: Path | str) -> str | None:
        """Return the path from the root; None for one that lies elsewhere."""
        full, root = os.path.normpath(path), str(self.root)
        if full == root:
            return ""
        return full.removeprefix(f"{root}{os.sep}") if full.startswith(f"{root}{os.sep}") else None

    def _mode(self, path: Path | str) -> int:
        """Return the mode of what is at `path`; 0 where nothing is. Links are not followed."""
        name = self._name(path)
        if name is None:
            return 0
        entry = self.entries.get(name)
        # Of a submodule a clone has an empty folder.
        plain = entry is not None and stat.S_IFMT(entry.mode) in {stat.S_IFREG, stat.S_IFLNK}
        return entry.mode if entry and plain else stat.S_IFDIR if entry or name in self._folders else 0

    def mark(self, path: Path | str) -> str:
        """Return the file's object id; empty if it is not there."""
        entry = self.entries.get(self._name(path) or "")
        return entry.id if entry else ""

    def read(self, path: Path, most: int = files.MAX_TEXT) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: it is not there, is no plain file, or has more than `most` bytes; git has it no more.
        """
        if self.size(path) is None:
            raise TaskstateError(f"cannot read {files.shown(path)}: it does not exist", code="not-found")
        entry = self.entries[self._name(path) or ""]
        files.require_readable_size(entry.size, most, path)
        return self._content(entry, path)

    def read_part(self, path: Path, length: int) -> bytes:
        """Return at most `length` bytes of a file.

        Raises:
            TaskstateError: as `read`.
        """
        return self.read(path)[:length]

    def size(self, path: Path) -> int | None:
        """Return the size of a plain file, or None if nothing is there.

        Raises:
            TaskstateError: something else is there.
        """
        mode = self._mode(path)
        if not mode:
            self._require_way("read", path, path.parents)
            return None
        files.require_file(mode, path)
        return self.entries[self._name(path) or ""].size

    def length(self, path: Path) -> int:
        """Return how many bytes a file has; 0 where none is there."""
        entry = self.entries.get(self._name(path) or "")
        return max(entry.size, 0) if entry else 0

    def close(self) -> None:
        """End the process of git that reads the objects."""
        self.objects.close()

    def exists(self, path: Path) -> bool:
        """Return whether there is something at `path`."""
        return self._mode(path) != 0

    def is_folder(self, path: Path) -> bool:
        """Return whether a folder is at `path`."""
        return stat.S_ISDIR(self._mode(path))

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names in a folder, sorted; none if nothing is there.

        Raises:
            TaskstateError: a file or a link is there.
        """
        self._require_way("list", folder, (folder, *folder.parents))
        return self._folders.get(self._name(folder) or "", ()) if self._mode(folder) else ()

    def _require_way(self, doing: str, path: Path, way: Iterable[Path]) -> None:
        """Refuse a path through a file or a link, in the words in which the disk is refused."""
        for folder in way:
            mode = self._mode(folder)
            if mode and not stat.S_ISDIR(mode):
                is_link = stat.S_ISLNK(mode)
                why = "is a symbolic link, or lies behind one" if is_link else ", or part of its path, is not a folder"
                message = f"cannot {doing} {files.shown(path)}: it{' ' * is_link}{why}"
                raise TaskstateError(message, code="is-link" if is_link else "not-a-file")

    def paths(self, under: Path) -> Iterator[str]:
        """Yield the path, from there, of each file, link and submodule in a folder."""
        name = self._name(under)
        if name is not None:
            start = f"{name}/" if name else ""
            yield from (path.removeprefix(start) for path in self.entries if path.startswith(start))

    def real(self, path: str) -> str:
        """Return the path with its links followed, as far as they lead; one that leads out is one outside."""
        rest, here = os.path.join(self.root, path).split(os.sep), ""
        if not self._is_below(os.sep.join(rest)):
            return os.path.normpath(path)
        rest = rest[str(self.root).count(os.sep) + 1 :]
        left = _MOST_LINKS
        while rest:
            part = rest.pop(0)
            if part == os.pardir and not here:
                return os.path.dirname(self.root)
            if part in {"", os.curdir, os.pardir}:
                here = here.rpartition("/")[0] if part == os.pardir else here
                continue
            name = f"{here}/{part}" if here else part
            entry = self.entries.get(name)
            if entry and stat.S_ISLNK(entry.mode) and left:
                target = os.fsdecode(self._content(entry, name))
                if target.startswith(os.sep):  # a clone lies elsewhere, so it leads out of that, too
                    return os.path.dirname(self.root)
                left, rest = left - 1, [*target.split(os.sep), *rest]
            else:
                here = name
        return os.path.join(self.root, here) if here else str(self.root)

    def has_match(self, folder: Path, pattern: str) -> bool:
        """Return whether a path in a folder matches a pattern, as `Path.glob` finds it."""
        if _WILDCARDS.isdisjoint(pattern):
            return self.exists(folder / pattern)
        parts = [each for each in pattern.split("/") if each not in {"", os.curdir}]
        start = os.path.join(self._name(folder) or "", "")
        found = (path.removeprefix(start) for path in (*self.entries, *self._folders) if path.startswith(start))
        return any(_matches(path.split("/"), parts) for path in found if path)

    def _is_below(self, path: str) -> bool:
        return path == str(self.root) or path.startswith(f"{self.root}{os.sep}")


class CommitFiles(ListedFiles):
    """The files of one commit, whose id is `commit`.

    Everything is read through `objects`, whose environment may name any folder with objects.
    """

    def __init__(self, root: Path, commit: str, objects: git.Objects) -> None:
        super().__init__(root, objects.entries(commit), self._blob, objects, commit)

    def _blob(self, entry: Entry, path: Path | str) -> bytes:
        data = self.objects.read(entry.id, files.shown(path))
        if data is None:
            raise GitFailed(f"the object {entry.id} of {files.shown(path)} is not in the repository")
        require_hash(entry.id, data, f" of {files.shown(path)}")
        return data


def _matches(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether a path matches a pattern; all ways are gone at once, since a stranger's may have many `**`."""
    reached = _beyond({0}, parts)
    for name in names:
        stays = {at for at in reached if parts[at : at + 1] == [_ANY]}
        goes = {at + 1 for at in reached - stays if at < len(parts) and fnmatchcase(name, parts[at])}
        reached = _beyond(stays | goes, parts)
    return len(parts) in reached


def _beyond(reached: set[int], parts: Sequence[str]) -> set[int]:
    """Return the parts of a pattern that are reached, with those behind each `**`, which may stand for nothing."""
    for at, part in enumerate(parts):
        if part == _ANY and at in reached:
            reached = {*reached, at + 1}
    return reached


def require_hash(object_id: str, data: bytes, of: str = "", kind: str = "blob") -> None:
    """Refuse content that is not what its id says.

    Raises:
        GitFailed: it is not.
    """
    import hashlib  # as in `files`

    made = hashlib.new(_HASHES[len(object_id)], b"%s %d\0" % (kind.encode(), len(data)), usedforsecurity=False)
    made.update(data)
    if made.hexdigest() != object_id:
        raise GitFailed(f"the object {object_id}{of} is corrupt", help="`git fsck` tells more")


def open_commit(start: Path, revision: str) -> CommitFiles:
    """Return the files of the commit that a revision names in the repository that contains the folder `start`.

    Raises:
        TaskstateError: code "no-git"; code "no-commit"; or git fails.
    """
    start = start.resolve()
    root = git.toplevel(start) or git.bare(start)
    if root is None:
        message = f"there is no commit {git.printable(revision)}: {files.shown(start)} is in no git repository"
        raise TaskstateError(message, help="leave out --at", code="no-git")
    return CommitFiles(root, git.resolve_commit(root, revision), git.Objects(root))
