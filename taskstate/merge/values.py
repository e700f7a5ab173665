"""Merges plain values of YAML and JSON: maps key by key, lists item by item, single values by the rule of their key.

A key means the same wherever it stands, so its name is enough to find its rule. Where two sides have changed one value
and no rule decides, the preferred side's stands: that is a conflict.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias

from taskstate.handoff.paths import timestamp_in
from taskstate.merge.three_way import Versions, trivial_merge
from taskstate.model.names import id_key
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DONE, IN_PROGRESS, NOT_STARTED, PENDING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.merge.three_way import Prefer

    Rule: TypeAlias = Callable[[Versions[Any]], Any]


class _Nothing:
    """What stands where a side has no such key, and what a rule returns that cannot decide."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()

# Each lifecycle rises through these, those of tasks, roles, objectives and the baseline alike.
_LIFECYCLE = (PENDING, CREATED, NOT_STARTED, IN_PROGRESS, BLOCKED, "recorded", DONE, COMPLETE)
# Fields that tell one fact together: (of which maps, which fields, told anew by the higher of these).
_FACTS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "features[]": (("passes", "tested_at", "evidence"), ("tested_at",)),
    "coordination[]": (
        ("status", "completed_at", "qa", "qa_log_path", "qa_log_sha256", "session_id"),
        ("status", "completed_at"),
    ),
    "audit": (("updated_by", "updated_at", "git_head"), ("updated_at",)),
}
_BY_NAME = frozenset({"coordination", "snapshots", "acks", "qa", "results"})  # maps whose keys are names
# What is one thing: never half of one side and half of the other.
_WHOLE = frozenset({"context", "baseline", "output", "path", "between", "qa[]", "results[]", "evidence[]"})
_KEPT = frozenset({"features", "objectives", "approaches_tried"})  # lists that nothing may be taken from
# Raised by everything of its kind, so that equal numbers on both sides stand for two writes, or two handoffs.
ADVANCING = frozenset({"revision", "update_count", "count", "handoff_count", "handoffs"})
_DERIVED = frozenset({"sessions", "file_size_kb", "overall_progress", "seal"})  # brought up to date afterwards


def merge_value(sides: Versions[Any], key: str, prefer: Prefer) -> Any:  # noqa: ANN401 - any YAML or JSON value
    """Return what becomes of the value of `key`; `NOTHING` stands for a side that has none, and for none at all."""
    found = trivial_merge(sides.each(_identity))
    if found and not (key in ADVANCING and same(sides.ours, sides.theirs)):
        return next(value for value in sides if _identity(value) == found[0])
    if same(sides.base, sides.ours):
        return sides.ours
    if key in _DERIVED:
        return sides.ours if sides.ours is not NOTHING else sides.theirs
    decided = _RULES[key](sides) if key in _RULES else NOTHING
    if decided is not NOTHING:
        return decided
    if key not in _WHOLE and isinstance(sides.ours, dict) and isinstance(sides.theirs, dict):
        return _merge_map(sides._replace(base=sides.base if isinstance(sides.base, dict) else {}), key, prefer)
    if key not in _WHOLE and isinstance(sides.ours, list) and isinstance(sides.theirs, list):
        return _merge_list(sides._replace(base=sides.base if isinstance(sides.base, list) else []), key, prefer)
    return sides.preferred(prefer)


def same(first: object, second: object) -> bool:
    """Return whether two values are the same, types included."""
    return _identity(first) == _identity(second)


def _identity(value: object) -> str:
    return "" if value is NOTHING else json.dumps(value, sort_keys=True, default=repr)


# Maps


def _merge_map(sides: Versions[dict[str, Any]], key: str, prefer: Prefer) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    fact = _merge_fact(sides, key)
    for name in dict.fromkeys((*sides.ours, *sides.theirs)):
        if name in fact:
            value = fact[name]
        else:
            parts = sides.each(lambda part, name=name: part.get(name, NOTHING))  # type: ignore[misc]  # the loop's name
            value = merge_value(parts, f"{key}[]" if key in _BY_NAME else name, prefer)
        if value is not NOTHING:
            merged[name] = value
    return _agreeing(merged, sides, key)


