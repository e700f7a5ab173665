"""Drops what a task's snapshots and logs left behind: the artifacts, and their places in the state file.

Who left what is remembered: one event for each role, with its diff in numbers and the diff's hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.model import roles
from taskstate.model.write_metadata import front_matter_values, set_front_matter, timestamp, with_event
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.workspace import artifacts
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.write_metadata import Stamp
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
        roles.require_settled(front_matter_values(loaded.document), loaded.state.id)
        text, rolled = purged(workspace, loaded.document.text, request.stamp)
        return Change(text=text, before=rolled)

    outcome = change(workspace, task_id, job, request)
    if request.dry_run:
        return outcome
    gone = remove(workspace, outcome.state.id)
    return outcome._replace(changed=outcome.changed or gone)


def purged(workspace: Workspace, text: str, stamp: Stamp) -> tuple[str, journal.Plan]:
    """Return a state file's text that names no artifact, and the change that its oldest events may need.

    The artifacts themselves are deleted by `remove`, after that text is written.
    """
    document = parse(text)
    values = front_matter_values(document)
    events = [_event(name, snapshot, stamp) for name, snapshot in _snapshots(values).items() if _is_whole(snapshot)]
    for key, value in _without_paths(values).items():
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


def _snapshots(values: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    delta = values.get("delta")
    held = delta.get("snapshots") if isinstance(delta, dict) else None
    names = held if isinstance(held, dict) else {}
    return {name: snapshot for name in names if (snapshot := roles.snapshot_of(values, name))}


def _is_whole(snapshot: Mapping[str, Any]) -> bool:
    """Return whether a snapshot has not been purged yet."""
    return _BULKY in snapshot or any(snapshot.get(key) for key in _SNAPSHOT_PATHS)


def _event(role: str, snapshot: Mapping[str, Any], stamp: Stamp) -> dict[str, object]:
    told = {key: snapshot[key] for key in ("snapshot_time", "diff_stat", "diff_sha") if snapshot.get(key)}
    actor = snapshot.get("actor", stamp.actor)
    return {"at": timestamp(stamp.now), "actor": actor, "event": EVENT, "role": role, **told}


def _without_paths(values: Mapping[str, Any]) -> dict[str, object]:
    """Return the blocks of a front matter that name artifacts, as they are without them."""
    found: dict[str, object] = {}
    delta, coordination, baseline = (values.get(key) for key in ("delta", "coordination", "baseline"))
    whole = {name: each for name, each in _snapshots(values).items() if _is_whole(each)}
    if whole and isinstance(delta, dict):
        found["delta"] = {**delta, "snapshots": {**delta["snapshots"], **{n: _bare(s) for n, s in whole.items()}}}
    if isinstance(coordination, dict):
        logs = {
            name: {**role, "qa_log_path": None}
            for name, role in coordination.items()
            if isinstance(role, dict) and role.get("qa_log_path")
        }
        found |= {"coordination": {**coordination, **logs}} if logs else {}
    if isinstance(baseline, dict) and baseline.get("log"):
        found["baseline"] = {**baseline, "log": None}
    return found


def _bare(snapshot: Mapping[str, Any]) -> dict[str, object]:
    """Return a snapshot without its list of files, and with null for each of its paths."""
    kept = {key: value for key, value in snapshot.items() if key != _BULKY}
    return kept | {key: None for key in _SNAPSHOT_PATHS if key in kept}
