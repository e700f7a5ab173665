"""At a stop: says, once in a turn, that its work is in no session yet."""

from __future__ import annotations

from taskstate.messages import first_of
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.cache import Cache
from taskstate.storage.git import worktree
from taskstate.turn.situation import look
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import open_turns

if TYPE_CHECKING:
    from taskstate.agents.event import Event
    from taskstate.model.delta_block import Turn
    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = 5  # files in a line


def stop(event: Event) -> str:
    """Return, once in a turn, that its work is in no session yet."""
    workspace = event.workspace
    if event.call.repeats:
        return ""
    said: Cache[str] = Cache(workspace.private.cache("stops.json"), str)
    for each in open_turns.here(workspace):
        loaded = workspace.load(workspace.locate(each.task))
        turn = blocks_of(loaded.document).delta.turn
        which = f"{turn.started_at} {turn.session}" if turn else ""
        if turn is None or said.get(each.task) == which:
            continue
        missing = unrecorded(workspace, loaded, turn)
        if missing:
            said.put(each.task, which)
            said.save()
            what = f"The turn on task {loaded.state.id} is open and its work in no session: {missing}."
            return f"{what} {how_to_finish(loaded.state.id)}"
    return ""


def unrecorded(workspace: Workspace, loaded: Loaded, turn: Turn) -> str:
    """Return which files changed in a turn that no session tells of; empty where none did, or one tells of them."""
    if loaded.state.last_session > turn.session or turn.tree is None:
        return ""
    if look(workspace, loaded, None).where.tree == turn.tree:
        return ""
    dirty = worktree.dirty_files(workspace.root, workspace.is_ours)
    return f"changed are {first_of(dirty, _NAMED)}" if dirty else "there are new commits"


def how_to_finish(task_id: str) -> str:
    """Return the command that records what was done."""
    return f"Record it: `taskstate finish {task_id} --did T --state T --next T`, with `--pause` if it is to go on."
