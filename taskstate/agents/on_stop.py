"""At a stop: tells a session, once in a turn, that its work is in no session of the file yet.

That rests on git and on the note of the open turn: a state file that is damaged or gone silences nothing.
"""

from __future__ import annotations

from taskstate.agents.event import Notice
from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model.statuses import CLOSED
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import open_turns

if TYPE_CHECKING:
    from taskstate.agents.event import Event
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.workspace import Workspace

_NAMED = 5  # files in a line
_LOST = " Its state file does not tell of it any more: `taskstate doctor --fix` first."


def stop(event: Event) -> str:
    """Return, once in a turn and to each session, that its work is in none yet.

    That is for the person where the agent cannot record it.
    """
    workspace = event.workspace
    if event.call.repeats or event.call.reads_only:
        return ""
    said: Cache[str] = Cache(workspace.private.cache("stops.json"), str)
    for noted in (each for each in open_turns.here(workspace) if each.is_of(event.actor)):
        turn, lost = standing_turn(workspace, noted)
        which = f"{turn.started_at} {turn.session}" if turn else ""
        key = f"{noted.task} {event.call.session}"  # a person's turn goes over several sessions of clients
        missing = unrecorded(workspace, turn) if turn and said.get(key) != which else ""
        if missing:
            said.put(key, which)
            said.save()
            what = f"The turn on task {noted.task} is open and its work in no session: {missing}.{lost}"
            return _words(event, what, noted.task)
    return ""


def standing_turn(workspace: Workspace, noted: OpenTurn) -> tuple[OpenTurn | None, str]:
    """Return an open turn, and what to do first where its state file does not tell of it; None for one with a session.

    A file that is gone, or is readable and tells of no turn, may also be that of another branch.
    """
    turn, is_over, is_read = None, False, True
    try:
        loaded = workspace.load(workspace.locate(noted.task))
        turn = open_turns.of_document(loaded.document, noted.task)
        is_over = loaded.state.last_own_session > (turn or noted).session or loaded.state.status in CLOSED
        is_read = bool(loaded.document.front_matter)
    except TaskstateError as error:
        is_read = error.code == "not-found"
    if is_over or turn:
        return None if is_over else turn, ""
    is_here = noted.tree and not (is_read and noted.branch != (git.branch(workspace.root) or ""))
    return (noted, _LOST) if is_here else (None, "")


def unrecorded(workspace: Workspace, turn: OpenTurn) -> str:
    """Return what has changed since a turn began, or an empty text; nothing while git is in the middle of a merge."""
    root, is_ours = workspace.root, workspace.is_ours
    if not turn.tree or git.operation_in_progress(root):
        return ""
    dirty = worktree.dirty_files(root, is_ours)
    if not dirty and turn.head == git.head(root):
        return ""
    if worktree.tree_id(root, is_ours, folder=workspace.config.root) == turn.tree:
        return ""
    return f"changed are {first_of(dirty, _NAMED)}" if dirty else "there are new commits"


def how_to_finish(task_id: str) -> str:
    """Return the command that records what was done."""
    return f"Record it: `taskstate finish {task_id} --did T --state T --next T`, with `--pause` if it is to go on."


def _words(event: Event, what: str, task_id: str) -> str:
    """Return what is said of unrecorded work: to the person alone where the agent is kept from recording it."""
    from taskstate.setup.clients import CLIENTS
    from taskstate.setup.permissions import allows

    client = event.client
    if allows(event.workspace.root, client, event.call.mode):
        return f"{what} {how_to_finish(task_id)}"
    cure = f"run it, and see `taskstate init --agent {client} --allow`"
    return Notice(f"{what} {CLIENTS[client].title} does not let the agent run `taskstate finish {task_id}`: {cure}")
