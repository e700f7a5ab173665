"""Where the git objects of snapshots and turns are kept: packs among the artifacts, which git reads as alternates.

So what was left can be compared, and restored, after commits, resets and `git gc`.
"""

from __future__ import annotations

import re
from contextlib import suppress

from taskstate.errors import LockTimeout, TaskstateError
from taskstate.model.delta_block import read_delta, with_record
from taskstate.model.names import ARTIFACTS
from taskstate.model.write_metadata import blocks_of
from taskstate.snapshots import drift
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.workspace.workspace import Loaded, Workspace

_TURN = "turn"  # the folder of the trees of turns
_DIGITS = 16  # of a tree's id, in the name of its folder


def object_folder(workspace: Workspace, snapshot: Snapshot) -> Path | None:
    """Return the folder with the git objects of a snapshot, or None where it names none.

    Raises:
        TaskstateError: code "path-escapes": the path leads out of the artifacts.
    """
    return None if snapshot.folder is None else artifacts.absolute_path(workspace, snapshot.folder)


def object_folders(workspace: Workspace, task_id: str, delta: Delta) -> tuple[Path, ...]:
    """Return the folders with the trees that a task has kept: of its snapshots and of its turns.

    Raises:
        TaskstateError: code "path-escapes": a path leads out of the artifacts.
    """
    of_snapshots = (object_folder(workspace, snapshot) for snapshot in delta.snapshots.values())
    return (*filter(None, of_snapshots), *(tree_folder(workspace, task_id, each) for each in kept_trees(delta)))


def kept_trees(delta: Delta) -> tuple[str, ...]:
    """Return the trees that are kept apart from the snapshots: of the open turn, what was left, and what was seen."""
    turn, left = delta.turn, delta.left
    trees = (turn and turn.tree, left and left.tree, left and left.start_tree, *delta.last_seen.values())
    return tuple(dict.fromkeys(filter(None, trees)))


def left_by_last_turn(loaded: Loaded) -> Snapshot:
    """Return what the last turn left, the one before that which is open, as if a role had recorded it.

    Raises:
        TaskstateError: code "no-snapshot": no turn has left anything.
    """
    left = blocks_of(loaded.document).delta.left
    if left is None or left.tree is None:
        message = f"task {loaded.state.id}: no turn has left a working tree yet"
        raise TaskstateError(message, help="`git status` says what differs from HEAD", code="no-snapshot")
    said = {"tree": left.tree, "head": left.head}
    return read_delta({"snapshots": {drift.LAST_TURN: said}}).snapshots[drift.LAST_TURN]


def tree_folder(workspace: Workspace, task_id: str, tree: str) -> Path:
    """Return the folder that keeps a tree of one of the task's turns."""
    return artifacts.absolute_path(workspace, artifacts.relative_path(task_id, f"{_TURN}/{tree[:_DIGITS]}"))


def has_tree(workspace: Workspace, task_id: str, tree: str) -> bool:
    """Return whether a tree of one of the task's turns was kept here, and not in another clone or worktree."""
    return bool(_packs(tree_folder(workspace, task_id, tree)))


def tasks_with_artifacts(workspace: Workspace) -> tuple[str, ...]:
    """Return the ids of the tasks that have artifacts here: others have kept no tree in this working tree."""
    prefix = artifacts.relative_path("").rpartition("/")[2]
    found = files.names(workspace.state_root / ARTIFACTS)
    return tuple(name.removeprefix(prefix) for name in found if name.startswith(prefix) and name != prefix)


def has_artifacts(workspace: Workspace, task_id: str, role: str) -> bool:
    """Return whether a role has left artifacts here, whatever the state file says."""
    return bool(files.names(artifacts.absolute_path(workspace, artifacts.relative_path(task_id, role))))


def sweep(workspace: Workspace, task_id: str, known: Loaded | None = None) -> None:
    """Delete the folders of a task's roles and turns that its state file does not name.

    Where the file as it is `known` names all that are there, there is nothing to delete. Else the file is read again
    under the lock, since another command may name by now what this one does not know.
    """
    if known and not any(_unnamed(workspace, known)):
        return
    with suppress(LockTimeout), workspace.locked():  # the next snapshot sweeps again
        for folder in _unnamed(workspace, workspace.load(workspace.locate(task_id), known)):
            with suppress(OSError):
                folders.remove_all(folder)


def _unnamed(workspace: Workspace, loaded: Loaded) -> Iterator[Path]:
    """Yield the folders of a task's roles and turns that its state file does not name."""
    named = set(object_folders(workspace, loaded.state.id, blocks_of(loaded.document).delta))
    task_folder = artifacts.absolute_path(workspace, artifacts.relative_path(loaded.state.id))
    for group in (*workspace.config.roles, _TURN):
        found = (task_folder / group / name for name in files.names(task_folder / group))
        yield from (folder for folder in found if folder not in named)


def whole(workspace: Workspace, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot with what only the record among its artifacts says, as long as it is here."""
    return with_record(snapshot, artifacts.read(workspace, snapshot.record)) if snapshot.record else snapshot


def status_report_sha(workspace: Workspace, snapshot: Snapshot) -> str | None:
    """Return the hash of git's status report as it was kept with a snapshot; None where it is not here."""
    if snapshot.folder is None:
        return None
    report = artifacts.read(workspace, f"{snapshot.folder}/{snapshot.role}-status")
    return None if report is None else files.digest(report)


def is_purged(snapshot: Snapshot) -> bool:
    """Return whether the artifacts of a snapshot were dropped by a purge."""
    return "pack" in snapshot.values and snapshot.values["pack"] is None


def artifact_state(workspace: Workspace, snapshot: Snapshot) -> drift.Artifacts:
    """Return whether the artifacts of a snapshot are present, broken, absent, or purged.

    Of a pack only its two ends are read.
    """
    if is_purged(snapshot):
        return drift.Artifacts.PURGED
    folder = object_folder(workspace, snapshot)
    if folder and _packs(folder):
        return drift.Artifacts.WHOLE
    return drift.Artifacts.BROKEN if folder and folders.exists(folder) else drift.Artifacts.ABSENT


def _packs(folder: Path) -> tuple[Path, ...]:
    """Return the packs of an object folder that look complete."""
    named = (re.fullmatch("pack-([0-9a-f]{40}|[0-9a-f]{64})[.]pack", name) for name in files.names(folder / "pack"))
    return tuple(folder / "pack" / match[0] for match in named if match and _is_whole(folder / "pack", match))


def _is_whole(folder: Path, name: re.Match[str]) -> bool:
    pack, sha = folder / name[0], bytes.fromhex(name[1])
    # git names a pack by its checksum, with which the pack ends. The index file ends with the pack's checksum and its
    # own. Comparing these catches a truncated copy without hashing the whole pack.
    return _end(pack, len(sha)) == sha and _end(pack.with_suffix(".idx"), 2 * len(sha))[: len(sha)] == sha


def _end(path: Path, size: int) -> bytes:
    """Return the last `size` bytes of a file; empty where it cannot be read or is shorter."""
    try:
        length = files.size(path) or 0
        return files.read_part(path, length - size, size) if length >= size else b""
    except TaskstateError:
        return b""
