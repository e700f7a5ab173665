"""Reads and writes the artifacts of a task: large or derived files under the state folder, which git ignores.

No artifact is the only copy of a fact that a reader of the state file needs, so they are written without the journal.
An artifact that a state file names by its hash has a part of that hash in its own name, so it is never overwritten by
other content: a crash before the state file is written only leaves an unused file. A `Change` carries its artifacts;
they are written when the change has passed all checks, and removed again if writing it fails.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model.names import ARTIFACTS, HASH_DIGITS, artifact, hashed_artifact, own_file
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.config_files import CONFIG_FILES

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

# RFC 1952: magic number, deflate, no flags, no time, best compression, unknown system. Written by hand, since what the
# `gzip` module writes for time and system depends on its version: equal content must give equal bytes.
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


class Artifact(NamedTuple):
    """An artifact that is to be written: its path from the state folder, and its content."""

    path: str
    data: bytes


def content_addressed(task_id: str, stem: str, content: bytes, ending: str) -> Artifact:
    """Return a gzipped artifact with a part of the content's hash in its name."""
    return Artifact(hashed_artifact(task_id, stem, files.digest(content), ending), gzipped(content))


def has_hash(name: str, sha256: str) -> bool:
    """Return whether a file name is one that `content_addressed` gives to content with this hash."""
    return f"-{sha256[:HASH_DIGITS]}." in name


def relative_path(task_id: str, name: str = "") -> str:
    """Return the path, from the state folder, of a task's artifact, or without `name` of its artifact folder."""
    return artifact(task_id, name).rstrip("/")


def absolute_path(workspace: Workspace, relative: str) -> Path:
    """Return the path on disk of an artifact, given its path from the state folder.

    Raises:
        TaskstateError: code "path-escapes": the path is not below the artifacts folder.
    """
    path = files.inside(workspace.state_root, relative, workspace.source.real)
    if not relative.startswith(f"{ARTIFACTS}/"):
        message = f"{files.shown(relative)} is not an artifact"
        raise TaskstateError(message, help=f"artifacts lie under {ARTIFACTS}/ in the state folder", code="path-escapes")
    return path


def write(workspace: Workspace, task_id: str, name: str, data: bytes) -> str:
    """Write an artifact, replacing one of the same name, and return its path from the state folder."""
    relative = relative_path(task_id, name)
    _replace(workspace, relative, data)
    return relative


def _replace(workspace: Workspace, relative: str, data: bytes) -> None:
    path = absolute_path(workspace, relative)
    with files.os_errors("write", path):
        files.make_folder(path.parent)
    files.replace_private(path, data)  # it may hold what others may not read, as a log or an excerpt of such a file


def write_all(workspace: Workspace, artifacts: Iterable[Artifact]) -> tuple[tuple[str, bytes | None], ...]:
    """Write artifacts, and return the path and former content (None: no file) of those that changed, for `undo`.

    Raises:
        TaskstateError: one cannot be written; then none is.
    """
    before: list[tuple[str, bytes | None]] = []
    try:
        for each in artifacts:
            old = read(workspace, each.path)
            if old != each.data:
                before.append((each.path, old))
                _replace(workspace, *each)
    except TaskstateError:
        undo(workspace, before)
        raise
    return tuple(before)


def undo(workspace: Workspace, before: Iterable[tuple[str, bytes | None]]) -> None:
    """Undo what `write_all` wrote, as far as possible: an artifact that stays is not named by any state file."""
    for relative, data in before:
        with suppress(TaskstateError, OSError):
            path = absolute_path(workspace, relative)
            if data is None:
                with suppress(FileNotFoundError):
                    folders.remove(path)
                for folder in (path.parent, path.parent.parent):  # only empty ones can be removed
                    folders.remove_empty(folder)
            else:
                files.replace_private(path, data)


def delete(workspace: Workspace, task_id: str, relatives: Iterable[str]) -> None:
    """Delete artifacts that a task's state file no longer names, as far as possible; `purge` deletes the rest."""
    for relative in relatives:
        if relative.startswith(f"{relative_path(task_id)}/"):
            with suppress(TaskstateError, OSError):
                folders.remove(absolute_path(workspace, relative))
    with suppress(OSError):  # only an empty one can be removed
        folders.remove_empty(absolute_path(workspace, relative_path(task_id)))


def read(workspace: Workspace, relative: str) -> bytes | None:
    """Return the content of an artifact, or None if it does not exist, as in another clone.

    Raises:
        TaskstateError: it cannot be read.
    """
    path = absolute_path(workspace, relative)
    return None if files.size(path) is None else files.read(path, files.MAX_BYTES)


def has_any(workspace: Workspace, task_id: str) -> bool:
    """Return whether a task has a folder of artifacts."""
    folder = absolute_path(workspace, relative_path(task_id))
    return folders.is_folder(folder)


