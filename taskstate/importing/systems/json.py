"""Reads what `taskstate export json` wrote: each task with its files, which come back word for word."""

from __future__ import annotations

from taskstate.exporting.whole import FORMAT, is_whole
from taskstate.importing.reading.values import records
from taskstate.importing.records import Record, Refused
from taskstate.importing.whole import is_place, state_path
from taskstate.model.statuses import CREATED, OF_TASKS
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place


def read(source: Source, options: Options) -> Iterator[Found]:  # noqa: ARG001 - every reader is asked alike
    """Yield the tasks of a file; one that was edited, or is of a later form, is refused."""
    yield from records(source, source.names, _task)


def _task(value: Any, place: Place) -> Record | Refused:  # noqa: ANN401 - any JSON value
    if not isinstance(value, dict) or not isinstance(value.get("mark"), str) or not isinstance(value.get("id"), str):
        return Refused(place, "bad-record", "`taskstate export json` did not write it as a task")
    own_id = value["id"]
    if value.get("format") != FORMAT:
        return Refused(place, "newer-format", "a later version of taskstate wrote it: update taskstate", own_id)
    if not is_whole(value):
        why = "it was edited after it was written: its files count, so change the task where it came from, or here"
        return Refused(place, "edited", why, own_id)
    files = _files(value["files"])
    wrong = next((path for path in files if not is_place(path, own_id)), "")
    if wrong or state_path(own_id) not in files:
        why = f"{wrong!r} is not a path of a file of the task" if wrong else "it has no state file"
        return Refused(place, "bad-record", why, own_id)
    return Record(
        id=own_id,
        title=str(value.get("title") or ""),
        place=place,
        said=files,
        priority=str(value.get("priority") or ""),
        state=value["status"] if value.get("status") in OF_TASKS else CREATED,
        files=files,
    )


def _files(values: object) -> dict[str, str]:
    """Return the texts of files by path; nothing else among them is one."""
    return {
        path: "\n".join(map(str, lines))
        for path, lines in (values.items() if isinstance(values, dict) else ())
        if isinstance(lines, list)
    }
