"""At the start of a session, of a sub-agent, and after a compaction: what the agent has to know of the task at hand."""

from __future__ import annotations

import re

from taskstate.agents.task_at_hand import TURN_IS_OPEN, task_at_hand
from taskstate.autosave import consent
from taskstate.errors import TaskstateError
from taskstate.model.names import is_id
from taskstate.model.permanent import shown_version
from taskstate.permanent.readers import standing
from taskstate.setup.clients import CLIENTS, COMPACTION, SESSION_START
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import open_turns

if TYPE_CHECKING:
    from taskstate.agents.event import Event
    from taskstate.agents.task_at_hand import AtHand
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.workspace import Loaded, Workspace

BUDGET = 800  # tokens of the brief: with the other hooks of a turn it stays below 1,200
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_READERS, _RUN_NONE = frozenset(("Explore", "Plan")), frozenset(("statusline-setup",))  # sub-agents of Claude Code
_AT_HAND = "The current task is {}"
_CALLERS = "; its turn is your caller's: neither start nor finish it"
_FRONT_MATTER = re.compile(rb"(?ms)\A---\r?\n(.*?^)---")
_TOOLS = re.compile(rb"(?ms)^tools:(.*?)(?:^\w|\Z)")
_CONFIRMING = re.compile(rb"\bBash\b|\*|mcp__taskstate")


def session_start(event: Event) -> str:
    """Return what `start` would print for the task at hand, and the command that begins or resumes its turn."""
    if event.call.source == "compact":
        return compaction(event)
    found, wrong = _at_hand(event)
    left = _given_back(event, found) if found and not wrong else ""
    return "\n\n".join(filter(None, (wrong or _first_page(event, found), left)))


def compaction(event: Event) -> str:
    """Return the same for an agent whose context was compacted, with what it has not recorded yet."""
    from taskstate.agents.on_stop import how_to_finish, unrecorded

    found, wrong = _at_hand(event)
    turn = _turn(found.loaded) if found else None
    text = _recovery(event, turn) + (wrong or _first_page(event, found))
    text = "\n\n".join(filter(None, (text, _given_back(event, found, is_compacted=True))))
    if not found or not turn:
        return text
    missing = "" if found.loaded.state.last_own_session > turn.session else unrecorded(event.workspace, turn)
    task_id = found.loaded.state.id
    recorded = f"Not recorded yet: {missing}. {how_to_finish(task_id)}\n\n" if missing else ""
    return f"Your context was compacted; what follows is exact, your memory is not.\n{recorded}{text}"


def _given_back(event: Event, found: AtHand | None, *, is_compacted: bool = False) -> str:
    """Return what autosave has kept; that it fails must not take along what is said without it."""
    if not consent.is_given(event.workspace.root):
        return ""
    from taskstate.agents import fault_log, given_back

    loaded = found and found.loaded
    try:
        if is_compacted:
            return given_back.after_compaction(event, loaded)
        return given_back.at_start(event, loaded) if loaded else ""
    except Exception as error:  # noqa: BLE001 - the brief is worth more
        where = f"{event.now} {event.client} {COMPACTION if is_compacted else SESSION_START}"
        fault_log.add(event.workspace, where, fault_log.words_of(error))
        return ""


def _at_hand(event: Event) -> tuple[AtHand | None, str]:
    """Return the task at hand, and instead of its brief what is wrong with its state file, and what mends it."""
    from taskstate.agents.on_stop import standing_turn
    from taskstate.writing.notices import require_undamaged

    workspace, found, named = event.workspace, None, event.named_task.casefold()
    noted = (each for each in open_turns.here(workspace) if named in {"", each.task.casefold()})
    standing_turns = ((each, standing_turn(workspace, each)[1]) for each in noted if each.is_of(event.actor))
    lines = [
        f"{_AT_HAND.format(turn.task)}: {turn.words}.{lost} Then {_going_on(turn)}."
        for turn, lost in standing_turns
        if lost
    ]
    try:
        found = task_at_hand(workspace, event.named_task)
        if found:
            require_undamaged(workspace, found.loaded)
    except TaskstateError as error:
        from taskstate.writing.damage import CODES

        if error.code not in CODES:
            raise
        lines.append(str(error))
    return found, "\n".join(lines)


def _recovery(event: Event, turn: OpenTurn | None) -> str:
    """Return the command by which an agent recovers the shared context; empty where there is none."""
    shared = standing(event.workspace, "")
    if shared is None:
        return ""
    agent = _agent_flag(turn)
    return (
        f"First `taskstate permanent recover{agent}`, and do what it says, in its order: the shared context "
        f"({shown_version(shared.version)} of task {shared.id}), your task, the confirmation, your impact analysis.\n\n"
    )


