"""Answers a client's hook. It never breaks the client: what goes wrong here is logged, and the answer is neutral.

Slow parts are imported only after the call is known to concern a repository that is set up.
"""

from __future__ import annotations

import json
from pathlib import Path

from taskstate.agents import fault_log
from taskstate.agents.event import Event, Notice, text_of
from taskstate.agents.hook_input import read_call
from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.secrets.mask import masked
from taskstate.setup import clients
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.workspace import find_workspace, require_set_up

if TYPE_CHECKING:
    from datetime import datetime

    from taskstate.agents.hook_input import HookCall
    from taskstate.workspace.workspace import Workspace


class Hooked(NamedTuple):
    """How a hook is called: the event, the client, and what the environment says.

    `fixes` says that safe fixes are applied after an edit, in the name of `actor`, else of the client.
    """

    event: str
    client: str
    now: datetime
    root: str = ""
    task: str = ""
    actor: str = ""
    fixes: bool = False


class Answer(NamedTuple):
    """The JSON for the client, and what went wrong on our side, empty for nothing."""

    json: str
    fault: str


def respond(hooked: Hooked, data: bytes) -> Answer:
    """Return the answer to the client's JSON; nothing is raised."""
    workspace = None
    try:
        workspace = find_workspace(Path.cwd(), root=hooked.root)  # for the log, should the input be unusable
        _require_known(hooked)
        call = read_call(data)
        workspace = find_workspace(Path(call.folder), root=hooked.root)
        require_set_up(workspace)
        event = _event(workspace, call, hooked)
        said = text_of(hooked.event, event)
        told, fault = _attend(workspace, hooked, event, said)
        all_said = "\n\n".join(filter(None, (said, told)))
        text = printable(masked(all_said, workspace.config.secrets.allow))  # it quotes files, and a model reads it
        is_notice = isinstance(said, Notice)
        answer = clients.answer(hooked.client, hooked.event, text, to_person=is_notice, by_the_way=not said)
        return Answer(json.dumps(answer, ensure_ascii=False), fault)
    except Exception as error:  # noqa: BLE001 - whatever it is, the client's session goes on
        fault = fault_log.words_of(error)
    _log(workspace, hooked, fault)
    return Answer("{}", fault)


def _require_known(hooked: Hooked) -> None:
    for what, word, known in (
        ("event", hooked.event, clients.EVENTS),
        ("agent", hooked.client, tuple(clients.CLIENTS)),
    ):
        if word not in known:
            near = closest(word, known)
            help_ = f"did you mean {near}?" if near else f"choose from {', '.join(known)}"
            raise TaskstateError(f"there is no {what} {printable(word)!r}", help=help_, code="usage")


def _attend(workspace: Workspace, hooked: Hooked, event: Event, said: str) -> tuple[str, str]:
    """Return what autosave has to say besides, and its fault, which must not take along what is said anyway."""
    from taskstate.autosave import consent

    if consent.level(workspace.root) == consent.OFF:
        return "", ""
    from taskstate.agents import autosaving

    try:
        return autosaving.attend(hooked.event, event, said), ""
    except Exception as error:  # noqa: BLE001 - what is said without it must not be lost
        fault = fault_log.words_of(error)
        _log(workspace, hooked, fault)
        return "", fault


def _event(workspace: Workspace, call: HookCall, hooked: Hooked) -> Event:
    request = None
    if hooked.fixes:
        from taskstate.model.write_metadata import WriteMetadata
        from taskstate.writing.change import Request

        request = Request(WriteMetadata(actor=hooked.actor or hooked.client, now=hooked.now))
    now = _timestamp(hooked.now)
    return Event(workspace, call, hooked.client, now, hooked.task, hooked.actor, request)


def _timestamp(moment: datetime) -> str:
    from taskstate.model.write_metadata import timestamp

    return timestamp(moment)


def _log(workspace: Workspace | None, hooked: Hooked, fault: str) -> None:
    fault_log.add(workspace, f"{_timestamp(hooked.now)} {hooked.client} {hooked.event}", fault)
