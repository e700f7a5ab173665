"""Reads the fields of a tool call: the operation that they ask for, and its arguments, with names and types checked."""

from __future__ import annotations

import json

from taskstate.errors import TaskstateError
from taskstate.mcp_server.pages import number_of
from taskstate.mcp_server.tools import DO, PAGE, REVISION, fields_of, type_of
from taskstate.operations.call import Source, usage_error
from taskstate.operations.operation import is_required
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.mcp_server.tools import Offered, Tool
    from taskstate.operations.operation import Field, Operation

_NAMES = {"string": "a text", "integer": "a whole number", "boolean": "true or false"}
_MOST = 10**18  # a number from which on it is refused: it names nothing, and Python does not write any that is long


class Place(NamedTuple):
    """The repository that a server works in, and the configuration file that it was started with, if any."""

    root: Path
    config: str = ""

    def read(self, field: Field, value: Any) -> Any:  # noqa: ANN401 - of the field's kind
        """Return the value of a field as an operation takes it; for a file the text itself is given.

        Raises:
            TaskstateError: code "path" or "path-escapes": a path leads out of the repository.
        """
        if field.kind == "TaskId" and ("/" in value or "\\" in value):
            message = f"{field.external} {value!r} is a path"
            raise TaskstateError(message, help="give the task's id, such as 101", code="path")
        if field.kind == "FilePath":
            return self.root if value == "." else files.inside(self.root, value)
        if field.kind == "Source":
            return Source(field.external, lambda _: value.encode())
        return value


class ToolCall(NamedTuple):
    """A call of a tool: its operation with what is given, the revision that is expected, and the page of the answer.

    An operation that cannot be asked again for another page has page 0: all of the answer.
    """

    operation: Operation
    given: Mapping[str, Any]
    revision: str = ""
    page: int = 1


def read_call(tool: Tool, given: Mapping[str, Any]) -> ToolCall:
    """Return the operation that a call of a tool asks for.

    Raises:
        TaskstateError: code "usage": a field is unknown, missing or of another type.
    """
    values = {name: value for name, value in given.items() if value is not None}
    offered = _offered(tool, values)
    fields = fields_of(offered, offered.operation)
    values.pop(DO, None) if "" not in tool.operations else None
    _check(tool, " ".join(filter(None, (tool.name, given.get(DO)))), fields, values)
    page, revision = values.pop(PAGE, int(PAGE in fields)), values.pop(REVISION, "")
    if offered.single:
        values[offered.single] = [values.pop("id")] if "id" in values else []
    return ToolCall(offered.operation, values, revision, page)


def _offered(tool: Tool, values: Mapping[str, Any]) -> Offered:
    if "" in tool.operations:
        return tool.operations[""]
    do = values.get(DO)
    if not isinstance(do, str) or do not in tool.operations:
        message = f"{tool.name}: {DO} is {'missing' if do is None else f'{do!r}'}"
        raise usage_error(message, help=f"give one of {', '.join(tool.operations)}")
    return tool.operations[do]


def _check(tool: Tool, what: str, fields: Mapping[str, Field], values: dict[str, Any]) -> None:
    """Refuse fields that do not fit, and put those that do into the types of the operation."""
    takes = f"it takes {', '.join(fields)}"
    for name in values:
        if name not in fields:
            raise usage_error(f"{what} takes no {name!r}", help=takes)
    for name, field in fields.items():
        if name not in values and is_required(field):
            raise usage_error(f"{what}: {name} is missing", help=takes)
        if name in values:
            values[name] = _read(f"{what}: {name}", values[name], type_of(field))
    if values.get(REVISION) == "":  # as from an unset variable: the write would have no condition
        raise usage_error(f"{what}: {REVISION} is empty", help="say which one, or leave it out")
    if values.get(PAGE, 1) < 1:
        raise usage_error(f"{tool.name}: {PAGE} {values[PAGE]} does not exist", help="they are counted from 1")


def _read(what: str, value: object, schema: Mapping[str, Any]) -> object:
    """Return a value as the schema of its field wants it; one that would have to be guessed is refused."""
    if "enum" in schema:
        if not isinstance(value, str) or value not in schema["enum"]:
            raise usage_error(f"{what} is {value!r}", help=f"give one of {', '.join(schema['enum'])}")
        return value
    wanted = schema.get("type", "string")  # none where a number is offered besides a text
    if wanted == "array":
        return [_read(f"an entry of {what}", each, schema["items"]) for each in _list(what, value)]
    read = _READERS[wanted](value)
    if read is None:
        raise usage_error(f"{what} is of the wrong type", help=f"give {_NAMES[wanted]}")
    if isinstance(read, str) and "\0" in read:
        raise usage_error(f"{what} contains a null character", help="leave it out")
    return read


def _list(what: str, value: object) -> list[object]:
    """Return a list, or a single text or number as one; the text of a list might be either, and is refused."""
    if isinstance(value, list):
        return value
    if _text(value) is None or (isinstance(value, str) and _is_list(value)):
        raise usage_error(f"{what} is of the wrong type", help="give a list")
    return [value]


def _is_list(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list)
    except (ValueError, RecursionError):
        return False


def _text(value: object) -> str | None:
    """Return a text, or a whole number as one."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MOST:
        return str(value)
    return value if isinstance(value, str) else None


def _number(value: object) -> int | None:
    """Return a whole number, or the one that a text is, written as such: `01` and `1.0` may be something else."""
    if isinstance(value, str) and _text(number_of(value)) == value:
        return int(value)
    return value if isinstance(value, int) and _text(value) else None


def _boolean(value: object) -> bool | None:
    return value if isinstance(value, bool) else {"true": True, "false": False}.get(str(value))


_READERS: Mapping[str, Callable[[object], object]] = {"string": _text, "integer": _number, "boolean": _boolean}
