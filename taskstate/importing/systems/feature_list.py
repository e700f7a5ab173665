"""Reads a feature list in JSON, as harnesses of coding agents keep it, with the log of progress beside it."""

from __future__ import annotations

from pathlib import PurePosixPath

from taskstate.errors import TaskstateError
from taskstate.importing.reading.log import Log, entries_in, log
from taskstate.importing.reading.sources import STANDARD_INPUT
from taskstate.importing.reading.values import Taking, value_of
from taskstate.importing.records import Count, Note, Part, Record, Refused, Told
from taskstate.importing.systems.checklist import slug
from taskstate.importing.words import status_of, time_of
from taskstate.model.statuses import COMPLETE
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Node
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_LISTS = ("feature_list.json", "feature-list.json", "features.json")
_LOGS = ("claude-progress.txt", "claude-progress.md", "progress.md", "progress.txt")
_KEYS = ("features", "items", "feature_list", "userStories")
_PROJECT = ("project_name", "projectName", "project", "name")
_CRITERIA = ("acceptance", "acceptance_criteria", "acceptanceCriteria")
_TIMES = ("completed_at", "completedAt", "tested_at", "verified_at", "passed_at")
_DONE = frozenset({"true", "1", "done", "yes", "pass", "passed", "passing"})
_MOST = 60  # features of one task


class _Entry(NamedTuple):
    """An entry of the list: its value and its place."""

    value: Any
    place: Place


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each list, or for each of its categories, and one for each entry that is a task of its own."""
    source = source.beside(*_LOGS)
    lists = [name for name in source.names if _is_list(source, name)]
    logs = [name for name in source.names if name not in lists and _is_log(source, name)]
    for refused in source.links_named(*_LISTS, *_LOGS):
        yield Count(1)
        yield refused
    if not lists and not logs:
        yield Told("no-features", f"no feature list lies in {source.own_name}: name its file")
    taken = set[str]()
    for name in lists:
        own = [each for each in logs if _folder(each) == _folder(name)]
        taken.update(own)
        yield from _list(source, name, own, options)
    for name in logs:
        if name not in taken:
            yield from _with_log(
                source, [name], Record("progress", "Progress", source.place(name), "", is_container=True)
            )


def _is_list(source: Source, name: str) -> bool:
    own = PurePosixPath(name).name
    return name == STANDARD_INPUT or own in _LISTS or (own.endswith(".json") and not source.is_folder)


def _is_log(source: Source, name: str) -> bool:
    return not source.is_folder or PurePosixPath(name).name in _LOGS


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _list(source: Source, name: str, logs: Sequence[str], options: Options) -> Iterator[Found]:
    """Yield what a list becomes.

    Raises:
        TaskstateError: code "invalid-input": it is no JSON, or holds no list.
    """
    whole = value_of(source, name)
    head: dict[str, Any] = whole if isinstance(whole, dict) else {}
    key = next((each for each in _KEYS if isinstance(head.get(each), list)), "")
    if not key and not isinstance(whole, list):
        help_ = f"it is an array, or has one at {', '.join(_KEYS)}"
        raise TaskstateError(f"{source.place(name)}: this is no feature list", help=help_, code="invalid-input")
    values = head[key] if key else whole
    places = _places(source, name, [key] if key else [])
    entries = [_Entry(value, place) for value, place in zip(values, places, strict=True)]
    taking = Taking({each: value for each, value in head.items() if each != key})
    title = taking.text(*_PROJECT)
    file = Record(slug(title) or "features", title or "Features", source.place(name), "", is_container=True)
    file = file._replace(description=taking.text("description"))
    own = [each for each in entries if _is_task(each.value)]
    features = [each for each in entries if not _is_task(each.value)]
    yield Count(len(values))
    yield from (_task(each, title) for each in own)
    if features or not own:
        file = file._replace(fields=taking.fields(), said=[title, file.description, taking.fields()])
        yield from _features(source, file, features, logs, is_split=options.split)
        return
    if taking.fields():
        yield Told("not-read", f"{', '.join(taking.fields())}: what the file says besides its entries", file.place)
    if logs:
        yield from _with_log(source, logs, file)


def _places(source: Source, name: str, keys: Sequence[str]) -> list[Place]:
    """Return the places of the entries of a list."""
    text = source.text(name)
    root = read_json(text, 0, len(text)) if isinstance(text, str) else None
    node = root.get(*keys) if isinstance(root, Node) and keys else root
    items = node.items if isinstance(node, Node) else ()
    return [source.place(name, str(text).count("\n", 0, each.span.start) + 1) for each in items]


def _is_task(value: object) -> bool:
    """Return whether an entry is a task: it has criteria of its own, or a status in place of `passes`."""
    if not isinstance(value, dict):
        return False
    has_criteria = any(value.get(key) is not None for key in _CRITERIA)
    return has_criteria or (bool(value.get("status")) and value.get("passes") is None)


def _is_done(value: object) -> bool:
    return str(value).strip().casefold() in _DONE


# What an entry becomes


def _features(
    source: Source, file: Record, entries: Sequence[_Entry], logs: Sequence[str], *, is_split: bool
) -> Iterator[Found]:
    """Yield one task with all features, or one for each category; the log goes to the first."""
    found: dict[str, list[tuple[Part, object]]] = {}
    numbers: dict[str, int] = {}
    for each in entries:
        name = each.value.get("category") if isinstance(each.value, dict) else ""
        name = name if isinstance(name, str) else ""
        numbers[name] = numbers.get(name, 0) + 1
        part = _feature(each, f"{slug(name)}-{numbers[name]}" if slug(name) else "")
        if isinstance(part, Refused):
            yield part
        else:
            found.setdefault(name if is_split or len(entries) > _MOST else "", []).append((part, each.value))
    is_one = len(found) < 2  # noqa: PLR2004 - one category is no split
    for number, (name, pairs) in enumerate([*found.items()] or [("", [])]):
        task = file
        if not is_one:
            task = task._replace(id=f"{file.id}-{slug(name) or 'other'}", title=f"{file.title}: {name or 'other'}")
            task = task._replace(epic=file.title)
        if number:
            task = task._replace(description="", fields={}, said="")
        features = tuple(part for part, _ in pairs)
        task = task._replace(features=features, said=[task.said, [value for _, value in pairs]])
        task = task._replace(became=tuple(text for each in pairs for text in _became(each[1])))
        yield from _with_log(source, () if number else logs, task)


def _became(value: object) -> Iterator[str]:
    """Yield the values that turned into others: whether something passes, when it did, and its id."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            yield from (str(each[key]).casefold() for key in ("id", "passes", "done", "status", *_TIMES) if key in each)


