"""Says what is configured to be called and is not: git's hooks in this clone, and what the agents' clients call.

The latter is tried as the clients do it: by the PATH, and by the shorter one that a desktop gives them.
"""

from __future__ import annotations

import os
import re

from taskstate.errors import TaskstateError
from taskstate.setup.clients import CLIENTS
from taskstate.setup.pre_commit import HOOK_TYPES, PRE_COMMIT, has_hooks, how_to_install
from taskstate.storage import files, folders, installed, programs
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.workspace.workspace import Workspace

_SECONDS = 20
_SERVER = re.compile(
    r"\"taskstate\"\s*:|^\[mcp_servers\.taskstate\]", re.MULTILINE
)  # JSON with comments, too, and TOML
_HOOK = re.compile(r"\btaskstate hook ")


class NotStarting(NamedTuple):
    """What is configured and does not start: the file that says so, why, and what to do. A `note` is no error."""

    path: str
    message: str
    help: str
    note: bool = False


def uninstalled_hooks(workspace: Workspace) -> Iterator[NotStarting]:
    """Yield whether commit hooks are configured for the repository but not installed in this clone."""
    if files.size(workspace.root / PRE_COMMIT) is None or git.toplevel(workspace.root) is None:
        return
    text = files.read(workspace.root / PRE_COMMIT).decode("utf-8", "replace")
    if not has_hooks(text):
        message = "it has no hook of taskstate's"
        yield NotStarting(PRE_COMMIT, message, "run `taskstate init --pre-commit`", note=True)
        return
    missing = [name for name in HOOK_TYPES if not _has_hook(workspace, name)]
    if missing:
        when = "a commit" if missing[0] == HOOK_TYPES[0] else "a merge"
        message = f"its hooks are not installed in this clone ({', '.join(missing)}): nothing is checked at {when}"
        yield NotStarting(PRE_COMMIT, message, how_to_install(text, missing[-1]), note=True)


def _has_hook(workspace: Workspace, name: str) -> bool:
    hook = git.hook(workspace.root, name)
    return hook is None or folders.exists(os.path.realpath(hook))


def hooked(workspace: Workspace) -> dict[str, str]:
    """Return the clients whose files call our hooks, with those files."""
    places = {name: each.hook_file for name, each in CLIENTS.items()}
    return {name: place for name, place in places.items() if _HOOK.search(_text(workspace, place))}


def not_starting(workspace: Workspace) -> Iterator[NotStarting]:
    """Yield what the clients' files have them call that does not start here."""
    hooking = [*hooked(workspace).values()]
    serving = [each.mcp_file for each in CLIENTS.values() if _SERVER.search(_text(workspace, each.mcp_file))]
    callers = list(dict.fromkeys((*hooking, *serving)))
    if not callers:
        return
    where, found = ", ".join(callers), installed.program()
    if not found:
        shown = files.shown(os.environ.get("PATH", ""))
        message = f"`taskstate` is not on the PATH ({shown}): hooks of the clients do nothing, and no server starts"
        own = installed.command()
        help_ = f"put {files.shown(os.path.dirname(own))} on the PATH" if own else "install it so that the PATH has it"
        yield NotStarting(where, message, help_)
        return
    fault = _fault((found, "hook", "session-start"), b"{}") if hooking else ""
    if fault:
        yield NotStarting(", ".join(hooking), f"`taskstate hook` of {files.shown(found)} fails: {fault}", _AGAIN)
    fault = _fault((found, "mcp"), b"") if serving else ""
    if fault:
        message = f"`taskstate mcp` of {files.shown(found)} does not start: {fault}"
        yield NotStarting(", ".join(serving), message, _AGAIN)
    default = os.confstr("CS_PATH") or os.defpath
    if not installed.program(path=default):
        message = f"a client that a desktop starts may look in {default} alone, where `taskstate` is not"
        help_ = f"start it from a terminal, or have its PATH contain {files.shown(os.path.dirname(found))}"
        yield NotStarting(where, message, help_, note=True)


_AGAIN = "do that, or install this version there, then run `taskstate doctor` again"


def _fault(command: tuple[str, ...], stdin: bytes) -> str:
    """Return the last line that a command says if it fails; empty if it does well."""
    try:
        done = programs.run(command, stdin=stdin, timeout=_SECONDS)
    except OSError as error:  # also where it took too long
        return str(error) or f"it takes more than {_SECONDS} s"
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return (files.shown(said[-1]) if said else f"exit status {done.returncode}") if done.returncode else ""


def _text(workspace: Workspace, name: str) -> str:
    try:
        path = files.inside(workspace.root, name)
        return files.read(path).decode("utf-8", "replace") if files.size(path) is not None else ""
    except TaskstateError:
        return ""