def remove_all(workspace: Workspace, task_id: str) -> bool:
    """Delete all artifacts of a task but what is nowhere else, and return whether there were any.

    Raises:
        TaskstateError: the system refuses.
    """
    if not has_any(workspace, task_id):
        return False
    folder = absolute_path(workspace, relative_path(task_id))
    with files.os_errors("delete", folder):
        entries = folders.entries(folder)
        found = [each for each in entries if not _is_lasting(each[0])]
        if found == entries:
            folders.remove_all(folder)
            return True
        for name, is_folder in found:
            (folders.remove_all if is_folder else folders.remove)(folder / name)
    return bool(found)


def has_lasting(workspace: Workspace, task_id: str) -> bool:
    """Return whether there is something of a task that `remove_all` leaves."""
    return any(map(_is_lasting, files.names(absolute_path(workspace, relative_path(task_id)))))


def _is_lasting(name: str) -> bool:
    """Return whether an artifact is never deleted: a refused session, or a text that an earlier version replaced."""
    return is_refused_session(name) or (name.startswith("replaced-") and name.endswith(".md"))


# Sessions that could not be recorded: each is the only copy of somebody's words until it is


def refused_session(task_id: str, text: str) -> Artifact:
    """Return the artifact in which the text of a session that cannot be recorded now is kept."""
    data = text.encode()
    return Artifact(relative_path(task_id, f"session-{files.digest(data)[:8]}.json"), data)


def is_refused_session(name: str) -> bool:
    """Return whether a file of this name keeps a session that could not be recorded, and goes once it is."""
    return name.startswith("session-") and name.endswith(".json")


def refused_sessions(workspace: Workspace, task_id: str) -> tuple[str, ...]:
    """Return the commands that record the sessions of a task that were refused and have not been recorded yet."""
    folder = absolute_path(workspace, relative_path(task_id))
    if not folders.is_folder(folder):
        return ()
    names = (name for name in files.names(folder) if is_refused_session(name))
    return tuple(recording_command(workspace, task_id, relative_path(task_id, name)) for name in names)


def recording_command(workspace: Workspace, task_id: str, relative: str) -> str:
    """Return the command that records a refused session."""
    import shlex

    return f"taskstate session add {task_id} --from {shlex.quote(f'{workspace.config.root}/{relative}')}"


def unrecorded(workspace: Workspace, task_id: str) -> tuple[str, ...]:
    """Return a line for each refused session that has not been recorded yet, with the ways out."""
    what = f"a session of task {task_id} was refused, and is not recorded"
    commands = refused_sessions(workspace, task_id)
    return tuple(f"{what}: `{command}` records it; delete the file if it is not wanted" for command in commands)


def save_as(workspace: Workspace, path: Path, text: str) -> None:
    """Write output to a file that the user named.

    Raises:
        TaskstateError: as `require_not_own`; it cannot be written.
    """
    require_not_own(workspace, path)
    files.replace(path, text.encode())


def require_not_own(workspace: Workspace, path: Path) -> None:
    """Refuse a file for output that taskstate, here or in another repository, or git has for itself; no artifact.

    Raises:
        TaskstateError: code "path".
    """
    relative = path.relative_to(workspace.root).as_posix() if path.is_relative_to(workspace.root) else ""
    artifact_folder = f"{workspace.config.root}/{ARTIFACTS}/"
    is_taken = workspace.may_write(relative) if relative else own_file(str(path)) is not None
    if (is_taken and not relative.startswith(artifact_folder)) or path.name.casefold() in CONFIG_FILES:
        message = f"{files.shown(relative or path)} is one of taskstate's own files, or of those that it sets up"
        raise TaskstateError(message, help=f"write to another file, or under {artifact_folder}", code="path")
    if ".git" in map(str.casefold, path.parts):
        message = f"{files.shown(path)} lies in git's own folder"
        raise TaskstateError(message, help="write to another file", code="path")


def gzipped(data: bytes) -> bytes:
    """Compress `data` as a gzip file without name and time, so that equal content gives equal bytes."""
    import struct
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    body = packer.compress(data) + packer.flush()
    return _GZIP_HEADER + body + struct.pack("<LL", zlib.crc32(data), len(data) & 0xFFFFFFFF)


def gunzipped(data: bytes, name: str) -> bytes:
    """Decompress a gzip file; `name` names it in an error.

    Raises:
        TaskstateError: code "artifact-broken": it is not a gzip file, is cut short, or holds more than `MAX_BYTES`.
    """
    import zlib

    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        content = reader.decompress(data, files.MAX_BYTES)  # a small file can expand to gigabytes
        is_complete = reader.eof
    except zlib.error:
        content, is_complete = b"", False
    if not is_complete:
        message = f"the artifact {files.shown(name)} is broken"
        raise TaskstateError(message, help="make it again with the command that wrote it", code="artifact-broken")
    return content
