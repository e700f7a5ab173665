"""At the start of a session, of a sub-agent, and after a compaction: what the agent has to know of the task at hand."""

from __future__ import annotations

import re

from taskstate.agents.task_at_hand import task_at_hand
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent.readers import standing
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.agents.event import Event
    from taskstate.agents.task_at_hand import AtHand
    from taskstate.model.delta_block import Turn
    from taskstate.workspace.workspace import Loaded

BUDGET = 800  # tokens of the brief: with the other hooks of a turn it stays below 1,200
_ROLE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_NO_TASK = "taskstate keeps tasks here, none is at hand: `taskstate next` names one, `taskstate start ID` begins it"


def session_start(event: Event) -> str:
    """Return what `start` would print for the task at hand, and the command that begins or resumes its turn."""
    if event.call.source == "compact":
        return compaction(event)
    return _first_page(event, task_at_hand(event.workspace, event.named_task))


def compaction(event: Event) -> str:
    """Return the same for an agent whose context was compacted, with what it has not recorded yet."""
    from taskstate.agents.on_stop import how_to_finish, unrecorded

    found = task_at_hand(event.workspace, event.named_task)
    text = _first_page(event, found)
    turn = blocks_of(found.loaded.document).delta.turn if found else None
    if not found or not turn:
        return text
    missing = unrecorded(event.workspace, found.loaded, turn)
    task_id = found.loaded.state.id
    recorded = f"Not recorded yet: {missing}. {how_to_finish(task_id)}\n\n" if missing else ""
    return f"Your context was compacted; what follows is exact, your memory is not.\n{recorded}{text}"


def subagent_start(event: Event) -> str:
    """Return the permanent task, its version, and what the role of a sub-agent has not confirmed; and the task."""
    workspace = event.workspace
    role = event.call.role if _ROLE.fullmatch(event.call.role) else ""
    shared = standing(workspace, role)
    lines = [f"Permanent task {shared.id}: {shared.line}"] if shared else []
    found = task_at_hand(workspace, event.named_task)
    if found:
        flag = f" --role {role}" if role in workspace.config.roles else ""
        lines.append(f"Task at hand: {found.loaded.state.id}; read `taskstate brief {found.loaded.state.id}{flag}`")
    return "\n".join(lines)


def _first_page(event: Event, found: AtHand | None) -> str:
    workspace = event.workspace
    if found is None:
        shared = standing(workspace, "")
        return _NO_TASK + (f"\nShared context of all tasks: {shared.line}" if shared else "")
    from taskstate.turn.first_page import first_page

    loaded, why = found
    turn = blocks_of(loaded.document).delta.turn
    role = (turn and turn.role) or ""
    page = first_page(workspace, loaded, role, min(BUDGET, workspace.config.brief.budget))
    return f"Task {loaded.state.id} is at hand: {why}. {_turn_words(loaded, turn)}\n\n{page}"


def _turn_words(loaded: Loaded, turn: Turn | None) -> str:
    task_id = loaded.state.id
    if turn is None:
        return f"No turn is open: `taskstate start {task_id}` begins one."
    role = f" --role {turn.role}" if turn.role else ""
    agent = f" --agent {turn.agent}" if turn.agent and re.fullmatch(r"[\w.@-]+", turn.agent) else ""
    return f"Its turn is open since {turn.started_at}: `taskstate start {task_id}{role}{agent}` goes on with it."
