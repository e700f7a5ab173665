"""Fills in the working protocol for an agent, by task and role: in full, or the short form for a brief.

The short form is cached between runs, because filling the template takes longer than all else in a brief.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.storage.cache import Cache
from taskstate.storage.files import digest
from taskstate.workspace import templates

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace


TEMPLATE = "protocol.md.j2"
AGENTS = ("claude", "codex", "cursor", "generic")
LEAD = "lead"  # not a configured role: the agent that starts the others, or works alone
_ANY_TASK, _ANY_KIND = "ID", "task"


def text(
    workspace: Workspace, *, role: str = "", agent: str = "", short: bool = False, task: tuple[str, str] = ("", "")
) -> str:
    """Return the session protocol as Markdown: in full, or the short form that is part of every brief.

    `task` is the id and the kind of the task; empty texts make it a protocol for any task.

    Raises:
        TaskstateError: there is no such role or agent, or the project's own template is wrong.
    """
    configured = workspace.config.roles
    validated_role = "" if role in {"", LEAD} else roles.require_role(role, configured)
    if agent and agent not in AGENTS:
        raise TaskstateError(f"there is no agent {agent!r}", help=f"known are {', '.join(AGENTS)}", code="usage")
    values = {
        "id": task[0] or _ANY_TASK,
        "kind": task[1] or _ANY_KIND,
        "role": validated_role,
        "previous": (roles.previous_role(validated_role, configured) or "") if validated_role else "",
        "last": bool(validated_role) and configured[-1] == validated_role,
        "agent": agent,
        "short": short,
    }
    return templates.fill(workspace, TEMPLATE, values).strip("\n") + "\n"


_MOST = 64  # cached texts


def short_protocol(workspace: Workspace, *, role: str, task: tuple[str, str]) -> str:
    """Return the short form of the protocol for a role; `task` is the id and the kind of a task.

    Raises:
        TaskstateError: the project's own template is wrong.
    """
    path, source = templates.source_of(workspace, TEMPLATE)
    key = digest("\0".join((path, source, role, *workspace.config.roles, *task)).encode())
    cache = Cache(workspace.private.cache("protocol.json"), str, max_entries=_MOST)
    protocol = cache.get(key)
    if protocol is None:
        protocol = text(workspace, role=role, short=True, task=task).strip("\n")
        cache.put(key, protocol)
        cache.save()
    return protocol
