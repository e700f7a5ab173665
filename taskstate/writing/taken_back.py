"""Judges which edits by hand somebody has taken back: no command wrote them, and what they took the place of is there.

What a hand adds, such as a session, evidence or prose, is recorded work from the first command that finds it. What it
puts in the place of something else, such as other words in a session or a pass without evidence, is an edit; once what
was there before stands there again, as after `git checkout`, nothing is lost.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model.progress_log import Session
from taskstate.model.session_texts import tells_more
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import history
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.items import CRITERION, DECISION, ENTRY, KEY, SESSION, Item, Unit, units_of
from taskstate.writing.ledger import is_edit, unit_in, written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from taskstate.storage.kept_records import KeptRecord
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.ledger import Entry

    _Entries = Iterable[tuple[KeptRecord, Entry]]

_KINDS = frozenset({CRITERION, DECISION, ENTRY, KEY, SESSION})  # prose is added to


class _Edit(NamedTuple):
    """An edit by hand, and the first record that found it."""

    unit: Unit
    record: KeptRecord
    entry: Entry


def taken_back(workspace: Workspace, missing: Iterable[Item], here: bytes, entries: _Entries) -> set[Item]:
    """Return those of the missing items that are edits by hand, in whose place a state file has again what it had.

    `entries` are all of the task, oldest first.
    """
    first: dict[Item, tuple[KeptRecord, Entry]] = {}
    wanted = {item for item in missing if item.kind in _KINDS} if here else set()
    for record, entry in entries if wanted else ():
        for item in (*entry.items, *entry.moved):
            first.setdefault(item, (record, entry))
    by_hand = {item for item, (_, entry) in first.items() if item in entry.found}
    edits = [_Edit(unit, *first[i]) for i in wanted & by_hand if (unit := unit_in(first[i][0], first[i][1].path, i))]
    standing = units_of(read_state(parse(here.decode("utf-8", "replace")))) if edits else ()
    return {edit.unit.item for edit in edits if _is_taken_back(workspace, edit, standing, by_hand)}


def _is_taken_back(workspace: Workspace, edit: _Edit, standing: Iterable[Unit], by_hand: set[Item]) -> bool:
    others = [each for each in standing if each.item not in edit.entry.items and _has_its_place(each, edit.unit)]
    if not others:
        return False
    own = {(item.kind, item.place): item for item in edit.entry.withdrawn if item not in by_hand}
    replaced = own.get((edit.unit.item.kind, edit.unit.item.place)) if edit.unit.item.place else None
    known = {replaced} if replaced else {*edit.entry.withdrawn, *_in_git(workspace, edit)}
    return any(each.item in known and not _adds(edit.unit.value, each.value) for each in others)


def _has_its_place(unit: Unit, edited: Unit) -> bool:
    """Return whether a unit is the one that may have been edited: in the same place, or a session of the same time."""
    if unit.item.kind != edited.item.kind or unit.item.place != edited.item.place:
        return False
    if isinstance(unit.value, Session) and isinstance(edited.value, Session):
        return unit.value.time == edited.value.time
    return bool(unit.item.place) or is_edit(edited, unit)


def _in_git(workspace: Workspace, edit: _Edit) -> Iterator[Item]:
    """Yield what git had in the file when the edit was found."""
    with suppress(TaskstateError, ValueError):
        for text in (data for path, _, data in written(edit.record.plan()) if path == edit.entry.path):
            head = blocks_of(parse(text.decode("utf-8", "replace"))).audit.values.get("git_head")
            data = history.text_at(workspace.root, edit.entry.path, str(head)) or b""
            yield from (unit.item for unit in units_of(read_state(parse(data.decode("utf-8", "replace")))))


def _adds(new: Any, old: Any) -> bool:  # noqa: ANN401 - any YAML or JSON value
    """Return whether a value says something beside what the other one has a place for: a key, an item, more words."""
    if isinstance(new, Session) and isinstance(old, Session):
        return tells_more(new.entry, old.entry)
    if isinstance(new, dict) and isinstance(old, dict):
        return any(_adds(value, old[key]) if key in old else value is not None for key, value in new.items())
    if isinstance(new, list) and isinstance(old, list):
        return any(each not in old for each in new)
    return old is None and isinstance(new, str) and " " in new  # a time is no words
