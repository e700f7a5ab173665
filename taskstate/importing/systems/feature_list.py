"""Reads a feature list in JSON, as harnesses of coding agents keep it, with the log of progress beside it."""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

from taskstate.errors import TaskstateError
from taskstate.importing.reading.log import with_log
from taskstate.importing.reading.sources import STANDARD_INPUT
from taskstate.importing.reading.values import Taking, places_in, value_of
from taskstate.importing.records import Count, Part, Record, Refused, Told
from taskstate.importing.systems.checklist import slug
from taskstate.importing.words import status_of, time_of
from taskstate.model.statuses import COMPLETE
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_LISTS = ("feature_list.json", "feature-list.json", "features.json")
_LOGS = ("claude-progress.txt", "claude-progress.md", "progress.md", "progress.txt")
_KEYS = ("features", "items", "feature_list", "userStories")
_PROJECT = ("project_name", "projectName", "project", "name")
_CRITERIA = ("acceptance", "acceptance_criteria", "acceptanceCriteria")
_TIMES = ("completed_at", "completedAt", "tested_at", "verified_at", "passed_at")
_DONE = frozenset({"true", "1", "done", "yes", "pass", "passed", "passing"})
_OPEN = frozenset({"", "false", "0", "no"})
_MOST = 60  # features of one task


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield a task for each list, or for each of its categories, and one for each entry that is a task of its own."""
    source = source.beside(*_LOGS)
    lists = [name for name in source.names if _is_list(source, name)]
    logs = [name for name in source.names if name not in lists and _is_log(source, name)]
    yield from source.links(named=(*_LISTS, *_LOGS))
    if not lists and not logs:
        yield Told("no-features", f"no feature list lies in {source.own_name}: name its file")
    folders = {_folder(name) for name in lists}
    for name in lists:
        yield from _list(source, name, [each for each in logs if _folder(each) == _folder(name)], options)
    for name in logs:
        if _folder(name) not in folders:
            record = Record("progress", "Progress", source.place(name), "", is_container=True)
            yield from _with_log(source, [name], record)


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
    head, place_of = Taking(whole), places_in(source, name)
    keys = [each for each in _KEYS if isinstance(head.get(each), list)][:1]
    if not keys and not isinstance(whole, list):
        help_ = f"it is an array, or has one at {', '.join(_KEYS)}"
        raise TaskstateError(f"{source.place(name)}: this is no feature list", help=help_, code="invalid-input")
    values = head.pop(keys[0]) if keys else whole
    title, description = head.text(*_PROJECT), head.text("description")
    yield Count(len(values))
    features: list[tuple[object, Place]] = []
    for number, value in enumerate(values):
        place = place_of(*keys, number)._replace(column=0)
        if _is_task(value):
            yield _task(Taking(value), place, title)
        else:
            features.append((value, place))
    file = Record(slug(title) or "features", title or "Features", source.place(name), "", is_container=True)
    file = file._replace(description=description)
    if features or not values:
        file = file._replace(fields=head.fields(), said=[title, description, head.fields()])
        yield from _features(source, file, features, logs, is_split=options.split or len(features) > _MOST)
        return
    unread = [*(["description"] if description and not logs else []), *head.fields()]
    if unread:
        yield Told("not-read", f"{', '.join(unread)}: what the file says besides its entries", file.place)
    if logs:
        yield from _with_log(source, logs, file)


def _is_task(value: object) -> bool:
    """Return whether an entry is a task: it has criteria of its own, or a status in place of `passes`."""
    each = Taking(value)
    return any(map(each.get, _CRITERIA)) or bool(each.get("status") and each.get("passes") is None)


def _is_done(value: object) -> bool:
    return str(value).strip().casefold() in _DONE


def _said(taking: Taking, key: str) -> object:
    """Return whether an entry says that it passes; what is neither yes nor no stays among its fields."""
    value = taking.get(key)
    return taking.pop(key, None) if _is_done(value) or str(value).strip().casefold() in _OPEN else None


def _features(
    source: Source, file: Record, entries: Sequence[tuple[object, Place]], logs: Sequence[str], *, is_split: bool
) -> Iterator[Found]:
    """Yield one task with all features, or one for each category; the log goes to the first."""
    found: dict[str, list[tuple[Part, object]]] = {}
    numbers = Counter[str]()
    for value, place in entries:
        taking = Taking(value if isinstance(value, dict) else {"description": value})
        name = category if isinstance(category := taking.get("category"), str) else ""
        numbers[name] += 1
        part = _feature(taking, f"{slug(name)}-{numbers[name]}" if slug(name) else "")
        if part.text.strip():
            found.setdefault(name if is_split else "", []).append((part, value))
        else:
            yield _empty(place)
    for name, pairs in found.items() or [("", [])]:
        task = file
        if len(found) > 1:
            task = task._replace(id=f"{file.id}-{slug(name) or 'other'}", title=f"{file.title}: {name or 'other'}")
            task = task._replace(epic=file.title)
        task = task._replace(
            features=tuple(part for part, _ in pairs),
            said=[task.said, [value for _, value in pairs]],
            became=tuple(text for _, value in pairs for text in _became(value)),
        )
        yield from _with_log(source, logs, task)
        file, logs = file._replace(description="", fields={}, said=""), ()


def _became(value: object) -> Iterator[str]:
    """Yield the values that turned into others: whether something passes, when it did, and its id."""
    for each in map(Taking, value if isinstance(value, list) else [value]):
        yield from (str(each[key]).casefold() for key in ("id", "passes", "done", "status", *_TIMES) if key in each)


def _feature(taking: Taking, own_id: str) -> Part:
    own_id = taking.text("id") or own_id
    text = taking.text("description", "title", "name")
    words = {key: taking.pop(key) for key in ("passes", "status") if taking.get(key) is not None}
    timed = next((key for key in _TIMES if time_of(str(taking.get(key) or ""))), "")
    time = str(taking.pop(timed, ""))
    after = taking.pop("dependencies", None) or taking.pop("depends_on", None)
    notes = [f"after {', '.join(map(str, after if isinstance(after, list) else [after]))}"] if after else []
    notes += [line for key, value in taking.fields().items() for line in _lines(key, value)]
    odd = {key: value for key, value in words.items() if not _is_done(value) and str(value).casefold() not in _OPEN}
    notes += [line for key, value in odd.items() for line in _lines(key, value)]
    return Part(text, _is_done(next(iter(words.values()), "")), own_id, "\n".join(notes), time)


def _empty(place: Place) -> Refused:
    return Refused(place, "bad-record", "it has no `description`, `title` or `name`")


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


def _task(taking: Taking, place: Place, project: str) -> Record | Refused:
    value = {**taking}
    texts = taking.texts("id", "status", "priority", title="title name", created_at="createdAt created_at")
    description, status = taking.text("description"), texts["status"]
    title = texts["title"] or description
    if not title.strip():
        return _empty(place)
    wanted = taking.pop(next(filter(taking.get, _CRITERIA), ""), None)
    passes = _said(taking, "passes")
    after = [*map(str, taking.list("dependencies") or taking.list("depends_on"))]
    return Record(
        **texts | {"id": texts["id"] or slug(title), "title": title},
        place=place,
        said=value,
        state=COMPLETE if _is_done(passes) or (_is_done(status) and not status_of(status)) else "",
        closed_at=next((str(value[key]) for key in _TIMES if value.get(key)), ""),
        epic=project,
        description=description if description != title else "",
        criteria=_criteria(wanted),
        depends_on=tuple(after),
        fields=taking.fields(),
        became=(texts["id"], status, texts["priority"], texts["created_at"], *after, *_became(value), *_became(wanted)),
    )


def _criteria(value: object) -> tuple[Part, ...]:
    """Return criteria: texts in a list or in lines, or objects with a text and whether it holds."""
    found = list[Part]()
    for each in value if isinstance(value, list) else str(value or "").split("\n"):
        taking = Taking(each if isinstance(each, dict) else {"text": str(each)})
        text = taking.text("text", "description", "criterion", "title", "name")
        done = True in [_is_done(_said(taking, key)) for key in ("passes", "done")]
        notes = [line for key, rest in taking.fields().items() for line in _lines(key, rest)]
        found += [Part(text, done, notes="\n".join(notes))] if text.strip() else []
    return tuple(found)


def _with_log(source: Source, names: Sequence[str], task: Record) -> Iterator[Found]:
    """Yield a task with the sessions of its logs."""
    yield Count(1)
    for name in names:
        task, told = with_log(source, name, task)
        yield from told
    yield task