def _feature(entry: _Entry, own_id: str) -> Part | Refused:
    if isinstance(entry.value, str):
        return Part(entry.value, id=own_id) if entry.value.strip() else _empty(entry)
    if not isinstance(entry.value, dict):
        return _empty(entry)
    taking = Taking(entry.value)
    own_id = taking.text("id") or own_id
    text = taking.text("description") or taking.text("title") or taking.text("name")
    if not text.strip():
        return _empty(entry)
    passes, status = taking.rest.pop("passes", None), taking.text("status")
    time = next((each for key in _TIMES if time_of(each := str(entry.value.get(key) or ""))), "")
    rest = {key: value for key, value in taking.fields().items() if value != time}
    after = rest.pop("dependencies", None) or rest.pop("depends_on", None)
    notes = [f"after {', '.join(map(str, after if isinstance(after, list) else [after]))}"] if after else []
    notes += [line for key, value in rest.items() for line in _lines(key, value)]
    notes += [f"status: {status}"] if status and not _is_done(status) else []
    return Part(text, _is_done(status if passes is None else passes), own_id, "\n".join(notes), time)


def _empty(entry: _Entry) -> Refused:
    return Refused(entry.place, "bad-record", "it has no `description`, `title` or `name`")


def _lines(key: str, value: object) -> Iterator[str]:
    """Yield what a feature says besides, a line for each value."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _lines(f"{key}, {name}", each)
    elif isinstance(value, list):
        yield f"{key}:"
        for each in value:
            yield from [f"- {each}"] if not isinstance(each, dict | list) else _lines("-", each)
    elif value not in (None, ""):
        yield f"{key}: {str(value).lower() if isinstance(value, bool) else value}"


def _task(entry: _Entry, project: str) -> Record | Refused:
    taking = Taking(entry.value)
    own_id, title = taking.text("id"), taking.text("title") or taking.text("name")
    description = taking.text("description")
    title = title or description
    if not title.strip():
        return _empty(entry)
    key = next((each for each in _CRITERIA if taking.rest.get(each) is not None), "")
    wanted = taking.rest.pop(key, None)
    status, passes = taking.text("status"), taking.rest.pop("passes", None)
    after = [*map(str, taking.list("dependencies") or taking.list("depends_on"))]
    created = taking.text("created_at", "createdAt")
    closed = next((str(entry.value[key]) for key in _TIMES if entry.value.get(key)), "")
    priority = taking.text("priority")
    return Record(
        id=own_id or slug(title),
        title=title,
        place=entry.place,
        said=entry.value,
        status=status,
        state=COMPLETE if _is_done(passes) or (_is_done(status) and not status_of(status)) else "",
        priority=priority,
        created_at=created,
        closed_at=closed,
        epic=project,
        description=description if description != title else "",
        criteria=_criteria(wanted),
        depends_on=tuple(after),
        fields=taking.fields(),
        became=(own_id, status, priority, created, *after, *_became(entry.value), *_became(wanted)),
    )


def _criteria(value: object) -> tuple[Part, ...]:
    """Return criteria: texts in a list or in lines, or objects with a text and whether it holds."""
    found = list[Part]()
    for each in value if isinstance(value, list) else str(value or "").split("\n"):
        taking = Taking(each if isinstance(each, dict) else {"text": str(each)})
        text = taking.text("text", "description", "criterion", "title", "name")
        done = _is_done(taking.rest.pop("passes", None) or taking.rest.pop("done", None))
        notes = [line for key, rest in taking.fields().items() for line in _lines(key, rest)]
        found += [Part(text, done, notes="\n".join(notes))] if text.strip() else []
    return tuple(found)


# The log


def _with_log(source: Source, names: Sequence[str], task: Record) -> Iterator[Found]:
    """Yield a task with the sessions of its logs, and the text of the logs outside of them under Notes."""
    yield Count(1)
    for name in names:
        text = source.markdown(name)
        if isinstance(text, Refused):
            yield Count(1)
            yield text
            continue
        found: Log = log(text)
        yield Count(entries_in(text))
        notes = (Note(PurePosixPath(name).name, found.rest),) if found.rest.strip() else ()
        task = task._replace(sessions=(*task.sessions, *found.sessions), notes=(*task.notes, *notes))
        task = task._replace(said=[task.said, *found.said, found.rest])
    yield task
