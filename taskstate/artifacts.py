"""The artifacts of a task: bulky or derived files under the state folder, which git ignores.

None of them is the only copy of a fact that a state file's reader needs, so they are written plainly, without the
journal, before the state file names them: a crash between the two leaves a file that nobody names.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from taskstate import files
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace import Workspace

FOLDER = "artifacts"
# RFC 1952: magic, deflate, no flags, no time, slowest compression, unknown system; so equal content gives equal bytes.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def name_of(task_id: str, name: str = "") -> str:
    """Return the path of a task's artifact, or of the folder of them all, from the state folder."""
    return f"{FOLDER}/task-{task_id}/{name}".rstrip("/")


def path_of(workspace: Workspace, relative: str) -> Path:
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
    relative = name_of(task_id, name)
    path = path_of(workspace, relative)
    with files.told("write", path):
        files.make_folder(path.parent)
    files.replace(path, data)
    return relative


def read(workspace: Workspace, relative: str) -> bytes | None:
    """Return what an artifact holds, or None where it is not here, as in another clone.

    Raises:
        TaskstateError: it cannot be read.
    """
    path = path_of(workspace, relative)
    return None if files.size(path) is None else files.read(path)


def remove_all(workspace: Workspace, task_id: str) -> bool:
    """Delete the artifacts of a task, and return whether there were any.

    Raises:
        TaskstateError: the system refuses.
    """
    import shutil

    folder = path_of(workspace, name_of(task_id))
    if not folder.is_dir() or folder.is_symlink():
        return False
    with files.told("delete", folder):
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
