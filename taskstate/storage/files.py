"""Reads, replaces, creates, appends to, moves and deletes files, atomically and durably.

After a crash a file holds either the old or the new content, except for `append`, which can be cut short. A change is
on the disk when its function returns: file and folder are synced. No link is followed (`folders`). Errors of the
operating system become a `TaskstateError` that says what failed, where, and what to do. `hashlib` is imported where it
is used: every command loads this module, and start-up time is mostly imports.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

from taskstate.errors import StaleFile, TaskstateError
from taskstate.storage import folders
from taskstate.storage.signals import Held
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.error_codes import ErrorCode

MAX_BYTES = 64 * 1024**2  # of what is read whole, such as a log
MAX_TEXT = 24 * 1024**2  # of what is parsed: more than any state file, and than what an archive gathers in years
_CHUNK = 1024 * 1024
_SHORT = 32 * 1024  # below that, loading OpenSSL takes longer than it saves
_TEMPORARY_NAME = (".taskstate-", ".tmp")
_REFUSALS: dict[int, tuple[ErrorCode, str, str]] = {
    errno.ENOENT: ("not-found", "it does not exist", "check the name"),
    errno.EEXIST: ("exists", "it exists already", "choose another name, or move what is there out of the way"),
    errno.EACCES: ("no-permission", "permission denied", "check owner and permissions of the file and its folder"),
    errno.EPERM: ("no-permission", "permission denied", "check owner and permissions of the file and its folder"),
    errno.EROFS: ("read-only", "the file system is read-only", "make it writable, then run the command again"),
    errno.ENOSPC: ("disk-full", "no space is left on the disk", "free some space, then run the command again"),
    errno.EDQUOT: ("disk-full", "the disk quota is used up", "free some space, then run the command again"),
    errno.EISDIR: ("not-a-file", "it is a folder", "name a file"),
    errno.ENOTDIR: ("not-a-file", "it, or part of its path, is not a folder", "move it away, and put the folder there"),
    errno.ELOOP: ("is-link", "it is a symbolic link, or lies behind one", "put the real file or folder there"),
    errno.EINVAL: ("bad-name", "no file can have such a name", "choose another one"),
    errno.ENAMETOOLONG: ("bad-name", "the name is too long", "choose a shorter one"),
}


def shown(path: Path | str) -> str:
    """Return `path` for a message, with the characters escaped that a terminal would act on."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in str(path))


def digest(data: bytes) -> str:
    """Return the SHA-256 of `data` in hexadecimal."""
    if len(data) <= _SHORT:
        from taskstate.syntax import hashes

        return hashes.sha256(data)
    import hashlib

    return hashlib.sha256(data).hexdigest()


def inside(root: Path, relative: str, real: Callable[[str], str] = os.path.realpath) -> Path:
    """Return `root / relative` after checking that it stays inside `root`.

    Links in the returned path stay, so that whoever opens it refuses them.

    Raises:
        TaskstateError: code "path-escapes": it is absolute, contains `..`, enters `.git`, or follows a link outside.
    """
    resolved(root, relative, real)
    return root / relative


def resolved(root: Path, relative: str, real: Callable[[str], str] = os.path.realpath) -> Path:
    """Return where `root / relative` lies, links that stay inside `root` followed: by `real`, on disk or in a commit.

    Raises:
        TaskstateError: code "path-escapes", as for `inside`.
    """
    # Both are resolved: comparing the text alone would accept a link inside the repository that leads out of it.
    try:
        real_root, found = Path(real(str(root))), Path(real(str(root / relative)))
    except (ValueError, OSError) as error:
        raise _escapes(relative, "is not a path that the system can use") from error
    if ".." in relative.replace("\\", "/").split("/") or relative.startswith("/") or real_root not in found.parents:
        raise _escapes(relative, "names nothing inside the repository")
    if any(part.casefold() == ".git" for part in found.relative_to(real_root).parts):
        raise _escapes(relative, "leads into git's own folder")
    return found


def _escapes(relative: str, why: str) -> TaskstateError:
    """Return the error for a path that must stay inside the repository."""
    help_ = "write it relative to the repository's root, without .. and without links that lead outside"
    return TaskstateError(f"the path {shown(relative)!r} {why}", code="path-escapes", help=help_)


@contextmanager
def os_errors(doing: str, path: Path | str) -> Iterator[None]:
    """Turn an `OSError` into a `TaskstateError` that says "cannot `doing` `path`" and what to do."""
    try:
        yield
    except OSError as error:
        raise _refused(doing, path, error) from error


def _refused(doing: str, path: Path | str, error: OSError) -> TaskstateError:
    unknown: tuple[ErrorCode, str, str] = ("os-error", error.strerror or type(error).__name__, "")
    code, why, help_ = _REFUSALS.get(error.errno or 0, unknown)
    if code in {"no-permission", "not-a-file", "is-link"}:  # a folder above may be what is in the way
        from taskstate.storage.paths import hindrance

        help_ = shown(hindrance(path)) or help_
    return TaskstateError(f"cannot {doing} {shown(path)}: {why}", code=code, help=help_)


