"""A model of a working tree that asks git as little as possible: files as they are, and git's tree id computed here.

So what is recorded of a tree by git's own means has something independent to be held against.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

IGNORED = ("*.ignored", "build/")
_OURS = re.compile(r"\.taskstate/|(?:.*/)?task-[^/]+-state\.md\Z", re.DOTALL)
_LEFT_OUT = re.compile(r"build/|.*\.ignored\Z", re.DOTALL)


class Entry(NamedTuple):
    """A file as git sees it: its mode, and its bytes, or where a link leads."""

    mode: str
    data: bytes

    @property
    def sha256(self) -> str:
        """The hash of its bytes."""
        return hashlib.sha256(self.data).hexdigest()


class WorkingTree:
    """A git repository on disk, with the changes that people make in it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def git(self, *args: str | Path) -> str:
        """Run git, which must succeed, and return what it prints."""
        done = subprocess.run(["git", *args], cwd=self.root, capture_output=True, check=False, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, (args, done.stderr)
        return os.fsdecode(done.stdout)

    def tracked(self) -> set[str]:
        """Return the paths in git's index."""
        return set(self.git("ls-files", "-z").split("\0")) - {""}

    def entries(self) -> dict[str, Entry]:
        """Return what a snapshot has to hold: files that are tracked or not ignored, and none of taskstate's own."""
        tracked = self.tracked()
        return {
            path: entry
            for path, entry in self._on_disk()
            if not _OURS.match(path) and (path in tracked or not _LEFT_OUT.match(path))
        }

    def _on_disk(self) -> Iterator[tuple[str, Entry]]:
        for folder, folders, names in os.walk(self.root):
            links = [name for name in folders if Path(folder, name).is_symlink()]
            folders[:] = [name for name in folders if name not in {".git", *links}]
            for full in (Path(folder, name) for name in [*names, *links]):
                yield full.relative_to(self.root).as_posix(), _entry(full)

    def committed(self, commit: str) -> dict[str, str]:
        """Return the object id of each file of a commit, taskstate's own left out."""
        listed = self.git("ls-tree", "-r", "-z", commit).split("\0")
        heads = (line.partition("\t") for line in listed if line)
        return {path: head for head, _, path in heads if not _OURS.match(path)}

    def as_committed(self, entries: Mapping[str, Entry]) -> dict[str, str]:
        """Return what `committed` would give if these files were."""
        return {path: f"{each.mode} blob {_object(b'blob', each.data)}" for path, each in entries.items()}

    # What somebody does

    def write(self, path: str, data: bytes) -> None:
        """Write a file, whatever stands in its way; its mode stays."""
        full = self._ready(path)
        if full.is_symlink():
            full.unlink()
        full.write_bytes(data)

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link in the place of whatever is there."""
        self.delete(path)
        self._ready(path).symlink_to(target)

    def delete(self, path: str) -> None:
        """Delete a file or folder, where there is one."""
        full = self.root / path
        if any(not above.is_dir() or above.is_symlink() for above in self._above(full)):
            return
        if full.is_dir() and not full.is_symlink():
            shutil.rmtree(full)
        else:
            full.unlink(missing_ok=True)

    def switch_mode(self, path: str) -> None:
        """Make a file executable, or no longer."""
        full = self.root / path
        if not full.is_symlink():
            full.chmod(stat.S_IMODE(full.stat().st_mode) ^ stat.S_IXUSR)

    def rename(self, path: str, new: str) -> None:
        """Give a file another name."""
        kept = _entry(self.root / path)
        self.delete(path)
        self.put({new: kept})

    def put(self, entries: Mapping[str, Entry]) -> None:
        """Bring files about just as they were."""
        for path, entry in entries.items():
            if entry.mode == "120000":
                self.link(path, os.fsdecode(entry.data))
                continue
            self.delete(path)
            self.write(path, entry.data)
            (self.root / path).chmod(0o755 if entry.mode == "100755" else 0o644)

    def put_back(self, wanted: Mapping[str, Entry]) -> None:
        """Bring the whole tree back to what it was."""
        now = self.entries()
        for path in now.keys() - wanted.keys():
            self.delete(path)
        self.put({path: entry for path, entry in wanted.items() if now.get(path) != entry})

    def _above(self, full: Path) -> tuple[Path, ...]:
        """Return the folders between the root and a place, from the root on."""
        return tuple(self.root / above for above in reversed(full.relative_to(self.root).parents[:-1]))

    def _ready(self, path: str) -> Path:
        """Return the place of a file after making way for it, be it a file in the place of a folder or the reverse."""
        full = self.root / path
        for above in self._above(full):
            if above.is_symlink() or above.is_file():
                above.unlink()
            above.mkdir(exist_ok=True)
        if full.is_dir() and not full.is_symlink():
            shutil.rmtree(full)
        return full


def _entry(full: Path) -> Entry:
    status = full.lstat()
    if stat.S_ISLNK(status.st_mode):
        return Entry("120000", os.fsencode(full.readlink()))
    return Entry("100755" if status.st_mode & stat.S_IXUSR else "100644", full.read_bytes())


def tree_id(entries: Mapping[str, Entry]) -> str:
    """Return the id that git gives to a tree of these files."""
    return _tree({os.fsencode(path): entry for path, entry in entries.items()})


def _tree(entries: Mapping[bytes, Entry]) -> str:
    rows: dict[bytes, bytes] = {}
    below: dict[bytes, dict[bytes, Entry]] = {}
    for path, entry in entries.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = entry
        else:
            rows[name] = entry.mode.encode() + b" " + name + b"\0" + bytes.fromhex(_object(b"blob", entry.data))
    for name, inside in below.items():  # a folder is sorted as if its name ended in a slash
        rows[name + b"/"] = b"40000 " + name + b"\0" + bytes.fromhex(_tree(inside))
    return _object(b"tree", b"".join(rows[name] for name in sorted(rows)))


def _object(kind: bytes, data: bytes) -> str:
    return hashlib.sha1(b"%s %d\0" % (kind, len(data)) + data, usedforsecurity=False).hexdigest()
