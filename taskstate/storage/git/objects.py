"""Git objects read and kept apart from the repository: trees compared, diffs, and packs that outlive its own clean-up.

Git works here in an empty repository of its own, which has none but temporary files and reads the objects of the real
one: no configuration and no attributes take part, so that two trees give the same diff wherever it is taken.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.storage.git.worktree import Scratch

TREE, GITLINK, LINK = "040000", "160000", "120000"
_HASH_BY_LENGTH = {40: "sha1", 64: "sha256"}  # of an object id: the hash that made it
_NULL_ID = "0+"
_DIFF_OPTIONS = ("--binary", "--full-index", "--no-renames", "--no-ext-diff")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")


class TreeEntry(NamedTuple):
    """What stands at a path in two trees: modes and object ids, empty where nothing does; `status` is git's letter."""

    path: bytes
    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str


class Store:
    """The objects that a temporary place knows, read without the repository's configuration."""

    def __init__(self, place: Scratch, known: str) -> None:
        """Make the store; `known` is any object id, which says how the repository hashes."""
        self._root = place.root
        self._objects = place.objects
        self._hash = _HASH_BY_LENGTH[len(known)]
        home = place.folder / "bare"
        (home / "refs").mkdir(parents=True)
        (home / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
        extension = "" if self._hash == "sha1" else "[extensions]\n\tobjectformat = sha256\n"
        version = 0 if self._hash == "sha1" else 1
        core = f"[core]\n\trepositoryformatversion = {version}\n\tbare = true\n\tquotepath = false\n"
        (home / "config").write_text(core + extension, encoding="ascii")
        self._place = place
        self._env = {
            **place.storing(place.objects),
            **dict.fromkeys(("GIT_DIR", "GIT_COMMON_DIR", "HOME", "XDG_CONFIG_HOME"), str(home)),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_COUNT": "0",
            "GIT_CONFIG_PARAMETERS": "",
            "GIT_DIFF_OPTS": "",
        }
        self._reader = git.Objects(place.root, self._env)

    def close(self) -> None:
        """End what reads objects."""
        self._reader.close()

    def _run(self, args: Sequence[str]) -> bytes:
        return git.run(args, self._root, env=self._env)

    def has(self, *ids: str) -> bool:
        """Return whether all of these objects are here."""
        return None not in self._reader.kinds(ids)

    def read(self, object_id: str) -> bytes:
        """Return the content of an object.

        Raises:
            TaskstateError: code "objects-lost": it is not here.
        """
        content = self._reader.read(object_id)
        if content is None:
            raise _missing_object(object_id)
        return content

    def contents(self, ids: Sequence[str]) -> Iterator[bytes]:
        """Yield the content of each of some objects.

        Raises:
            TaskstateError: code "objects-lost": one is not here.
        """
        for object_id, content in zip(ids, self._reader.contents(ids), strict=True):
            if content is None:
                raise _missing_object(object_id)
            yield content

    def tree_of(self, commit: str) -> str:
        """Return the tree id of what a commit holds under the root; the empty tree where it has nothing there.

        Raises:
            TaskstateError: code "no-commit": there is no such commit here.
        """
        content = self._reader.read(commit)
        found = re.match(rb"tree ([0-9a-f]+)\n", content or b"")
        if found is None or self._reader.kinds([commit]) != ["commit"]:
            what = f"there is no commit {git.printable(commit)} in this repository"
            raise TaskstateError(what, help="fetch it, or name another one", code="no-commit")
        tree = found[1].decode("ascii")
        for part in filter(None, self._place.prefix.split("/")):
            entries = {name: (mode, below) for mode, name, below in self._entries(tree)}
            mode, below = entries.get(os.fsencode(part), ("", ""))
            if mode != TREE:
                return self._write_tree(())
            tree = below
        return tree

    def changes(self, old: str, new: str) -> tuple[TreeEntry, ...]:
        """Return what differs between two trees, the trees below them included, sorted by path.

        Raises:
            GitFailed: a tree is not here.
        """
        if old == new:
            return ()
        args = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev"]
        said = self._run([*args, "--end-of-options", old, new]).split(b"\0")
        return tuple(_parse_entry(said[at], said[at + 1]) for at in range(0, len(said) - 1, 2))

    def diff(self, old: str, new: str) -> Callable[[], tuple[str, bytes]]:
        """Return what gives the diff between two trees, in numbers as git words it and in full; git is started now."""
        args = ["diff-tree", "-r", "-p", "--shortstat", *_DIFF_OPTIONS, *_PREFIXES, "--end-of-options", old, new]
        said = git.start(args, self._root, env=self._env)

        def answer() -> tuple[str, bytes]:
            stat, _, patch = said().partition(b"\n\n")
            return stat.decode("ascii", "replace").strip(), patch

        return answer

    def paths(self, tree: str, under: Sequence[str]) -> tuple[str, ...]:
        """Return the paths of the files in a tree that lie at or under one of those given; all of them for none."""
        args = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options"]
        listed = self._run([*args, tree, *under])
        return tuple(os.fsdecode(name) for name in listed.split(b"\0") if name)

    def at(self, tree: str, path: str) -> tuple[str, str] | None:
        """Return mode and object id of what stands at a path in a tree, or None."""
        mode = TREE
        for part in path.split("/"):
            found = {name: (kind, below) for kind, name, below in self._entries(tree)} if mode == TREE else {}
            if os.fsencode(part) not in found:
                return None
            mode, tree = found[os.fsencode(part)]
        return mode, tree

    def without(self, tree: str, paths: Iterable[bytes]) -> str:
        """Return the id of a tree that lacks the files at these paths; a folder that has none left goes too."""
        below: dict[bytes, list[bytes]] = {}
        for path in paths:
            name, _, rest = path.partition(b"/")
            below.setdefault(name, []).append(rest)
        if not below:
            return tree
        return self._write_tree(self._kept(tree, below))

    def _kept(self, tree: str, below: dict[bytes, list[bytes]]) -> Iterator[tuple[str, bytes, str]]:
        empty = self._write_tree(())
        for mode, name, object_id in self._entries(tree):
            gone = below.get(name)
            if gone is None:
                yield mode, name, object_id
            elif b"" not in gone:
                left = self.without(object_id, gone)
                if left != empty:
                    yield mode, name, left

    def _entries(self, tree: str) -> Iterator[tuple[str, bytes, str]]:
        """Yield mode, name and object id of each entry of a tree object."""
        content, size, at = self.read(tree), len(tree) // 2, 0
        while at < len(content):
            end = content.index(b"\0", at)
            mode, _, name = content[at:end].partition(b" ")
            yield mode.decode("ascii").zfill(6), name, content[end + 1 : end + 1 + size].hex()
            at = end + 1 + size

    def _write_tree(self, entries: Iterable[tuple[str, bytes, str]]) -> str:
        """Put a tree object into the temporary folder, as git does it, and return its id."""
        told = (b"%s %s\0%s" % (mode.lstrip("0").encode(), name, bytes.fromhex(each)) for mode, name, each in entries)
        body = b"".join(told)
        data = b"tree %d\0%s" % (len(body), body)
        name = hashlib.new(self._hash, data, usedforsecurity=False).hexdigest()
        path = self._objects / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 0))
        return name

    def pack(self, ids: Iterable[str], folder: Path) -> Callable[[], Path]:
        """Write these objects into a pack in `folder`, which git then can read as an object folder.

        Git is started now; what is returned waits for it, and gives the pack's path.

        Raises:
            TaskstateError: the folder cannot be written.
            GitFailed: an object is not here.
        """
        with files.os_errors("write", folder):
            files.make_folder(folder / "pack")
        asked = "".join(f"{each}\n" for each in dict.fromkeys(ids)).encode("ascii")
        args = ["pack-objects", "-q", "--window=0", str((folder / "pack" / "pack").absolute())]
        said = git.start(args, self._root, stdin=asked, env={**self._env, **self._place.storing(folder)})

        def answer() -> Path:
            name = said().decode("ascii").strip()
            with files.os_errors("write", folder):
                files.sync_folder(folder / "pack")
            return folder / "pack" / f"pack-{name}.pack"

        return answer


