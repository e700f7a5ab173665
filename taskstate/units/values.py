"""Merges values of YAML and JSON: maps key by key, lists item by item, single values by the rule for their key.

A key has the same meaning wherever it occurs, so its name alone selects the rule. Where both sides have changed a value
and no rule decides, the preferred side's value is taken: that is a conflict.
"""

from __future__ import annotations

import json

from taskstate.model.names import id_key, time_of_handoff
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DONE, DROPPED, IN_PROGRESS, NOT_STARTED, PENDING
from taskstate.typed import TYPE_CHECKING
from taskstate.units.findings import has_open, with_numbers_apart
from taskstate.units.keys import ADVANCING, BY_NAME, DERIVED, WHOLE, item_key
from taskstate.units.three_way import Versions, interleave, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    from taskstate.units.three_way import Prefer

    Rule: TypeAlias = Callable[[Versions[Any]], Any]


class _Nothing:
    """The absence of a key in a version, and the result of a rule that cannot decide."""

    def __repr__(self) -> str:
        return "NOTHING"


NOTHING = _Nothing()

# The statuses of tasks, roles, objectives and the baseline, merged into one order in which each lifecycle rises; a
# task that only one side has dropped goes on.
_LIFECYCLE = (DROPPED, PENDING, CREATED, NOT_STARTED, IN_PROGRESS, BLOCKED, "recorded", DONE, COMPLETE)
# Fields that belong together and are taken from one side, by map: (the fields, those whose higher value decides).
_TOGETHER: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "features[]": (("passes", "tested_at", "evidence"), ("tested_at",)),
    "coordination[]": (
        ("status", "completed_at", "qa", "qa_log_path", "qa_log_sha256"),
        ("status", "completed_at"),
    ),
    "audit": (("updated_by", "updated_at", "git_head"), ("updated_at",)),
    "delta": (("base_commit", "base_tree"), ()),
}
_APPEND_ONLY = frozenset({"features", "objectives", "approaches_tried"})  # lists from which no item is removed
# The lists of an Impact Map, in an order that does not depend on which side is ours.
_UNORDERED = frozenset({"modules", "interfaces", "ripple_paths", "paths"})


def merge_value(versions: Versions[Any], key: str, prefer: Prefer) -> Any:  # noqa: ANN401 - any YAML or JSON value
    """Return the merged value of `key`; `NOTHING` means that a side does not have it, or that it is removed."""
    unconflicted = trivial_merge(versions.each(_identity))
    if unconflicted and not (key in ADVANCING and same(versions.ours, versions.theirs)):
        return next(value for value in versions if _identity(value) == unconflicted[0])
    if same(versions.base, versions.ours):
        return versions.ours
    if key in DERIVED:
        return versions.ours if versions.ours is not NOTHING else versions.theirs
    value = _RULES[key](versions) if key in _RULES else NOTHING
    if value is not NOTHING:
        return value
    if key == "coordination":
        versions = with_numbers_apart(versions)
    if key not in WHOLE and isinstance(versions.ours, dict) and isinstance(versions.theirs, dict):
        return _merge_map(versions._replace(base=versions.base if isinstance(versions.base, dict) else {}), key, prefer)
    if key not in WHOLE and isinstance(versions.ours, list) and isinstance(versions.theirs, list):
        return _merge_list(
            versions._replace(base=versions.base if isinstance(versions.base, list) else []), key, prefer
        )
    return versions.preferred(prefer)


def same(first: object, second: object) -> bool:
    """Return whether two values are equal, types included: 1, 1.0 and True differ."""
    return _identity(first) == _identity(second)


def _identity(value: object) -> str:
    return "" if value is NOTHING else json.dumps(value, sort_keys=True, default=repr)


# Maps


