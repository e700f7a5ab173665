"""Opens, lists, makes, renames and deletes, relative to a folder that is held open and without following any link.

This is the one hand for the disk. A commit can bring a link in the place of any file or folder; whoever followed it
would read, write or delete what is not the repository's. So a folder is opened one name after the other from the root
of the file system, each relative to the one before it and never through a link; only then something is done, relative
to the folder that is open. A check followed by a call with the same path would leave a gap in between; here, what was
checked is what is used.

A path has to be without links: the root of a repository, and what a user types, is resolved once (`os.path.realpath`);
what comes below it is not. All functions raise `OSError`; a link in the way is ELOOP, as it is for the system.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import closing, contextmanager, suppress

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from typing import TypeAlias

    _Require: TypeAlias = Callable[[os.stat_result], None]

# O_NOFOLLOW: a link is an error. O_DIRECTORY: so is a file. O_CLOEXEC: no program that we start inherits it.
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_PATH (Linux): going through a folder needs the permission to enter it, not the one to list it.
_ENTER = _FOLDER | getattr(os, "O_PATH", os.O_RDONLY)
_LIST = _FOLDER | os.O_RDONLY
# O_NONBLOCK: opening a FIFO that has taken a file's place must not wait for somebody who writes into it.
_FILE = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_MOST_HELD = 64  # folders that a `Lookout` holds open
# Errors of systems that cannot sync a folder (some network and FUSE file systems).
_SYNC_UNSUPPORTED = {
    *(errno.EACCES, errno.EPERM, errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EISDIR),
}


@contextmanager
def held(folder: Path | str, flags: int = _ENTER) -> Iterator[int]:
    """Hold `folder` open and yield its descriptor."""
    descriptor = _descend(_absolute(folder), flags)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _descend(folder: str, flags: int) -> int:
    """Open an absolute folder name after name, and return its descriptor; the last one is opened with `flags`."""
    names = [name for name in folder.split(os.sep) if name]
    here = os.open(os.sep, _ENTER if names else flags)
    for number, name in enumerate(names, 1):
        try:
            below = _open_folder(name, flags if number == len(names) else _ENTER, here)
        finally:
            os.close(here)
        here = below
    return here


def _absolute(path: Path | str) -> str:
    """Return an absolute path; one that the system cannot be given (with a NUL in it, say) is an error like others."""
    text = os.path.abspath(path)
    try:
        if b"\0" not in os.fsencode(text):
            return text
    except UnicodeEncodeError:
        pass
    raise _no_name(text)


def _no_name(path: Path | str) -> OSError:
    return OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))


def _open_folder(name: str, flags: int, above: int) -> int:
    """Open the folder with this name in the open folder `above`."""
    try:
        return os.open(name, flags, dir_fd=above)
    except NotADirectoryError as error:
        if not stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            raise
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error  # Linux says so only without O_PATH


@contextmanager
def _beside(path: Path | str) -> Iterator[tuple[int, str]]:
    """Hold the folder of `path` open, and yield its descriptor and the last name of the path."""
    folder, _, name = _absolute(path).rpartition(os.sep)
    descriptor = _descend(folder, _ENTER)
    try:
        yield descriptor, name or os.curdir  # the root of the file system has no name
    finally:
        os.close(descriptor)


@contextmanager
def _beside_both(path: Path | str, other: Path | str) -> Iterator[tuple[int, str, int, str]]:
    """Yield for two paths what `_beside` yields for each; a folder that both lie in is gone to once."""
    with _beside(path) as (folder, name):
        above, _, other_name = _absolute(other).rpartition(os.sep)
        if above == _absolute(path).rpartition(os.sep)[0] and other_name:
            yield folder, name, folder, other_name
        else:
            with _beside(other) as (other_folder, last):
                yield folder, name, other_folder, last


# Look


def status(path: Path | str) -> os.stat_result:
    """Return the status of what is at `path`: of a link, not of what it names."""
    with _beside(path) as (folder, name):
        return os.stat(name, dir_fd=folder, follow_symlinks=False)


def find(path: Path | str) -> os.stat_result | None:
    """Return the status of what is at `path`, or None if nothing can be: also behind a link."""
    try:
        return status(path)
    except OSError:
        return None


def exists(path: Path | str) -> bool:
    """Return whether anything is at `path`, also a link that leads nowhere."""
    return find(path) is not None


def is_file(path: Path | str) -> bool:
    """Return whether a plain file is at `path`."""
    found = find(path)
    return found is not None and stat.S_ISREG(found.st_mode)


def is_folder(path: Path | str) -> bool:
    """Return whether a folder is at `path`."""
    found = find(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def is_link(path: Path | str) -> bool:
    """Return whether a link is at `path`."""
    found = find(path)
    return found is not None and stat.S_ISLNK(found.st_mode)


def may(path: Path | str, access: int) -> bool:
    """Return whether this user has the `access` (`os.W_OK` and so on) to the file or folder at `path`."""
    try:
        with _beside(path) as (folder, name):
            return os.access(name, access, dir_fd=folder)
    except OSError:
        return False


class Lookout:
    """Looks at and opens many files one after the other, and holds the folders open in which they lie.

    So the way to a folder is gone once for all files in it. For as long as nobody makes or replaces a folder.
    """

    def __init__(self) -> None:
        self._held: dict[str, int | None] = {}  # None: there is no such folder

    def __reduce__(self) -> tuple[type[Lookout], tuple[()]]:
        return Lookout, ()  # descriptors cannot be pickled: the other process opens its own

    def status(self, path: Path | str) -> os.stat_result:
        """Return the status of what is at an absolute path: of a link, not of what it names."""
        folder, name = self._beside(path)
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except ValueError as error:
            raise _no_name(path) from error

    def open_checked(self, path: Path | str, flags: int, require: _Require) -> tuple[int, os.stat_result]:
        """Open what is at an absolute path as the function of this name does."""
        folder, name = self._beside(path)
        try:
            return _open_checked(folder, name, flags, require)
        except ValueError as error:
            raise _no_name(path) from error

    def _beside(self, path: Path | str) -> tuple[int, str]:
        folder, _, name = str(path).rpartition(os.sep)  # thousands: `os.path.split` takes five times as long
        descriptor = self._held[folder] if folder in self._held else self._hold(folder)
        if descriptor is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        return descriptor, name or os.curdir

    def _hold(self, folder: str) -> int | None:
        if len(self._held) >= _MOST_HELD:
            self.close()
        try:
            self._held[folder] = _descend(_absolute(folder or os.sep), _ENTER)
        except FileNotFoundError:
            self._held[folder] = None
        return self._held[folder]

    def close(self) -> None:
        """Let go of the folders; whoever looks again opens them again."""
        while self._held:
            _, descriptor = self._held.popitem()
            if descriptor is not None:
                os.close(descriptor)


def statuses(paths: Iterable[str]) -> Iterator[tuple[str, os.stat_result]]:
    """Yield each of these absolute paths at which something is, with its status."""
    with closing(Lookout()) as lookout:
        for path in paths:
            with suppress(OSError):  # deleted since it was listed
                yield path, lookout.status(path)


def link_text(path: Path | str) -> bytes:
    """Return the path that a link contains."""
    with _beside(path) as (folder, name):
        return os.readlink(os.fsencode(name), dir_fd=folder)


# List


def names(folder: Path | str) -> list[str]:
    """Return the names in `folder`, in no particular order."""
    with held(folder, _LIST) as descriptor:
        return os.listdir(descriptor)


def entries(folder: Path | str) -> list[tuple[str, bool]]:
    """Return the names in `folder`, in no particular order, and whether each is a folder's (a link to one is none)."""
    with held(folder, _LIST) as descriptor, os.scandir(descriptor) as found:
        return [(each.name, each.is_dir(follow_symlinks=False)) for each in found]


