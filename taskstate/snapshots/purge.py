"""Drops the artifacts of a task's snapshots and check logs, and their paths in the state file."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.model.delta_block import with_snapshots
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots import verify
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import artifacts
from taskstate.workspace.misnamed import misnamed_files
from taskstate.writing import keeping
from taskstate.writing.change import Change, Outcome
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from taskstate.model.delta_block import Snapshot
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_FOLDER, _FILE_LIST = "pack", "files_changed"


def purge(workspace: Workspace, task_id: str, request: Request) -> Outcome:
    """Drop a task's delta data and artifacts; does nothing where there are none left.

    Of a task whose state file was deleted, on purpose or with `let-go`, the artifacts are deleted.

    Raises:
        TaskstateError: code "drift" or "drift-unresolved": the snapshot may be the only copy of a role's work; or the
            file cannot be changed, or the artifacts cannot be deleted.
    """
    if artifacts.has_any(workspace, task_id) and not _is_there(workspace, task_id):
        return _purge_orphan(workspace, task_id, request)
    require_as_left(workspace, task_id, request)

    def job(loaded: Loaded) -> Change:
        roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
        return Change(text=purged_text(workspace, loaded.document.text))

    outcome = change(workspace, task_id, job, request._replace(even_dropped=True))
    if request.dry_run:
        return outcome
    removed = remove(workspace, outcome.state.id)
    left = artifacts.unrecorded(workspace, outcome.state.id)
    return outcome._replace(changed=outcome.changed or removed, warnings=(*outcome.warnings, *left))


def require_as_left(workspace: Workspace, task_id: str, request: Request) -> None:
    """Refuse to drop snapshots that can still be restored while the tree is not what the last role left.

    Raises:
        TaskstateError: code "drift" or "drift-unresolved"; or the repository cannot be compared.
    """
    loaded = workspace.load(workspace.locate(task_id))
    if any(map(_is_unpurged, blocks_of(loaded.document).delta.snapshots.values())):
        verify.require_as_left(workspace, task_id, request)


def _is_there(workspace: Workspace, task_id: str) -> bool:
    try:
        workspace.locate(task_id)
    except TaskstateError as error:
        return error.code != "not-found"
    return True


def _purge_orphan(workspace: Workspace, task_id: str, request: Request) -> Outcome:
    """Delete the artifacts of a task without a state file, unless that is missed: then they may be wanted again.

    Raises:
        TaskstateError: something of the task is gone that was never let go, its state file has another name now (code
            "file-name"), or a file cannot be deleted.
    """
    for each in misnamed_files(workspace):
        if each.told.casefold() == task_id.casefold():
            raise TaskstateError(f"{each.path}: {each.message}", help=each.cure, code="file-name")
    path = artifacts.absolute_path(workspace, artifacts.relative_path(task_id))
    with workspace.locked() as messages:
        keeping.require_nothing_lost(workspace, workspace.relative(workspace.tasks / f"task-{task_id}-state.md"))
        if not request.dry_run:
            remove(workspace, task_id)
    left = artifacts.unrecorded(workspace, task_id)
    return Outcome(workspace.relative(path), "", changed=True, notes=messages, warnings=left)


def purged_text(workspace: Workspace, text: str) -> str:
    """Return a state file's text without what names its artifacts.

    Call `remove` or `without_artifacts` to delete the artifacts themselves after that text is written.
    """
    document = parse(text, workspace.kinds)
    for key, value in _without_paths(blocks_of(document)).items():
        document = document.with_text(apply(document.text, set_front_matter(document, key, value)))
    return document.text


def remove(workspace: Workspace, task_id: str) -> bool:
    """Delete the artifacts of a task, and return whether there were any.

    Raises:
        TaskstateError: a file cannot be deleted.
    """
    return artifacts.remove_all(workspace, task_id)


def without_artifacts(workspace: Workspace, outcome: Outcome) -> Outcome:
    """Delete the artifacts of a task that was closed, and return the outcome of that.

    A failure is only a warning, since the task is closed already.
    """
    task_id = outcome.state.id
    try:
        remove(workspace, task_id)
    except TaskstateError as error:
        warning = f"{error}; `taskstate purge {task_id}` tries again"
        return outcome._replace(warnings=(*outcome.warnings, warning))
    return outcome._replace(warnings=(*outcome.warnings, *artifacts.unrecorded(workspace, task_id)))


def _is_unpurged(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has not been purged yet."""
    return _FILE_LIST in snapshot.values or bool(snapshot.values.get(_FOLDER))


def _without_paths(blocks: ToolBlocks) -> dict[str, object]:
    """Return the front matter blocks that name artifacts, by key, without those paths."""
    blocks_without: dict[str, object] = {}
    unpurged = {name: snapshot for name, snapshot in blocks.delta.snapshots.items() if _is_unpurged(snapshot)}
    if unpurged:
        bare = {name: _bare(each) for name, each in unpurged.items()}
        blocks_without["delta"] = with_snapshots(blocks.delta, bare).values
    if any(role.values.get("qa_log_path") for role in blocks.roles.values()):  # of an earlier version
        blocks_without["coordination"] = roles.with_role_values(blocks, {})
    if blocks.baseline.values.get("log"):
        blocks_without["baseline"] = {key: each for key, each in blocks.baseline.values.items() if key != "log"}
    return blocks_without


def _bare(snapshot: Snapshot) -> dict[str, object]:
    """Return a snapshot without its list of files, and with null for the folder of its artifacts."""
    values = {key: value for key, value in snapshot.values.items() if key != _FILE_LIST}
    return values | ({_FOLDER: None} if _FOLDER in values else {})
