"""The working protocol that an agent follows, filled in for a task and a role; in full, or short for a brief.

The short form is cached from run to run, because filling the template takes longer than the rest of a brief.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.storage import json_cache
from taskstate.storage.files import digest
from taskstate.version import VERSION
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


FILE = "cache/protocol.json"
_MOST = 64  # short texts


def short_protocol(workspace: Workspace, *, role: str, task: tuple[str, str]) -> str:
    """Return the short form of the protocol for a task, as its id and its kind, and a role.

    Raises:
        TaskstateError: the project's own template is wrong.
    """
    where, source = templates.source_of(workspace, TEMPLATE)
    asked = "\0".join((VERSION, where, source, role, *workspace.config.roles, *task))
    key = digest(asked.encode())
    known = _known(workspace)
    if key in known:
        return known[key]
    short = text(workspace, role=role, short=True, task=task).strip("\n")
    kept = dict([*known.items()][1 - _MOST :]) | {key: short}
    json_cache.save(workspace.state_root / FILE, kept)
    return short


def _known(workspace: Workspace) -> dict[str, str]:
    try:
        loose = json_cache.load(workspace.state_root / FILE)
        return {str(key): text for key, text in loose.items() if isinstance(text, str)}
    except json_cache.DAMAGED:
        return {}
