"""The short protocol as a brief holds it, remembered from run to run: filling a template in takes longer than all else.

What is remembered holds as long as the template, the roles and this version of the tool are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import protocol
from taskstate.storage import json_cache
from taskstate.storage.files import digest
from taskstate.version import VERSION
from taskstate.workspace import templates

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace

FILE = "cache/protocol.json"
_MOST = 64  # short texts


def short_protocol(workspace: Workspace, *, role: str, task: tuple[str, str]) -> str:
    """Return the short form of the protocol for a task, as its id and its kind, and a role.

    Raises:
        TaskstateError: the project's own template is wrong.
    """
    where, source = templates.source_of(workspace, protocol.TEMPLATE)
    asked = "\0".join((VERSION, where, source, role, *workspace.config.roles, *task))
    key = digest(asked.encode())
    known = _known(workspace)
    if key in known:
        return known[key]
    short = protocol.text(workspace, role=role, short=True, task=task).strip("\n")
    kept = dict([*known.items()][1 - _MOST :]) | {key: short}
    json_cache.save(workspace.state_root / FILE, kept)
    return short


def _known(workspace: Workspace) -> dict[str, str]:
    try:
        loose = json_cache.load(workspace.state_root / FILE)
        return {str(key): text for key, text in loose.items() if isinstance(text, str)}
    except json_cache.DAMAGED:
        return {}