def subagent_start(event: Event) -> str:
    """Return the permanent task, its version, and what a sub-agent has not confirmed, by its id; and the task."""
    workspace, call = event.workspace, event.call
    role = call.role if _NAME.fullmatch(call.role) else ""
    agent = f"{role}:{call.agent_id}" if role and _NAME.fullmatch(call.agent_id) else role
    runs_none = role in _RUN_NONE or _lacks_tools(event, role)
    # Who cannot write cannot confirm either, and is asked to read only.
    shared = standing(workspace, "" if runs_none or call.reads_only or role in _READERS else agent)
    found = task_at_hand(workspace, event.named_task)
    lines = []
    if shared:
        place = f"{shown_version(shared.version)}, {workspace.relative(workspace.locate(shared.id))}"
        lines.append(f"Permanent task {shared.id}: {place if runs_none else shared.line}")
    if found:
        task_id, flag = found.loaded.state.id, f" --role {role}" if role in workspace.config.roles else ""
        read = found.loaded.relative if runs_none else f"`taskstate brief {task_id}{flag}`"
        is_open = _turn(found.loaded) or open_turns.in_another_worktree(workspace, task_id)
        lines.append(f"Current task: {task_id}; read {read}{_CALLERS if is_open else ''}")
    elif len(turns := open_turns.elsewhere(workspace)) == 1 and is_id(turns[0].task):
        # As of whoever has sent the sub-agent into a worktree of its own.
        lines.append(
            f"Current task: {turns[0].task}, {turns[0].words}; read `taskstate brief {turns[0].task}`{_CALLERS}"
        )
    return "\n".join(lines)


def _lacks_tools(event: Event, role: str) -> bool:
    """Return whether a sub-agent's own file in the repository names its tools, and none that runs our commands."""
    folder = CLIENTS[event.client].agents
    path = event.workspace.root / folder / f"{role}.md"
    if not folder or not role or not folders.is_file(path):
        return False
    front = _FRONT_MATTER.match(files.read(path))
    tools = front and _TOOLS.search(front[1])
    return bool(tools and _CONFIRMING.search(tools[1]) is None)


def _first_page(event: Event, found: AtHand | None) -> str:
    workspace = event.workspace
    if found is None:
        shared = standing(workspace, "")
        return _no_task(workspace) + (f"\nShared context of all tasks: {shared.line}" if shared else "")
    from taskstate.tasks.size_warning import suggestion
    from taskstate.turn.first_page import first_page

    loaded, why = found
    turn = _turn(loaded)
    words, role = _turn_words(event, loaded, turn), (turn and turn.role) or ""
    page = first_page(workspace, loaded, role, min(BUDGET, workspace.config.brief.budget))
    told = "".join(f"\n- {each}" for each in suggestion(workspace, loaded.state))
    begins = "" if words.startswith(why) else f"{why}{'; ' if words[0].islower() else '. '}"
    return f"{_AT_HAND.format(loaded.state.id)}: {begins}{words}{told}\n\n{page}"


def _no_task(workspace: Workspace) -> str:
    """Return where to find a task; no command is named that would find none."""
    from taskstate.tasks.next_task import is_open
    from taskstate.workspace import task_index
    from taskstate.writing.notices import tell

    where = "`taskstate new ID --title T` makes one"
    if any(each.problem or is_open(each) for each in task_index.all_tasks(workspace)):
        where = "`taskstate next` names one, `taskstate start ID` begins it"
    lost = "".join(f"{each.message}\n" for each in tell(workspace))
    return f"{lost}taskstate keeps tasks here; there is no current task: {where}"


def _turn(loaded: Loaded) -> OpenTurn | None:
    return open_turns.of_document(loaded.document, loaded.state.id)


def _turn_words(event: Event, loaded: Loaded, turn: OpenTurn | None) -> str:
    """Return how the turn of a task begins or goes on here; whose it is where that is refused."""
    task_id = loaded.state.id
    theirs = open_turns.in_another_worktree(event.workspace, task_id) or turn
    if theirs and (theirs.worktree or not theirs.is_of(event.actor)):
        from taskstate.turn.situation import turn_elsewhere

        return f"{theirs.words}: {turn_elsewhere(theirs).help}."
    if turn is None:
        return f"No turn is open: `taskstate start {task_id}` begins one."
    return f"{TURN_IS_OPEN} since {turn.started_at}: {_going_on(turn)}."


def _going_on(turn: OpenTurn) -> str:
    role = f" --role {turn.role}" if turn.role else ""
    return f"`taskstate start {turn.task}{role}{_agent_flag(turn)}` goes on with it"


def _agent_flag(turn: OpenTurn | None) -> str:
    name = (turn and turn.agent) or ""
    return f" --agent {name}" if re.fullmatch(r"[\w.@:-]+", name) else ""
