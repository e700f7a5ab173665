"""Tells an agent that has lost its context what to read, and in which order, before it goes on."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.handoff.document import OPEN
from taskstate.handoff.document_files import handoff_files
from taskstate.messages import one_line, quoted
from taskstate.model import permanent
from taskstate.model.permanent import CONTENT, LEVELS, shown_version
from taskstate.model.statuses import IN_PROGRESS
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.permanent.find import require
from taskstate.permanent.readers import reader_of
from taskstate.tasks.next_task import is_open
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns, task_index
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.delta_block import Turn
    from taskstate.model.permanent import LoggedVersion
    from taskstate.permanent.readers import Reader
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

RECOVERED = "context-recovered"  # event: the impact analysis is to be given again
_AT_ONCE = 16 * 1024  # bytes of a document that are read in one piece
_LINES, _LINE = 5, 140  # versions told, and characters of each


class OwnTask(NamedTuple):
    """The task that an agent was working on: its file, its open turn if there is one, and its open handoff."""

    loaded: Loaded
    turn: Turn | None
    handoff: str | None


class Recovery(NamedTuple):
    """What an agent needs that has lost its context. `agent` is empty where it is unknown."""

    agent: str
    document: Loaded
    version: int
    reader: Reader
    own: OwnTask | None
    has_map: bool
    notes: tuple[str, ...]


def recover(workspace: Workspace, agent: str, request: Request) -> Recovery:
    """Return what an agent needs to go on, and record in its open turn that its impact analysis is to be given again.

    Raises:
        TaskstateError: code "no-permanent".
    """
    found = require(workspace)
    document = workspace.load(workspace.locate(found.id))
    own = own_task(workspace, agent)
    agent = (own and own.turn and own.turn.agent) or agent
    reader = reader_of(document.state, agent)
    known = agent if reader.confirmed is not None or own else ""
    has_map = bool(permanent.content_of(document.state, permanent.IMPACT_MAP).strip())
    notes = found.notes
    if own and own.turn and known and has_map:
        notes = (*notes, *_recorded(workspace, own.loaded.state.id, agent, request))
    return Recovery(known, document, permanent.version_of(document.state), reader, own, has_map, notes)


def own_task(workspace: Workspace, agent: str) -> OwnTask | None:
    """Return the task whose turn an agent has open, else the one in progress whose newest session is the agent's.

    Where none is the agent's by name it is the only one of an actor of that name; without a name, the only one.
    """
    begun = {each.task.casefold() for each in open_turns.here(workspace)}
    tasks = [each for each in task_index.all_tasks(workspace) if is_open(each)]
    tasks = [each for each in tasks if each.status == IN_PROGRESS or each.id.casefold() in begun]
    loaded = [each for task in tasks if (each := _loaded(workspace, task.id))]
    turns = [(each, turn) for each in loaded if (turn := blocks_of(each.document).delta.turn)]
    by_agent = [(each, turn) for each, turn in turns if turn.agent == agent]
    by_actor = [(each, turn) for each, turn in turns if not agent or turn.actor == agent]
    own = by_agent or (by_actor if len(by_actor) == 1 else [])
    if own:
        return _own(workspace, *own[0])
    by_session = (each for each in loaded if each.state.sessions and each.state.sessions[-1].agent == agent)
    last = next(by_session, None) if agent else None
    return _own(workspace, last, None) if last else None


def _loaded(workspace: Workspace, task_id: str) -> Loaded | None:
    try:
        return workspace.load(workspace.locate(task_id))
    except TaskstateError:
        return None  # what cannot be read is told by `status`


def _own(workspace: Workspace, loaded: Loaded, turn: Turn | None) -> OwnTask:
    open_one = next((each for each in handoff_files(workspace, loaded.state.id) if each.status == OPEN), None)
    return OwnTask(loaded, turn, open_one.path if open_one else None)


def _recorded(workspace: Workspace, task_id: str, agent: str, request: Request) -> tuple[str, ...]:
    """Record the recovery as an event of the task, once until an analysis follows; what goes wrong is a note."""

    def job(loaded: Loaded) -> Change:
        events = [each.event for each in blocks_of(loaded.document).audit.events]
        if events and events[-1] == RECOVERED:
            return Change(text=loaded.document.text)
        event = {"at": timestamp(request.metadata.now), "actor": agent, "event": RECOVERED}
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before)

    try:
        return change(workspace, task_id, job, request._replace(expect="")).warnings
    except TaskstateError as error:
        return (f"the recovery is not recorded: {error}",)


# As text


def text_of(result: Recovery) -> str:
    """Return what the agent reads, in the order in which it is to act."""
    steps = [*_steps(result)]
    lines = [f"{number}. {step}" for number, step in enumerate(steps, 1)]
    state = result.document.state
    shared = f"{shown_version(result.version)} of task {state.id}, {state.title}"
    head = f"You lost your context; what you remember of it is not enough to go on. The shared one is {shared}."
    return "\n".join([head, *lines])


def _steps(result: Recovery) -> Iterator[str]:
    yield f"Read it now: {reading(result.document)}"
    since = changes_since(result)
    if since:
        yield since
    yield from _own_steps(result)
    ack = f"`taskstate permanent ack --agent {quoted(result.agent or 'NAME')} --version {result.version}`"
    yield f"Confirm what you read: {ack}"
    if result.has_map:
        own = result.own.loaded.state.id if result.own else "ID"
        analysis = f"Give your impact analysis again: `taskstate impact check {own} --files F,F --record`"
        yield f"{analysis}; go on when somebody else has confirmed it: `taskstate impact confirm {own}`"


def reading(document: Loaded) -> str:
    """Return the command that shows the permanent task, or the commands for its sections where it is long."""
    task_id = document.state.id
    if document.state.size <= _AT_ONCE:
        return f"`taskstate show {task_id}`"
    filled = [name for name in CONTENT if permanent.content_of(document.state, name).strip()]
    return ", ".join(f'`taskstate show {task_id} --section "{name}"`' for name in filled)


def changes_since(result: Recovery) -> str:
    """Return what changed since the version that the agent confirmed last; empty where that is unknown."""
    reader = result.reader
    if not result.agent or reader.confirmed is None:
        return ""
    if not reader.missed:
        return f"Nothing changed since {shown_version(reader.confirmed)}, which you confirmed last."
    gravest = sorted(reader.missed, key=lambda each: -LEVELS.index(each.weight))  # within a level the newest first
    shown = [_version_line(each) for each in gravest[:_LINES]]
    more = [f"and {len(reader.missed) - _LINES} more"] if len(reader.missed) > _LINES else []
    head = f"Changed since {shown_version(reader.confirmed)}, which you confirmed last ({reader.level}):"
    return "\n   ".join([head, *shown, *more])


def _version_line(each: LoggedVersion) -> str:
    return f"{shown_version(each.number)} {', '.join(each.sections)}: {one_line(each.summary, _LINE)} [{each.weight}]"


def _own_steps(result: Recovery) -> Iterator[str]:
    own = result.own
    if own is None:
        yield "Your task: `taskstate next` says which, `taskstate start ID` begins it"
        return
    state, turn = own.loaded.state, own.turn
    step = f"; next step: {one_line(state.next_steps[0], _LINE)}" if state.next_steps else ""
    who = f"turn{f' as {turn.role}' if turn.role else ''} open since {turn.started_at}" if turn else "no turn open"
    role = f" --role {turn.role}" if turn and turn.role else ""
    agent = f" --agent {quoted(turn.agent)}" if turn and turn.agent else ""
    yield f"Your task is {state.id}, {state.title} ({who}){step}. Read: `taskstate start {state.id}{role}{agent}`"
    if own.handoff:
        yield f"A handoff is open: {own.handoff}"


def shape(result: Recovery) -> dict[str, object]:
    """Return the same as JSON values."""
    own = result.own
    return {
        "agent": result.agent or None,
        "id": result.document.state.id,
        "version": result.version,
        "confirmed": result.reader.confirmed,
        "missed": [each._asdict() for each in result.reader.missed] if result.agent else [],
        "task": own.loaded.state.id if own else None,
        "turn": own.turn._asdict() if own and own.turn else None,
        "handoff": own.handoff if own else None,
        "steps": [*_steps(result)],
    }