def require_file(mode: int, path: Path | str) -> None:
    """Refuse anything but a plain file: reading a device or a FIFO may hang or have side effects."""
    if stat.S_ISREG(mode):
        return
    is_link = stat.S_ISLNK(mode)
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket"}
    kind = "a symbolic link" if is_link else kinds.get(stat.S_IFMT(mode), "a device")
    code: ErrorCode = "is-link" if is_link else "not-a-file"
    message, help_ = f"{shown(path)} is {kind}, not a plain file", "move it away, or name the real file"
    raise TaskstateError(message, code=code, help=help_)


def _open(path: Path | str, flags: int, lookout: folders.Lookout | None = None) -> tuple[int, os.stat_result]:
    """Open the plain file at `path`, and return its descriptor and its status."""
    open_checked = lookout.open_checked if lookout else folders.open_checked
    return open_checked(path, flags, lambda status: require_file(status.st_mode, path))


def size(path: Path) -> int | None:
    """Return the size in bytes of the plain file at `path`, or None if there is none; a link is refused."""
    with os_errors("read", path):
        try:
            status = folders.status(path)
        except FileNotFoundError:
            return None
    require_file(status.st_mode, path)
    return status.st_size


def read(path: Path | str, most: int = MAX_TEXT, lookout: folders.Lookout | None = None) -> bytes:
    """Return the content of the plain file at `path`; one of more than `most` bytes is refused.

    Whoever reads many files gives the `lookout` that holds their folders open.
    """
    try:  # not by `os_errors`, which takes as long as a call of the system
        descriptor, status = _open(path, os.O_RDONLY, lookout)
        try:
            require_readable_size(status.st_size, most, path)
            data = os.read(descriptor, status.st_size + 1)
            if len(data) != status.st_size:  # it has changed since, or has no size, as files of /proc
                data += _read_up_to(descriptor, most + 1 - len(data))
        finally:
            os.close(descriptor)
    except OSError as error:
        raise _refused("read", path, error) from error
    require_readable_size(len(data), most, path)  # it may have grown while it was read
    return data


def read_part(path: Path, start: int, length: int) -> bytes:
    """Return at most `length` bytes of the plain file at `path`, from offset `start`."""
    with os_errors("read", path):
        descriptor, _ = _open(path, os.O_RDONLY)
        try:
            os.lseek(descriptor, start, os.SEEK_SET)
            return _read_up_to(descriptor, length)
        finally:
            os.close(descriptor)


def require_readable_size(length: int, most: int, path: Path | str) -> None:
    """Refuse a file of more than `most` bytes."""
    if length > most:
        message = f"cannot read {shown(path)}: it holds more than {most / 1024**2:g} MiB"
        raise TaskstateError(message, code="too-large", help="split it, or exclude it")


