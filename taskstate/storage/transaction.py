"""A change of several files as a value, and as the text in which it is written down: paths and bytes, no disk.

A plan's order is the order in which it is carried out: what receives text comes before what gives it away. Paths are
relative to the root, with `/`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

_VERSION = 1


class Create(NamedTuple):
    """Put `data` where nothing stands."""

    path: str
    data: bytes


class Replace(NamedTuple):
    """Put `data` in the place of a file whose content has `expected_digest`."""

    path: str
    expected_digest: str
    data: bytes


class Append(NamedTuple):
    """Add `data` to the end of a file that is `expected_size` bytes long."""

    path: str
    expected_size: int
    data: bytes


class Move(NamedTuple):
    """Give the file or folder `source` the name `target`, which nothing bears."""

    source: str
    target: str


class Delete(NamedTuple):
    """Remove a file whose content has `expected_digest`."""

    path: str
    expected_digest: str


Operation: TypeAlias = Create | Replace | Append | Move | Delete
Plan: TypeAlias = tuple[Operation, ...]

_FIELD_TYPES: Mapping[str, type] = {"data": bytes, "expected_size": int}  # of the fields that are no texts
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
    """Refuse a plan that touches a path twice: how far it got could not be told from the disk."""
    paths = [path for operation in plan for path in paths_of(operation)]
    if len(set(paths)) < len(paths):
        raise ValueError(f"a plan names a path twice: {', '.join(sorted(paths))}")


def encode(plan: Plan) -> bytes:
    """Return the plan as JSON; bytes that are no UTF-8 survive as the escapes that Python keeps file names with."""
    document = {"taskstate_journal": _VERSION, "operations": [_encode_operation(operation) for operation in plan]}
    return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "surrogateescape")


def _encode_operation(operation: Operation) -> dict[str, str | int]:
    loose: dict[str, str | int] = {"operation": _NAMES[type(operation)]}
    for field in operation._fields:
        value: bytes | str | int = getattr(operation, field)
        loose[field] = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    return loose


def decode(data: bytes) -> Plan:
    """Return the plan that a journal file holds.

    Raises:
        ValueError: it is torn, or has another shape.
        TaskstateError: a newer version wrote it.
    """
    try:
        document = json.loads(data.decode("utf-8", "surrogateescape"))
    except RecursionError as error:
        raise ValueError("too deeply nested") from error
    version = document.get("taskstate_journal") if isinstance(document, dict) else None
    if isinstance(version, int) and version > _VERSION:
        message = "a newer taskstate was interrupted while it wrote, and this one cannot finish its work"
        raise TaskstateError(message, code="newer-journal", help="update taskstate, or run the newer one once")
    if version != _VERSION or not isinstance(document.get("operations"), list):
        raise ValueError("not a plan")
    plan = tuple(_decode_operation(loose) for loose in document["operations"])
    require_distinct(plan)
    return plan


def _decode_operation(loose: object) -> Operation:
    given = loose if isinstance(loose, dict) else {}
    kind = _OPERATIONS.get(str(given.get("operation")))
    if kind is None or set(given) != {"operation", *kind._fields}:
        raise ValueError("an operation of unknown shape")
    values: dict[str, Any] = {
        field: _decode_value(given[field], _FIELD_TYPES.get(field, str)) for field in kind._fields
    }
    return kind(**values)


def _decode_value(value: object, wanted: type) -> bytes | str | int:
    """Return a value of the field's own type, or refuse it."""
    if wanted is int and isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    if wanted is not int and isinstance(value, str):
        return value.encode("utf-8", "surrogateescape") if wanted is bytes else value
    raise ValueError("a field of the wrong type")