def _missing_object(object_id: str) -> TaskstateError:
    """Return the refusal where an object is in neither the repository nor the snapshot's pack."""
    what = f"the git object {object_id} is neither in this repository nor in the snapshot's pack"
    help_ = "the artifacts of the snapshot are lost or broken; `taskstate snapshot take` makes it anew"
    return TaskstateError(what, help=help_, code="objects-lost")


def _parse_entry(head: bytes, path: bytes) -> TreeEntry:
    old_mode, new_mode, old_id, new_id, status = head.decode("ascii").removeprefix(":").split(" ")
    modes = ("" if mode == "000000" else mode for mode in (old_mode, new_mode))
    ids = ("" if re.fullmatch(_NULL_ID, each) else each for each in (old_id, new_id))
    return TreeEntry(path, status[:1], *modes, *ids)


def leaves(entries: Iterable[TreeEntry], is_ours: Callable[[str], bool]) -> tuple[TreeEntry, ...]:
    """Return the entries that are files, links or submodules, without our own."""
    return tuple(each for each in entries if TREE not in _modes(each) and not is_ours(os.fsdecode(each.path)))


def _modes(entry: TreeEntry) -> tuple[str, str]:
    return entry.old_mode, entry.new_mode


def new_objects(entries: Iterable[TreeEntry]) -> Iterator[str]:
    """Yield the ids of the objects that the second of two trees has where the first one has others."""
    for each in entries:
        if each.new_id and each.new_mode != GITLINK:
            yield each.new_id
