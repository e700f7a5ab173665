"""Answers a client's hook. It never breaks the client: what goes wrong here is logged, and the answer is neutral.

Slow parts are imported only after the call is known to concern a repository that is set up.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from taskstate.agents.event import Event, Notice, text_of
from taskstate.agents.hook_input import read_call
from taskstate.errors import TaskstateError
from taskstate.messages import closest, one_line
from taskstate.secrets.mask import masked
from taskstate.setup import clients
from taskstate.storage import files, folders
from taskstate.storage.private import make_folder
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.workspace import find_workspace, require_set_up

if TYPE_CHECKING:
    from datetime import datetime

    from taskstate.agents.hook_input import HookCall
    from taskstate.workspace.workspace import Workspace

LOG = "hooks.log"  # in the private folder
_LARGEST_LOG = 64 * 1024
_LONGEST_LINE = 400


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
        said = _said(workspace, call, hooked)
        text = printable(masked(said, workspace.config.secrets.allow))  # it quotes files, and a model reads it
        answer = clients.answer(hooked.client, hooked.event, text, to_person=isinstance(said, Notice))
        return Answer(json.dumps(answer, ensure_ascii=False), "")
    except TaskstateError as error:
        fault = str(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, the client's session goes on
        fault = f"a fault of taskstate's own: {type(error).__name__}: {error}"
    _log(workspace, hooked, fault)
    return Answer("{}", fault)


def _require_known(hooked: Hooked) -> None:
    for what, word, known in (
        ("event", hooked.event, clients.EVENTS),
        ("agent", hooked.client, tuple(clients.CLIENTS)),
    ):
        if word not in known:
            near = closest(word, known)
            help_ = f"did you mean {near}?" if near else f"known are {', '.join(known)}"
            raise TaskstateError(f"there is no {what} {printable(word)!r}", help=help_, code="usage")


def _said(workspace: Workspace, call: HookCall, hooked: Hooked) -> str:
    request = None
    if hooked.fixes:
        from taskstate.model.write_metadata import WriteMetadata
        from taskstate.writing.change import Request

        request = Request(WriteMetadata(actor=hooked.actor or hooked.client, now=hooked.now))
    now = _timestamp(hooked.now)
    return text_of(hooked.event, Event(workspace, call, hooked.client, now, hooked.task, hooked.actor, request))


def _timestamp(moment: datetime) -> str:
    from taskstate.model.write_metadata import timestamp

    return timestamp(moment)


def _log(workspace: Workspace | None, hooked: Hooked, fault: str) -> None:
    """Add a line to the log in the private folder; that it cannot be written must not disturb the client either."""
    with suppress(TaskstateError, OSError, ValueError):
        folder = workspace.private.write if workspace and folders.is_folder(workspace.state_root) else None
        if folder is None:
            return
        where = f"{_timestamp(hooked.now)} {hooked.client} {hooked.event}"
        line = (masked(one_line(printable(f"{where}: {fault}"), _LONGEST_LINE)) + "\n").encode()
        make_folder(folder)
        path = folder / LOG
        length = files.size(path)
        if length is None:
            files.create(path, line, mode=0o600)
        elif length > _LARGEST_LOG:
            files.replace(path, files.read(path)[-_LARGEST_LOG // 2 :].partition(b"\n")[2] + line)
        else:
            files.append(path, line, length)
