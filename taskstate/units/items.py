"""Lists the units of a task's files: what a command has left must stay, wherever it stands, whatever it is.

The units of a state file follow from its structure, so that no kind of them can be forgotten: keys of the front matter,
items and fields of JSON fences, criteria, sessions, decisions, versions, and the prose of each part. What stands in a
place of its own, such as a key, has another item there with another value; a session, a decision, a version or an event
is known by its words alone, since a merge may change its number and the archive may hold it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import lru_cache

from taskstate.errors import TaskstateError
from taskstate.messages import counted, one_line
from taskstate.model.canonical_json import sha256
from taskstate.model.document_kinds import PERMANENT, kind_of
from taskstate.model.session_references import identity
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.task_state import TaskState, json_fence, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units import parts
from taskstate.units.keys import BY_NAME, WHOLE, WRITTEN, item_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.model.names import OwnType
    from taskstate.model.permanent import LoggedVersion
    from taskstate.model.progress_log import Session
    from taskstate.syntax.document import Document
    from taskstate.units.parts import PartKey

SESSION, DECISION, VERSION, EVENT, HANDOFF = "session", "decision", "version", "event", "handoff"
KEY, ENTRY, CRITERION, TEXT = "key", "entry", "criterion", "text"
MAP = "map"  # an Impact Map in a file of its own, which goes back into its document when it gets shorter
FILES = (HANDOFF, MAP)  # kinds of items that are a file each
WORDS = frozenset({SESSION, DECISION, VERSION, EVENT})  # known by their words alone, and no command takes them away
_ONCE = frozenset({SESSION, EVENT, HANDOFF})  # kinds of which nothing may be there twice
_DIGITS = 16
_CRITERIA = ("static context", "acceptance criteria")
_NO_WORDS = frozenset({"None.", *(line.strip() for line in ENTRY_FORM.splitlines())})  # what a new file has
_SINGULAR = {"features": "feature", "objectives": "objective", "approaches_tried": "approach"}
_ENCODER = json.JSONEncoder(sort_keys=True)
_NUMBER = r"\bAD-\d{1,9}\b"


class Item(NamedTuple):
    """One thing that a command has left: its kind, its place, and the beginning of the hash of what it says.

    The place is a path of keys, a part, or the name of a file; empty for what may stand anywhere.
    """

    kind: str
    place: str
    sha: str


class Unit(NamedTuple):
    """An item with its name for a message and what it says: a value, or the words that count.

    The rule of the key `rule` settles two values in a merge, and is empty for words. `path` leads to a key of the front
    matter. `spans` are where the unit stands in the body; those of a part's prose begin with the part's heading.
    """

    item: Item
    name: str
    value: Any
    rule: str = ""
    path: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


def state_items(state: TaskState) -> Counter[Item]:
    """Return the items of a state file; a session with conflict markers is none."""
    items = state.document.of_body(_items_of_body).copy()
    items.update(unit.item for unit in _in_front_matter(state.document))
    return items


def units_of(state: TaskState) -> tuple[Unit, ...]:
    """Return the units of a state file, those of its body first; a session with conflict markers has no hash."""
    return state.document.derived(_units, None)


def named_items(state: TaskState) -> Iterator[tuple[Item, str]]:
    """Yield the items of a state file, each with its name for a message."""
    yield from ((unit.item, unit.name) for unit in units_of(state) if unit.item.sha)


def _units(document: Document, _given: None) -> tuple[Unit, ...]:
    return (*_in_body(read_state(document)), *_in_front_matter(document))


def _items_of_body(document: Document, _given: None) -> Counter[Item]:
    return Counter(unit.item for unit in _in_body(read_state(document)) if unit.item.sha)


# The body


def _in_body(state: TaskState) -> Iterator[Unit]:
    document = state.document
    alone = {unit.spans[0].start: unit for unit in (*_sessions(state), *_decisions(state))}
    for section, span in parts.sections(document).items():
        for part, own in parts.subsections(document, section.title, span).items():
            if own.start in alone and part != parts.TOP:
                yield alone[own.start]
            else:
                yield from _in_part(state, (section, part), own)


def _sessions(state: TaskState) -> Iterator[Unit]:
    for each in state.sessions:
        item = Item(SESSION, "", "") if find_conflicts(each.entry) else session_item(each)
        yield Unit(item, f"session {each.number}", each, spans=(each.section.span,))


def _decisions(state: TaskState) -> Iterator[Unit]:
    if state.kind != PERMANENT:
        return
    from taskstate.model.permanent import decisions

    for each in decisions(state):
        text = each.section.span.of(state.document.text)
        item = _item(DECISION, "", "\n".join(_lines(re.sub(_NUMBER, "AD-#", text))))
        yield Unit(item, f"AD-{each.number}", text, spans=(each.section.span,))


def _in_part(state: TaskState, key: tuple[PartKey, PartKey], span: Span) -> Iterator[Unit]:
    """Yield the units of a part: what stands in its fence, its criteria, its versions, and the prose around them."""
    document, place = state.document, place_of_part(key)
    rest = [span]
    if key[0].title == "change log" and state.kind == PERMANENT:
        found = list(_versions(document, span))
        yield from found
        rest = _without(rest, [unit.spans[0] for unit in found])
    elif (key[0].title, key[1].title) == _CRITERIA:
        for each in state.criteria:
            yield _criterion(each.number, each.text, each.span, checked=each.checked)
        rest = _without(rest, [each.span for each in state.criteria])
    fence = json_fence(document, span)
    root = document.json(fence) if fence and fence.closed else None
    title = _title(document, key, span)
    if fence and isinstance(root, Node):
        yield from _in_json(root.value(), place, title, fence.content)
        rest = _without(rest, [fence.content])
    prose = _prose(document, rest)
    if prose and (state.summary is None or state.summary.section.span.start != span.start):  # it stands for sessions
        yield Unit(_item(TEXT, place, "\n".join(prose)), title, prose, spans=tuple(rest))


def place_of_part(key: tuple[PartKey, PartKey]) -> str:
    """Return the place of a part, given the keys of its section and of itself."""
    return "/".join(f"{each.title}{f'#{each.number}' if each.number > 1 else ''}" for each in key if each.level > 1)


def _title(document: Document, key: tuple[PartKey, PartKey], span: Span) -> str:
    own = next((each.title for each in document.sections if each.span.start == span.start), "")
    return one_line(own, 60) or key[0].title or "the text above the first heading"


def _without(spans: list[Span], taken: Iterable[Span]) -> list[Span]:
    """Return spans without the parts of them that are taken, which are in order."""
    for each in taken:
        last = spans.pop()
        spans += [Span(last.start, each.start), Span(each.end, last.end)]
    return spans


def _prose(document: Document, spans: Iterable[Span]) -> list[str]:
    """Return the lines of prose that count: no heading of a part, no placeholder, no fence without what it held."""
    lines = _lines("\n".join(each.of(document.text) for each in spans))
    if lines and lines[0].startswith("#"):
        del lines[0]
    lines = [line for line in lines if not line.startswith("```")] if "```json" in lines else lines
    return [line for line in lines if line not in _NO_WORDS and not kind_of(document).is_placeholder(line)]


def _lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.strip())]


def _versions(document: Document, span: Span) -> Iterator[Unit]:
    from taskstate.model.permanent import read_version_line

    at = span.start
    for line in span.of(document.text).splitlines(keepends=True):
        version = read_version_line(line)
        if version:
            yield Unit(_version_item(version), f"v{version.number}", version, spans=(Span(at, at + len(line)),))
        at += len(line)


def _version_item(version: LoggedVersion) -> Item:
    # A merge changes its number and those of decisions, and joins what both sides changed behind the newer one's words.
    said = re.sub(_NUMBER, "AD-#", version.summary.partition("; merged with ")[0])
    return _item(VERSION, "", f"{version.at} {version.actor} {said}")


def _criterion(number: int, text: str, span: Span, *, checked: bool) -> Unit:
    name = f"the checked box of criterion {number}" if checked else f"criterion {number}"
    return Unit(_item(CRITERION, place_of(text), "x" if checked else ""), name, checked, spans=(span,))


def is_check(item: Item) -> bool:
    """Return whether an item is the check of a criterion."""
    return item.kind == CRITERION and item.sha == sha256("x")[:_DIGITS]


def place_of(criterion: str) -> str:
    """Return the place of a criterion, given its text."""
    return sha256(" ".join(criterion.split()))[:_DIGITS]


def _in_json(value: object, part: str, title: str, span: Span) -> Iterator[Unit]:
    """Yield the units of a JSON value: the fields of an object, and of its lists each item."""
    for key, each in (value if isinstance(value, dict) else {"": value}).items():
        if isinstance(each, list) and all(isinstance(entry, dict) for entry in each):
            for entry in each:
                place, name = f"{part} {key}", _SINGULAR.get(key, key or "entry")
                if "id" in entry:
                    place, name = f"{place} {item_key(entry)}", f"{name} {entry['id']}"
                is_proved = "id" in entry and entry.get("passes") is True and entry.get("evidence")
                name = f"the proof of {entry['id']}" if is_proved else name
                in_part = f"{name} of {title}" if key != "features" else name
                yield Unit(_item(ENTRY, place, event_line(entry)), in_part, entry, f"{key}[]", spans=(span,))
        elif key not in WRITTEN and each is not None:
            yield Unit(_item(ENTRY, f"{part} {key}", event_line(each)), f"`{key}` of {title}", each, key, spans=(span,))


# The front matter


def _in_front_matter(document: Document) -> Iterator[Unit]:
    for event in blocks_of(document).audit.events:
        yield Unit(event_item(event.entry), f"the audit event {event.event or '?'}", event.entry)
    values = front_matter_values(document)
    for key, value in values.items():
        if key not in WRITTEN:
            yield from _values((key,), value)


def _values(path: tuple[str, ...], value: object) -> Iterator[Unit]:
    """Yield the units of a value: in a map of names, or of blocks, each of them."""
    key = path[-1]
    if isinstance(value, dict) and key not in {*WHOLE, "handoffs"} and (len(path) == 1 or key in BY_NAME):
        for name, each in value.items():
            if name not in WRITTEN:
                yield from _values((*path, str(name)), each)
    elif value is not None and value != []:
        parent = path[-2] if len(path) > 1 else ""
        yield Unit(
            _item(KEY, " ".join(path), event_line(value)),
            _name_of(path),
            value,
            f"{parent}[]" if parent in BY_NAME else key,
            path,
        )


def _name_of(path: tuple[str, ...]) -> str:
    if path[0] == "acks":
        return f"the ack of {path[-1]}"
    return "the open turn" if path == ("delta", "turn") else f"`{'.'.join(path)}`"


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


# What is known by its words


def session_item(session: Session) -> Item:
    """Return the item of a session of the Progress Log."""
    return entry_item(session.entry)


@lru_cache(maxsize=20_000)  # nearly all sessions of a file are there before a change and after it
def entry_item(entry: str) -> Item:
    """Return the item of a session, given its text in the log or in the archive, where its heading is a level higher.

    Blank lines do not count, nor comments behind it: people and tools put them between sessions.
    """
    text = _without_comments_behind(identity(with_newlines(entry, "\n")))
    text = "\n".join(filter(None, map(str.rstrip, text.split("\n")))).lstrip("# ")
    return Item(SESSION, "", sha256(text)[:_DIGITS])


def _without_comments_behind(text: str) -> str:
    text = text.rstrip()
    while text.endswith("-->"):
        start = text.rfind("<!--")
        line = text.rfind("\n", 0, max(start, 0)) + 1
        if start < 0 or text[line:start].strip():
            break
        text = text[:line].rstrip()
    return text


def event_item(entry: object) -> Item:
    """Return the item of an event, given its entry in the audit."""
    return _item(EVENT, "", event_line(entry))


def archive_items(text: str) -> Counter[Item]:
    """Return the items in an archive file, or in a part that is appended to one."""
    from taskstate.model.archive_format import batch_contents, rolled_items  # most writes archive nothing
    from taskstate.model.permanent import CHANGE_LOG, read_version_line

    items = Counter(
        entry_item(text[entry.start : entry.end]) for batch in batch_contents(text) for entry in batch.entries
    )
    items.update(_item(EVENT, "", line) for line in rolled_items(text, "Events"))
    versions = (read_version_line(f"- {line}") for line in rolled_items(text, CHANGE_LOG))
    items.update(_version_item(each) for each in versions if each)
    return items


def event_line(event: object) -> str:
    """Return an event as JSON on one line; `<` is escaped, since it could start HTML or a comment in Markdown."""
    return _ENCODER.encode(event).replace("<", "\\u003c")


def items_in(kind: OwnType, name: str, data: bytes) -> Counter[Item]:
    """Return the items in one of our own files of this kind, given its name and its bytes."""
    text = data.decode("utf-8", "replace")
    if kind == "state":
        return state_items(read_state(parse(text))) if text else Counter()
    if kind == "archive":
        return archive_items(text)
    place = name.rpartition("/")[2]
    if kind == "impact-map":
        return Counter([_item(MAP, place, with_newlines(text, "\n"))] if text else ())
    return Counter([Item(HANDOFF, place, "")] if text and kind == "handoff" else ())


def lost_between(before: Counter[Item], after: Counter[Item]) -> list[Item]:
    """Return the items that stand before a change and not after it."""
    return [item for item, count in before.items() if after[item] < count]


def require_conserved(wanted: Counter[Item], after: Counter[Item], subject: str) -> None:
    """Refuse a change after which an item would not stand exactly once (`wanted`: as often as it must).

    Archiving, restoring, merging and repairing are checked by it before they write.

    Raises:
        TaskstateError: code "unsafe".
    """
    wrong = lost_between(wanted, after)
    wrong += [item for item, count in after.items() if item.kind in _ONCE and count > max(wanted[item], 1)]
    if wrong:
        raise TaskstateError(
            f"{subject} cannot be changed safely: {described(wrong)} would not be there exactly once",
            help="run `taskstate lint` on it and fix what it finds first",
            code="unsafe",
        )


def described(items: Iterable[Item]) -> str:
    """Return items in words without their names: how many there are of which kind."""
    kinds = Counter(item.kind for item in dict.fromkeys(items))
    return ", ".join(counted(number, kind) for kind, number in kinds.items())


def _item(kind: str, place: str, text: str) -> Item:
    return Item(kind, place, sha256(text)[:_DIGITS])
