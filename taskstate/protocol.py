"""The session protocol: what an agent does from its first look at a task to its last word about it.

The words are a template, which a project may replace by its own; who it is for decides which of them are said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.workspace import templates

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace

TEMPLATE = "protocol.md.j2"
AGENTS = ("claude", "codex", "cursor", "generic")
LEAD = "lead"  # no role of a task: who starts the others, or does everything alone
_ANY_TASK, _ANY_KIND = "ID", "task"


def text(
    workspace: Workspace, *, role: str = "", agent: str = "", short: bool = False, task: tuple[str, str] = ("", "")
) -> str:
    """Return the session protocol as Markdown: in full, or the short form that is part of every brief.

    `task` is the id and the kind of the task that it is for, where there is one.

    Raises:
        TaskstateError: there is no such role or agent, or the project's own template is wrong.
    """
    known = workspace.config.roles
    named = "" if role in {"", LEAD} else roles.require_role(role, known)
    if agent and agent not in AGENTS:
        raise TaskstateError(f"there is no agent {agent!r}", help=f"known are {', '.join(AGENTS)}", code="usage")
    parts = {
        "id": task[0] or _ANY_TASK,
        "kind": task[1] or _ANY_KIND,
        "role": named,
        "previous": (roles.before(named, known) or "") if named else "",
        "last": bool(named) and known[-1] == named,
        "agent": agent,
        "short": short,
    }
    return templates.filled(workspace, TEMPLATE, parts).strip("\n") + "\n"
