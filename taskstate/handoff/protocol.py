"""The working protocol that an agent follows, filled in for a task and a role; in full, or short for a brief.

The short form is cached from run to run, because filling the template takes longer than the rest of a brief.
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


_MOST = 64  # short texts


def short_protocol(workspace: Workspace, *, role: str, task: tuple[str, str]) -> str:
    """Return the short form of the protocol for a task, as its id and its kind, and a role.

    Raises:
        TaskstateError: the project's own template is wrong.
    """
    where, source = templates.source_of(workspace, TEMPLATE)
    key = digest("\0".join((where, source, role, *workspace.config.roles, *task)).encode())
    cache = Cache(workspace.state_root / "cache" / "protocol.json", str, most=_MOST)
    short = cache.get(key)
    if short is None:
        short = text(workspace, role=role, short=True, task=task).strip("\n")
        cache.put(key, short)
        cache.save()
    return short
