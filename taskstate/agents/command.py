"""`taskstate hook`: answers a hook of an agent's client, in the client's own format."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

from taskstate.agents.hook import Hooked, respond
from taskstate.errors import TaskstateError
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.setup import clients
from taskstate.storage.files import MAX_TEXT
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call


class Hook(NamedTuple):
    """The arguments of `hook`."""

    event: str = positional("EVENT", f"one of {', '.join(clients.EVENTS)}")
    agent: str = option(
        "NAME", f"the client: {', '.join(clients.CLIENTS)} (default: {clients.DEFAULT})", default=clients.DEFAULT
    )
    fix: bool = switch("after an edit, apply the linter's safe fixes first")


def hook(call: Call, asked: Hook) -> Result:
    """Answer a hook of an agent's client: read its JSON on standard input, and print the answer in its format.

    It begins no turn, runs no command of the repository, and never fails: what goes wrong is logged.
    """
    hooked = Hooked(
        event=asked.event,
        client=asked.agent,
        now=datetime.now(UTC),
        root=call.conditions.root,
        task=os.environ.get("TASKSTATE_TASK", ""),
        actor=os.environ.get("TASKSTATE_ACTOR", ""),
        fixes=asked.fix,
    )
    answer = respond(hooked, _input())
    sys.stdout.write(answer.json + "\n")
    if answer.fault:
        call.notes((f"taskstate: {answer.fault}",))
    return Result(None, "")


def _input() -> bytes:
    """Return what the client says; nothing from a terminal, where a person tries the command.

    Raises:
        TaskstateError: code "too-large".
    """
    if not sys.stdin or sys.stdin.isatty():
        return b""
    data: bytes = sys.stdin.buffer.read(MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        message = f"standard input holds more than {MAX_TEXT // 1024**2} MiB"
        raise TaskstateError(message, help="split it", code="too-large")
    return data


OPERATIONS = (Operation("hook", "answer a hook of an agent's client; called by the client", hook, Hook),)
