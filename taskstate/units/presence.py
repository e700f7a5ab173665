"""Judges whether a text holds a unit, and what takes its place: by the rules that merge two branches."""

from __future__ import annotations

from collections import Counter

from taskstate.model.session_words import session_words
from taskstate.typed import TYPE_CHECKING
from taskstate.units.items import CRITERION, SESSION, TEXT
from taskstate.units.keys import item_key
from taskstate.units.three_way import Versions
from taskstate.units.values import NOTHING, merge_value, same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.units.items import Unit


def holds(others: Iterable[Unit], unit: Unit) -> bool:
    """Return whether to merge a unit into a text, which has these others in its place, would change nothing."""
    if unit.item.kind == CRITERION:
        return any(each.value or not unit.value for each in others)
    if unit.item.kind == TEXT:
        return any(not Counter(unit.value) - Counter(each.value) for each in others)
    if unit.item.kind == SESSION:
        return _words(unit) in map(_words, others)
    return bool(unit.rule) and any(same(each.value, merged_into(each.value, unit)) for each in others)


def _words(session: Unit) -> str:
    """Return what a session says, in its comments, too."""
    entry: str = session.value.entry
    return session_words(entry.replace("<!--", " ").replace("-->", " "))


def overwrites(before: Unit | None, after: Unit, lost: Unit) -> bool:
    """Return whether a write, which made `after` out of `before`, has put something newer for all that was lost."""
    old, new, gone = before.value if before else None, after.value, lost.value
    if isinstance(old, dict) and isinstance(new, dict) and isinstance(gone, dict):
        return all(old.get(key) != new.get(key) for key in gone if old.get(key) != gone[key] != new.get(key))
    if lost.rule and isinstance(old, list) and isinstance(new, list) and isinstance(gone, list):
        return all(each in old or each in new for each in gone)
    return True


def place_in_json(value: object, unit: Unit) -> object:
    """Return a JSON value of a part with the value of a unit in its place: merged into what has it, or added."""
    key = unit.rule.removesuffix("[]")
    values = value if isinstance(value, dict) else {"": value}
    if unit.rule.endswith("[]"):
        listed = values.get(key)
        entries = {item_key(each): each for each in listed} if isinstance(listed, list) else {}
        own = item_key(unit.value)
        new: object = [*(entries | {own: merged_into(entries.get(own, NOTHING), unit)}).values()]
    else:
        new = unit.value
    return {**values, key: new} if key else new


def merged_into(value: object, unit: Unit) -> object:
    """Return a value with that of a unit merged in, which holds where both have something else."""
    return merge_value(Versions(NOTHING, value, unit.value), unit.rule, "theirs")