class Walked(NamedTuple):
    """A folder on a walk, open until the next is asked for: the names that are no folders', and links among them."""

    path: str
    names: list[str]
    links: list[str]
    descriptor: int
    error: OSError | None = None  # why it cannot be listed


def walk(top: Path | str, enters: Callable[[str, str], bool] = lambda _path, _name: True) -> Iterator[Walked]:
    """Yield `top` and each folder below it for which `enters`, given path and name, is true, if they exist."""
    pending = [os.fspath(top)]
    while pending:
        folder, others, links = pending.pop(), list[str](), list[str]()
        try:
            with held(folder, _LIST) as descriptor, os.scandir(descriptor) as found:
                for each in found:
                    if not each.is_dir(follow_symlinks=False):
                        others.append(each.name)
                        links += [each.name] if each.is_symlink() else []
                    elif enters(path := f"{folder}{os.sep}{each.name}", each.name):
                        pending.append(path)
                yield Walked(folder, others, links, descriptor)
        except FileNotFoundError:
            continue
        except OSError as error:
            yield Walked(folder, [], [], -1, error)


def walked_statuses(walked: Iterable[Walked], start: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path, from its character `start` on, and status of what is in the folders of a walk: of a link, its own."""
    for folder in walked:
        inside = f"{folder.path}{os.sep}"[start:]
        for name in folder.names:
            try:
                status = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)  # faster than an entry's own
            except FileNotFoundError:  # deleted since it was listed
                continue
            except OSError as error:  # with the whole path
                raise OSError(error.errno, error.strerror, f"{folder.path}{os.sep}{name}") from error
            yield inside + name, status


# Open


def open_file(path: Path | str, flags: int, mode: int = 0o600) -> int:
    """Open what is at `path`, which is no link, and return its descriptor; `mode` counts for a new file."""
    with _beside(path) as (folder, name):
        return os.open(name, flags | _FILE, mode, dir_fd=folder)


def open_checked(path: Path | str, flags: int, require: _Require) -> tuple[int, os.stat_result]:
    """Open what is at `path` and return its descriptor and its status, unless `require` raises for that.

    It is asked before opening, since opening a device may have side effects, and again after it, since something else
    may have taken the name between the two calls.
    """
    with _beside(path) as (folder, name):
        return _open_checked(folder, name, flags, require)


def _open_checked(folder: int, name: str, flags: int, require: _Require) -> tuple[int, os.stat_result]:
    require(os.stat(name, dir_fd=folder, follow_symlinks=False))
    descriptor = os.open(name, flags | _FILE, dir_fd=folder)
    try:
        opened = os.fstat(descriptor)
        require(opened)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, opened


# Change


def make(folder: Path | str, mode: int = 0o777) -> None:
    """Create one folder; that it exists is fine, that something else does is not."""
    with _beside(folder) as (above, name):
        try:
            os.mkdir(name, mode, dir_fd=above)
        except FileExistsError:
            os.close(_open_folder(name, _ENTER, above))  # raises unless it is a folder


def rename(source: Path | str, target: Path | str) -> None:
    """Rename what is at `source`; a file at `target` is replaced atomically."""
    with _beside_both(source, target) as (from_folder, old, to_folder, new):
        os.replace(old, new, src_dir_fd=from_folder, dst_dir_fd=to_folder)


def give_second_name(path: Path | str, other: Path | str) -> None:
    """Make `other` a hard link to the file at `path`; it must not exist."""
    with _beside_both(path, other) as (from_folder, old, to_folder, new):
        os.link(old, new, src_dir_fd=from_folder, dst_dir_fd=to_folder, follow_symlinks=False)


def make_link(path: Path | str, text: bytes) -> None:
    """Make a symbolic link at `path`, which contains `text`."""
    with _beside(path) as (folder, name):
        os.symlink(text, os.fsencode(name), dir_fd=folder)


def copy(source: Path | str, target: Path | str) -> None:
    """Copy a plain file to the new file `target`, for this user alone, with its time stamps."""
    import shutil

    like = status(source)
    reader, new = open_file(source, os.O_RDONLY), os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with open(reader, "rb") as old, open(open_file(target, new), "wb") as copied:
        shutil.copyfileobj(old, copied)
        copied.flush()
        os.utime(copied.fileno(), ns=(like.st_atime_ns, like.st_mtime_ns))


def set_mode(path: Path | str, mode: int) -> None:
    """Set the mode of the file or folder at `path`."""
    descriptor = open_file(path, os.O_RDONLY)  # by its descriptor: `chmod` itself follows a link
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def remove(path: Path | str) -> None:
    """Delete the file at `path`; of a link, the link."""
    with _beside(path) as (folder, name):
        os.unlink(name, dir_fd=folder)


def remove_empty(folder: Path | str) -> None:
    """Delete a folder that has nothing in it."""
    with _beside(folder) as (above, name):
        os.rmdir(name, dir_fd=above)


def remove_all(folder: Path | str) -> None:
    """Delete a folder with all that is in it; of a link in it, the link."""
    import shutil

    with _beside(folder) as (above, name):
        os.close(_open_folder(name, _ENTER, above))  # says of a link what it is: Python 3.13 does not
        shutil.rmtree(name, dir_fd=above)  # it opens each folder relative to the one above, and follows no link


def sync(folder: Path | str) -> None:
    """Make the names in `folder` durable where the system can: syncing a file does not sync its name."""
    try:
        with held(folder, _LIST) as descriptor:
            os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _SYNC_UNSUPPORTED:
            raise
