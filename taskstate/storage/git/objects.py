"""Compares git trees and makes diffs and packs of them, independent of the repository's configuration.

Git works here in a temporary empty repository that reads the objects of the real one. It has no configuration and no
attributes, so two trees give the same diff on every machine. The packs lie outside the repository, so they survive
`git gc` (docs/decisions/015).
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from taskstate.storage.git.worktree import Scratch

TREE, GITLINK, LINK = "040000", "160000", "120000"
_HASH_BY_LENGTH = {40: "sha1", 64: "sha256"}  # by the length of an object id
_NULL_ID = "0+"
_DIFF_OPTIONS = ("--binary", "--full-index", "--no-renames", "--no-ext-diff")
_PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")


class TreeEntry(NamedTuple):
    """A path that differs between two trees: the modes and object ids in both, empty where it does not exist.

    `status` is git's letter, such as `A` for added.
    """

    path: bytes
    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str


class Store:
    """The objects that a scratch area can read, without the repository's configuration."""

    def __init__(self, place: Scratch, known: str) -> None:
        """Create the temporary repository; `known` is any object id, which shows what hash the repository uses."""
        self._root = place.root
        self._objects = place.objects
        self._hash = _HASH_BY_LENGTH[len(known)]
        # The smallest folder that git takes for a repository: starting `git init` for it would cost milliseconds.
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
        self._reader = git.Objects(place.root, self._env, most=files.MAX_BYTES)

    def close(self) -> None:
        """End the process that reads objects."""
        self._reader.close()

    def _run(self, args: Sequence[str]) -> bytes:
        return git.run(args, self._root, env=self._env)

    def has(self, *ids: str) -> bool:
        """Return whether all of these objects exist."""
        return None not in self._reader.kinds(ids)

    def read(self, object_id: str) -> bytes:
        """Return the content of an object.

        Raises:
            TaskstateError: code "objects-lost": it does not exist.
        """
        content = self._reader.read(object_id)
        if content is None:
            raise _missing_object(object_id)
        return content

    def digests(self, ids: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield size and SHA-256 of each of these objects, however large it is.

        Raises:
            TaskstateError: code "objects-lost": one does not exist.
        """
        for object_id, found in zip(ids, self._reader.digests(ids), strict=True):
            if found is None:
                raise _missing_object(object_id)
            yield found

    def tree_of(self, commit: str) -> str:
        """Return the tree id of a commit's files under the root; the empty tree if it has none there.

        Raises:
            TaskstateError: code "no-commit": there is no such commit.
        """
        content = self._reader.read(commit)
        match = re.match(rb"tree ([0-9a-f]+)\n", content or b"")
        if match is None or self._reader.kinds([commit]) != ["commit"]:
            message = f"there is no commit {git.printable(commit)} in this repository"
            raise TaskstateError(message, help="fetch it, or name another one", code="no-commit")
        tree = match[1].decode("ascii")
        for part in filter(None, self._place.prefix.split("/")):
            entries = {name: (mode, object_id) for mode, name, object_id in self._entries(tree)}
            mode, object_id = entries.get(os.fsencode(part), ("", ""))
            if mode != TREE:
                return self._write_tree(())
            tree = object_id
        return tree

    def changes(self, old: str, new: str, *, with_deleted: bool = True) -> tuple[TreeEntry, ...]:
        """Return what differs between two trees, including the trees below them, sorted by path.

        What only `old` has may be of no interest: of one without our own files that is the most by far.

        Raises:
            GitFailed: a tree does not exist.
        """
        if old == new:
            return ()
        # -t lists the changed trees too: a pack of the new objects needs them.
        args = ["diff-tree", "-r", "-t", "-z", "--raw", "--no-renames", "--no-abbrev"]
        args += [] if with_deleted else ["--diff-filter=d"]
        fields = self._run([*args, "--end-of-options", old, new]).split(b"\0")
        return tuple(_parse_entry(*pair) for pair in zip(fields[0::2], fields[1::2], strict=False))

    def diff(self, old: str, new: str, *paths: str) -> Callable[[], tuple[str, bytes]]:
        """Start making the diff of two trees, or of these files in them.

        Returns a function that waits for git's summary and the full diff.
        """
        args = ["diff-tree", "-r", "-p", "--shortstat", *_DIFF_OPTIONS, *_PREFIXES, "--end-of-options", old, new]
        limits = ("--", *(f":(literal,top){path}" for path in paths)) if paths else ()
        output = git.start([*args, *limits], self._root, env=self._env)

        def wait() -> tuple[str, bytes]:
            summary, _, patch = output().partition(b"\n\n")
            return summary.decode("ascii", "replace").strip(), patch

        return wait

    def paths(self, tree: str, under: Sequence[str]) -> tuple[str, ...]:
        """Return the paths of the files in a tree that are, or lie under, one of `under`; all if `under` is empty."""
        args = ["ls-tree", "-r", "-z", "--full-tree", "--name-only", "--end-of-options"]
        listed = self._run([*args, tree, *under])
        return tuple(os.fsdecode(name) for name in listed.split(b"\0") if name)

    def at(self, tree: str, path: str) -> tuple[str, str] | None:
        """Return mode and object id of the entry at a path in a tree, or None."""
        mode, object_id = TREE, tree
        for part in path.split("/"):
            entries = {name: (kind, child) for kind, name, child in self._entries(object_id)} if mode == TREE else {}
            if os.fsencode(part) not in entries:
                return None
            mode, object_id = entries[os.fsencode(part)]
        return mode, object_id

    def without(self, tree: str, paths: Iterable[bytes]) -> str:
        """Return the id of the tree without the files at these paths, and without folders that are empty then."""
        removed: dict[bytes, list[bytes]] = {}
        for path in paths:
            name, _, rest = path.partition(b"/")
            removed.setdefault(name, []).append(rest)
        if not removed:
            return tree
        return self._write_tree(self._remaining_entries(tree, removed))

    def _remaining_entries(self, tree: str, removed: dict[bytes, list[bytes]]) -> Iterator[tuple[str, bytes, str]]:
        """Yield the entries of a tree without `removed`: by an entry's name the paths below it, empty for itself."""
        empty = self._write_tree(())
        for mode, name, object_id in self._entries(tree):
            below = removed.get(name)
            if below is None:
                yield mode, name, object_id
            elif b"" not in below:
                smaller = self.without(object_id, below)
                if smaller != empty:
                    yield mode, name, smaller

    def _entries(self, tree: str) -> Iterator[tuple[str, bytes, str]]:
        """Yield mode, name and object id of each entry of a tree object."""
        content, size, start = self.read(tree), len(tree) // 2, 0
        while start < len(content):  # an entry is `MODE NAME\0` and the object id as bytes
            end = content.index(b"\0", start)
            mode, _, name = content[start:end].partition(b" ")
            yield mode.decode("ascii").zfill(6), name, content[end + 1 : end + 1 + size].hex()
            start = end + 1 + size

    def _write_tree(self, entries: Iterable[tuple[str, bytes, str]]) -> str:
        """Write a tree object into the temporary object folder, in git's own format, and return its id."""
        # The mode has no leading zero in a tree object: another form would give another id.
        lines = (b"%s %s\0%s" % (mode.lstrip("0").encode(), name, bytes.fromhex(each)) for mode, name, each in entries)
        body = b"".join(lines)
        data = b"tree %d\0%s" % (len(body), body)
        name = hashlib.new(self._hash, data, usedforsecurity=False).hexdigest()
        path = self._objects / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(zlib.compress(data, 0))  # level 0: the file is deleted again soon
        return name

    def pack(self, ids: Iterable[str], folder: Path) -> Callable[[], Path]:
        """Start writing these objects into a pack in `folder`, which git can then read as an object folder.

        Returns a function that waits for git and returns the pack's path.

        Raises:
            TaskstateError: the folder cannot be written.
            GitFailed: an object does not exist.
        """
        with files.os_errors("write", folder):
            files.make_folder(folder, 0o700)  # it holds copies of files, some of which others may not read
            files.make_folder(folder / "pack")
        names = "".join(f"{each}\n" for each in dict.fromkeys(ids)).encode("ascii")
        # --window=0: no search for deltas, which takes longer than writing the objects whole.
        args = ["pack-objects", "-q", "--window=0", str((folder / "pack" / "pack").absolute())]
        output = git.start(args, self._root, stdin=names, env={**self._env, **self._place.storing(folder)})

        def wait() -> Path:
            pack = output().decode("ascii").strip()
            with files.os_errors("write", folder):
                for each in (folder / "pack" / name for name in files.names(folder / "pack")):
                    if each.name.startswith("tmp_"):  # left by git that was killed
                        folders.remove(each)
                    else:
                        folders.set_mode(each, 0o400)
                folders.sync(folder / "pack")
            return folder / "pack" / f"pack-{pack}.pack"

        return wait


def _missing_object(object_id: str) -> TaskstateError:
    """Return the error for an object that is neither in the repository nor in the snapshot's pack."""
    message = f"the git object {object_id} is neither in this repository nor in the snapshot's pack"
    help_ = "a backup, or another clone, may have the task's folder under artifacts/"
    return TaskstateError(message, help=help_, code="objects-lost")


def _parse_entry(head: bytes, path: bytes) -> TreeEntry:
    """Read an entry of `git diff-tree --raw`, which writes zeros for the mode and id of what does not exist."""
    old_mode, new_mode, old_id, new_id, status = head.decode("ascii").removeprefix(":").split(" ")
    modes = ("" if mode == "000000" else mode for mode in (old_mode, new_mode))
    ids = ("" if re.fullmatch(_NULL_ID, each) else each for each in (old_id, new_id))
    return TreeEntry(path, status[:1], *modes, *ids)


def leaves(entries: Iterable[TreeEntry], is_ours: Callable[[str], bool]) -> tuple[TreeEntry, ...]:
    """Return the entries that are files, links or submodules, without taskstate's own files."""
    found = (each for each in entries if TREE not in {each.old_mode, each.new_mode})
    return tuple(each for each in found if not is_ours(os.fsdecode(each.path)))


def new_objects(entries: Iterable[TreeEntry]) -> Iterator[str]:
    """Yield the ids of the objects that the second tree has and the first has not, at the same path."""
    for each in entries:
        # A submodule's id names a commit of another repository.
        if each.new_id and each.new_mode != GITLINK:
            yield each.new_id


def old_objects(entries: Iterable[TreeEntry]) -> Iterator[str]:
    """Yield the ids of the objects that the first tree has and the second has not, at the same path."""
    for each in entries:
        if each.old_id and each.old_mode != GITLINK:
            yield each.old_id
