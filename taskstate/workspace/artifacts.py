"""The artifacts of a task: bulky or derived files under the state folder, which git ignores.

None of them is the only copy of a fact that a state file's reader needs, so they are written plainly, without the
journal. What a state file names by its hash bears a part of that hash in its name, so that nothing which is named is
ever overwritten: a crash before the state file is written leaves a file that nobody names. A `writing.Change` brings
its artifacts along; they are written once nothing refuses the change any more, and go again where it fails.
"""

from __future__ import annotations

import struct
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

FOLDER = "artifacts"
_HASH_DIGITS = 8
# RFC 1952: magic, deflate, no flags, no time, slowest compression, unknown system; so equal content gives equal bytes.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


class Artifact(NamedTuple):
    """An artifact that is to be written: its path from the state folder, and what the file holds."""

    path: str
    data: bytes


def content_addressed(task_id: str, stem: str, content: bytes, ending: str) -> Artifact:
    """Return an artifact of its own for this content: its name holds the content's hash, and it is gzipped."""
    return Artifact(path_for(task_id, stem, files.digest(content), ending), gzipped(content))


def path_for(task_id: str, stem: str, sha256: str, ending: str) -> str:
    """Return the path of the artifact that `content_addressed` gives for a content of this hash."""
    return relative_path(task_id, f"{stem}-{sha256[:_HASH_DIGITS]}{ending}.gz")


def relative_path(task_id: str, name: str = "") -> str:
    """Return the path of a task's artifact, or of the folder of them all, from the state folder."""
    return f"{FOLDER}/task-{task_id}/{name}".rstrip("/")


def absolute_path(workspace: Workspace, relative: str) -> Path:
    """Return the place of an artifact that a file names by its path from the state folder.

    Raises:
        TaskstateError: code "path-escapes": it leads out of the artifacts.
    """
    path = files.inside(workspace.state_root, relative)
    if not relative.startswith(f"{FOLDER}/"):
        what = f"{files.shown(relative)} is no artifact"
        raise TaskstateError(what, help=f"artifacts lie under {FOLDER}/ in the state folder", code="path-escapes")
    return path


def write(workspace: Workspace, task_id: str, name: str, data: bytes) -> str:
    """Write an artifact, in the place of one of that name, and return its path from the state folder."""
    relative = relative_path(task_id, name)
    _replace(workspace, relative, data)
    return relative


def _replace(workspace: Workspace, relative: str, data: bytes) -> None:
    path = absolute_path(workspace, relative)
    with files.os_errors("write", path):
        files.make_folder(path.parent)
    files.replace(path, data)


def write_all(workspace: Workspace, made: Iterable[Artifact]) -> tuple[tuple[str, bytes | None], ...]:
    """Write artifacts, and return what stood in the place of those that differ, for `undo`.

    Raises:
        TaskstateError: one cannot be written; then none of them is.
    """
    before: list[tuple[str, bytes | None]] = []
    try:
        for each in made:
            old = read(workspace, each.path)
            if old != each.data:
                before.append((each.path, old))
                _replace(workspace, *each)
    except TaskstateError:
        undo(workspace, before)
        raise
    return tuple(before)


def undo(workspace: Workspace, before: Iterable[tuple[str, bytes | None]]) -> None:
    """Undo what `write_all` wrote, as far as the system lets us: what stays is named by nobody."""
    for relative, data in before:
        with suppress(TaskstateError, OSError):
            path = absolute_path(workspace, relative)
            if data is None:
                path.unlink(missing_ok=True)
                for folder in (path.parent, path.parent.parent):  # those that were made for it; others are not empty
                    folder.rmdir()
            else:
                files.replace(path, data)


def delete(workspace: Workspace, task_id: str, relatives: Iterable[str]) -> None:
    """Delete artifacts of a task that its state file names no more; one that cannot be deleted is purged later."""
    for relative in relatives:
        if relative.startswith(f"{relative_path(task_id)}/"):
            with suppress(TaskstateError, OSError):
                absolute_path(workspace, relative).unlink(missing_ok=True)


def read(workspace: Workspace, relative: str) -> bytes | None:
    """Return what an artifact holds, or None where it is not here, as in another clone.

    Raises:
        TaskstateError: it cannot be read.
    """
    path = absolute_path(workspace, relative)
    return None if files.size(path) is None else files.read(path)


def remove_all(workspace: Workspace, task_id: str) -> bool:
    """Delete the artifacts of a task, and return whether there were any.

    Raises:
        TaskstateError: the system refuses.
    """
    import shutil

    folder = absolute_path(workspace, relative_path(task_id))
    if not folder.is_dir() or folder.is_symlink():
        return False
    with files.os_errors("delete", folder):
        shutil.rmtree(folder)
    return True


def gzipped(data: bytes) -> bytes:
    """Return `data` as a gzip file without name and time: equal content gives equal bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(data) + packer.flush()
    return _GZIP_HEADER + body + struct.pack("<LL", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def gunzipped(data: bytes, name: str) -> bytes:
    """Return what a gzip file holds; `name` is how an error calls it.

    Raises:
        TaskstateError: code "artifact-broken": it is none, is torn, or holds more than can be read.
    """
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = reader.decompress(data, files.MAX_BYTES)
        whole = reader.eof
    except zlib.error:
        content, whole = b"", False
    if not whole:
        what = f"the artifact {files.shown(name)} is broken"
        raise TaskstateError(what, help="make it anew with the command that wrote it", code="artifact-broken")
    return content
