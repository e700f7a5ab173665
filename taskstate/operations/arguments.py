"""Builds the record of an operation's arguments from the values that a door was given, after checking them."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import default_of, name_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.operations.operation import Field, Operation

    Read = Callable[[Field, Any], Any]


_NEVER_EMPTY = {"Name", "Line", "TaskId", "Source"}
# What commands that are printed leave to a person: recorded as it stands, it would say nothing.
BLANKS = {
    *("WHY", "WHAT", "HOW", "STEP", "TEXT", "TITLE", "HOW IT STANDS", "WHAT WAS DONE", "WHAT WE BUILD"),
    *("FILE: WHAT IS WRONG", "HOW TO TELL THAT IT IS DONE"),
}


def make(operation: Operation, given: Mapping[str, Any], read: Read) -> Any:  # noqa: ANN401 - the record of its arguments
    """Return the record of an operation's arguments.

    `given` has the values by the fields' names for users, without what was not given. `read` turns one value of a field
    into what its kind says: a door knows how it gets a `Text` or a `Source`.

    Raises:
        TaskstateError: code "usage": fields do not go together, or a value is empty.
    """
    _require_together(operation, given)
    values: dict[str, Any] = {}
    for field in operation.fields:
        value = _value(field, given[field.external], read) if field.external in given else default_of(field)
        if field.group:
            values.setdefault(field.group, {})[field.name] = value
        else:
            values[field.name] = value
    return operation.arguments(**values)


def _value(field: Field, value: Any, read: Read) -> Any:  # noqa: ANN401 - of the field's kind
    if field.is_list:
        return tuple(_one(field, each, read) for each in value)
    return _one(field, value, read)


def _one(field: Field, value: Any, read: Read) -> Any:  # noqa: ANN401 - of the field's kind
    if value == "" and not field.is_positional and field.kind in _NEVER_EMPTY:
        raise usage_error(f"{shown(field)} is empty", help="say which one, or leave the flag out")
    if isinstance(value, str) and not field.is_positional and value.rpartition("=")[2] in BLANKS:
        raise usage_error(f"{shown(field)} {value!r} is a placeholder", help="put your own words in its place")
    if field.kind == "Line":
        from taskstate.syntax import escaping

        return escaping.one_line(value, what=shown(field))
    if field.kind == "int" and isinstance(value, str):  # one of several, with commas between them
        if not value.isdecimal():
            raise usage_error(f"{shown(field)} {value} is not a number", help="they are counted from 1")
        return int(value)
    return read(field, value)


def shown(field: Field) -> str:
    """Return a field as messages name it: a flag, or the word that stands for a positional one."""
    return field.example if field.is_positional else name_of(field)


def _require_together(operation: Operation, given: Mapping[str, Any]) -> None:
    """Refuse fields that do not go together, by the table of the operation."""
    flags = {f"--{name.replace('_', '-')}" for name in given}
    for apart in (*operation.apart, operation.one_of):
        both = [flag for flag in apart if flag in flags]
        if len(both) > 1:
            raise usage_error(f"{both[0]} does not go with {both[1]}", help="leave one of them out")
    if operation.one_of and not flags.intersection(operation.one_of):
        raise usage_error(f"{operation.name}: one of {', '.join(operation.one_of)} is missing", help="give one of them")
    saying = {f"--{name.replace('_', '-')}" for name, value in given.items() if _says_something(value)}
    for flag, needed, why in operation.together:
        if flag in saying and needed not in saying:
            raise usage_error(f"{flag} needs {needed}", help=why)


def _says_something(value: object) -> bool:
    return bool(value.strip() if isinstance(value, str) else value)
