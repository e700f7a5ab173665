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
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found, Options, Place

_PATHS = (".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
_RENDERED = re.compile(r"(?:.*/)?task_\d+[^/]*\.(?:md|txt)")
_MASTER = "master"
_PARENTS = ("parentId", "parentTaskId")  # follow from where a subtask stands; the first may be "undefined"


class _Item(NamedTuple):
    """A task, or a subtask of it: its path of ids as `2.1`, what else it says, and what is below."""

    path: str
    values: Taking
    place: Place
    below: tuple[_Item, ...] = ()

    @property
    def all(self) -> Iterator[_Item]:
        """It, and all below."""
        yield self
        for each in self.below:
            yield from each.all


class _Tag(NamedTuple):
    """A tag: what its ids begin with, and what each of these belongs to: a task, or of a feature that which has it."""

    name: str
    prefix: str
    owners: Mapping[str, str]

    def path(self, text: str, above: str) -> str:
        """Return the task or subtask that a reference means: a bare number is a sibling, if there is such a one."""
        names = (f"{above}.{text}", text) if "." not in text else (text, f"{above}.{text}")
        return next((each for each in names if each in self.owners), "")


def read(source: Source, options: Options) -> Iterator[Found]:
    """Yield the tasks of all tags, or of the one that is asked for."""
    names, links = source.at(*_PATHS), [*source.links(named=("tasks.json",))]
    yield from links
    if not (names or links):
        message = f"{source.own_name} has no tasks.json where Task Master has it"
        raise TaskstateError(message, help="name the file", code="not-found")
    groups = [(name, *group) for name in names for group in _groups(source, name)]
    tags = dict.fromkeys(tag for _, tag, _, _ in groups)
    if options.tag and options.tag not in tags:
        raise TaskstateError(f"there is no tag {options.tag!r}", help=f"there are {', '.join(tags)}", code="not-found")
    places = {name: places_in(source, name) for name in names}
    for name, tag, keys, values in groups:
        yield Count(_number(values["tasks"]))
        found = [*_items(values["tasks"], "", keys, places[name])]
        yield from (each for each in found if isinstance(each, Refused))
        items = [each for each in found if isinstance(each, _Item)]
        if options.tag not in {"", tag}:
            yield from (Left(each.place, _prefix(tag) + each.path, "other-tag", len([*each.all])) for each in items)
            continue
        yield from _of_tag(tag, [each for one in items for each in _tasks(one, "", options.subtasks)])
        if unplaced := _unplaced(values):
            why = f"besides the tasks of tag {tag} this has no place here: {', '.join(unplaced)}"
            yield Told("file-metadata", why, source.place(name))
    rendered = sum(_RENDERED.fullmatch(name) is not None for name in source.names)
    if rendered:
        yield Other(f"file{'s' * (rendered > 1)} that Task Master made of its tasks", rendered)


def _groups(source: Source, name: str) -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """Yield each tag of a file, the keys to its tasks and what it says; in the oldest form all are in the main one."""
    value = value_of(source, name)
    groups = [(_MASTER, ("tasks",), value), *((tag, (tag, "tasks"), each) for tag, each in Taking(value).items())]
    found = [each for each in groups if _has_tasks(each[2])]
    if not found:
        message = f"{source.place(name)}: no tag in it has `tasks`, as in a file of Task Master"
        raise TaskstateError(message, help="name its tasks.json", code="invalid-input")
    # What the file says besides its tags is told with the first.
    besides = {key: each for key, each in Taking(value).items() if not _has_tasks(each)}
    (tag, keys, first), *others = found
    yield from ((tag, keys, {**besides, **first}), *others)


def _has_tasks(value: object) -> bool:
    return isinstance(Taking(value).get("tasks"), list)


def _unplaced(values: dict[str, Any]) -> list[str]:
    """Return the keys of what a tag says besides its tasks, and those of its metadata."""
    said = {key: each for key, each in Taking(values).fields().items() if key != "tasks" and not _has_tasks(each)}
    metadata = said.pop("metadata", None)
    return [*said, *(metadata if isinstance(metadata, dict) else ["metadata"] if metadata else [])]


def _number(entries: object) -> int:
    """Return how many tasks and subtasks there are, at any depth."""
    return sum(1 + _number(Taking(each).get("subtasks")) for each in (entries if isinstance(entries, list) else ()))


def _items(
    entries: list[Any], above: str, keys: tuple[str | int, ...], place_of: Callable[..., Place]
) -> Iterator[_Item | Refused]:
    """Yield the tasks in a list, or the subtasks of a task; of these, one may be a mere text, or have no id."""
    for number, each in enumerate(entries):
        at = (*keys, number)
        is_text = above and not isinstance(each, dict)
        values = Taking({"title": each if isinstance(each, str) else json.dumps(each)} if is_text else each)
        own = values.text("id").strip()
        values.pop("id", None)
        if not own and not above:
            yield Refused(place_of(*at), "bad-record", "it is not a task: it has no `id`", records=_number([each]))
            continue
        path = own if not above or own.startswith(f"{above}.") else f"{above}.{own or number + 1}"
        below = _items(values.list("subtasks"), path, (*at, "subtasks"), place_of)
        for key in _PARENTS if above else ():
            values.pop(key, None)
        yield _Item(path, values, place_of(*at), tuple(item for item in below if isinstance(item, _Item)))


def _tasks(item: _Item, above: str, subtasks: str) -> Iterator[tuple[_Item, str, list[_Item]]]:
    """Yield a task, the path of that above, and its features; and the tasks below.

    Subtasks are tasks where one of them has subtasks, or where that was asked for.
    """
    has_tasks = (subtasks == "tasks" and not above) or any(each.below for each in item.below)
    has_tasks = has_tasks and subtasks != "features"
    yield item, above, [] if has_tasks else [*item.all][1:]
    for each in item.below if has_tasks else ():
        yield from _tasks(each, item.path, subtasks)


def _prefix(tag: str) -> str:
    """Return what the ids of a tag begin with: nothing for the main one. A tag is a name, so it is in lower case."""
    if tag == _MASTER:
        return ""
    name = re.sub(r"[^a-z0-9]+", lambda match: match[0] if match[0] in "._" else "-", tag.casefold()).strip("-._")
    return f"{name or hashlib.sha256(tag.encode()).hexdigest()[:8]}:"


def _of_tag(name: str, tasks: Iterable[tuple[_Item, str, list[_Item]]]) -> Iterator[Found]:
    """Yield the tasks of a tag."""
    owners: dict[str, str] = {}
    for item, _, below in tasks:
        owners.setdefault(item.path, item.path)
        owners |= {part.path: item.path for part in below}
    tag = _Tag(name, _prefix(name), owners)
    for item, above, below in tasks:
        if not Taking(item.values).text("status"):
            yield Told("no-status", f"task {item.path} has no status: taken as {CREATED}", item.place)
        yield _record(tag, item, above, below)


def _record(tag: _Tag, item: _Item, above: str, below: list[_Item]) -> Record:
    taking = Taking(item.values)
    texts = taking.texts("title", "status", "priority", created_at="createdAt")
    described, strategy = taking.texts("description", "details").values(), taking.text("testStrategy")
    waits, others = _waits(taking), list[str]()
    parts = [_part(tag, each, item.path, others) for each in below]
    epic = tag.name if tag.prefix else ""
    is_closed = status_of(texts["status"]) in {COMPLETE, DROPPED}
    return Record(
        id=tag.prefix + item.path,
        **texts,
        place=item.place,
        said=[*([epic] if epic else []), _said(item), [_said(each) for each in below]],
        closed_at=str(taking.get("updatedAt") or "") if is_closed else "",
        epic=epic,
        description="\n\n".join(filter(None, described)),
        features=tuple(parts),
        depends_on=tuple(
            dict.fromkeys(tag.prefix + (tag.owners.get(tag.path(each, above)) or each) for each in waits)
            | dict.fromkeys(others)
        ),
        parent=tag.prefix + above if above else "",
        fields=taking.fields(),
        notes=(Note("testStrategy", strategy),) if strategy else (),
        became=tuple(value for each in (item, *below) for value in _became(each)),
    )


def _part(tag: _Tag, item: _Item, task: str, others: list[str]) -> Part:
    """Return a subtask as a feature, and add the other tasks that it waits for."""
    taking = Taking(item.values)
    title, status = taking.text("title"), taking.text("status")
    is_done = status_of(status) == COMPLETE
    time = taking.text("updatedAt") if is_done and time_of(str(taking.get("updatedAt") or "")) else ""
    lines, above = list[str](), item.path.rpartition(".")[0]
    for path in dict.fromkeys(tag.path(each, above) or each for each in _waits(taking)):
        owner = tag.owners.get(path, path)
        is_near = path != task and owner == task
        lines.append(f"after {path}" if is_near else f"waits for {path}")
        others += [] if is_near else [tag.prefix + owner]
    if not is_done and status_of(status) != CREATED and status:
        lines.append(f"{status} in the source")
    lines += filter(None, taking.texts("description", "details").values())
    for key, each in taking.fields().items():
        lines.append(f"{key}: {each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)}")
    return Part(title or item.path, is_done, item.path, "\n".join(lines), time)


def _said(item: _Item) -> dict[str, Any]:
    return {"id": item.path.rpartition(".")[2], **item.values}


def _became(item: _Item) -> list[str]:
    """Return the values that turn into others: references, words and times."""
    taking = Taking(item.values)
    words = taking.texts("status", "priority", "updatedAt", "createdAt")
    return [item.path.rpartition(".")[2], *words.values(), *_waits(taking)]


def _waits(taking: Taking) -> list[str]:
    """Take the references to what a task waits for; what is none stays."""
    given = taking.list("dependencies")
    others = [each for each in given if isinstance(each, bool) or not isinstance(each, str | int)]
    if others:
        taking["dependencies"] = others
    return [str(each).strip() for each in given if isinstance(each, str | int) and not isinstance(each, bool)]
