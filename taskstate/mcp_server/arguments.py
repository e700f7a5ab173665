"""Turns the fields of a tool call into the arguments of a command, after checking their names and types."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.mcp_server.tools import DO, PAGE, fields_of
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.mcp_server.tools import Command, Field, Tool

_PATHS, _TASKS = "paths", ("id", "task")
_NAMES = {"string": "a text", "integer": "a whole number", "boolean": "true or false", "array": "a list"}


class Place(NamedTuple):
    """The repository that a server works in, and the configuration file that it was started with, if any."""

    root: Path
    config: str = ""

    @property
    def flags(self) -> tuple[str, ...]:
        """The flags that make a command work here, whatever the server's working folder is."""
        return (f"--root={self.root}", *([f"--config={self.config}"] if self.config else []))


class ToolCall(NamedTuple):
    """A call of a tool: the arguments of its command, and the page of the answer that is asked for."""

    arguments: tuple[str, ...]
    page: int


def read_call(tool: Tool, given: Mapping[str, Any], place: Place) -> ToolCall:
    """Return the command that a call of a tool asks for.

    Raises:
        TaskstateError: code "usage": a field is unknown, missing or of another type; code "path" or "path-escapes":
            a path leads out of the repository.
    """
    values = {name: value for name, value in given.items() if value is not None}
    command = _command(tool, values)
    values.pop(DO, None) if "" not in tool.commands else None
    fields = fields_of(command)
    _check(tool, " ".join(filter(None, (tool.name, given.get(DO)))), fields, values)
    page = values.pop(PAGE, 1)
    positional = [each for name, field in fields.items() if field.positional for each in _listed(values.get(name))]
    flags = [each for name in fields if not fields[name].positional for each in _flags(name, values.get(name))]
    _refuse_paths(values, place)
    # Behind `--` no value can be taken for a flag.
    behind = (*command.words[2:], *_absolute(positional, values, place))
    arguments = (*command.words[:2], *place.flags, *_JSON, *flags, *(["--", *behind] if behind else []))
    return ToolCall(arguments, page)


_JSON = ("--format=json",)


def _command(tool: Tool, values: Mapping[str, Any]) -> Command:
    if "" in tool.commands:
        return tool.commands[""]
    do = values.get(DO)
    if not isinstance(do, str) or do not in tool.commands:
        message = f"{tool.name}: {DO} is {'missing' if do is None else f'{do!r}'}"
        raise _usage(message, f"give one of {', '.join(tool.commands)}")
    return tool.commands[do]


def _check(tool: Tool, what: str, fields: Mapping[str, Field], values: Mapping[str, Any]) -> None:
    takes = f"it takes {', '.join(fields)}"
    for name in values:
        if name not in fields:
            raise _usage(f"{what} takes no {name!r}", takes)
    for name, field in fields.items():
        if name not in values and field.required:
            raise _usage(f"{what}: {name} is missing", takes)
        if name in values:
            _check_value(f"{what}: {name}", values[name], field.schema)
    if values.get(PAGE, 1) < 1:
        raise _usage(f"{tool.name}: {PAGE} {values[PAGE]} is none", "they are counted from 1")


def _check_value(what: str, value: object, schema: Mapping[str, Any]) -> None:
    """Refuse a value that the schema of its field does not allow."""
    if "enum" in schema:
        if not isinstance(value, str) or value not in schema["enum"]:
            raise _usage(f"{what} is {value!r}", f"give one of {', '.join(schema['enum'])}")
        return
    wanted = schema["type"]
    fitting: tuple[type, ...] = {"string": (str,), "integer": (int,), "boolean": (bool,), "array": (list,)}[wanted]
    if not isinstance(value, fitting) or (wanted == "integer" and isinstance(value, bool)):
        raise _usage(f"{what} is of the wrong type", f"give {_NAMES[wanted]}")
    if isinstance(value, str) and "\0" in value:
        raise _usage(f"{what} contains a null character", "leave it out")
    for each in value if isinstance(value, list) else ():
        _check_value(f"an entry of {what}", each, schema["items"])


def _flags(name: str, value: Any) -> list[str]:  # noqa: ANN401 - whatever its type allows
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [flag] if value else []
    return [f"{flag}={each}" for each in _listed(value)]


def _listed(value: Any) -> list[str]:  # noqa: ANN401 - the same
    if value is None:
        return []
    return [str(each) for each in (value if isinstance(value, list) else [value])]


def _refuse_paths(values: Mapping[str, Any], place: Place) -> None:
    """Refuse a task that is named by a path, and files to check that lie outside."""
    for name in _TASKS:
        if "/" in (task := str(values.get(name, ""))) or "\\" in task:
            raise TaskstateError(f"{name} {task!r} is a path", help="give the task's id, such as 101", code="path")
    for path in values.get(_PATHS, ()):
        if path != ".":
            files.inside(place.root, path)


def _absolute(positional: list[str], values: Mapping[str, Any], place: Place) -> list[str]:
    """Return positional arguments with paths made absolute: a command would look from the working folder."""
    return [str(place.root / each) for each in positional] if _PATHS in values else positional


def _usage(message: str, help_: str) -> TaskstateError:
    return TaskstateError(message, help=help_, code="usage")
