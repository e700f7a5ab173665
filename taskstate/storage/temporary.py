"""Temporary files and folders outside of repositories: in the system's own place for them, for this user alone."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

from taskstate.storage import files, folders
from taskstate.storage.signals import Held
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO


@contextmanager
def nameless_file(folder: Path | None = None) -> Iterator[IO[bytes]]:
    """Yield a file that has no name and is gone when it is closed; it takes its space in `folder` if one is given."""
    with Held() as held, _nameless(folder) as file:
        held.release()
        yield file


def _nameless(folder: Path | None) -> IO[bytes]:
    import tempfile

    if folder is None:
        return tempfile.TemporaryFile()
    path = files.temporary_name(folder / "log")
    descriptor = folders.open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
    folders.remove(path)
    return open(descriptor, "w+b")


def scratch_file(path: Path, data: bytes) -> None:
    """Write a new file into a temporary folder; it is not synced, since nobody needs it after a crash."""
    with open(folders.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
        stream.write(data)


def is_inside(folder: Path) -> bool:
    """Return whether the system's own place for temporary files lies in a folder."""
    import tempfile

    return Path(os.path.realpath(tempfile.gettempdir())).is_relative_to(os.path.realpath(folder))


@contextmanager
def folder(prefix: str, where: Path | None = None) -> Iterator[Path]:
    """Yield a new folder with a name that begins with `prefix`; it is deleted at the end, as far as possible."""
    import tempfile

    with Held() as held, tempfile.TemporaryDirectory(prefix=prefix, dir=where, ignore_cleanup_errors=True) as name:
        try:
            held.release()
            yield Path(os.path.realpath(name))
        finally:
            held.hold()


@contextmanager
def lasting_folder(prefix: str) -> Iterator[Path]:
    """Yield a new folder with a name that begins with `prefix`, which stays unless the command is interrupted."""
    import shutil
    import tempfile

    with Held() as held:
        name = tempfile.mkdtemp(prefix=prefix)
        try:
            held.release()
            yield Path(os.path.realpath(name))
        except KeyboardInterrupt:
            held.hold()
            shutil.rmtree(name, ignore_errors=True)
            raise


def lasting_file(prefix: str, ending: str, text: str) -> str:
    """Write a text into a new file, which stays, and return its path."""
    import tempfile

    with tempfile.NamedTemporaryFile(
        "w", prefix=prefix, suffix=ending, delete=False, encoding="utf-8", errors="backslashreplace"
    ) as file:
        file.write(text)
    return file.name
