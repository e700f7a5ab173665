"""Replaces files by compare-and-swap, and keeps copies of their latest versions to recover lost updates from.

A write replaces a file only if it still has the expected digest, and keeps the old file under a second name (a hard
link), so that a save which reaches the old file too late is noticed. Copies are limited in number and size and are not
synced: they are a safety net. If a copy cannot be made, the write goes on without it. The caller holds the lock.
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from taskstate.errors import StaleFile
from taskstate.storage import files

if TYPE_CHECKING:
    from pathlib import Path


# Errors of systems that cannot give a file a second name.
_LINK_UNSUPPORTED = {
    *(errno.EACCES, errno.EPERM, errno.EXDEV, errno.EMLINK),
    *(errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP),
}


def compare_and_swap(path: Path, data: bytes, expected: str, backup: Path | None = None) -> None:
    """Replace the file at `path` by `data` if its content still has the SHA-256 `expected`.

    The old file stays as `backup`, a hard link made before the rename. An editor that saves in folder between the last
    check and the rename writes into that old file: it is checked again afterwards, and gets its name back.

    Raises:
        StaleFile: the file has other content, which is left as it is.
    """
    with files.os_errors("write", path):
        before = files.require_replaceable(path)
        if before is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        with files.temporary_file(path, data, before) as temporary:
            ours = temporary.stat().st_ino
            watched = backup if backup and _hard_link(path, backup) else path
            try:
                _rename_over(temporary, path, watched, expected)
            except BaseException:
                if watched is not path:
                    watched.unlink(missing_ok=True)
                raise
        try:
            files.sync_folder(path.parent)
        except OSError:
            if watched is not path:
                watched.replace(path)
            raise
        if watched is not path and files.digest(files.read(watched)) != expected:
            if path.lstat().st_ino == ours:
                watched.replace(path)
                files.sync_folder(path.parent)
            raise _changed(path)


def _rename_over(temporary: Path, path: Path, watched: Path, expected: str) -> None:
    """Rename `temporary` to `path`, if the file there is still `watched` and has the digest `expected`."""
    # The same inode, too: an editor that saves by rename has put another file there since the link was made.
    if files.digest(files.read(watched)) != expected or watched.stat().st_ino != path.lstat().st_ino:
        raise _changed(path)
    temporary.replace(path)


def _hard_link(path: Path, backup: Path) -> bool:
    """Give the file at `path` the second name `backup`, and return whether the file system can do that."""
    try:
        backup.unlink(missing_ok=True)
        backup.hardlink_to(path)
    except OSError as error:
        if error.errno in _LINK_UNSUPPORTED:
            return False
        raise
    return True


def _changed(path: Path) -> StaleFile:
    return StaleFile(f"{files.shown(path)} was changed by somebody else meanwhile", help="run the command again")


FOLDER = "recent"
_MAX_VERSIONS, _MAX_BYTES = 64, 4 * 1024**2  # of one file; the newest two stay whatever their size
_MAX_FILES = 64  # that have backups
_MAX_NAME = 200  # bytes of a folder's name, which most systems limit to 255
_VERSION_NAME = r"(\d{6})-([0-9a-f]{16})-([0-9a-f]{16}|)"
_PARENT_NAME = r"from-([0-9a-f]{16})-([0-9a-f]{16})"  # digests of a text and of a further parent of it
_WATCHED = "watched-"  # and the beginning of the digest that the replaced file had
_FLOOR = "floor-"  # and a revision


class Version(NamedTuple):
    """A kept version of a file.

    `number` orders the versions of a file; `digest` and `parent` are the first 16 digits of a SHA-256.
    """

    path: Path
    number: int
    digest: str
    parent: str = ""

    def read(self) -> bytes | None:
        """Return the version's bytes, or None if they do not match its digest, as after a crash."""
        data = files.read(self.path)
        return data if files.digest(data).startswith(self.digest) else None


