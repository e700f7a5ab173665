"""Adds to a state file units that another text of it holds: exactly these, and what cannot stand without them.

What has a place of its own takes the place of what stands there. Sessions, decisions and versions are merged in, in
order of time, and get the next numbers.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.merge.lines import merge_text
from taskstate.merge.merge_files import merge_files
from taskstate.model.derived_values import derived_edits
from taskstate.model.document_kinds import kind_of
from taskstate.model.permanent import (
    CONTENT,
    PERMANENT,
    VERSION_SEAL,
    change_log,
    edited_parts,
    version_of,
    version_seal,
)
from taskstate.model.session_texts import ENTRY_FORM
from taskstate.model.statuses import CREATED
from taskstate.model.task_state import TaskState, json_fence, read_state
from taskstate.model.write_metadata import blocks_of, front_matter_values, sealed, set_front_matter, with_events
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import set_json
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING
from taskstate.units import parts
from taskstate.units.items import (
    CRITERION,
    DECISION,
    ENTRY,
    HANDOFF,
    KEY,
    SESSION,
    TEXT,
    VERSION,
    event_item,
    place_of,
    place_of_part,
    units_of,
)
from taskstate.units.presence import merged_into, place_in_json, value_at
from taskstate.units.three_way import PREFERENCES, Versions
from taskstate.units.values import NOTHING, merge_value, same

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    from taskstate.model.document_kinds import Kinds
    from taskstate.syntax.document import Document
    from taskstate.units.items import Item, Unit

    Wanted: TypeAlias = Mapping[Item, TaskState | None]

# Sections that are merged, and what is wanted of them.
_MERGED = {"progress log": SESSION, "architecture decisions": DECISION, "change log": VERSION}


def with_items(ours: bytes, theirs: bytes, wanted: Wanted, name: str, kinds: Kinds) -> bytes:
    """Return our text with the wanted items, which their text holds; line ends stay as in ours.

    Each comes with the state from which the write began that made it, where that is known: what has its place is merged
    with it. `kinds` are those that the repository declares.

    Raises:
        TaskstateError: our text is written in a form that cannot be changed safely.
    """
    before, kept = (read_state(parse(with_newlines(each.decode(), "\n"), kinds)) for each in (ours, theirs))
    wanted = {**_versions_below(before, kept, wanted), **wanted}
    text = _with_front_matter(before, kept, wanted)
    text = _with_parts(read_state(parse(text, kinds)), kept, wanted)
    text = _with_entries(read_state(parse(text, kinds)), kept, wanted)
    text = _with_criteria(read_state(parse(text, kinds)), before, kept, wanted)
    after = read_state(parse(apply(text, derived_edits(parse(text, kinds))), kinds))
    base, target = _sections(before, after, kept, wanted)
    merged = merge_files(Versions(base.encode(), ours, _as_version(before, target).encode()), name)
    if merged.conflicts:
        raise TaskstateError("what is kept of it conflicts with what is there", code="unsafe")
    has_session = any(item.kind == SESSION for item in wanted)  # which takes the place of the form in a new file
    return merged.data.replace(f"{ENTRY_FORM}\n\n".encode(), b"", 1) if has_session else merged.data


def _versions_below(before: TaskState, kept: TaskState, wanted: Wanted) -> Wanted:
    """Return the versions between those of a log and the wanted ones: each line is followed by the one before it."""
    logged = max((each.number for each in change_log(before)), default=0)
    units = [(unit.value.number, unit.item) for unit in units_of(kept) if unit.item.kind == VERSION]
    highest = max((number for number, item in units if item in wanted), default=0)
    return {item: None for number, item in units if logged < number < highest}


def _wanted(kept: TaskState, wanted: Wanted, kind: str) -> Iterator[Unit]:
    yield from (unit for unit in units_of(kept) if unit.item.kind == kind and unit.item in wanted)


# The front matter


def _with_front_matter(before: TaskState, kept: TaskState, wanted: Wanted) -> str:
    """Return a text with the wanted values and events, sealed again."""
    text, old, theirs = before.document.text, front_matter_values(before.document), front_matter_values(kept.document)
    new = old
    for unit in _wanted(kept, wanted, KEY):
        new = _with_value(new, unit, unit.path, _base(wanted, unit))
    for key in _keys_with(before, kept, wanted):
        new = {**new, key: theirs[key]} if key in theirs else new
    for key in new:
        if key not in old or new[key] != old[key]:
            text = apply(text, set_front_matter(before.document.with_text(text), key, new[key]))
    text = _with_title_line(before, text, str(new.get("title")))
    added = [each.entry for each in blocks_of(kept.document).audit.events if event_item(each.entry) in wanted]
    if added:
        events = [*(each.entry for each in blocks_of(before.document).audit.events), *added]
        text = with_events(text, sorted(events, key=lambda event: str(_map(event).get("at"))))
    return text if text == before.document.text else sealed(text)


def _with_title_line(before: TaskState, text: str, title: str) -> str:
    """Return a text with the title in its title line, if that had the title before and no words of its own."""
    document, kind = before.document.with_text(text), kind_of(before.document)
    old, new = (kind.title_line(task_id=before.id, title=each) for each in (before.title, title))
    line = next((each.heading for each in document.sections if each.level == 1), None)
    return apply(text, [Edit(*line, new)]) if line and line.of(text).strip() == old else text


def _base(wanted: Wanted, unit: Unit) -> Any:  # noqa: ANN401 - any YAML or JSON value
    base = wanted[unit.item]
    return value_at(units_of(base), unit) if base else NOTHING


def _with_value(
    values: Mapping[str, Any],
    unit: Unit,
    path: tuple[str, ...],
    base: Any,  # noqa: ANN401 - any YAML value
) -> Mapping[str, Any]:
    """Return a map with the value of a unit at a path, merged into what stands there."""
    key, *rest = path
    if rest:
        return {**values, key: _with_value(_map(values.get(key)), unit, tuple(rest), base)}
    return {**values, key: merged_into(values.get(key, NOTHING), unit, base)}


def _keys_with(before: TaskState, kept: TaskState, wanted: Wanted) -> Iterator[str]:
    """Yield the keys that go with what is wanted."""
    kinds = {item.kind for item in wanted}
    if HANDOFF in kinds and kept.revision > before.revision:
        yield "handoffs"
    if SESSION in kinds and before.status == CREATED:
        yield "status"


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


# Parts of the body


def _with_parts(state: TaskState, kept: TaskState, wanted: Wanted) -> str:
    """Return a text with the wanted prose, and with the parts in which something wanted stands and which it lacks."""
    here, there = _places(state.document), _places(kept.document)
    texts = {unit.item.place: unit for unit in _wanted(kept, wanted, TEXT)}
    needed = {place for place in there for kind in (ENTRY, TEXT) if _has(kept, wanted, kind, place)}
    new = {place.partition("/")[0] for place in needed - here.keys()}  # the sections that get new parts
    needed |= new - here.keys()
    empty = new & here.keys() - {unit.item.place for unit in units_of(state) if unit.item.kind == TEXT}
    edits: list[Edit] = []
    at = state.document.body
    for place, span in there.items():
        own = here.get(place)
        if own is None and place in needed:
            gap = "" if state.document.text[:at].endswith("\n\n") else "\n"
            edits.append(Edit(at, at, f"{gap}{span.of(kept.document.text)}"))
        elif own is not None and place in empty:
            edits.append(Edit(*own, span.of(kept.document.text)))  # a placeholder goes where the parts come
        elif own is not None and place in texts:
            base = wanted[texts[place].item]
            merged = merge_text(_texts(base, state, kept, place), "theirs") if base else span.of(kept.document.text)
            edits += _prose(state.document, own, merged)
        at = own.end if own else at
    return apply(state.document.text, edits)


def _places(document: Document) -> dict[str, Span]:
    """Return the parts of a body by their places."""
    return {
        place_of_part((section, part)): own
        for section, span in parts.sections(document).items()
        for part, own in parts.subsections(document, section.title, span).items()
    }


def _has(kept: TaskState, wanted: Wanted, kind: str, place: str) -> bool:
    found = (unit.item.place for unit in _wanted(kept, wanted, kind))
    return any(each == place or (kind == ENTRY and each.startswith(f"{place} ")) for each in found)


def conflicts(here: TaskState, base: TaskState | None, kept: TaskState, unit: Unit) -> bool:
    """Return whether what has the place of a unit, and the unit, have both changed something since a common base."""
    if unit.item.kind == TEXT:
        texts = _texts(base, here, kept, unit.item.place)
        return len({merge_text(texts, prefer) for prefer in PREFERENCES}) > 1
    values = Versions(value_at(units_of(base), unit) if base else NOTHING, value_at(units_of(here), unit), unit.value)
    ours, theirs = (merge_value(values, unit.rule, prefer) for prefer in PREFERENCES)
    return not same(ours, theirs)


def _texts(base: TaskState | None, here: TaskState, kept: TaskState, place: str) -> Versions[str]:
    return Versions(base, here, kept).each(lambda state: _part(state, place) if state else "")


def _part(state: TaskState, place: str) -> str:
    span = _places(state.document).get(place)
    return span.of(state.document.text) if span else ""


def _prose(ours: Document, own: Span, part: str) -> list[Edit]:
    """Return the edits that put the prose of a part in the place of ours; a fence that both have stays as ours is."""
    theirs = ours.with_text(part)
    fences = json_fence(ours, own), json_fence(theirs, Span(0, len(part)))
    if fences[0] is None or fences[1] is None:
        return [Edit(*own, part)]
    pairs = zip(_around(own, fences[0].content), _around(Span(0, len(part)), fences[1].content), strict=True)
    return [Edit(*old, new.of(part)) for old, new in pairs]


def _around(span: Span, middle: Span) -> tuple[Span, Span]:
    return Span(span.start, middle.start), Span(middle.end, span.end)


def _with_entries(state: TaskState, kept: TaskState, wanted: Wanted) -> str:
    """Return a text with the wanted entries and fields in the JSON fences of their parts."""
    here, edits = _places(state.document), list[Edit]()
    for place, own in here.items():
        units = [unit for unit in _wanted(kept, wanted, ENTRY) if unit.item.place.startswith(f"{place} ")]
        fence = json_fence(state.document, own) if units else None
        root = state.document.json(fence) if fence else None
        if isinstance(root, Node):
            value = root.value()
            for unit in units:
                value = place_in_json(value, unit, _base(wanted, unit))
            edits += set_json(state.document.text, root, (), value)
    return apply(state.document.text, edits)


def _with_criteria(state: TaskState, before: TaskState, kept: TaskState, wanted: Wanted) -> str:
    """Return a text in which the criteria are checked that were before, and those that are wanted."""
    places = [place_of(each.text) for each in state.criteria]
    added = {unit.item.place: bool(unit.value) for unit in _wanted(kept, wanted, CRITERION)}
    checked = {place for place, mark in added.items() if mark}
    checked.update(place_of(each.text) for each in before.criteria if each.checked)
    edits = [
        Edit(*each.mark, "x" if place in checked else " ")
        for place, each in zip(places, state.criteria, strict=True)
        if each.checked != (place in checked)
    ]
    missing = [each for each in kept.criteria if place_of(each.text) in added.keys() - set(places)]
    if missing and state.criteria:
        lines = "".join(f"\n{each.span.of(kept.document.text).rstrip()}" for each in missing)
        edits.append(Edit(state.criteria[-1].span.end, state.criteria[-1].span.end, lines))
    return apply(state.document.text, edits)


# What is merged


def _sections(before: TaskState, after: TaskState, kept: TaskState, wanted: Wanted) -> tuple[str, str]:
    """Return two texts whose difference, merged into ours, adds what is wanted: `before`, and `after`.

    In both stand the kept sections that are merged: in the first one only with what stands before, in the other with
    what is wanted, too. So each of these comes behind the one that it once followed.
    """
    base, target = before.document, after.document
    for key, kind in _MERGED.items():
        if any(item.kind == kind for item in wanted):
            for which, document in enumerate((base, target)):
                section = read_state(document).parts.get(key)
                text = _section(before, kept, key, wanted if which else {})
                changed = document.with_text(apply(document.text, [Edit(*section.span, text)] if section else []))
                base, target = (base, changed) if which else (changed, target)
    return base.text, target.text


def _as_version(before: TaskState, target: str) -> str:
    """Return the text of a permanent task with the version that its log tells; what a hand edited stays edited."""
    if before.kind != PERMANENT or not before.text(VERSION_SEAL):
        return target
    state = read_state(before.document.with_text(target))
    last = max((each.number for each in change_log(state)), default=0)
    target = apply(target, set_front_matter(state.document, "version", max(last, version_of(before))))
    state = read_state(state.document.with_text(target))
    number, *hashes = version_seal(state, version_of(state)).split("-")
    edited = edited_parts(before)
    seal = "-".join((number, *(edited.get(name, each) for name, each in zip(CONTENT, hashes, strict=True))))
    return apply(target, set_front_matter(state.document, VERSION_SEAL, seal))


def _section(before: TaskState, kept: TaskState, key: str, wanted: Wanted) -> str:
    """Return a section of a kept text with the units that stand before, as they do, and with the wanted ones."""
    section = kept.parts.get(key)
    if section is None:
        return ""
    standing = {unit.item: unit.spans[0].of(before.document.text) for unit in units_of(before) if unit.spans}
    older = {
        unit.name: unit.spans[0].of(before.document.text) for unit in units_of(before) if unit.item.kind == DECISION
    }
    units = [unit for unit in units_of(kept) if unit.item.kind == _MERGED[key] and unit.item not in wanted]
    edits = [Edit(*each.spans[0], standing.get(each.item) or _older(each, older)) for each in units]
    text = apply(kept.document.text, edits)
    found = read_state(kept.document.with_text(text)).parts.get(key)
    return found.span.of(text) if found else ""


def _older(unit: Unit, decisions: Mapping[str, str]) -> str:
    """Return the form of a decision that stands under its number, if it is one of the same decision."""
    text = decisions.get(unit.name, "") if unit.item.kind == DECISION else ""
    return text if text and text.partition("\n")[0] == unit.value.partition("\n")[0] else ""
