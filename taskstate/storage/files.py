"""Bytes on disk: read, replace, create, append, move, delete so that a crash leaves the old or the new.

Nothing here knows what a task is: paths and bytes only. Every change is durable when its function returns (file and
folder are synced), and what the operating system refuses becomes a `TaskstateError` that says what, where and what to
do. `hashlib` is imported where it is used: every command comes through here, and start-up time is imports.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from taskstate.errors import StaleFile, TaskstateError

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_BYTES = 64 * 1024 * 1024
_CHUNK = 1024 * 1024
_TEMPORARY_NAME = (".taskstate-", ".tmp")
# Flags that only some systems have; O_NONBLOCK: opening a FIFO that took the file's place must not wait for ever.
_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
# What systems answer that cannot sync a folder (Windows, some network and FUSE file systems).
_SYNC_UNSUPPORTED = {
    errno.EACCES,
    errno.EPERM,
    errno.EINVAL,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.EISDIR,
}
_REFUSALS = {
    errno.ENOENT: ("not-found", "it does not exist", "check the name"),
    errno.EEXIST: ("exists", "it exists already", "choose another name, or move what is there out of the way"),
    errno.EACCES: ("no-permission", "permission denied", "check owner and permissions of the file and its folder"),
    errno.EPERM: ("no-permission", "permission denied", "check owner and permissions of the file and its folder"),
    errno.EROFS: ("read-only", "the file system is read-only", "make it writable, then run the command again"),
    errno.ENOSPC: ("disk-full", "no space is left on the disk", "free some space, then run the command again"),
    errno.EDQUOT: ("disk-full", "the disk quota is used up", "free some space, then run the command again"),
    errno.EISDIR: ("not-a-file", "it is a folder", "name a file"),
    errno.ENOTDIR: ("not-a-file", "a part of its path is no folder", "check the path"),
    errno.ELOOP: ("is-link", "it is a symbolic link, or its links run in a circle", "name the real file"),
    errno.ENAMETOOLONG: ("bad-name", "the name is too long", "choose a shorter one"),
}


def shown(path: Path | str) -> str:
    """Return `path` as a person may safely see it: whatever a terminal would act on is written as an escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(path))


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    import hashlib

    return hashlib.sha256(data).hexdigest()


def inside(root: Path, relative: str) -> Path:
    """Return the path `relative` (with `/`) under `root`; links in it stay, so that a writer can still refuse one.

    Raises:
        TaskstateError: code "path-escapes": it is absolute, contains `..`, enters a `.git` folder, or follows a link
            that leads outside.
    """
    path = root / relative
    try:
        real_root, real = Path(os.path.realpath(root)), Path(os.path.realpath(path))
    except (ValueError, OSError) as error:
        raise _escapes(relative, "is no path that the system can use") from error
    if ".." in relative.replace("\\", "/").split("/") or relative.startswith("/") or real_root not in real.parents:
        raise _escapes(relative, "names nothing inside the repository")
    if any(part.casefold() == ".git" for part in real.relative_to(real_root).parts):
        raise _escapes(relative, "leads into git's own folder")
    return path


def _escapes(relative: str, why: str) -> TaskstateError:
    """Return the refusal of a path that must stay inside the repository."""
    help_ = "write it relative to the repository's root, without .. and without links that lead outside"
    return TaskstateError(f"the path {shown(relative)!r} {why}", code="path-escapes", help=help_)


@contextmanager
def os_errors(doing: str, path: Path) -> Iterator[None]:
    """Turn what the operating system refuses into one clear error about `path`."""
    try:
        yield
    except OSError as error:
        unknown = ("os-error", error.strerror or type(error).__name__, "")
        code, why, help_ = _REFUSALS.get(error.errno or 0, unknown)
        raise TaskstateError(f"cannot {doing} {shown(path)}: {why}", code=code, help=help_) from error


def _require_file(status: os.stat_result, path: Path) -> None:
    """Refuse everything that is not a plain file: reading a device or a FIFO may hang or have effects."""
    if stat.S_ISREG(status.st_mode):
        return
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket",
        stat.S_IFLNK: "a symbolic link",
    }
    kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
    code = "is-link" if stat.S_ISLNK(status.st_mode) else "not-a-file"
    raise TaskstateError(f"{shown(path)} is {kind}, not a plain file", code=code, help="name the real file")


