"""Says whether a client lets an agent run `taskstate finish`, from its files and from how it was started.

Clients that run without a person refuse what nobody allowed, and a reminder to record the work is in vain then. Files
are only read here, and one that cannot be read allows nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.setup.attended import allowed_words, is_claude_attended, is_gemini_open
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.syntax.json_comments import loose_values

UNTRUSTED = (
    "Claude Code ignores what a repository allows until it is told to trust the folder: start `claude` here once"
)
_NEEDED = ("taskstate", "finish")
_COMMAND = re.compile(r"(?:Bash|run_shell_command|ShellTool)(?:\((.*)\))?")
_SERVER = re.compile(r"mcp__?(?:plugin_taskstate_)?taskstate(?:__?(?:\*|finish))?")


def allows(root: Path, client: str, mode: str = "") -> bool:
    """Return whether an agent can run `taskstate finish`: it is allowed, or a person is there who is asked.

    `mode` is the permission mode of the call, as the client names it, if it does. What is not known counts as yes.
    """
    if client == "claude":
        is_open = mode in {"bypassPermissions", "auto"} or is_claude_attended(mode)
    else:
        is_open = client != "gemini" or is_gemini_open()
    return is_open or _covers(allowed_words(client)) or is_allowed(root, client)


def is_allowed(root: Path, client: str) -> bool:
    """Return whether the client's files, of the project and of the user, allow it without a person."""
    if client == "claude":
        found = claude_settings(root)[: None if is_trusted(root) else 2]
        denied = [rule for each in found for rule in _list(each, "permissions", "deny")]
        allowed = [rule for each in found for rule in _list(each, "permissions", "allow")]
        return _covers(allowed) and not any(_is_command(each) for each in denied)
    if client == "gemini":
        found = [_values(root / ".gemini/settings.json"), _values(Path(os.path.expanduser("~/.gemini/settings.json")))]
        lists = [_list(each, "tools", "allowed") for each in found]  # the first one stands in the place of the other
        is_server = any(value_at(each, "mcpServers", "taskstate", "trust") is True for each in found)
        return is_server or _covers(lists[0] or lists[1])
    return True


def claude_settings(root: Path) -> list[object]:
    """Return what Claude Code's settings hold: of the user, of this clone, and of the project."""
    own = Path(os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~/.claude"))
    places = (own / "settings.json", root / ".claude/settings.local.json", root / ".claude/settings.json")
    return [_values(each) for each in places]


def is_trusted(root: Path) -> bool | None:
    """Return whether Claude Code was told to trust this folder, or None where it was never used.

    Else it leaves out what the repository allows.
    """
    own = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.expanduser("~")
    values = _values(Path(own) / ".claude.json")
    is_trusted = any(value_at(values, "projects", each, "hasTrustDialogAccepted") is True for each in places(root))
    return None if values is None else is_trusted


def places(root: Path) -> tuple[str, ...]:
    """Return the paths by which clients know a folder: its own, and that of the main tree of a linked worktree."""
    at = git.folders(root)
    return (os.path.realpath(root), *((os.path.realpath(at.common_dir.parent),) if at else ()))


def is_given(root: Path) -> bool:
    """Return whether the repository's settings for Claude Code allow it, whether or not they count."""
    return _covers(_list(_values(root / ".claude/settings.json"), "permissions", "allow"))


def _covers(allowed: list[str]) -> bool:
    return any(_is_command(each) or _SERVER.fullmatch(each) for each in allowed)


def _is_command(rule: str) -> bool:
    """Return whether a rule is about `taskstate finish`, if it is the beginning of a command."""
    match = _COMMAND.fullmatch(rule)
    words = re.sub(r"[:*\s]+", " ", match[1] or "").split() if match else ["-"]
    return (*words,) == _NEEDED[: len(words)]


def _list(values: object, *keys: str) -> list[str]:
    found = value_at(values, *keys)
    return [str(each) for each in found] if isinstance(found, list) else []


def value_at(values: object, *keys: str) -> object:
    """Return the value under keys of loose data, or None where there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _values(path: Path) -> object:
    try:
        return loose_values(files.read(path).decode("utf-8-sig", "replace"))
    except TaskstateError:
        return None
