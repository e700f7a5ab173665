"""Drops what a task's snapshots and logs left behind: the artifacts, and their places in the state file.

Who left what is remembered: one event for each role, with its diff in numbers and the diff's hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model import roles
from taskstate.model.tool_blocks import with_snapshots
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.workspace import artifacts
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from taskstate.model.tool_blocks import Snapshot, ToolBlocks
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.storage import journal
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

EVENT = "role-done"
_SNAPSHOT_PATHS = ("diff_from_base", "incremental_diff", "pack")
_BULKY = "files_changed"


def purge(workspace: Workspace, task_id: str, request: Request) -> Outcome:
    """Drop a task's delta data and its artifacts; where there are none any more, nothing happens.

    Raises:
        TaskstateError: code "drift-unresolved": what a role left may be nowhere but in its snapshot; or the file cannot
            be changed, or the artifacts cannot be deleted.
    """

    def job(loaded: Loaded) -> Change:
        roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
        text, rolled = purged_text(workspace, loaded.document.text, request.stamp)
        return Change(text=text, before=rolled)

    outcome = change(workspace, task_id, job, request)
    if request.dry_run:
        return outcome
    gone = remove(workspace, outcome.state.id)
    return outcome._replace(changed=outcome.changed or gone)


def purged_text(workspace: Workspace, text: str, stamp: WriteMetadata) -> tuple[str, journal.Plan]:
    """Return a state file's text that names no artifact, and the change that its oldest events may need.

    The artifacts themselves are deleted by `remove`, after that text is written.
    """
    document = parse(text)
    blocks = blocks_of(document)
    whole = {name: snapshot for name, snapshot in blocks.delta.snapshots.items() if _is_whole(snapshot)}
    events = [_event(name, snapshot, stamp) for name, snapshot in whole.items()]
    for key, value in _without_paths(blocks, whole).items():
        document = parse(apply(document.text, set_front_matter(document, key, value)))
    if not events:
        return document.text, ()
    text = document.text
    for event in events[:-1]:
        text = with_event(text, event)
    return remember(workspace, text, events[-1])


def remove(workspace: Workspace, task_id: str) -> bool:
    """Delete the artifacts of a task, and return whether there were any.

    Raises:
        TaskstateError: the system refuses.
    """
    return artifacts.remove_all(workspace, task_id)


def _is_whole(snapshot: Snapshot) -> bool:
    """Return whether a snapshot has not been purged yet."""
    return _BULKY in snapshot.values or any(snapshot.values.get(key) for key in _SNAPSHOT_PATHS)


def _event(role: str, snapshot: Snapshot, stamp: WriteMetadata) -> dict[str, object]:
    held = snapshot.values
    told = {key: held[key] for key in ("snapshot_time", "diff_stat", "diff_sha") if held.get(key)}
    return {"at": timestamp(stamp.now), "actor": held.get("actor", stamp.actor), "event": EVENT, "role": role, **told}


def _without_paths(blocks: ToolBlocks, whole: dict[str, Snapshot]) -> dict[str, object]:
    """Return the blocks of a front matter that name artifacts, as they are without them."""
    found: dict[str, object] = {}
    if whole:
        found["delta"] = with_snapshots(blocks.delta, {name: _bare(each) for name, each in whole.items()})
    logs = {name: {"qa_log_path": None} for name, role in blocks.roles.items() if role.values.get("qa_log_path")}
    if logs:
        found["coordination"] = roles.with_role_values(blocks, logs)
    if blocks.baseline.values.get("log"):
        found["baseline"] = {**blocks.baseline.values, "log": None}
    return found


def _bare(snapshot: Snapshot) -> dict[str, object]:
    """Return a snapshot without its list of files, and with null for each of its paths."""
    kept = {key: value for key, value in snapshot.values.items() if key != _BULKY}
    return kept | {key: None for key in _SNAPSHOT_PATHS if key in kept}
