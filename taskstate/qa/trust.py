"""Which commands a task or the configuration asks to run, and whether the user has allowed them here.

Nothing runs because it stands in a file. `taskstate trust` shows the list and remembers it
(`workspace.allowed_commands`); what came by git, or changed since, is refused with its words.
"""

from __future__ import annotations

from taskstate.context.readable_parts import broken_fences, unreadable_error
from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import config
from taskstate.model.static_context import VALIDATION, read_static
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import allowed_commands
from taskstate.workspace.allowed_commands import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.workspace.workspace import Loaded, Workspace

_MAX_LISTED = 3  # commands in the message of an error
_MAX_SHOWN = 80  # characters of a command in it


class Listed(NamedTuple):
    """A command, where it is named, and whether it may run here."""

    source: str
    command: Command
    granted: bool


def validation_commands(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return the validation commands of a task: its own, else those of the configuration for its area, else for all.

    Raises:
        TaskstateError: code "unreadable": the fence that names its own is broken. It may not count as empty.
    """
    return own_commands(loaded) or config.validation_commands(workspace.config, loaded.state.text("area") or "")[1]


def require_trusted(workspace: Workspace, loaded: Loaded, *, instead: str) -> tuple[str, ...]:
    """Return the validation commands of a task, which may be run; none if it has none.

    `instead` is what else to do where they may not, as the end of a sentence.

    Raises:
        TaskstateError: code "untrusted": one of them was not granted here; code "unreadable".
    """
    commands = validation_commands(workspace, loaded)
    granted = allowed_commands.read_grants(workspace.root)
    untrusted = [each for each in commands if not granted.allows(Command("shell", each))]
    if not untrusted:
        return commands
    why = f" ({granted.problem})" if granted.problem else ""
    named = first_of([f"`{shown(each, _MAX_SHOWN)}`" for each in untrusted], _MAX_LISTED, separator=", ", last=" and ")
    message = f"task {loaded.state.id}: nobody has allowed {named} to run in this repository{why}, so nothing was run"
    help_ = f"a person runs `taskstate trust {loaded.state.id}`, which shows the exact list and allows it; or {instead}"
    raise TaskstateError(message, help=help_, code="untrusted")


def listed(workspace: Workspace, loaded: Loaded | None = None) -> tuple[Listed, ...]:
    """Return all commands that the configuration names, for all areas, and those of a task, each with its place.

    Raises:
        TaskstateError: code "unreadable": the fence of the task's commands is broken.
    """
    named = [
        (f"configuration, checks for {'every area' if area == config.ALL_AREAS else area}", Command("shell", each))
        for area, commands in workspace.config.validation.items()
        for each in commands
    ]
    if loaded:
        own = own_commands(loaded)
        named += [(f"task {loaded.state.id}, {VALIDATION}", Command("shell", each)) for each in own]
    summarizer = workspace.config.archive.summarizer
    if summarizer:
        named.append(("configuration, archive.summarizer", Command("program", summarizer)))
    granted = allowed_commands.read_grants(workspace.root)
    return tuple(Listed(source, each, granted.allows(each)) for source, each in named)


def grant(workspace: Workspace, commands: Sequence[Listed]) -> bool:
    """Allow the commands of a list to run in this repository; return whether any was not allowed before.

    Raises:
        TaskstateError: the user's state folder cannot be found or written.
    """
    return allowed_commands.grant(workspace.root, [each.command for each in commands])


def shown(command: str, limit: int = 0) -> str:
    """Return a command on one line, with everything written out that cannot be seen; cut to `limit` characters."""
    line = files.shown(command)
    return line if not limit or len(line) <= limit else f"{line[: limit - 1]}\u2026"


def own_commands(loaded: Loaded) -> tuple[str, ...]:
    """Return the validation commands that section 1 of a task names itself."""
    for broken in broken_fences(loaded.state):
        if broken.part == VALIDATION:
            raise unreadable_error(loaded, broken.span, broken.message)
    return read_static(loaded.state).commands