def _read_up_to(descriptor: int, length: int) -> bytes:
    pieces: list[bytes] = []
    while length > 0 and (piece := os.read(descriptor, min(_CHUNK, length))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`: one call of `os.write` may write only a part of it."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Create `folder` and its missing parents, each durable before the next; `mode` is that of the last one."""
    if folders.is_folder(folder):
        return
    make_folder(folder.parent)
    folders.make(folder, mode)
    folders.sync(folder.parent)


def temporary_name(path: Path) -> Path:
    """Return a new path beside `path` that `is_temporary` knows."""
    start, end = _TEMPORARY_NAME
    return path.with_name(f"{start}{os.getpid()}-{os.urandom(6).hex()}{end}")


@contextmanager
def temporary_file(path: Path, data: bytes, like: os.stat_result | None = None, *, mode: int = 0o666) -> Iterator[Path]:
    """Yield a synced temporary file beside `path` that holds `data`, and delete it afterwards unless it was renamed.

    It gets the mode and owner of `like`. It lies beside `path`, since a rename is atomic only inside one file system.
    """
    temporary = temporary_name(path)
    with Held():  # as long as it is there
        # Private until it has the other file's owner and mode: `data` may be for its owner only.
        descriptor = folders.open_file(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if like else mode)
        try:
            try:
                write_all(descriptor, data)
                if like:
                    _copy_owner_and_mode(descriptor, like)
                os.fsync(descriptor)  # before the rename: else a power cut can leave the new name with an empty file
            finally:
                os.close(descriptor)
            yield temporary
        finally:
            with suppress(FileNotFoundError):
                folders.remove(temporary)


def _copy_owner_and_mode(descriptor: int, like: os.stat_result) -> None:
    """Give the file the owner and mode of `like`; the owner stays ours where we may not change it."""
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (like.st_uid, like.st_gid):
        with suppress(PermissionError):
            os.fchown(descriptor, like.st_uid, like.st_gid)
    # After fchown, which clears the set-user-id and set-group-id bits.
    os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def replace(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically, over a file or where none is; a link or a read-only file is refused."""
    with os_errors("write", path), temporary_file(path, data, require_replaceable(path)) as temporary:
        folders.rename(temporary, path)
        folders.sync(path.parent)


def replace_private(path: Path, data: bytes) -> None:
    """Write `data` to `path` atomically, for this user alone, whatever its mode was; a link is replaced itself."""
    with os_errors("write", path), temporary_file(path, data, mode=0o600) as temporary:
        folders.rename(temporary, path)
        folders.sync(path.parent)


def require_replaceable(path: Path) -> os.stat_result | None:
    """Return the status of the file that is to be replaced, or None if there is none; refuse what must not be.

    A rename asks for write access to the folder only, so a read-only file has to be refused here; and in a sticky
    folder that of another user, before it gets a second name that nobody can take away again.
    """
    try:
        before = folders.status(path)
    except FileNotFoundError:
        return None
    require_file(before.st_mode, path)
    folder = folders.status(path.parent)
    is_kept = folder.st_mode & stat.S_ISVTX and os.geteuid() not in {0, before.st_uid, folder.st_uid}
    if is_kept or not folders.may(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return before


def create(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write `data` to the new file `path`, creating missing folders; an existing file is never overwritten."""
    with os_errors("create", path):
        make_folder(path.parent)
        with temporary_file(path, data, mode=mode) as temporary:
            _rename_without_overwriting(temporary, path)
        try:
            folders.sync(path.parent)
        except OSError:
            folders.remove(path)
            raise


def _rename_without_overwriting(temporary: Path, path: Path) -> None:
    """Give the temporary file the name `path`, unless that exists.

    A rename would replace an existing file without an error; making a hard link fails. Where hard links are not
    supported, an empty file created with O_EXCL reserves the name first.
    """
    try:
        folders.give_second_name(temporary, path)
    except FileExistsError:
        raise
    except OSError:
        os.close(folders.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        try:
            folders.rename(temporary, path)
        except OSError:
            folders.remove(path)
            raise


def append(path: Path, data: bytes, size: int) -> None:
    """Append `data` to the file at `path`, which must be `size` bytes long; on an error it is cut back to that.

    Raises:
        StaleFile: the file has another size.
        TaskstateError: the system refuses.
    """
    with os_errors("append to", path):
        if folders.status(path).st_nlink > 1:  # its other names, which may be anybody's, keep the old content
            replace(path, read(path))
        descriptor, status = _open(path, os.O_WRONLY | os.O_APPEND)
        try:
            if status.st_size != size:
                message = f"{shown(path)} is {status.st_size} bytes long and not {size}: somebody changed it meanwhile"
                raise StaleFile(message, help="run the command again")
            try:
                write_all(descriptor, data)
                os.fsync(descriptor)
            except BaseException:
                os.ftruncate(descriptor, size)
                raise
        finally:
            os.close(descriptor)


def truncate(path: Path, size: int) -> None:
    """Truncate the file at `path` to its first `size` bytes."""
    with os_errors("write", path):
        descriptor, _ = _open(path, os.O_WRONLY)
        try:
            os.ftruncate(descriptor, size)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def move(source: Path, target: Path) -> None:
    """Rename the file or folder `source` to `target`, creating missing folders; nothing is overwritten."""
    with os_errors("move to", target):
        make_folder(target.parent)
        # A rename would replace an existing file. The lock, not this check, keeps other commands from taking the name
        # in between; a hard link as in `create` is not used, since after a crash both names could be there.
        if folders.exists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    with os_errors("move", source):
        folders.rename(source, target)
        folders.sync(target.parent)
        folders.sync(source.parent)


def delete(path: Path) -> None:
    """Remove the file at `path`."""
    with os_errors("delete", path):
        folders.remove(path)
        folders.sync(path.parent)


def names(folder: Path) -> tuple[str, ...]:
    """Return the names in `folder`, sorted; none if nothing is there. What cannot be listed is not empty: an error."""
    with os_errors("list", folder):
        try:
            return tuple(sorted(folders.names(folder)))
        except FileNotFoundError:
            return ()


def children(folder: Path) -> list[Path]:
    """Return the paths of what is in `folder`, sorted; none if nothing can be there."""
    return [folder / name for name in names(folder)] if folders.exists(folder) else []


def is_temporary(name: str) -> bool:
    """Return whether `name` is that of one of our temporary files, which only a killed writer leaves behind."""
    return name.startswith(_TEMPORARY_NAME[0]) and name.endswith(_TEMPORARY_NAME[1])


def sweep(folder: Path) -> tuple[str, ...]:
    """Delete the temporary files that killed writers left in `folder`, and return their names.

    The caller holds the lock: without it they may belong to a running command.
    """
    swept = []
    for name in filter(is_temporary, names(folder)):
        with suppress(TaskstateError):  # it is another user's, in a sticky folder: it is in nobody's way
            delete(folder / name)
            swept.append(name)
    return tuple(swept)
