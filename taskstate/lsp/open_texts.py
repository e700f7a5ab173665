"""The files as the editor has them: open ones with their unsaved text, all others as they are on disk."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes, urlsplit

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.file_sources import Disk
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_HERE = frozenset({"", "localhost"})  # what an address calls this machine
_LONGEST = 4096  # bytes that the system takes for a path; on the way to a longer one each folder would be looked for


class OpenText(NamedTuple):
    """The text of an open file, its address as the editor writes it, and its version there."""

    uri: str
    version: int | None
    text: str


class OpenTexts(Disk):
    """A source of files, as `Disk` is, in which the text of an open file counts and not its bytes on disk."""

    def __init__(self) -> None:
        self._texts: dict[Path, OpenText] = {}

    def put(self, uri: str, version: int | None, text: str) -> None:
        """Remember the text of a file that was opened or edited."""
        path = path_of(uri)
        if path is not None:
            self._texts[path] = OpenText(uri, version, text)

    def drop(self, uri: str) -> None:
        """Forget a file that was closed."""
        path = path_of(uri)
        if path is not None:
            self._texts.pop(path, None)

    def get(self, path: Path) -> OpenText | None:
        """Return the text of an open file, or None for one that is not open."""
        return self._texts.get(path)

    def paths(self) -> tuple[Path, ...]:
        """Return the paths of the open files."""
        return tuple(self._texts)

    def mark(self, path: Path | str) -> str:
        """Return a text that changes whenever the file does."""
        opened = self._texts.get(Path(path))
        return f"open:{files.digest(_encoded(opened.text))}" if opened else super().mark(path)

    def read(self, path: Path, most: int = files.MAX_TEXT) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: it cannot be read; code "too-large": it is larger than any file of taskstate's.
        """
        opened = self._texts.get(path)
        if opened is None:
            return super().read(path, most)
        data = _encoded(opened.text)
        if len(data) > files.MAX_BYTES:
            raise TaskstateError(
                f"{files.shown(path)} is larger than {files.MAX_BYTES // 1024**2} MB",
                help="move long output into files of its own, and link them",
                code="too-large",
            )
        return data

    def exists(self, path: Path) -> bool:
        """Return whether there is something at `path`, open or on disk."""
        return path in self._texts or super().exists(path)

    def unsaved(self) -> Iterator[Path]:
        """Yield the open files whose text differs from what is on disk, or that are no longer there."""
        for path, opened in self._texts.items():
            try:
                is_saved = files.read(path) == _encoded(opened.text)
            except TaskstateError:
                is_saved = False
            if not is_saved:
                yield path


def is_address(uri: str) -> bool:
    """Return whether a text is an address of any kind."""
    try:
        return bool(urlsplit(uri))
    except ValueError:  # what stands for its host is none
        return False


def path_of(uri: str) -> Path | None:
    """Return the path that an address names, links in its folders resolved; None for one that names no file here."""
    try:
        address = urlsplit(uri)
        name = unquote_to_bytes(address.path)
    except ValueError:  # what stands for its host is none, or it has half a surrogate pair
        return None
    if address.scheme != "file" or address.netloc not in _HERE:
        return None
    if not name or b"\0" in name or len(name) > _LONGEST:
        return None
    folder, base = os.path.split(os.path.abspath("/" + os.fsdecode(name).lstrip("/")))
    return Path(os.path.realpath(folder), base)


def uri_of(path: Path) -> str:
    """Return the address of a file."""
    return f"file://{quote(os.fsencode(path))}"  # by its bytes: not every name is UTF-8


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
