"""Records, with every write, what a command acknowledged for each task, item by item.

The entry of a write lists the items of the state file that it left, those that it moved into the archive, and those
that it withdrew (a proof that failed after all, a check taken back). `losses` compares the entries with the files.
"""

from __future__ import annotations

import re
from collections import Counter
from contextlib import suppress
from functools import lru_cache

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.document_kinds import section_key
from taskstate.model.progress_log import Session, session_number
from taskstate.model.session_texts import without_turn
from taskstate.model.statuses import DROPPED
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, TaskState, read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.storage import files, journal, kept_records
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import (
    CRITERION,
    ENTRY,
    EVENT,
    FILES,
    KEY,
    SESSION,
    Item,
    Unit,
    is_check,
    state_items,
    units_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.storage.kept_records import KeptRecord
    from taskstate.storage.transaction import Plan
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

_WORDS = r"\w+"
_LABELS = r"(?m)\*\*[^*\n]+:\*\*|^#.*"


class Entry(NamedTuple):
    """What one write acknowledged for one task.

    `path` is that of the state file, `stamp` identifies its last write even after edits by hand, `sha` is its SHA-256,
    `sections` are the keys of its sections. `items` are those that the state file held, `moved` those that went
    into other files, `withdrawn` those that were there before the write and not after it, `found` those that it left as
    it found them, and that the write before had not left. Of a `dropped` task the file may go, and of one that
    was let go when its file was gone.
    """

    path: str
    revision: int
    at: str
    stamp: str
    sha: str
    sections: tuple[str, ...]
    items: Counter[Item]
    moved: Counter[Item]
    withdrawn: Counter[Item]
    found: Counter[Item]
    dropped: bool = False

    def as_json(self) -> dict[str, object]:
        """Return the entry as JSON holds it."""
        counters = {name: [" ".join(each) for each in getattr(self, name).elements()] for name in _COUNTERS}
        return self._asdict() | counters


_COUNTERS = ("items", "moved", "withdrawn", "found")
_LISTED = frozenset({SESSION, EVENT, *FILES})  # kinds that were always counted


class Owed(NamedTuple):
    """An item that commands acknowledged: how many of it, and the newest record whose files held it.

    `revision` is the lowest whose state file held it; `known` are all items that any record of the task lists, `since`
    has that revision of each; `left` has by each stamp what all writes with it left: after a stale
    save, two in the same second may have the same one. It is `told` if it was found to be gone before.
    """

    number: int
    revision: int
    known: Collection[Item]
    since: Mapping[Item, int]
    left: Mapping[str, Collection[Item]]
    record: KeptRecord
    entry: Entry
    told: bool


@lru_cache(maxsize=256)  # a command reads the newest ones several times; a record is never written again
def read_entry(record: KeptRecord, task_id: str) -> Entry | None:
    """Return a record's entry for a task, or None if it has none or cannot be read."""
    with suppress(TaskstateError, ValueError, TypeError, KeyError, AttributeError):
        values: dict[str, Any] = dict(record.entry()["tasks"][task_id])
        counters = {name: Counter(map(_item, values.get(name, ()))) for name in _COUNTERS}
        if "dropped" not in values:  # of a version that counted only these in the present form
            counters = {
                name: Counter(i for i in each.elements() if i.kind in _LISTED) for name, each in counters.items()
            }
        return Entry(**values | counters)
    return None


def _item(text: str) -> Item:
    """Return the item in an entry's JSON; only its place may have blanks in it."""
    kind, _, rest = text.partition(" ")
    place, _, sha = rest.rpartition(" ")
    return Item(kind, place, sha)


def newest_entry(records: Iterable[KeptRecord], task_id: str) -> Entry | None:
    """Return the newest entry of a task, or None."""
    own = [record for record in records if task_id in record.ids]
    return read_entry(own[-1], task_id) if own else None


def entries_of(records: Iterable[KeptRecord], task_id: str) -> list[tuple[KeptRecord, Entry]]:
    """Return the records of a task with their entries, oldest first."""
    own = (record for record in records if task_id in record.ids)
    return [(record, entry) for record in own if (entry := read_entry(record, task_id))]


def owed_items(entries: Iterable[tuple[KeptRecord, Entry]], told: Collection[str] = frozenset()) -> dict[Item, Owed]:
    """Return the items of a task that must be accounted for; `told` are those that are known to be gone."""
    owed: dict[Item, Owed] = {}
    known: set[Item] = set()
    since: dict[Item, int] = {}
    left: dict[str, Collection[Item]] = {}
    for record, entry in entries:
        left[entry.stamp] = entry.items.keys() & left.get(entry.stamp, entry.items)
        known.update(entry.items, entry.moved, entry.withdrawn)
        for item, count in entry.withdrawn.items():
            since.setdefault(item, entry.revision - 1)  # it was there before
            if item in owed:
                owed[item] = owed[item]._replace(number=owed[item].number - count)
        for item, count in (entry.items + entry.moved).items():
            before = owed.get(item)
            if before is None or (item.kind == KEY and before.number <= 0):  # a status comes again, and begins anew
                before = Owed(
                    0,
                    0 if item.kind == KEY and item in entry.found else entry.revision,
                    known,
                    since,
                    left,
                    record,
                    entry,
                    " ".join(item) in told,
                )
                since[item] = entry.revision
            owed[item] = before._replace(number=max(before.number, count), record=record, entry=entry)
    return {item: each for item, each in owed.items() if each.number > 0}


def stamp_of(state: TaskState) -> str:
    """Return what identifies the last write of a state file by the tool, whatever was edited by hand since."""
    audit = blocks_of(state.document).audit
    # The first two are those of the write itself, but for a file of an earlier version.
    written = {"update_count": state.revision, "updated_at": state.text("updated_at"), **audit.values}
    marks = (written.get(key) for key in ("update_count", "updated_at", "updated_by", "git_head"))
    return " ".join(map(str, (state.revision, *marks, audit.seal)))


def kept_texts(workspace: Workspace, relative: str) -> Iterator[bytes]:
    """Yield the texts that commands wrote into a file, newest first."""
    own = names.own_file(relative)
    for record in reversed(kept_records.records(workspace.private)[0]):
        if own and (own.id or "").casefold() in record.ids:
            with suppress(TaskstateError, ValueError):
                yield from (data for path, _, data in written(record.plan()) if path == relative and data)


def written(plan: Plan) -> Iterator[tuple[str, bool, bytes]]:
    """Yield what a plan writes: path, whether it is appended, and the bytes."""
    for each in plan:
        if isinstance(each, journal.Create | journal.Replace | journal.Append):
            yield each.path, isinstance(each, journal.Append), each.data


NOTHING = Entry("", 0, "", "", "", (), Counter(), Counter(), Counter(), Counter())


def entry_for(path: str, data: bytes, state: TaskState | None = None) -> Entry:
    """Return the entry of a task with this state file; without bytes it says nothing of the file.

    A caller that has read the bytes already passes the `state`.
    """
    if not data:
        return NOTHING
    state = state or read_state(parse(data.decode("utf-8", "replace")))
    return NOTHING._replace(
        path=path,
        revision=state.revision,
        at=state.text("updated_at") or "",
        stamp=stamp_of(state),
        sha=files.digest(data),
        sections=section_names(state),
        items=state_items(state),
        dropped=state.status == DROPPED,
    )


def section_names(state: TaskState) -> tuple[str, ...]:
    """Return the keys of a state file's sections, and of its last part, which a file that is cut off lacks."""
    return state.document.of_body(_section_names)


def _section_names(document: Document, _given: None) -> tuple[str, ...]:
    keys = dict.fromkeys(section_key(each.title) for each in document.sections if each.level == SECTION_LEVEL)
    parts = [each for each in document.sections if each.level == PART_LEVEL]
    last_section = max((each.span.start for each in document.sections if each.level == SECTION_LEVEL), default=0)
    ends = [each for each in parts[-1:] if each.span.start > last_section and session_number(each.title) is None]
    last = [section_key(each.title) for each in ends]
    return (*keys, *last)


class View:
    """A version of a state file, for judging what it holds of units that it lacks as they were."""

    def __init__(self, data: bytes) -> None:
        self._state = read_state(parse(data.decode("utf-8", "replace")))
        self._stamp = stamp_of(self._state)
        self._places: dict[tuple[str, str], list[Unit]] = {}
        for unit in units_of(self._state):
            self._places.setdefault((unit.item.kind, unit.item.place), []).append(unit)

    def accounted(self, missing: Mapping[Item, Owed], *, edits: bool = True) -> set[Item]:
        """Return those of the missing items that this version holds in another form, or that somebody has edited.

        In a text of ours by its stamp, somebody has edited what has something new in its place: such as no write here
        has left or found. A text with another stamp was merged: it holds what would change nothing in it. One text is
        the edit of one unit only, the newest that it may be; and what was told before is edited by nobody. Without
        `edits` nothing counts as edited.
        """
        from taskstate.units.presence import holds  # most commands miss nothing

        taken: list[Unit] = []
        found: set[Item] = set()
        for item, owed in sorted(missing.items(), key=lambda each: each[1].record.number, reverse=True):
            others = self._places.get((item.kind, item.place), [])
            others = others or self._anew(item, owed)
            if edits and self._stamp in owed.left and not self._is_newer(others, owed):
                edit = None if owed.told else self._edit_of(item, owed, [each for each in others if each not in taken])
                taken += [edit] if edit else []
                # What was there from the beginning nobody but a hand has taken out of a text of ours.
                is_taken_out = item.kind == KEY and not others and owed.revision <= 1 and item in owed.left[self._stamp]
                found |= {item} if edit or (is_taken_out and not owed.told) else set()
            elif item.kind not in FILES and others and not (item.kind == KEY and self._state.revision < owed.revision):
                unit = unit_in(owed.record, owed.entry.path, item)
                found |= {item} if unit and holds(others, unit) else set()
        return found | self._unticked({item: owed for item, owed in missing.items() if item not in found})

    def _anew(self, item: Item, owed: Owed) -> list[Unit]:
        """Return the units in places that no write has known, for an item whose place is gone: it may be renamed."""
        if item.kind not in {CRITERION, ENTRY}:
            return []
        known = {(each.kind, each.place) for each in owed.known}
        family = item.place.rpartition(" ")[0] if item.kind == ENTRY else ""
        return [
            units[0]
            for (kind, place), units in self._places.items()
            if kind == item.kind
            and (kind, place) not in known
            and (kind == CRITERION or place.startswith(f"{family} "))
        ]

    def _unticked(self, missing: Mapping[Item, Owed]) -> set[Item]:
        """Return the missing checks that somebody has taken back: nothing else that this write left is missing."""
        stamp = self._stamp
        if all(is_check(i) and stamp == owed.entry.stamp and i in owed.left[stamp] for i, owed in missing.items()):
            return {item for item in missing if (item.kind, item.place) in self._places}
        return set()

    def _is_newer(self, others: Iterable[Unit], owed: Owed) -> bool:
        """Return whether a later write than that of the missing entry has left what stands in its place."""
        return any(owed.since.get(each.item, 0) > owed.revision for each in others if each.item.kind == ENTRY)

    def _edit_of(self, item: Item, owed: Owed, others: Iterable[Unit]) -> Unit | None:
        if item not in owed.left[self._stamp]:
            return None
        unknown = [each for each in others if each.item not in owed.known]
        if item.place or not unknown:
            return next(iter(unknown), None)
        original = unit_in(owed.record, owed.entry.path, item)
        return next((each for each in unknown if original and is_edit(each, original)), None)


def is_edit(unit: Unit, original: Unit) -> bool:
    """Return whether a session or a decision may be another one, edited by hand."""
    if isinstance(unit.value, Session) and isinstance(original.value, Session):
        return unit.value.time == original.value.time and are_alike(unit.value.entry, original.value.entry)
    if not isinstance(unit.value, str) or not isinstance(original.value, str):
        return False
    halves = zip(unit.value.strip().partition("\n"), original.value.strip().partition("\n"), strict=True)
    return unit.name == original.name and any(one == other and one.strip() for one, other in halves)


def unit_in(record: KeptRecord, path: str, item: Item) -> Unit | None:
    """Return the unit in the state file of a record that is this item, or None."""
    return _units_in(record, path).get(item)


@lru_cache(maxsize=64)
def _units_in(record: KeptRecord, path: str) -> Mapping[Item, Unit]:
    with suppress(TaskstateError, ValueError):
        texts = [data for name, _, data in written(record.plan()) if name == path]
        states = [read_state(parse(data.decode("utf-8", "replace"))) for data in texts]
        return {unit.item: unit for state in states for unit in units_of(state)}
    return {}


def are_alike(one: str, other: str) -> bool:
    """Return whether two sessions share half of their words; labels, headings and what a turn adds do not count."""
    texts = (re.sub(_LABELS, "", without_turn(text)) for text in (one, other))
    words = [set(re.findall(_WORDS, text.casefold())) for text in texts]
    return 2 * len(words[0] & words[1]) >= len(words[0] | words[1])
