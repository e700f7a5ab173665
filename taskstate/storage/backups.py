"""Copies of the versions that taskstate replaced lately, and the compare-and-swap that replaces them.

A write replaces a file only while it still holds the expected digest, and keeps the old file by a hard link, so that an
editor which saves late is noticed. Copies are bounded in number and size and are not synced. Where the system refuses a
copy, the write goes on without it. Bytes only; the caller holds the lock.
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


_LINK_UNSUPPORTED = {
    errno.EACCES,
    errno.EPERM,
    errno.EXDEV,
    errno.EMLINK,
    errno.ENOSYS,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
}


def compare_and_swap(path: Path, data: bytes, expected: str, kept: Path | None = None) -> None:
    """Put `data` in the place of the file at `path`, whose content must have the digest `expected` to the last instant.

    The old file stays at `kept`, by a hard link. A save in place that reaches it in the instant of the change is seen
    by that: the very file that somebody is writing gets its name back.

    Raises:
        StaleFile: the file is another one; it stands as that somebody left it.
    """
    with files.os_errors("write", path):
        before = files.require_replaceable(path)
        if before is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        with files.temporary_file(path, data, before) as temporary:
            ours = temporary.stat().st_ino
            watched = kept if kept and _hard_link(path, kept) else path
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
    """Give the file the name `path`, if what stands there is `watched` and has the digest `expected`."""
    if files.digest(files.read(watched)) != expected or watched.stat().st_ino != path.lstat().st_ino:
        raise _changed(path)
    temporary.replace(path)


def _hard_link(path: Path, kept: Path) -> bool:
    """Give the file at `path` a second name, and tell whether the system can do that here."""
    try:
        kept.unlink(missing_ok=True)
        kept.hardlink_to(path)
    except OSError as error:
        if error.errno in _LINK_UNSUPPORTED:
            return False
        raise
    return True


def _changed(path: Path) -> StaleFile:
    return StaleFile(f"{files.shown(path)} was changed by somebody else meanwhile", help="run the command again")


FOLDER = "recent"
_MAX_VERSIONS, _MAX_BYTES = 64, 4 * 1024**2  # of one file; the newest two stay however large they are
_MAX_FILES = 64  # of which versions are kept
_MAX_NAME = 200  # bytes of a folder's name
_VERSION_NAME = r"(\d{6})-([0-9a-f]{16})-([0-9a-f]{16}|)"
_PARENT_NAME = r"from-([0-9a-f]{16})-([0-9a-f]{16})"  # a text, and one more that it comes from
_WATCHED = "watched-"  # and the beginning of its digest
_FLOOR = "floor-"  # and a number


class Version(NamedTuple):
    """A kept version of a file: where it lies, its place in the order, the beginning of its digest and its parent's."""

    path: Path
    number: int
    digest: str
    parent: str = ""

    def read(self) -> bytes | None:
        """Return the version's bytes, or None where they are not those that were kept."""
        data = files.read(self.path)
        return data if files.digest(data).startswith(self.digest) else None


def replace(journal: Path, relative: str, path: Path, expected: str, data: bytes) -> None:
    """Put `data` in the place of the file at `path`, as `compare_and_swap` does, and keep both versions.

    Raises:
        StaleFile: the file had not the digest `expected`, up to the last instant.
        TaskstateError: the system refuses.
    """
    place = _folder_of(journal, relative)
    if not _prepare_folder(place):
        compare_and_swap(path, data, expected)
        return
    watched = place / f"{_WATCHED}{expected[:16]}"
    compare_and_swap(path, data, expected, watched)
    with suppress(OSError):
        for name in os.listdir(place):
            if name.startswith(_WATCHED) and name != watched.name:
                (place / name).unlink()
        if watched.exists():
            _add(place, watched, watched.read_bytes())  # somebody's change of the newest one, unless it is that
        _add(place, path, data, parent=expected)
        _delete_old_versions(_versions_in(place))
        _delete_old_files(journal / FOLDER, place.name)


def accept_current(journal: Path, relative: str, path: Path, floor: int, parent: str) -> None:
    """Take what the file holds now, for its newest version; the revision `revision_floor` is never given again."""
    place = _folder_of(journal, relative)
    with suppress(OSError):
        _add(place, path, files.read(path), parent=parent)
        descriptor = os.open(place / f"{_FLOOR}{floor}", os.O_WRONLY | os.O_CREAT, 0o600)
        os.close(descriptor)


def revision_floor(journal: Path, relative: str) -> int:
    """Return the highest number that `accept_current` was told for a file; 0 where there is none."""
    with suppress(OSError):
        told = (
            name.removeprefix(_FLOOR) for name in os.listdir(_folder_of(journal, relative)) if name.startswith(_FLOOR)
        )
        return max((int(number) for number in told if number.isdecimal()), default=0)
    return 0


def add_parent(journal: Path, relative: str, text: str, other: str) -> None:
    """Remember that the text with the digest `text` also comes from the one with the digest `other`."""
    place = _folder_of(journal, relative)
    with suppress(OSError):
        os.close(os.open(place / f"from-{text[:16]}-{other[:16]}", os.O_WRONLY | os.O_CREAT, 0o600))


def common_ancestor(journal: Path, relative: str, ours: str, theirs: str) -> bytes | None:
    """Return the newest version that the texts with these two digests both come from, or None where none is kept."""
    place = _folder_of(journal, relative)
    kept = _versions_in(place)
    parents: dict[str, set[str]] = {}
    for version in kept:
        parents.setdefault(version.digest, set()).add(version.parent)
    for name in files.names(place):
        found = re.fullmatch(_PARENT_NAME, name)
        if found:
            parents.setdefault(found[1], set()).add(found[2])
    both = _ancestors(ours[:16], parents) & _ancestors(theirs[:16], parents)
    return next((data for version in kept[::-1] if version.digest in both and (data := version.read())), None)


