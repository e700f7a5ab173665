"""Reads the task lists of Claude Code: a folder with a file `N.json` for each task, or a folder of such folders."""

from __future__ import annotations

import json
import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.values import Taking, record_of
from taskstate.importing.records import Count, Left, Note, Other, Record, Refused, Told
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_FILE = re.compile(r"(?:[^/]+/)?[^/]+\.json")
_DELETED = "deleted"
_LONG = 200  # characters of a description, over which an entry is more than a line of a checklist


class _Entry(NamedTuple):
    """A task as it stands in a file, with the list that it belongs to in a folder of lists."""

    list_name: str
    value: Any
    place: Place


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield the tasks of a list, or of each list in a folder of lists; what was deleted is left."""
    names = [name for name in source.names if _FILE.fullmatch(name)]
    if not names:
        raise TaskstateError(f"{source.own_name} has no task list", help="name the folder of one", code="not-found")
    yield from source.links()
    yield Count(len(names) + sum(1 for _ in source.links()))
    found = [(name, record_of(source, name)) for name in sorted(names, key=_order)]
    entries = [_Entry(_list_of(name), *each) for name, each in found if not isinstance(each, Refused)]
    blockers = _blockers(entries)
    longest = 0
    yield from (each for _, each in found if isinstance(each, Refused))
    for entry in entries:
        task = _task(entry, blockers)
        longest = max(longest, len(task.description)) if isinstance(task, Record) else longest
        yield task
    if len(entries) > 1 and longest <= _LONG and not options.into:
        why = "no entry says much: `--into ID` makes them features of one task, which such a list usually is"
        yield Told("looks-like-a-checklist", why)
    others = len(source.names) - len(names)
    if others:
        yield Other("other file is not a task" if others == 1 else "other files are not tasks", others)


def _order(name: str) -> tuple[str, int, str]:
    own = name.rpartition("/")[2].removesuffix(".json")
    return _list_of(name), int(own) if own.isdecimal() and own.isascii() else 0, own


def _list_of(name: str) -> str:
    """Return the list that a file belongs to, in a folder of lists."""
    return name.rpartition("/")[0]


def _blockers(entries: list[_Entry]) -> dict[tuple[str, str], list[str]]:
    """Return by list and task those that name it in their `blocks`."""
    found: dict[tuple[str, str], list[str]] = {}
    for list_name, value, _ in entries:
        taking = Taking(value if isinstance(value, dict) else {})
        own = taking.text("id")
        if taking.text("status") != _DELETED:
            for each in taking.list("blocks"):
                found.setdefault((list_name, str(each)), []).append(own)
    return found


def _task(each: _Entry, blockers: dict[tuple[str, str], list[str]]) -> Record | Left | Refused:
    list_name, value, place = each
    taking = Taking(value if isinstance(value, dict) else {})
    number, title, status = taking.text("id"), taking.text("subject"), taking.text("status")
    if not number:
        return Refused(place, "bad-record", "it is not a task: it has no `id`")
    first = f"claude-{list_name}-" if list_name else "claude-"
    if status == _DELETED:
        return Left(place, f"{first}{number}", _DELETED)
    waits = [*map(str, taking.list("blockedBy")), *blockers.get((list_name, number), ())]
    blocks, description = [*map(str, taking.list("blocks"))], taking.text("description")
    if taking.rest.get("activeForm") == title:
        taking.rest.pop("activeForm")
    metadata = taking.rest.pop("metadata", None)
    shown = f"```json\n{json.dumps(metadata, ensure_ascii=False, indent=2)}\n```"
    return Record(
        id=f"{first}{number}",
        title=title,
        place=place,
        said=value,
        status=status,
        description=description,
        depends_on=tuple(dict.fromkeys(f"{first}{each}" for each in waits)),
        fields=taking.fields(),
        notes=(Note("Metadata", shown),) if metadata else (),
        became=(number, status, *waits, *blocks),
    )