def replace(journal: Path, relative: str, path: Path, expected: str, data: bytes) -> None:
    """Replace the file at `path` by `data`, as `compare_and_swap` does, and keep a copy of both versions.

    Raises:
        StaleFile: the file's content has not, or no longer, the digest `expected`.
        TaskstateError: the system refuses.
    """
    folder = _folder_of(journal, relative)
    if not _prepare_folder(folder):
        compare_and_swap(path, data, expected)
        return
    watched = folder / f"{_WATCHED}{expected[:16]}"
    compare_and_swap(path, data, expected, watched)
    with suppress(OSError):
        for name in os.listdir(folder):
            if name.startswith(_WATCHED) and name != watched.name:
                (folder / name).unlink()
        if watched.exists():
            _add(folder, watched, watched.read_bytes())  # a hand edit, if it is not the newest version
        _add(folder, path, data, parent=expected)
        _delete_old_versions(_versions_in(folder))
        _delete_old_files(journal / FOLDER, folder.name)


def accept_current(journal: Path, relative: str, path: Path, floor: int, parent: str) -> None:
    """Record the file's present content as its newest version, and `floor` as the highest revision given so far."""
    folder = _folder_of(journal, relative)
    with suppress(OSError):
        _add(folder, path, files.read(path), parent=parent)
        descriptor = os.open(folder / f"{_FLOOR}{floor}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.close(descriptor)


def revision_floor(journal: Path, relative: str) -> int:
    """Return the highest revision that `accept_current` recorded for a file, or 0."""
    with suppress(OSError):
        names = os.listdir(_folder_of(journal, relative))
        revisions = (name.removeprefix(_FLOOR) for name in names if name.startswith(_FLOOR))
        return max((int(revision) for revision in revisions if revision.isdecimal()), default=0)
    return 0


def add_parent(journal: Path, relative: str, text: str, other: str) -> None:
    """Record that the text with the digest `text` has the one with the digest `other` as a further parent."""
    folder = _folder_of(journal, relative)
    with suppress(OSError):
        os.close(os.open(folder / f"from-{text[:16]}-{other[:16]}", os.O_WRONLY | os.O_CREAT, 0o600))


def common_ancestor(journal: Path, relative: str, ours: str, theirs: str) -> bytes | None:
    """Return the newest kept version that both texts, given by their digests, descend from; None if there is none."""
    folder = _folder_of(journal, relative)
    kept = _versions_in(folder)
    parents: dict[str, set[str]] = {}
    for version in kept:
        parents.setdefault(version.digest, set()).add(version.parent)
    for name in files.names(folder):
        match = re.fullmatch(_PARENT_NAME, name)
        if match:
            parents.setdefault(match[1], set()).add(match[2])
    both = _ancestors(ours[:16], parents) & _ancestors(theirs[:16], parents)
    return next((data for version in kept[::-1] if version.digest in both and (data := version.read())), None)


def _ancestors(text: str, parents: dict[str, set[str]]) -> set[str]:
    """Return the digest `text` and those of all its ancestors."""
    ancestors: set[str] = set()
    pending = [text]
    while pending:
        digest = pending.pop()
        if digest not in ancestors:
            ancestors.add(digest)
            pending += parents.get(digest, ())
    return ancestors - {""}


def _versions_in(folder: Path) -> list[Version]:
    """Return the versions in a backup folder, the newest last."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    matches = ((name, re.fullmatch(_VERSION_NAME, name)) for name in names)
    return [Version(folder / name, int(match[1]), match[2], match[3]) for name, match in matches if match]


def versions_of(journal: Path, relative: str) -> list[Version]:
    """Return the kept versions of the file `relative`, the newest last."""
    return _versions_in(_folder_of(journal, relative))


def possibly_changed(journal: Path, root: Path) -> list[str]:
    """Return the paths of the files that somebody else may have saved since we wrote them.

    Only times and sizes are compared: every command runs this.
    """
    folder = os.path.join(journal, FOLDER)
    try:
        names = [] if os.path.islink(folder) else sorted(os.listdir(folder))
    except OSError:
        return []
    # The folder of a long path is named by a hash, from which the path cannot be found again.
    backups = ((os.path.join(folder, name), unquote(name)) for name in names if not name.startswith("@"))
    return [relative for backup, relative in backups if _is_possibly_changed(backup, os.path.join(root, relative))]


def _is_possibly_changed(folder: str, path: str) -> bool:
    """Return whether a file seems to differ from its newest version, or the file that it replaced was written since."""
    try:
        names = os.listdir(folder)
        newest = max((name for name in names if re.fullmatch(_VERSION_NAME, name)), default="")
        if not newest:
            return False
        then, now = os.lstat(os.path.join(folder, newest)), os.lstat(path)
        watched = [os.lstat(os.path.join(folder, name)) for name in names if name.startswith(_WATCHED)]
    except OSError:
        return False
    same = (now.st_size, now.st_mtime_ns) == (then.st_size, then.st_mtime_ns)
    return not same or any(old.st_mtime_ns >= then.st_mtime_ns for old in watched)


def late_save(journal: Path, relative: str, path: Path) -> Version | None:
    """Return the replaced file if an editor saved into it after it had been replaced, or None.

    Its bytes are then those of that save, and its digest is that of the text which was replaced.
    """
    folder = _folder_of(journal, relative)
    newest = _versions_in(folder)[-1:]
    with suppress(OSError):
        for name in os.listdir(folder):
            watched = Version(folder / name, 0, name.removeprefix(_WATCHED))
            if not name.startswith(_WATCHED):
                continue
            if watched.path.samefile(path):  # left by a writer that was killed before its rename
                watched.path.unlink()
            elif newest and watched.path.stat().st_mtime_ns < newest[0].path.stat().st_mtime_ns:
                continue  # not written since it was replaced
            elif watched.read() is None:
                return watched
    return None


def forget(journal: Path, relative: str) -> None:
    """Delete the versions of a file."""
    _delete_folder(_folder_of(journal, relative))


def _delete_folder(folder: Path) -> None:
    with suppress(OSError):
        for name in os.listdir(folder):
            (folder / name).unlink()
        folder.rmdir()


def _folder_of(journal: Path, relative: str) -> Path:
    name = quote(relative, safe="")
    if len(name) > _MAX_NAME:
        name = f"@{files.digest(relative.encode('utf-8', 'surrogateescape'))[:32]}"
    return journal / FOLDER / name


def _prepare_folder(folder: Path) -> bool:
    """Create the folder, and return whether it can be used: not if it is a link, which could lead anywhere."""
    with suppress(OSError):
        if folder.parent.is_symlink() or folder.is_symlink():
            return False
        if not folder.is_dir():
            folder.mkdir(parents=True)
        if folder.parent.stat().st_mode & 0o077:  # text that was removed again, such as a secret, may be here
            folder.parent.chmod(0o700)
        return True
    return False


def _add(folder: Path, path: Path, data: bytes, *, parent: str | None = None) -> None:
    """Add a version unless it is the newest one already; its parent is the newest one if none is given.

    The copy gets the times of the file at `path`, for `possibly_changed` to compare.
    """
    last, digest = _versions_in(folder)[-1:], files.digest(data)
    if last and digest.startswith(last[0].digest):
        return
    number, newest = (last[0].number + 1, last[0].digest) if last else (1, "")
    copy = folder / f"{number % 1_000_000:06}-{digest[:16]}-{newest if parent is None else parent[:16]}"
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        files.write_all(descriptor, data)
    finally:
        os.close(descriptor)
    status = path.stat()
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))


def _delete_old_versions(kept: list[Version]) -> None:
    """Delete the oldest versions of a file beyond the limits on number and size."""
    sizes = [version.path.stat().st_size for version in kept]
    while len(kept) > 2 and (len(kept) > _MAX_VERSIONS or sum(sizes) > _MAX_BYTES):  # noqa: PLR2004 - the last change
        kept.pop(0).path.unlink()
        sizes.pop(0)
    if kept:
        parents = [entry for entry in os.scandir(kept[0].path.parent) if re.fullmatch(_PARENT_NAME, entry.name)]
        for entry in sorted(parents, key=lambda entry: entry.stat().st_mtime_ns)[:-_MAX_VERSIONS]:
            os.unlink(entry.path)


def _delete_old_files(folder: Path, newest: str) -> None:
    """Delete the backups of files beyond the limit: those that got no new version for the longest time."""
    names = [name for name in os.listdir(folder) if name != newest]
    if len(names) >= _MAX_FILES:
        by_time = sorted(names, key=lambda name: (folder / name).stat().st_mtime_ns)
        for name in by_time[: len(names) - _MAX_FILES + 1]:
            _delete_folder(folder / name)