def _open(path: Path, flags: int) -> int:
    """Return a descriptor of the plain file at `path`; what is there is looked at before and after opening."""
    _require_file(path.lstat() if flags & _NO_FOLLOW else path.stat(), path)
    descriptor = os.open(path, flags | _FLAGS)
    try:
        _require_file(os.fstat(descriptor), path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def size(path: Path) -> int | None:
    """Return the length in bytes of the plain file at `path`, or None where there is nothing; a link is refused."""
    with os_errors("read", path):
        try:
            status = path.lstat()
        except FileNotFoundError:
            return None
    _require_file(status, path)
    return status.st_size


def read(path: Path) -> bytes:
    """Return the whole content of the plain file at `path`; more than `MAX_BYTES` is refused."""
    return read_part(path, 0, MAX_BYTES + 1, whole=True)


def read_part(path: Path, start: int, length: int, *, whole: bool = False) -> bytes:
    """Return at most `length` bytes from offset `start`; with `whole`, a file longer than `MAX_BYTES` is refused."""
    with os_errors("read", path):
        descriptor = _open(path, os.O_RDONLY)
        try:
            there = os.fstat(descriptor).st_size
            if whole:
                _require_readable_size(there, path)
            os.lseek(descriptor, start, os.SEEK_SET)
            data = _read_up_to(descriptor, length, min(there + 1, _CHUNK))
        finally:
            os.close(descriptor)
    if whole:
        _require_readable_size(len(data), path)
    return data


def _require_readable_size(length: int, path: Path) -> None:
    if length > MAX_BYTES:
        limit = f"more than {MAX_BYTES // _CHUNK} MiB"
        raise TaskstateError(
            f"cannot read {shown(path)}: it holds {limit}", code="too-large", help="split it, or exclude it"
        )


def _read_up_to(descriptor: int, length: int, chunk: int) -> bytes:
    pieces: list[bytes] = []
    while length > 0 and (piece := os.read(descriptor, min(chunk, length))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data` to a descriptor, however many calls that takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable, where the system can."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        if error.errno in _SYNC_UNSUPPORTED:
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _SYNC_UNSUPPORTED:
            raise
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Make `folder` and those above it, each durable before the next."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():  # somebody else's folder is as good as ours
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder)) from None
    sync_folder(folder.parent)


@contextmanager
def temporary_file(path: Path, data: bytes, like: os.stat_result | None = None) -> Iterator[Path]:
    """Give a synced file beside `path` that holds `data`, with mode and owner as in `like`; at the end it is gone."""
    start, end = _TEMPORARY_NAME
    temporary = path.with_name(f"{start}{os.getpid()}-{os.urandom(6).hex()}{end}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600 if like else 0o666)
    try:
        try:
            write_all(descriptor, data)
            if like:
                _copy_owner_and_mode(descriptor, like)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _copy_owner_and_mode(descriptor: int, like: os.stat_result) -> None:
    """Give the file the owner and the mode of another; an owner that we may not give away stays ours."""
    if not hasattr(os, "fchown"):
        return
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def replace(path: Path, data: bytes) -> None:
    """Put `data` at once in the place of the file at `path`, or where none is; a link or read-only file is refused."""
    with os_errors("write", path), temporary_file(path, data, require_replaceable(path)) as temporary:
        temporary.replace(path)
        sync_folder(path.parent)


def require_replaceable(path: Path) -> os.stat_result | None:
    """Return what is known of the file at `path`, or None where nothing is; what must not be replaced is refused."""
    try:
        before = path.lstat()
    except FileNotFoundError:
        return None
    _require_file(before, path)
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return before


def create(path: Path, data: bytes) -> None:
    """Put `data` at `path`, making the folders above it; whatever stands there already is never overwritten."""
    with os_errors("create", path):
        make_folder(path.parent)
        with temporary_file(path, data) as temporary:
            _rename_without_overwriting(temporary, path)
        try:
            sync_folder(path.parent)
        except OSError:
            path.unlink()
            raise


def _rename_without_overwriting(temporary: Path, path: Path) -> None:
    """Give the file the name `path` unless it is taken; where hard links do not exist, an empty file reserves it."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise
    except OSError:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS))
        try:
            temporary.replace(path)
        except OSError:
            path.unlink()
            raise


def append(path: Path, data: bytes, size: int) -> None:
    """Add `data` to the end of the file at `path`, which must be `size` bytes long, and stays so if that fails."""
    with os_errors("append to", path):
        descriptor = _open(path, os.O_WRONLY | os.O_APPEND | _NO_FOLLOW)
        try:
            there = os.fstat(descriptor).st_size
            if there != size:
                what = f"{shown(path)} is {there} bytes long and not {size}: somebody changed it meanwhile"
                raise StaleFile(what, help="run the command again")
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            except BaseException:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def truncate(path: Path, size: int) -> None:
    """Cut the file at `path` back to its first `size` bytes."""
    with os_errors("write", path):
        descriptor = _open(path, os.O_WRONLY | _NO_FOLLOW)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Give the file or folder `source` the name `target`, making the folders above it; nothing is overwritten.

    One rename, so that a crash leaves one of the two names; that no other writer takes the name is the lock's matter.
    """
    with os_errors("move to", target):
        make_folder(target.parent)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    with os_errors("move", source):
        source.rename(target)
        sync_folder(target.parent)
        sync_folder(source.parent)


def delete(path: Path) -> None:
    """Remove the file at `path`."""
    with os_errors("delete", path):
        path.unlink()
        sync_folder(path.parent)


def names(folder: Path) -> tuple[str, ...]:
    """Return the names in `folder`, sorted; none where there is no such folder."""
    with os_errors("list", folder):
        try:
            return tuple(sorted(entry.name for entry in folder.iterdir()))
        except (FileNotFoundError, NotADirectoryError):
            return ()


def is_temporary(name: str) -> bool:
    """Tell whether `name` is that of a temporary file of ours, which only a killed writer leaves behind."""
    return name.startswith(_TEMPORARY_NAME[0]) and name.endswith(_TEMPORARY_NAME[1])


def sweep(folder: Path) -> tuple[str, ...]:
    """Remove what killed writers left in `folder` and return its names; only who holds the lock may do this."""
    left = tuple(name for name in names(folder) if is_temporary(name))
    for name in left:
        delete(folder / name)
    return left
