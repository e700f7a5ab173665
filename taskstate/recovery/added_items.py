"""Adds to a state file items that another text of it holds: exactly these, and what cannot stand without them.

A proof, a check or a block takes the place of what stands there. Sessions are merged into the log, in order of time.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.merge.merge_files import merge_files
from taskstate.merge.three_way import Versions
from taskstate.model.derived_values import derived_edits
from taskstate.model.items import ACK, BLOCK, CHECK, HANDOFF, PROOF, SESSION, event_item, place_of, session_item
from taskstate.model.static_context import SEALED_VALUES, static_section
from taskstate.model.statuses import CREATED
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, sealed, set_front_matter, with_events
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import append_json_item
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from typing import Any

    from taskstate.model.document_kinds import Kinds
    from taskstate.model.items import Item
    from taskstate.syntax.document import Section

    Path = tuple[str, ...]

_LOG = "Progress Log"
# What the hash in a block covers comes with it: keys of the front matter, and a section.
_KEYS = {"context": SEALED_VALUES, "output": ("status",)}
_OF_DELTA = frozenset({"context", "snapshot"})  # these begin the block `delta`
_SECTIONS: Mapping[str, Callable[[TaskState], Section | None]] = {
    "context": lambda state: static_section(state.document),
    "output": lambda state: state.section("Chain Output"),
}
_MAPS = {"coordination": ("coordination",), "snapshot": ("delta", "snapshots")}  # of blocks that roles have


def with_items(ours: bytes, theirs: bytes, wanted: Collection[Item], name: str, kinds: Kinds) -> bytes:
    """Return our text with the wanted items, which their text holds; line ends stay as in ours.

    `kinds` are those that the repository declares.

    Raises:
        TaskstateError: our text is written in a form that cannot be changed safely.
    """
    before, kept = (read_state(parse(with_newlines(each.decode(), "\n"), kinds)) for each in (ours, theirs))
    text = _with_front_matter(before, kept, wanted)
    text = _with_sections(read_state(parse(text, kinds)), kept, wanted)
    text = _with_features(read_state(parse(text, kinds)), kept, wanted)
    text = _with_checks(read_state(parse(text, kinds)), before, kept, wanted)
    after = read_state(parse(apply(text, derived_edits(parse(text, kinds))), kinds))
    base = before.document.text
    if any(item.kind == SESSION for item in wanted):
        base, text = (_with_log(*each) for each in zip((before, after), _logs(before, kept, wanted), strict=True))
    merged = merge_files(Versions(base.encode(), ours, text.encode()), name)
    if merged.conflicts:
        raise TaskstateError("what is kept of it conflicts with what stands there", code="unsafe")
    return merged.data


def _with_front_matter(before: TaskState, kept: TaskState, wanted: Collection[Item]) -> str:
    """Return a text with the wanted blocks, acks and events, sealed again."""
    text, old, theirs = before.document.text, front_matter_values(before.document), front_matter_values(kept.document)
    new = old
    for path in (path for item in wanted for path in _paths(item, before, kept)):
        new = _with_value(new, theirs, path)
    for key in new:
        if key not in old or new[key] != old[key]:
            text = apply(text, set_front_matter(before.document.with_text(text), key, new[key]))
    added = [each.entry for each in blocks_of(kept.document).audit.events if event_item(each.entry) in wanted]
    if added:
        events = [*(each.entry for each in blocks_of(before.document).audit.events), *added]
        text = with_events(text, sorted(events, key=lambda event: str(_map(event).get("at"))))
    return text if text == before.document.text else sealed(text)


def _paths(item: Item, before: TaskState, kept: TaskState) -> Iterator[Path]:
    """Yield where in the front matter an item stands, and what goes with it."""
    if item.kind == ACK:
        yield "acks", item.place
    elif item.kind == BLOCK:
        block, _, name = item.place.partition(" ")
        if block in _OF_DELTA and "delta" not in before.document.front_matter:
            delta = _map(front_matter_values(kept.document).get("delta"))
            yield from (("delta", key) for key in delta if key != "snapshots")
        yield (*_MAPS.get(block, (block,)), *filter(None, [name]))
        yield from ((key,) for key in _KEYS.get(block, ()))
    elif item.kind == HANDOFF and kept.revision > before.revision:
        yield ("handoffs",)
    elif item.kind == SESSION and before.status == CREATED:
        yield ("status",)


def _with_value(values: Mapping[str, Any], theirs: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """Return a map with the value that another one has at a path."""
    key, *rest = path
    if key not in theirs:
        return values
    return {**values, key: _with_value(_map(values.get(key)), _map(theirs[key]), tuple(rest)) if rest else theirs[key]}


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _with_sections(state: TaskState, kept: TaskState, wanted: Collection[Item]) -> str:
    """Return a text with the sections of the wanted blocks."""
    sections = [_SECTIONS[item.place] for item in wanted if item.kind == BLOCK and item.place in _SECTIONS]
    pairs = [(section(state), section(kept)) for section in sections]
    edits = [Edit(*old.span, new.span.of(kept.document.text)) for old, new in pairs if old and new]
    return apply(state.document.text, edits)


def _with_features(state: TaskState, kept: TaskState, wanted: Collection[Item]) -> str:
    """Return a text with the features whose proofs are wanted."""
    if not state.checklist or not kept.checklist:
        return state.document.text
    proved = {item.place for item in wanted if item.kind == PROOF}
    standing = {each.id: each.node.span for each in state.checklist.features}
    edits: list[Edit] = []
    for each in kept.checklist.features:
        if each.id in proved and each.id in standing:
            edits.append(Edit(*standing[each.id], each.node.span.of(kept.document.text)))
        elif each.id in proved and (features := state.checklist.root.get("features")):
            edits += append_json_item(state.document.text, features, each.node.value())
    return apply(state.document.text, edits)


def _with_checks(state: TaskState, before: TaskState, kept: TaskState, wanted: Collection[Item]) -> str:
    """Return a text in which the criteria are checked that were before, and those that are wanted."""
    places = [place_of(each.text) for each in state.criteria]
    added = {item.place for item in wanted if item.kind == CHECK}
    checked = added.union(place_of(each.text) for each in before.criteria if each.checked)
    edits = [
        Edit(*each.mark, "x" if place in checked else " ")
        for place, each in zip(places, state.criteria, strict=True)
        if each.checked != (place in checked)
    ]
    missing = [each for each in kept.criteria if place_of(each.text) in added.difference(places)]
    if missing and state.criteria:
        lines = "".join(f"\n{each.span.of(kept.document.text).rstrip()}" for each in missing)
        edits.append(Edit(state.criteria[-1].span.end, state.criteria[-1].span.end, lines))
    return apply(state.document.text, edits)


def _logs(before: TaskState, kept: TaskState, wanted: Collection[Item]) -> tuple[str, str]:
    """Return the log of a kept text with those of its sessions alone that stand before, and with the wanted ones, too.

    Merging the difference between the two adds the wanted sessions, each behind the one that it once followed.
    """
    standing = {session_item(each): each.section.span.of(before.document.text) for each in before.sessions}
    spans = [(session_item(each), each.section.span) for each in kept.sessions]
    others = [Edit(*span, standing.get(item, "")) for item, span in spans if item not in wanted]
    own = [Edit(*span, "") for item, span in spans if item in wanted]
    states = (
        read_state(kept.document.with_text(apply(kept.document.text, edits))) for edits in ([*others, *own], others)
    )
    logs = [(state.section(_LOG), state.document.text) for state in states]
    without, with_wanted = (log.span.of(text) if log else "" for log, text in logs)
    return without, with_wanted


def _with_log(state: TaskState, log: str) -> str:
    section = state.section(_LOG)
    return apply(state.document.text, [Edit(*section.span, log)] if section else [])