def _merge_fact(sides: Versions[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return the fields of a map that tell one fact together: those of the side that has told it last."""
    names, told_by = _FACTS.get(key, ((), ()))
    facts = sides.each(lambda part: {name: part.get(name, NOTHING) for name in names})
    found = trivial_merge(facts.each(_fact_identity))
    if found:
        return next(fact for fact in facts if _fact_identity(fact) == found[0])
    return max(facts.ours, facts.theirs, key=lambda fact: (*(_height(fact[name]) for name in told_by), _careful(fact)))


def _fact_identity(fact: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_identity(value) for value in fact.values())


def _height(value: object) -> tuple[int, str]:
    """Return how far a status or a time has come; what is neither is lowest."""
    if value in _LIFECYCLE:
        return _LIFECYCLE.index(value), ""
    return 0, value if isinstance(value, str) else ""


def _careful(fact: dict[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Return a key by which, of two facts told at one time, a failure counts before a success."""
    return fact.get("passes") is not True, _fact_identity(fact)


def _agreeing(merged: dict[str, Any], sides: Versions[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return a merged map whose parts do not contradict each other."""
    if key == "coordination[]" and merged.get("blocking_findings") and merged.get("status") == DONE:
        return {**merged, "status": BLOCKED}  # what one side found, the other side has not resolved
    if "objectives" in merged and "current_objective" in merged:
        agreed = trivial_merge(sides.each(lambda part: _identity(part.get("current_objective"))))
        if not agreed or merged["current_objective"] is None:  # the other side may have added one
            return {**merged, "current_objective": _current(merged["objectives"], sides)}
    return merged


def _current(objectives: object, sides: Versions[dict[str, Any]]) -> object:
    """Return the objective to work on where the sides went on to different ones: the first that is not done yet."""
    listed = [each for each in objectives if isinstance(each, dict)] if isinstance(objectives, list) else []
    is_open = [each.get("id") for each in listed if each.get("status") != DONE]
    named = [sides.ours.get("current_objective"), sides.theirs.get("current_objective")]
    return next((each for each in is_open if each in named), is_open[0] if is_open else None)


# Lists


def _merge_list(sides: Versions[list[Any]], key: str, prefer: Prefer) -> list[Any]:
    """Return ours with what theirs changed, added and removed; items are the same where their ids are."""
    keyed = sides.each(lambda items: {_item_key(item): item for item in items})
    if any(len(items) != len(list_) for items, list_ in zip(keyed, sides, strict=True)):
        return sides.preferred(prefer)
    merged: list[Any] = []
    for name in dict.fromkeys((*keyed.ours, *keyed.theirs)):
        item = keyed.each(lambda items, name=name: items.get(name, NOTHING))  # type: ignore[misc]  # the loop's name
        value = merge_value(item, f"{key}[]", prefer)
        if value is NOTHING and key in _KEPT:
            value = item.ours if item.ours is not NOTHING else item.theirs
        if value is not NOTHING:
            merged.append(value)
    return sorted(merged, key=_ORDERS[key]) if key in _ORDERS else merged


def _item_key(item: object) -> str:
    """Return what an item of a list is known by: its id, what it cites, or all that it is."""
    if isinstance(item, dict):
        if "id" in item:
            return _identity(item["id"])
        if {"file", "section"} <= item.keys():
            return _identity([item["file"], item["section"]])
    return _identity(item)


def _citation(item: object) -> tuple[str, str]:
    return (str(item.get("file")), str(item.get("section"))) if isinstance(item, dict) else ("", "")


_ORDERS: Mapping[str, Callable[[Any], Any]] = {
    "depends_on": lambda item: id_key(str(item)),
    "subtasks": lambda item: id_key(str(item)),
    "events": lambda item: (str(item.get("at", "")), _identity(item)) if isinstance(item, dict) else ("", ""),
    "standards": _citation,
}


# Single values, each changed by both sides


def _furthest(sides: Versions[Any]) -> object:
    """Return the status that comes later in the lifecycle."""
    if sides.ours not in _LIFECYCLE or sides.theirs not in _LIFECYCLE:
        return NOTHING
    return max(sides.ours, sides.theirs, key=_LIFECYCLE.index)


def _raised(sides: Versions[Any]) -> object:
    """Return the number of the write that the merge is: one above the higher of the two."""
    return max(sides.ours, sides.theirs) + 1 if _are_counts(sides) else NOTHING


def _counted(sides: Versions[Any]) -> object:
    """Return a count of what both sides did."""
    base = sides.base if isinstance(sides.base, int) else 0
    return max(sides.ours + sides.theirs - base, sides.ours, sides.theirs) if _are_counts(sides) else NOTHING


def _highest(sides: Versions[Any]) -> object:
    return max(sides.ours, sides.theirs) if _are_counts(sides) else NOTHING


def _lowest(sides: Versions[Any]) -> object:
    return min(sides.ours, sides.theirs) if _are_counts(sides) else NOTHING


def _are_counts(sides: Versions[Any]) -> bool:
    return all(isinstance(value, int) and not isinstance(value, bool) for value in (sides.ours, sides.theirs))


def _latest(sides: Versions[Any]) -> object:
    """Return the later of two times; a time is later than none."""
    times = [value for value in (sides.ours, sides.theirs) if isinstance(value, str)]
    return max(times) if times else NOTHING


def _earliest(sides: Versions[Any]) -> object:
    """Return the earlier of two times; a time is better than none."""
    times = [value for value in (sides.ours, sides.theirs) if isinstance(value, str)]
    return min(times) if times else NOTHING


def _there(sides: Versions[Any]) -> object:
    """Return the path that one side names where the other has none; nothing where they name two."""
    named = [value for value in (sides.ours, sides.theirs) if isinstance(value, str)]
    return named[0] if len(named) == 1 else NOTHING


def _same_handoff(sides: Versions[Any]) -> object:
    """Return what both sides say of handoffs where they name one document as open: it was written once."""
    told = sides.ours if same(sides.ours, sides.theirs) and isinstance(sides.ours, dict) else {}
    return told if isinstance(told.get("open"), str) else NOTHING


def _newest_handoff(sides: Versions[Any]) -> object:
    """Return the newest document that a side names as open; the others stay open beside it, and lint tells of them."""
    named = [value for value in (sides.ours, sides.theirs) if isinstance(value, str)]
    return max(named, key=lambda path: (timestamp_in(path), path)) if named else NOTHING


def _later_snapshot(sides: Versions[Any]) -> object:
    taken = [value for value in (sides.ours, sides.theirs) if isinstance(value, dict)]
    return max(taken, key=lambda each: (str(each.get("snapshot_time", "")), _identity(each))) if taken else NOTHING


_RULES: Mapping[str, Rule] = {
    "status": _furthest,
    "revision": _raised,
    "version": _counted,
    "update_count": _counted,
    "handoff_count": _counted,
    "count": _counted,
    "drift_budget": _highest,
    "acks[]": _lowest,
    "created_at": _earliest,
    "started_at": _earliest,
    "updated_at": _latest,
    "last_updated": _latest,
    "handoffs": _same_handoff,
    "open": _newest_handoff,
    "archive_path": _there,
    "snapshots[]": _later_snapshot,
}
