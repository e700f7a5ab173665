"""Judges whether a text holds a unit, and what takes its place: by the rules that merge two branches."""

from __future__ import annotations

from collections import Counter

from taskstate.model.session_references import fuller
from taskstate.model.session_words import session_words
from taskstate.typed import TYPE_CHECKING
from taskstate.units.items import CRITERION, SESSION, TEXT
from taskstate.units.keys import item_key
from taskstate.units.three_way import Versions
from taskstate.units.values import NOTHING, merge_value, same

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from taskstate.units.items import Unit


def holds(others: Iterable[Unit], unit: Unit) -> bool:
    """Return whether to merge a unit into a text, which has these others in its place, would change nothing."""
    if unit.item.kind == CRITERION:
        return any(each.value or not unit.value for each in others)
    if unit.item.kind == TEXT:
        return any(not Counter(unit.value) - Counter(each.value) for each in others)
    if unit.item.kind == SESSION:
        own: str = unit.value.entry
        return any(_words(unit) == _words(each) or fuller(each.value.entry, own) == each.value.entry for each in others)
    return bool(unit.rule) and any(same(each.value, merged_into(each.value, unit)) for each in others)


def _words(session: Unit) -> str:
    """Return what a session says, in its comments, too."""
    entry: str = session.value.entry
    return session_words(entry.replace("<!--", " ").replace("-->", " "))


def overwrites(before: Unit | None, after: Unit, lost: Unit) -> bool:
    """Return whether a write, which made `after` out of `before`, has put something newer for all that was lost.

    What it made anew, without anything in that place, it did not put for what was there once: it never saw that.
    """
    if lost.item.kind == TEXT:
        return before is not None
    return _overwrites(before.value if before else NOTHING, after.value, lost.value, is_entry=lost.rule.endswith("[]"))


def _overwrites(old: Any, new: Any, gone: Any, *, is_entry: bool) -> bool:  # noqa: ANN401 - any YAML or JSON value
    if same(new, gone) or same(old, gone):
        return True
    if isinstance(gone, dict) and isinstance(new, dict) and isinstance(old, dict):
        fields = ((old.get(key, NOTHING), new.get(key, NOTHING), value) for key, value in gone.items())
        return all(_overwrites(*each, is_entry=False) for each in fields)
    if isinstance(gone, list) and isinstance(new, list):
        olds, news = ({item_key(each): each for each in side} for side in (old if isinstance(old, list) else [], new))
        keyed = ((olds.get(key, NOTHING), news.get(key, NOTHING), each) for each in gone for key in [item_key(each)])
        return all(_overwrites(*each, is_entry=True) for each in keyed)
    return not same(old, new) and not (is_entry and old is NOTHING)


def value_at(units: Iterable[Unit], unit: Unit) -> Any:  # noqa: ANN401 - any YAML or JSON value
    """Return the value of the one among some units that has the place of another one, or `NOTHING`."""
    places = (each.value for each in units if (each.item.kind, each.item.place) == (unit.item.kind, unit.item.place))
    return next(places, NOTHING)


def place_in_json(value: object, unit: Unit, base: object = NOTHING) -> object:
    """Return a JSON value of a part with the value of a unit in its place: merged into what has it, or added."""
    key = unit.rule.removesuffix("[]")
    values = value if isinstance(value, dict) else {"": value}
    if unit.rule.endswith("[]"):
        listed = values.get(key)
        entries = {item_key(each): each for each in listed} if isinstance(listed, list) else {}
        own = item_key(unit.value)
        new: object = [*(entries | {own: merged_into(entries.get(own, NOTHING), unit, base)}).values()]
    else:
        new = merged_into(values.get(key, NOTHING), unit, base)
    return {**values, key: new} if key else new


def merged_into(value: object, unit: Unit, base: object = NOTHING) -> object:
    """Return a value with that of a unit merged in, which holds where both have changed something."""
    return merge_value(Versions(base, value, unit.value), unit.rule, "theirs")
