"""Keeps the texts that a cure, a restore or a migration put others in the place of: somebody may have typed in them.

Each is a file in the private folder, named by its id: a line of JSON says where it stood, when it was replaced and by
which command; behind that are its bytes. Only `discard` deletes one, and only by its id.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Any

    from taskstate.storage.private import Private

FOLDER = "replaced"  # in the private folder
_DIGITS = 8  # of the hash, in an id; more where another text has it
_NAME = rf"[0-9a-f]{{{_DIGITS},64}}"
_HEAD_BYTES = 64 * 1024  # of the first line, at most
_NO_TEXT = b"\0\r\n\t "  # bytes of which nobody misses any


class ReplacedText(NamedTuple):
    """A text that a command is about to replace: the path where it stands, its bytes, and the command."""

    path: str
    data: bytes
    by: str


def words_gone(path: str, before: str, after: str, by: str) -> tuple[ReplacedText, ...]:
    """Return the text in whose place another one comes, where the other lacks a word of it; else nothing."""
    gone = Counter(re.findall(r"\w+", before)) - Counter(re.findall(r"\w+", after))
    return (ReplacedText(path, before.encode(), by),) if gone else ()


class KeptText(NamedTuple):
    """A text that is kept: its id, where it stood, when and by which command it was replaced, and its size in bytes.

    What only its damaged first line would say is empty. Its bytes begin at `start` in the `file`.
    """

    id: str
    path: str
    at: str
    by: str
    size: int
    file: Path
    start: int

    def data(self) -> bytes:
        """Return its bytes.

        Raises:
            TaskstateError: it cannot be read.
        """
        return files.read_part(self.file, self.start, self.size)


def keep(private: Private, text: ReplacedText, at: str) -> str:
    """Keep a text before it is replaced, and return its id; empty where there is nothing but white space.

    The same text of the same path is kept once.

    Raises:
        TaskstateError: it cannot be kept, so it must not be replaced.
    """
    if not text.data.strip(_NO_TEXT):
        return ""
    if private.write is None:
        message = f"{files.shown(text.path)} is not replaced, since the text that is there cannot be kept"
        raise TaskstateError(message, help=f"{private.refusal}: move that away", code="no-permission")
    sha = files.digest(os.fsencode(text.path) + b"\0" + text.data)
    present = {each.id: each for each in texts(private)}
    for own_id in (sha[:digits] for digits in range(_DIGITS, len(sha) + 1)):
        other = present.get(own_id)
        if other is None:
            _write(private.write, own_id, text, at)
            return own_id
        if (other.path, other.size) == (text.path, len(text.data)) and other.data() == text.data:
            return own_id
    raise AssertionError(sha)  # one with the whole hash as its id is this text


def _write(folder: Path, own_id: str, text: ReplacedText, at: str) -> None:
    head = json.dumps({"path": text.path, "at": at, "by": text.by})
    make_folder(folder / FOLDER)
    files.create(folder / FOLDER / own_id, head.encode() + b"\n" + text.data, mode=0o600)


def texts(private: Private) -> tuple[KeptText, ...]:
    """Return the texts that are kept, the oldest first."""
    places = (folder / FOLDER for folder in private.read)
    found = [_read(place, name) for place in places for name in files.names(place) if re.fullmatch(_NAME, name)]
    return tuple(sorted(found, key=lambda each: (each.at, each.path, each.id)))


def _read(folder: Path, name: str) -> KeptText:
    """Return what the first line of a file says; where it says nothing, all of the file is the text."""
    file = folder / name
    length = files.size(file) or 0
    line, _, _ = files.read_part(file, 0, _HEAD_BYTES).partition(b"\n")
    with suppress(ValueError, KeyError, TypeError):
        head: dict[str, Any] = json.loads(line)
        path, at, by = (str(head[key]) for key in ("path", "at", "by"))
        return KeptText(name, path, at, by, length - len(line) - 1, file, len(line) + 1)
    return KeptText(name, "", "", "", length, file, 0)


def find(private: Private, own_id: str) -> KeptText:
    """Return the text with an id.

    Raises:
        TaskstateError: code "not-found".
    """
    for each in texts(private):
        if each.id == own_id:
            return each
    message = f"no replaced text is kept as {files.shown(own_id)!r}"
    raise TaskstateError(message, help="`taskstate doctor kept list` shows what is kept", code="not-found")


def discard(private: Private, ids: Iterable[str]) -> tuple[KeptText, ...]:
    """Delete the texts with these ids, all or none, and return them.

    Raises:
        TaskstateError: code "not-found"; or one cannot be deleted.
    """
    found = tuple(find(private, own_id) for own_id in dict.fromkeys(ids))
    for each in found:
        files.delete(each.file)
    return found


def adopt(private: Private) -> bool:
    """Take over what is kept for worktrees that are gone; return whether there was anything."""
    adopted = False
    for each in texts(private._replace(read=private.removed)):
        with suppress(TaskstateError):
            keep(private, ReplacedText(each.path, each.data(), each.by), each.at)
            files.delete(each.file)
            adopted = True
    return adopted


def named(ids: Iterable[str]) -> str:
    """Return where what was replaced is kept, for a message; empty where nothing is."""
    commands = " and ".join(f"`taskstate doctor kept show {own_id}`" for own_id in dict.fromkeys(filter(None, ids)))
    return f"what it replaced: {commands}" if commands else ""
