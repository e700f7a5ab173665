"""`protocol`: the session protocol for agents."""

from __future__ import annotations

from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Protocol(NamedTuple):
    """The arguments of `protocol`."""

    id: TaskId | None = positional("ID", "task to insert into the commands")
    role: str = option("R", "role, or `lead`, to print the protocol for (default: any work)")
    agent: str = option("A", "claude, codex, cursor or generic: add how this agent ends a session")
    short: bool = switch("print the short form, with which every brief begins")


def protocol(call: Call, asked: Protocol) -> Result:
    """Print the steps that an agent follows in a session."""
    from taskstate.handoff import protocol as protocols

    subject = protocols.Subject()
    if asked.id:
        loaded = call.load(asked.id)
        subject = protocols.Subject(call.task_id(asked.id), loaded.state.kind)
    workspace = call.any_workspace
    if asked.short:
        text = protocols.short(workspace, subject, role=asked.role) + "\n"
    else:
        text = protocols.text(workspace, subject, role=asked.role, agent=asked.agent)
    given = {"id": subject.id if asked.id else None, "role": asked.role or None, "agent": asked.agent or None}
    return Result(given | {"text": text}, text, is_in_rows=True)


OPERATIONS = (Operation("protocol", "print the steps that an agent follows in a session", protocol, Protocol),)