def _ancestors(text: str, parents: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [text]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.add(each)
            waiting += parents.get(each, ())
    return found - {""}


def _versions_in(place: Path) -> list[Version]:
    """Return the versions kept in the folder `place`, the newest last."""
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    found = ((name, re.fullmatch(_VERSION_NAME, name)) for name in names)
    return [Version(place / name, int(match[1]), match[2], match[3]) for name, match in found if match]


def versions_of(journal: Path, relative: str) -> list[Version]:
    """Return the kept versions of the file `relative`, the newest last."""
    return _versions_in(_folder_of(journal, relative))


def possibly_changed(journal: Path, root: Path) -> list[str]:
    """Return the paths of the files that somebody else may have saved since, by a look at times and sizes alone."""
    folder = os.path.join(journal, FOLDER)
    try:
        names = [] if os.path.islink(folder) else sorted(os.listdir(folder))
    except OSError:
        return []
    found = ((os.path.join(folder, name), unquote(name)) for name in names if not name.startswith("@"))
    return [relative for place, relative in found if _is_possibly_changed(place, os.path.join(root, relative))]


def _is_possibly_changed(place: str, path: str) -> bool:
    """Return whether a file is no longer the newest version, or the one before it was written since."""
    try:
        names = os.listdir(place)
        newest = max((name for name in names if re.fullmatch(_VERSION_NAME, name)), default="")
        if not newest:
            return False
        then, now = os.lstat(os.path.join(place, newest)), os.lstat(path)
        watched = [os.lstat(os.path.join(place, name)) for name in names if name.startswith(_WATCHED)]
    except OSError:
        return False
    same = (now.st_size, now.st_mtime_ns) == (then.st_size, then.st_mtime_ns)
    return not same or any(old.st_mtime_ns >= then.st_mtime_ns for old in watched)


def late_save(journal: Path, relative: str, path: Path) -> Version | None:
    """Return the old file where a save reached it after it had been replaced, or None; its bytes are that save's."""
    place = _folder_of(journal, relative)
    newest = _versions_in(place)[-1:]
    with suppress(OSError):
        for name in os.listdir(place):
            watched = Version(place / name, 0, name.removeprefix(_WATCHED))
            if not name.startswith(_WATCHED):
                continue
            if watched.path.samefile(path):  # a killed writer's: it was never replaced
                watched.path.unlink()
            elif newest and watched.path.stat().st_mtime_ns < newest[0].path.stat().st_mtime_ns:
                continue  # nobody wrote it since
            elif watched.read() is None:
                return watched
    return None


def forget(journal: Path, relative: str) -> None:
    """Drop the versions of a file."""
    _delete_folder(_folder_of(journal, relative))


def _delete_folder(place: Path) -> None:
    with suppress(OSError):
        for name in os.listdir(place):
            (place / name).unlink()
        place.rmdir()


def _folder_of(journal: Path, relative: str) -> Path:
    name = quote(relative, safe="")
    if len(name) > _MAX_NAME:
        name = f"@{files.digest(relative.encode('utf-8', 'surrogateescape'))[:32]}"
    return journal / FOLDER / name


def _prepare_folder(place: Path) -> bool:
    """Make the folder, and tell whether it can be used; one that is a link could lead anywhere."""
    with suppress(OSError):
        if place.parent.is_symlink() or place.is_symlink():
            return False
        if not place.is_dir():
            place.mkdir(parents=True)
        if place.parent.stat().st_mode & 0o077:  # what was taken out of a file again may stand here: nobody else's
            place.parent.chmod(0o700)
        return True
    return False


def _add(place: Path, path: Path, data: bytes, *, parent: str | None = None) -> None:
    """Add a version unless it is the newest one, with the times of the file itself: `possibly_changed` compares them.

    Where nothing else is said, it comes from the newest one.
    """
    known, digest = _versions_in(place)[-1:], files.digest(data)
    if known and digest.startswith(known[0].digest):
        return
    number, newest = (known[0].number + 1, known[0].digest) if known else (1, "")
    copy = place / f"{number % 1_000_000:06}-{digest[:16]}-{newest if parent is None else parent[:16]}"
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        files.write_all(descriptor, data)
    finally:
        os.close(descriptor)
    status = path.stat()
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))


def _delete_old_versions(known: list[Version]) -> None:
    """Keep the versions of a file bounded, in number and in size."""
    sizes = [version.path.stat().st_size for version in known]
    while len(known) > 2 and (len(known) > _MAX_VERSIONS or sum(sizes) > _MAX_BYTES):  # noqa: PLR2004 - both sides of a change
        known.pop(0).path.unlink()
        sizes.pop(0)
    if known:
        edges = [entry for entry in os.scandir(known[0].path.parent) if re.fullmatch(_PARENT_NAME, entry.name)]
        for entry in sorted(edges, key=lambda entry: entry.stat().st_mtime_ns)[:-_MAX_VERSIONS]:
            os.unlink(entry.path)


def _delete_old_files(folder: Path, newest: str) -> None:
    """Keep the number of files bounded: drop those whose versions were added to the longest ago."""
    names = [name for name in os.listdir(folder) if name != newest]
    if len(names) >= _MAX_FILES:
        by_time = sorted(names, key=lambda name: (folder / name).stat().st_mtime_ns)
        for name in by_time[: len(names) - _MAX_FILES + 1]:
            _delete_folder(folder / name)
