"""Reads the task lists of Claude Code: a folder with a file `N.json` for each task, or a folder of such folders."""

from __future__ import annotations

import json
import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.values import Taking, record_of
from taskstate.importing.records import Count, Left, Note, Other, Record, Refused, Told
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_FILE = re.compile(r"(?:[^/]+/)?[^/]+\.json")
_DELETED = "deleted"
_LONG = 200  # characters of a description, over which an entry is more than a line of a checklist


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield the tasks of a list, or of each list in a folder of lists; what was deleted is left."""
    names = sorted(filter(_FILE.fullmatch, source.names), key=_order)
    if not names:
        raise TaskstateError(f"{source.own_name} has no task list", help="name the folder of one", code="not-found")
    yield from source.links()
    yield Count(len(names))
    found = [(_list_of(name), record_of(source, name)) for name in names]
    entries = [(of, Taking(each.value), each.place) for of, each in found if not isinstance(each, Refused)]
    blockers: dict[tuple[str, str], list[str]] = {}
    for of, taking, _ in entries:
        for each in Taking(taking).list("blocks") if taking.get("status") != _DELETED else ():
            blockers.setdefault((of, str(each)), []).append(Taking(taking).text("id"))
    yield from (each for _, each in found if isinstance(each, Refused))
    longest = 0
    for of, taking, place in entries:
        task = _task(of, taking, place, blockers.get((of, Taking(taking).text("id")), ()))
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


def _task(list_name: str, taking: Taking, place: Place, blockers: Sequence[str]) -> Record | Left | Refused:
    said = {**taking}
    texts = taking.texts("id", "status", "description", title="subject")
    number, status = texts["id"], texts["status"]
    if not number:
        return Refused(place, "bad-record", "it is not a task: it has no `id`")
    first = f"claude-{list_name}-" if list_name else "claude-"
    if status == _DELETED:
        return Left(place, f"{first}{number}", _DELETED)
    waits, blocks = [*map(str, taking.list("blockedBy")), *blockers], [*map(str, taking.list("blocks"))]
    if taking.get("activeForm") == texts["title"]:
        taking.pop("activeForm")
    metadata = taking.pop("metadata", None)
    shown = f"```json\n{json.dumps(metadata, ensure_ascii=False, indent=2)}\n```"
    return Record(
        **texts | {"id": f"{first}{number}"},
        place=place,
        said=said,
        depends_on=tuple(dict.fromkeys(f"{first}{each}" for each in waits)),
        fields=taking.fields(),
        notes=(Note("Metadata", shown),) if metadata else (),
        became=(number, status, *waits, *blocks),
    )