def _merge_map(versions: Versions[dict[str, Any]], key: str, prefer: Prefer) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    fact = _merge_together(versions, key)
    for name in dict.fromkeys((*versions.ours, *versions.theirs)):
        if name in fact:
            value = fact[name]
        else:
            parts = versions.each(lambda part, name=name: part.get(name, NOTHING))  # type: ignore[misc]  # the loop's name
            value = merge_value(parts, f"{key}[]" if key in BY_NAME else name, prefer)
        if value is not NOTHING:
            merged[name] = value
    return _consistent(merged, versions, key)


def _merge_together(versions: Versions[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return the fields of a map that belong together, from the side that set them last."""
    names, deciding = _TOGETHER.get(key, ((), ()))
    facts = versions.each(lambda part: {name: part.get(name, NOTHING) for name in names})
    unconflicted = trivial_merge(facts.each(_identities))
    if unconflicted:
        return next(fact for fact in facts if _identities(fact) == unconflicted[0])
    return max(
        facts.ours,
        facts.theirs,
        key=lambda fact: (*(_progress_rank(fact[name]) for name in deciding), _failure_first(fact)),
    )


def _identities(fact: dict[str, Any]) -> tuple[str, ...]:
    return tuple(_identity(value) for value in fact.values())


def _progress_rank(value: object) -> tuple[int, str]:
    """Return the rank of a status or a time; any other value ranks lowest."""
    if value in _LIFECYCLE:
        return _LIFECYCLE.index(value), ""
    return 0, value if isinstance(value, str) else ""


def _failure_first(fact: dict[str, Any]) -> tuple[bool, tuple[str, ...]]:
    """Return a sort key that prefers a failure over a success where both have the same time."""
    return fact.get("passes") is not True, _identities(fact)


def _consistent(merged: dict[str, Any], versions: Versions[dict[str, Any]], key: str) -> dict[str, Any]:
    """Return a merged map with contradictions between its values removed."""
    if key == "coordination[]":
        is_open = merged.get("status") == DONE and has_open(merged.get("findings"))
        # The findings of one side are not resolved by the other side's status.
        return {**merged, **({"status": BLOCKED} if is_open else {})}
    if "objectives" in merged and "current_objective" in merged:
        agreed = trivial_merge(versions.each(lambda part: _identity(part.get("current_objective"))))
        if not agreed or merged["current_objective"] is None:  # with null, the other side may have added an objective
            return {**merged, "current_objective": _current(merged["objectives"], versions)}
    return merged


def _current(objectives: object, versions: Versions[dict[str, Any]]) -> object:
    """Return the current objective where the sides disagree: the first of theirs and ours that is not done."""
    items = [each for each in objectives if isinstance(each, dict)] if isinstance(objectives, list) else []
    open_ids = [each.get("id") for each in items if each.get("status") != DONE]
    chosen = [versions.ours.get("current_objective"), versions.theirs.get("current_objective")]
    return next((each for each in open_ids if each in chosen), open_ids[0] if open_ids else None)


# Lists


def _merge_list(versions: Versions[list[Any]], key: str, prefer: Prefer) -> list[Any]:
    """Return our list with the changes of theirs; items are identified by their ids."""
    keyed = versions.each(lambda items: {item_key(item): item for item in items})
    if any(len(items) != len(list_) for items, list_ in zip(keyed, versions, strict=True)):
        return versions.preferred(prefer)
    merged: list[Any] = []
    in_order = [*keyed.ours, *keyed.theirs]
    if key in _UNORDERED:
        in_order = interleave(list(keyed.ours), list(keyed.theirs), rank=str)
    for name in dict.fromkeys(in_order):
        item = keyed.each(lambda items, name=name: items.get(name, NOTHING))  # type: ignore[misc]  # the loop's name
        value = merge_value(item, f"{key}[]", prefer)
        if value is NOTHING and key in _APPEND_ONLY:
            value = item.ours if item.ours is not NOTHING else item.theirs
        if value is not NOTHING:
            merged.append(value)
    return sorted(merged, key=_ORDERS[key]) if key in _ORDERS else merged


def _citation(item: object) -> tuple[str, str]:
    return (str(item.get("file")), str(item.get("section"))) if isinstance(item, dict) else ("", "")


def _number(item: object) -> int:
    number = item.get("id") if isinstance(item, dict) else None
    return number if isinstance(number, int) else 0


_ORDERS: Mapping[str, Callable[[Any], Any]] = {
    "depends_on": lambda item: id_key(str(item)),
    "subtasks": lambda item: id_key(str(item)),
    "events": lambda item: (str(item.get("at", "")), _identity(item)) if isinstance(item, dict) else ("", ""),
    "standards": _citation,
    "findings": lambda item: (_number(item), _identity(item)),
}


# Single values, each changed by both sides


def _furthest(versions: Versions[Any]) -> object:
    """Return the later status in the lifecycle."""
    if versions.ours not in _LIFECYCLE or versions.theirs not in _LIFECYCLE:
        return NOTHING
    return max(versions.ours, versions.theirs, key=_LIFECYCLE.index)


def _of_counts(choose: Callable[[int, int], int]) -> Rule:
    """Return a rule for two numbers."""

    def rule(versions: Versions[Any]) -> object:
        sides = versions.ours, versions.theirs
        are_counts = all(isinstance(value, int) and not isinstance(value, bool) for value in sides)
        return choose(*sides) if are_counts else NOTHING

    return rule


def _counted(versions: Versions[Any]) -> object:
    """Return a counter with the increments of both sides."""
    base = versions.base if isinstance(versions.base, int) else 0
    return _of_counts(lambda ours, theirs: max(ours + theirs - base, ours, theirs))(versions)


def _of_texts(choose: Callable[[list[str]], object]) -> Rule:
    """Return a rule for texts, of which one side may have none."""

    def rule(versions: Versions[Any]) -> object:
        texts = [value for value in (versions.ours, versions.theirs) if isinstance(value, str)]
        return choose(texts) if texts else NOTHING

    return rule


def _same_handoff(versions: Versions[Any]) -> object:
    """Return the block `handoffs` where both sides have the same open document: it was written once."""
    block = versions.ours if same(versions.ours, versions.theirs) and isinstance(versions.ours, dict) else {}
    return block if isinstance(block.get("open"), str) else NOTHING


def _later_snapshot(versions: Versions[Any]) -> object:
    snapshots = [value for value in (versions.ours, versions.theirs) if isinstance(value, dict)]
    return (
        max(snapshots, key=lambda each: (str(each.get("snapshot_time", "")), _identity(each))) if snapshots else NOTHING
    )


def _earlier_baseline(versions: Versions[Any]) -> object:
    """Return the baseline that was recorded first, where both have the same results: it is a fixed point."""
    both = [value for value in (versions.ours, versions.theirs) if isinstance(value, dict)]
    if len(both) < len(("ours", "theirs")) or not same(both[0].get("results"), both[1].get("results")):
        return NOTHING
    return min(both, key=lambda each: (str(each.get("recorded_at", "")), _identity(each)))


_RULES: Mapping[str, Rule] = {
    "baseline": _earlier_baseline,
    "status": _furthest,
    "turn": lambda versions: versions.ours,  # whose tree this is, as with the two that follow
    "left": lambda versions: versions.ours,
    "last_seen[]": lambda versions: versions.ours,
    "revision": _of_counts(lambda ours, theirs: max(ours, theirs) + 1),  # the merge is itself a write
    "version": _counted,
    "update_count": _counted,
    "handoff_count": _counted,
    "count": _counted,
    "drift_budget": _of_counts(max),
    "acks[]": _of_counts(min),
    "created_at": _of_texts(min),
    "started_at": _of_texts(min),
    "updated_at": _of_texts(max),
    "last_updated": _of_texts(max),
    "handoffs": _same_handoff,
    # The newer open document; the other one stays open beside it, and lint reports it.
    "open": _of_texts(lambda paths: max(paths, key=lambda path: (time_of_handoff(path), path))),
    "archive_path": _of_texts(lambda paths: paths[0] if len(paths) == 1 else NOTHING),  # two paths are a conflict
    "snapshots[]": _later_snapshot,
}
