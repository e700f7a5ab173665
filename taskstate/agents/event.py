"""What each event is given, and which function says what there is to say.

Such a function returns an empty text where there is nothing to say. It begins and ends no turn, runs no command of the
repository, and allows none.
"""

from __future__ import annotations

from importlib import import_module

from taskstate.setup import clients
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.agents.hook_input import HookCall
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class Event(NamedTuple):
    """An event: the repository, the client's call, the task and the actor that the environment names.

    `request` says how a fix is written; without it nothing is fixed.
    """

    workspace: Workspace
    call: HookCall
    client: str
    now: str
    named_task: str = ""
    actor: str = ""
    request: Request | None = None


class Notice(str):
    """What is said to the person, and not to the agent."""

    __slots__ = ()


# By event, the module and the function: imported only when called, since a hook is to cost no time.
_FUNCTIONS: Mapping[str, tuple[str, str]] = {
    clients.SESSION_START: ("on_session_start", "session_start"),
    clients.COMPACTION: ("on_session_start", "compaction"),
    clients.SUBAGENT_START: ("on_session_start", "subagent_start"),
    clients.BEFORE_EDIT: ("on_edit", "before_edit"),
    clients.BEFORE_COMMIT: ("on_edit", "before_commit"),
    clients.AFTER_EDIT: ("on_edit", "after_edit"),
    clients.STOP: ("on_stop", "stop"),
}


def text_of(name: str, event: Event) -> str:
    """Return what is said at an event: to the agent, or as a `Notice`; empty where there is nothing to say.

    Raises:
        TaskstateError: a file that it needs cannot be read.
    """
    if name in clients.OF_AUTOSAVE:  # the session is noted, as at each event
        return ""
    module, function = _FUNCTIONS[name]
    text: str = getattr(import_module(f"taskstate.agents.{module}"), function)(event)
    return text
