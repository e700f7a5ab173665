"""Reads Task Master's `tasks.json`: tasks with their subtasks, of all tags, in its old and new forms."""

from __future__ import annotations

import hashlib
import json
import re

from taskstate.errors import TaskstateError
from taskstate.importing.reading.values import Taking, places_in, value_of
from taskstate.importing.records import Count, Left, Note, Other, Part, Record, Refused, Told
from taskstate.importing.words import status_of, time_of
from taskstate.model.statuses import COMPLETE, CREATED, DROPPED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_PATHS = (".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
_RENDERED = re.compile(r"(?:.*/)?task_\d+[^/]*\.(?:md|txt)")
_MASTER = "master"
_PARENTS = frozenset({"parentId", "parentTaskId"})  # follow from where a subtask stands; the first may be "undefined"


class _Item(NamedTuple):
    """A task, or a subtask of it: its path of ids as `2.1`, what it says, the keys to it, and what is below."""

    path: str
    values: dict[str, Any]
    keys: tuple[str | int, ...]
    below: tuple[_Item, ...] = ()


class _Group(NamedTuple):
    """A tag: its entries, the keys that lead to them, and the keys of what it says of itself."""

    tag: str
    entries: list[Any]
    keys: tuple[str, ...]
    metadata: list[str]


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield the tasks of all tags, or of the one that is asked for."""
    links = [each for each in source.links() if each.place.path.endswith("/tasks.json")]
    yield Count(len(links))
    yield from links
    names = source.at(*_PATHS)
    if not (names or links):
        message = f"{source.own_name} has no tasks.json where Task Master has it"
        raise TaskstateError(message, help="name the file", code="not-found")
    values = {name: value_of(source, name) for name in names}
    groups = [(name, group) for name, value in values.items() for group in _groups(source, name, value)]
    tags = dict.fromkeys(group.tag for _, group in groups)
    if options.tag and options.tag not in tags:
        raise TaskstateError(f"there is no tag {options.tag!r}", help=f"there are {', '.join(tags)}", code="not-found")
    for name, group in groups:
        yield Count(_number(group.entries))
        place_of = places_in(source, name)
        found = [*_items(group.entries, "", group.keys, place_of)]
        items = [each for each in found if isinstance(each, _Item)]
        yield from (each for each in found if isinstance(each, Refused))
        if options.tag not in {"", group.tag}:
            yield from (
                Left(place_of(*each.keys), _prefix(group.tag) + each.path, "other-tag", _size(each)) for each in items
            )
            continue
        yield from _Tag(group.tag, items, options.subtasks).found(place_of)
        if group.metadata:
            why = f"of tag {group.tag} this has no place here: {', '.join(group.metadata)}"
            yield Told("file-metadata", why, source.place(name))
    rendered = sum(_RENDERED.fullmatch(name) is not None for name in source.names)
    if rendered:
        yield Other(f"file{'s' * (rendered > 1)} that Task Master made of its tasks", rendered)


def _groups(source: Source, name: str, value: object) -> Iterator[_Group]:
    """Yield the tags of a file; in the oldest form it has none, which is as if all were in the main one."""
    tagged = list(value.items()) if isinstance(value, dict) else []
    groups = [(_MASTER, value, ("tasks",)), *((tag, each, (tag, "tasks")) for tag, each in tagged)]
    found = [
        _Group(tag, each["tasks"], keys, list(metadata) if isinstance(metadata := each.get("metadata"), dict) else [])
        for tag, each, keys in groups
        if isinstance(each, dict) and isinstance(each.get("tasks"), list)
    ]
    if not found:
        message = f"{source.place(name)}: no tag in it has `tasks`, as in a file of Task Master"
        raise TaskstateError(message, help="name its tasks.json", code="invalid-input")
    yield from found


def _number(entries: Iterable[object]) -> int:
    """Return how many tasks and subtasks there are, at any depth."""
    number = 0
    for each in entries:
        below = each.get("subtasks") if isinstance(each, dict) else None
        number += 1 + (_number(below) if isinstance(below, list) else 0)
    return number


def _items(
    entries: list[Any], above: str, keys: tuple[str | int, ...], place_of: Callable[..., Place]
) -> Iterator[_Item | Refused]:
    """Yield the tasks in a list, or the subtasks of a task; of these, one may be a mere text, or have no id."""
    for number, each in enumerate(entries):
        at = (*keys, number)
        values = (
            each
            if isinstance(each, dict) or not above
            else {"title": each if isinstance(each, str) else json.dumps(each)}
        )
        own = Taking(values).text("id").strip() if isinstance(values, dict) else ""
        if not own and not above:
            yield Refused(place_of(*at), "bad-record", "it is not a task: it has no `id`", records=_number([each]))
            continue
        path = own if not above or own.startswith(f"{above}.") else f"{above}.{own or number + 1}"
        below = values.get("subtasks")
        inner = _items(below, path, (*at, "subtasks"), place_of) if isinstance(below, list) else ()
        yield _Item(path, values, at, tuple(item for item in inner if isinstance(item, _Item)))


def _flat(items: Iterable[_Item]) -> Iterator[_Item]:
    for each in items:
        yield each
        yield from _flat(each.below)


def _size(item: _Item) -> int:
    return sum(1 for _ in _flat([item]))


def _prefix(tag: str) -> str:
    """Return what the ids of a tag begin with: nothing for the main one. A tag is a name, so it is in lower case."""
    if tag == _MASTER:
        return ""
    name = re.sub(r"[^a-z0-9]+", lambda match: match[0] if match[0] in "._" else "-", tag.casefold()).strip("-._")
    return f"{name or hashlib.sha256(tag.encode()).hexdigest()[:8]}:"


class _Tag:
    """The tasks under a tag, with what each of their ids belongs to: a task, or for a feature the task that has it."""

    def __init__(self, name: str, items: list[_Item], subtasks: str) -> None:
        self.name, self.prefix, self.subtasks = name, _prefix(name), subtasks
        self.items = items
        self.owners: dict[str, str] = {}
        for each in items:
            self._own(each)

    def _own(self, item: _Item, above: str = "") -> None:
        self.owners.setdefault(item.path, item.path)
        for each in item.below:
            if self._has_tasks(item, above):
                self._own(each, item.path)
            else:
                self.owners |= {part.path: item.path for part in _flat([each])}

    def _has_tasks(self, item: _Item, above: str) -> bool:
        """Return whether the subtasks of a task are tasks: where one of them has subtasks, or that was asked for."""
        if self.subtasks == "features":
            return False
        return (self.subtasks == "tasks" and not above) or any(each.below for each in item.below)

    def found(self, place_of: Callable[..., Place]) -> Iterator[Found]:
        """Yield its tasks."""
        for each in self.items:
            yield from self._found(each, "", place_of)

    def _found(self, item: _Item, above: str, place_of: Callable[..., Place]) -> Iterator[Found]:
        has_tasks, place = self._has_tasks(item, above), place_of(*item.keys)
        if not _taking(item).text("status"):
            yield Told("no-status", f"task {item.path} has no status: taken as {CREATED}", place)
        yield self._record(item, above, place, () if has_tasks else tuple(_flat(item.below)))
        for each in item.below if has_tasks else ():
            yield from self._found(each, item.path, place_of)

    def _record(self, item: _Item, above: str, place: Place, below: tuple[_Item, ...]) -> Record:
        taking = _taking(item)
        title, status, priority = taking.text("title"), taking.text("status"), taking.text("priority")
        texts = [taking.text(key) for key in ("description", "details")]
        strategy = taking.text("testStrategy")
        updated = str(taking.rest.get("updatedAt") or "")
        is_closed = status_of(status) in {COMPLETE, DROPPED}
        waits = _waits(taking)
        parts, others = [self._part(each, item.path) for each in below], list[str]()
        for _, each in parts:
            others += each
        return Record(
            id=self._id(item.path),
            title=title,
            place=place,
            said=[*([self.name] if self.prefix else []), _said(item), [_said(each) for each in below]],
            status=status,
            priority=priority,
            created_at=taking.text("createdAt"),
            closed_at=updated if is_closed else "",
            epic=self.name if self.prefix else "",
            description="\n\n".join(filter(None, texts)),
            features=tuple(part for part, _ in parts),
            depends_on=tuple(dict.fromkeys([*(self._target(each, above) for each in waits), *others])),
            parent=self._id(above) if above else "",
            fields=taking.fields(),
            notes=(Note("testStrategy", strategy),) if strategy else (),
            became=(*_became(item), *(value for each in below for value in _became(each))),
        )

    def _id(self, path: str) -> str:
        return f"{self.prefix}{path}"

    def _path(self, text: str, above: str) -> str:
        """Return the task or subtask that a reference means: a bare number is a sibling, if there is such a one."""
        names = (f"{above}.{text}", text) if "." not in text else (text, f"{above}.{text}")
        return next((each for each in names if each in self.owners), "")

    def _target(self, text: str, above: str) -> str:
        return self._id(self.owners.get(self._path(text, above)) or text)

    def _part(self, item: _Item, task: str) -> tuple[Part, list[str]]:
        """Return a subtask as a feature, and the other tasks that it waits for."""
        taking = _taking(item)
        title, status = taking.text("title"), taking.text("status")
        is_done = status_of(status) == COMPLETE
        time = taking.text("updatedAt") if is_done and time_of(str(taking.rest.get("updatedAt") or "")) else ""
        lines, others = list[str](), list[str]()
        for each in _waits(taking):
            path = self._path(each, item.path.rpartition(".")[0])
            is_near = path != task and self.owners.get(path) == task
            lines.append(f"after {path}" if is_near else f"waits for {path or each}")
            others += [] if is_near else [self._id(self.owners.get(path) or each)]
        if not is_done and status_of(status) != CREATED and status:
            lines.append(f"{status} in the source")
        lines += [text for key in ("description", "details") if (text := taking.text(key))]
        lines += [
            f"{key}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}"
            for key, each in taking.fields().items()
        ]
        return Part(title or item.path, is_done, item.path, "\n".join(lines), time), others


def _taking(item: _Item) -> Taking:
    """Return what a task says, without what its place in the file says already."""
    skipped = _PARENTS | {"id", "subtasks"}
    values = {key: each for key, each in item.values.items() if key not in skipped}
    if not isinstance(item.values.get("subtasks"), list):
        values["subtasks"] = item.values.get("subtasks")
    return Taking(values)


def _said(item: _Item) -> dict[str, Any]:
    return {"id": item.path.rpartition(".")[2], **_taking(item).rest}


def _became(item: _Item) -> tuple[str, ...]:
    """Return the values that turn into others: references, words and times."""
    taking = _taking(item)
    words = [taking.text(key) for key in ("status", "priority", "updatedAt", "createdAt")]
    return (item.path.rpartition(".")[2], *words, *_waits(taking))


def _waits(taking: Taking) -> list[str]:
    """Take the references to what a task waits for; what is none stays."""
    given = taking.list("dependencies")
    is_reference = [isinstance(each, str | int) and not isinstance(each, bool) for each in given]
    if not all(is_reference):
        taking.rest["dependencies"] = [each for each, is_one in zip(given, is_reference, strict=True) if not is_one]
    return [str(each).strip() for each, is_one in zip(given, is_reference, strict=True) if is_one]
