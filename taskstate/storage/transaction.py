"""Describes a change of several files as a plan of operations, and encodes it as JSON for the journal.

Nothing here touches the disk. Operations are carried out in order: a file that receives text comes before the one that
loses it, so that a crash in between duplicates text and never drops it. Paths are relative to the root, with `/`.
"""

from __future__ import annotations

import json

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

_VERSION = 2


class Create(NamedTuple):
    """Write a new file."""

    path: str
    data: bytes


class Replace(NamedTuple):
    """Replace a file whose content has the SHA-256 `expected_digest`."""

    path: str
    expected_digest: str
    data: bytes


class Append(NamedTuple):
    """Append `data` to a file that is `expected_size` bytes long."""

    path: str
    expected_size: int
    data: bytes


class Move(NamedTuple):
    """Rename the file or folder `source` to `target`, which must not exist."""

    source: str
    target: str


class Delete(NamedTuple):
    """Delete a file whose content has the SHA-256 `expected_digest`."""

    path: str
    expected_digest: str


Operation: TypeAlias = Create | Replace | Append | Move | Delete
Plan: TypeAlias = tuple[Operation, ...]

_FIELD_TYPES: Mapping[str, type] = {"data": bytes, "expected_size": int}  # all other fields are str
_OPERATIONS: Mapping[str, type[Operation]] = {
    "create": Create,
    "replace": Replace,
    "append": Append,
    "move": Move,
    "delete": Delete,
}
_NAMES = {kind: name for name, kind in _OPERATIONS.items()}


def paths_of(operation: Operation) -> tuple[str, ...]:
    """Return the paths that the operation reads or changes."""
    return (operation.source, operation.target) if isinstance(operation, Move) else (operation.path,)


def require_distinct(plan: Plan) -> None:
    """Refuse a plan that touches a path twice: the disk would not show which of its operations are done."""
    paths = [path for operation in plan for path in paths_of(operation)]
    if len(set(paths)) < len(paths):
        raise ValueError(f"a plan names a path twice: {', '.join(sorted(paths))}")


class Record(NamedTuple):
    """A recorded plan, in `entry` what its caller wants to know of it later, and what it replaces or deletes, by path.

    The entry is any JSON object, empty for nothing.
    """

    plan: Plan
    entry: Mapping[str, Any]
    before: Mapping[str, bytes]


def encode(plan: Plan, entry: Mapping[str, object] | None = None, before: Mapping[str, bytes] | None = None) -> bytes:
    """Return a record as lines of JSON, the entry in the first one, so that it can be read without the plan.

    The third line, if any, holds `before`. Bytes that are not UTF-8 are kept by the error handler `surrogateescape`.
    """
    head = {"taskstate_journal": _VERSION, "entry": entry or {}}
    texts = {path: data.decode("utf-8", "surrogateescape") for path, data in (before or {}).items()}
    lines = (head, [_encode_operation(operation) for operation in plan], *([texts] if texts else []))
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode("utf-8", "surrogateescape")


def _encode_operation(operation: Operation) -> dict[str, str | int]:
    fields: dict[str, str | int] = {"operation": _NAMES[type(operation)]}
    for field in operation._fields:
        value: bytes | str | int = getattr(operation, field)
        fields[field] = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    return fields


def decode(data: bytes) -> Record:
    """Return the record that a journal file holds.

    Raises:
        ValueError: it is cut short or has another form.
        TaskstateError: a newer version wrote it.
    """
    head, plan_line, last = (*data.split(b"\n", 2), b"", b"")[:3]
    entry, operations = decode_entry(head), _read_json(plan_line)
    if not isinstance(operations, list):
        raise ValueError("not a plan")  # noqa: TRY004 - the one error that this function promises
    plan = tuple(_decode_operation(fields) for fields in operations)
    require_distinct(plan)
    before = _read_json(last) if last.strip() else {}
    if not isinstance(before, dict):
        raise ValueError("not the texts from before")  # noqa: TRY004 - the one error that this function promises
    texts: dict[str, Any] = {path: _decode_value(text, bytes) for path, text in before.items()}
    return Record(plan, entry, texts)


def decode_entry(head: bytes) -> Mapping[str, Any]:
    """Return the entry in the first line of a record.

    Raises:
        ValueError: it is cut short or has another form.
        TaskstateError: a newer version wrote it.
    """
    document = _read_json(head)
    version = document.get("taskstate_journal") if isinstance(document, dict) else None
    if isinstance(version, int) and version > _VERSION:
        message = "a newer taskstate was interrupted while it wrote, and this one cannot finish its work"
        raise TaskstateError(message, code="newer-journal", help="update taskstate, or run the newer one once")
    entry = document.get("entry", {}) if isinstance(document, dict) else None
    if version != _VERSION or not isinstance(entry, dict):
        raise ValueError("not a plan")
    return entry


def _read_json(data: bytes) -> Any:  # noqa: ANN401 - whatever the file holds
    try:
        return json.loads(data.decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise ValueError("too deeply nested") from error


def _decode_operation(value: object) -> Operation:
    fields = value if isinstance(value, dict) else {}
    kind = _OPERATIONS.get(str(fields.get("operation")))
    if kind is None or set(fields) != {"operation", *kind._fields}:
        raise ValueError("an operation of unknown shape")
    values: dict[str, Any] = {
        field: _decode_value(fields[field], _FIELD_TYPES.get(field, str)) for field in kind._fields
    }
    return kind(**values)


def _decode_value(value: object, expected: type) -> bytes | str | int:
    """Return the value as one of the `expected` type (str, bytes or int), or raise ValueError."""
    if expected is int and isinstance(value, int) and not isinstance(value, bool) and value >= 0:  # True is an int
        return value
    if expected is not int and isinstance(value, str):
        return value.encode("utf-8", "surrogateescape") if expected is bytes else value
    raise ValueError("a field of the wrong type")
