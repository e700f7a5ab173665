"""Reads the content of a handoff from JSON, or from a draft document that was completed."""

from __future__ import annotations

from taskstate.handoff.document import Handoff, HandoffReader, is_unfilled
from taskstate.syntax.document import parse
from taskstate.syntax.escaping import is_none
from taskstate.syntax.json_input import read_object, unknown_key, wrong_value
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_EXPECTED_FORM = '{"phase": "1", "action": "..", "file": "..", "location": "..", "goal": "..", "decisions": [..], …}'
_TEXTS = ("phase", "action", "file", "location", "goal")
# The lists, with the two keys of the objects that they may hold besides texts; an object becomes one text.
_PAIRS: Mapping[str, tuple[str, ...]] = {
    "decisions": ("decision", "rationale"),
    "avoid": ("approach", "reason"),
    "context": (),
    "references": ("path", "what"),
    "do_not_reread": (),
}
_ALIASES = {"refs": "references", "do-not-reread": "do_not_reread", "goal_state": "goal", "next_action": "action"}


def read_input(text: str, name: str) -> Handoff:
    """Read a handoff from a JSON object or a Markdown document; `name` names the input in errors.

    Raises:
        TaskstateError: code "invalid-input".
    """
    bare = text.removeprefix("\ufeff")
    if not bare.lstrip().startswith(("{", "[")):
        return HandoffReader(parse(text)).handoff
    return Handoff(**dict(_field(key, value, name) for key, value in read_object(bare, name, _EXPECTED_FORM).items()))


def _field(given: str, value: object, name: str) -> tuple[str, Any]:
    """Return the name of a field of `Handoff` and its value.

    Raises:
        TaskstateError: there is no such field, or the value is of another type.
    """
    key = _ALIASES.get(given, given)
    if key in _TEXTS:
        if isinstance(value, str) or (key == "phase" and isinstance(value, int) and not isinstance(value, bool)):
            return key, str(value)
        raise wrong_value(name, given, "a text")
    if key not in _PAIRS:
        raise unknown_key(name, given, (*_TEXTS, *_PAIRS))
    if not isinstance(value, list):
        raise wrong_value(name, given, "a list")
    return key, tuple(_entry(each, key, name) for each in value)


def _entry(value: object, key: str, name: str) -> str:
    pair = _PAIRS[key]
    if isinstance(value, str):
        return value
    if (
        pair
        and isinstance(value, dict)
        and set(value) == set(pair)
        and all(isinstance(each, str) for each in value.values())
    ):
        first, second = (value[each] for each in pair)
        if key == "references":
            return f"{first}, {second}" if second.strip() else first
        if is_unfilled(second) or is_none(second):
            raise wrong_value(name, key, f"a list whose every item has its {pair[1]}, which {first!r} lacks")
        return f"{first}: {second}"
    form = f'texts, or of {{"{pair[0]}": "..", "{pair[1]}": ".."}}' if pair else "texts"
    raise wrong_value(name, key, f"a list of {form}")


def merge_handoffs(first: Handoff, second: Handoff) -> Handoff:
    """Merge two records: texts of the second win, its list items follow those of the first, each once."""
    merged: dict[str, Any] = {}
    for field in Handoff._fields:
        old, new = getattr(first, field), getattr(second, field)
        merged[field] = (new or old) if isinstance(old, str) else tuple(dict.fromkeys((*old, *new)))
    return Handoff(**merged)
