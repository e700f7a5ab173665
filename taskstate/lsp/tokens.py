"""What stands under the cursor: a key or a value of the front matter or a json fence, a path, an id, a rule's code."""

from __future__ import annotations

import re

from taskstate.handoff.references import without_position
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts

TASK_KEYS = frozenset({"depends_on", "parent", "subtasks", "task_id", "supersedes", "moved_to", "inherits_from"})
_CODE = re.compile(r"\bTSP?[0-9]{2,3}\b")
_TASK = re.compile(r"(?i)(?:\btask[ -]#?|#)(?P<id>[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*)")
_MARKED = re.compile(
    r"(?<!`)`++(?P<code>[^`\n]+)`+|\]\(<?(?P<link>(?:[^)\s>\]]|\](?!\())+)>?\)|(?P<bare>(?<![\w.-])[\w.-]++(?:/[\w.-]+)+(?:#[\w-]+)?)"
)


class Value(NamedTuple):
    """A key or value under the cursor: its path of keys, the schema that it must meet, and whether it is the key."""

    path: tuple[str | int, ...]
    node: Node
    schema: str
    is_key: bool
    root: Node


def value_at(facts: Facts, at: int) -> Value | None:
    """Return the key or value at an offset in the front matter or a json fence; None elsewhere."""
    for schema, root in _roots(facts):
        if root.span.start <= at <= root.span.end or (root is facts.front_matter and _is_in_front_matter(facts, at)):
            return _descend(root, at, schema)
    return None


def _is_in_front_matter(facts: Facts, at: int) -> bool:
    content = facts.document.front_matter.content
    return content.start <= at <= content.end


def _roots(facts: Facts) -> Iterator[tuple[str, Node]]:
    if facts.front_matter:
        yield facts.front_matter_schema, facts.front_matter
    for schema, fence in facts.outline.fences if not facts.is_json else ():
        root = facts.document.json(fence)
        if isinstance(root, Node):
            yield schema, root


def _descend(root: Node, at: int, schema: str) -> Value | None:
    node, path = root, list[str | int]()
    while True:
        step = _step(node, at)
        if step is None:
            return Value(tuple(path), node, schema, is_key=False, root=root) if path else None
        key, child, is_key = step
        path.append(key)
        if is_key:
            return Value(tuple(path), child, schema, is_key=True, root=root)
        node = child


def _step(node: Node, at: int) -> tuple[str | int, Node, bool] | None:
    for entry in node.entries:
        if entry.key.span.start <= at <= entry.key.span.end:
            return entry.key.text, entry.value, True
        if entry.value.span.start <= at <= entry.value.span.end:
            return entry.key.text, entry.value, False
    for index, item in enumerate(node.items):
        if item.span.start <= at <= item.span.end:
            return index, item, False
    return None


def keys_of(value: Value) -> tuple[str, ...]:
    """Return the keys on the way to a value, without the indices of lists."""
    return tuple(each for each in value.path if isinstance(each, str))


def code_at(text: str, at: int) -> str:
    """Return the code of a rule at an offset, or an empty text."""
    return next((match[0] for match in _CODE.finditer(*_line(text, at)) if match.start() <= at <= match.end()), "")


def task_at(facts: Facts, at: int) -> str:
    """Return the id of the task named at an offset: as a value of the front matter, or as "task 101" or #101."""
    value = value_at(facts, at)
    if value and not value.is_key and value.node.kind == "scalar" and TASK_KEYS & set(keys_of(value)):
        return value.node.text
    matches = _TASK.finditer(*_line(facts.document.text, at))
    return next((match["id"] for match in matches if match.start() <= at <= match.end()), "")


def path_at(facts: Facts, at: int) -> tuple[str, str]:
    """Return the path and the section (behind `#`, or in a citation) that are named at an offset, or empty texts."""
    value = value_at(facts, at)
    if value and not value.is_key and value.node.kind == "scalar":
        section = value.root.get(*value.path[:-1], "section") if "file" in keys_of(value) else None
        return _split(value.node.text, section.text if section else "")
    for match in _MARKED.finditer(*_line(facts.document.text, at)):
        if match.start() <= at <= match.end():
            return _split((match["code"] or match["link"] or match["bare"]).strip(), "")
    return "", ""


def _split(text: str, section: str) -> tuple[str, str]:
    path, _, anchor = text.partition("#")
    return without_position(path), section.removeprefix("#") or anchor


def line_in(text: str, at: int) -> Span:
    """Return the span of the line that holds an offset, without its end."""
    start = line_start(text, at)
    stops = [stop for stop in (text.find("\n", at), text.find("\r", at)) if stop >= 0]
    return Span(start, min(stops, default=len(text)))


def _line(text: str, at: int) -> tuple[str, int, int]:
    return text, *line_in(text, at)


def tasks_named(text: str, start: int) -> Iterator[re.Match[str]]:
    """Yield the places behind an offset that name a task in words; the group `id` is its id."""
    return _TASK.finditer(text, start)
