"""Says what is set up for an agent's client and does not reach its agent: what a client was not told to trust or allow.

What the clients keep of this person is only read, and nothing is quoted from it. A client that was never used here has
no such files, and then nothing is said of its trust.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress

from taskstate.doctor.starting import NotStarting, hooked
from taskstate.errors import TaskstateError
from taskstate.setup import permissions
from taskstate.setup.clients import CLIENTS
from taskstate.setup.installation import Wanted, install
from taskstate.storage import files
from taskstate.syntax.toml_input import read_toml
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.workspace.workspace import Workspace

_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


def not_reaching(workspace: Workspace) -> Iterator[NotStarting]:
    """Yield what is lacking for a client that is set up, and what it was not told to trust or to allow."""
    clients = hooked(workspace)
    with suppress(TaskstateError):  # what cannot be read is told by other checks
        done = install(workspace, Wanted(), dry_run=True)
        places = {place for each in CLIENTS.values() for place in (each.page, each.hook_file, each.mcp_file)}
        for each in (each for each in done.refused if each.name in places):
            yield NotStarting(
                each.name, f"its client does not get what `taskstate init` puts there: {each.why}", each.help
            )
        for name in (*done.created, *done.changed):
            if name in places:
                message = "it lacks something that `taskstate init` puts there for the clients"
                yield NotStarting(name, message, "run `taskstate init`", note=True)
    if "claude" in clients:
        yield from _switched_off(workspace)
    for name in {"claude", "gemini"} & clients.keys():
        if not permissions.is_allowed(workspace.root, name):
            yield from _not_allowed(workspace, name)
    if "codex" in clients:
        yield from _untrusted_by_codex(workspace)


def _switched_off(workspace: Workspace) -> Iterator[NotStarting]:
    """Yield which settings of Claude Code have it call no hooks, or not start our server."""
    for values in permissions.claude_settings(workspace.root):
        servers = permissions.value_at(values, "disabledMcpjsonServers")
        off = {
            "disableAllHooks": permissions.value_at(values, "disableAllHooks") is True,
            "disabledMcpjsonServers": isinstance(servers, list) and "taskstate" in servers,
        }
        for key in (each for each, is_off in off.items() if is_off):
            message = f"a setting of Claude Code, `{key}`, switches it off"
            yield NotStarting(
                CLIENTS["claude"].hook_file, message, "remove that setting if hooks are to run", note=True
            )


def _not_allowed(workspace: Workspace, name: str) -> Iterator[NotStarting]:
    path = CLIENTS[name].hook_file
    if name == "gemini" or not permissions.is_given(workspace.root):
        message = f"an agent of {CLIENTS[name].title} that runs without a person is not allowed to record its work"
        yield NotStarting(path, message, f"if it is to, run `taskstate init --agent {name} --allow`", note=True)
    elif permissions.is_trusted(workspace.root) is False:
        what, _, how = permissions.UNTRUSTED.partition(": ")
        yield NotStarting(path, what, how, note=True)


def _untrusted_by_codex(workspace: Workspace) -> Iterator[NotStarting]:
    """Yield whether Codex skips the repository's configuration, or hooks in it: it does both without a word."""
    folder = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    name, places = CLIENTS["codex"].hook_file, permissions.places(workspace.root)
    try:
        known = read_toml(files.read(os.path.join(folder, "config.toml")).decode("utf-8", "replace"))
        hooks = json.loads(files.read(workspace.root / name))["hooks"]
        keys = [key for event, groups in hooks.items() for key in _keys(f"{places[-1]}/{name}", event, groups)]
    except (TaskstateError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return
    if not any(permissions.value_at(known, "projects", each, "trust_level") == "trusted" for each in places):
        message = "Codex was not told to trust this folder: it skips all that is set up for it"
        yield NotStarting(name, message, "run `codex exec --trust` here, or start `codex` and say so", note=True)
    missing = [key for key in keys if not permissions.value_at(known, "hooks", "state", key, "trusted_hash")]
    if missing:
        message = f"Codex was not told to trust {len(missing)} of the {len(keys)} hooks: it skips them"
        yield NotStarting(name, message, "type `/hooks` in Codex, and trust them", note=True)


def _keys(path: str, event: str, groups: list[dict[str, Any]]) -> Iterator[str]:
    """Yield under which key Codex (0.171) notes the trust in each of our hooks; the hash beside it is its own."""
    label = _CAPITAL.sub("_", event).lower()
    for number, group in enumerate(groups):
        for index, handler in enumerate(group["hooks"]):
            if "taskstate hook " in handler["command"]:
                yield f"{path}:{label}:{number}:{index}"
