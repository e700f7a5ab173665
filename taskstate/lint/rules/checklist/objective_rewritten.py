"""objective-rewritten: a committed objective was removed or reworded, or a tried approach is gone.

## What

In a phase of the compared revision (HEAD, or `--against REV`) an objective has another description
or another id now, or was removed; or an entry of `approaches_tried` was removed or changed; or the whole phase was
removed. Only `status`, `note` and keys of your own (`x-…`) of an objective may change. Objectives and approaches may be
added at any time.

## Why

A phase is judged by its objectives, which is pointless if they can be changed to fit. The failed approaches are
recorded so that nobody tries them again: a deleted one is likely to be what the next agent tries first.

## Example

`{"id": "1", "description": "all tests pass on Windows", "status": "blocked"}` was committed; now it says

```json
{"id": "1", "description": "the tests pass", "status": "done"}
```

## Instead

Restore the description, and explain the obstacle in `note`. A changed requirement is an objective of its own:
`taskstate phase extend 101 2 "the tests pass on Linux"`.

```json
{"id": "1", "description": "all tests pass on Windows", "status": "blocked", "note": "no runner; see objective 2"}
```
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.stable_entries import differences, stable_entries
from taskstate.lint.facts.wording import cut, shown
from taskstate.model.phases import SCHEMA
from taskstate.model.task_state import PART_LEVEL
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.nodes import Node

RULE = Rule.of(
    "TS307", __name__, "an objective was removed or reworded, or a tried approach is gone, since the compared revision"
)

_TRIED = "approaches_tried"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each change of a committed phase that is not allowed."""
    if facts.is_json:
        now = json_value(facts.whole_json, SCHEMA)
        values = [value for past in comparable(facts) if (value := json_value(past.whole_json, SCHEMA))]
        if now and values:
            yield from _rewritten(now, values)
        return
    committed: dict[str, list[JsonValue]] = {}
    for past in comparable(facts):
        for phase in past.phases:
            if phase.value:
                committed.setdefault(phase.name.casefold(), []).append(phase.value)
    present = {phase.name.casefold(): phase for phase in reversed(facts.phases)}
    numbers = [phase.value.root.get("phase") for phase in facts.phases if phase.value]
    misnamed = {number.text.casefold() for number in numbers if number}  # the heading says another one: TS306
    removed = []
    for name, values in committed.items():
        if name not in present and name not in misnamed:
            removed.append(name)
        elif name in present and (value := present[name].value):
            yield from _rewritten(value, values)
    if removed:
        yield from _removed(removed, facts)


def _rewritten(phase: JsonValue, values: Sequence[JsonValue]) -> Diagnostics:
    now = stable_entries(phase, "objectives")
    then = [found for value in values if (found := stable_entries(value, "objectives"))]
    if now and then:
        yield from differences(now, then, RULE, noun="objective")
    entry = phase.root.entry(_TRIED)
    if entry is None or not phase.is_sound(_TRIED):
        return
    present = _tried(phase)
    missing = [each for value in values for each in _tried(value) - present]
    known = {each for value in values for each in _tried(value)}
    new = [item for item in entry.value.items if _words(item) and _words(item) not in known]
    for approach, _ in dict.fromkeys(missing):
        yield RULE.at(
            new[0].span if len(missing) == len(new) == 1 else entry.key.span,
            f"the approach {shown(approach)} was tried, and its result was removed or changed",
            help="put back what was committed; add what was learned since as a new entry",
        )


def _words(item: Node) -> tuple[str, str] | None:
    approach, result = item.get("approach"), item.get("result")
    return (approach.text, result.text) if approach and result else None


def _tried(value: JsonValue) -> Counter[tuple[str, str]]:
    """Return the approaches of a phase with their results, without entries that break the schema."""
    tried = value.root.get(_TRIED)
    approaches: Counter[tuple[str, str]] = Counter()
    for index, item in enumerate(tried.items if tried and value.is_sound(_TRIED) else ()):
        words = _words(item)
        if words and value.is_sound(_TRIED, index):
            approaches[words] += 1
    return approaches


def _removed(names: Sequence[str], facts: Facts) -> Diagnostics:
    """Yield one finding for all removed phases, at what may be the first under another heading, or at the checklist."""
    section = facts.state.section("Feature Checklist")
    if section:
        parts, spec = facts.document.children(section, PART_LEVEL), facts.kind.section(section.title)
        others = [each for each in parts if not (spec and spec.subsection(each.title))]
        place = next((each.heading for each in others if not facts.was_there(each.title)), section.heading)
        named = ", ".join(cut(name) for name in names)
        message = f"phase {named} was removed" if len(names) == 1 else f"the phases {named} were removed"
        yield RULE.at(
            place,
            f"{message}, with its objectives" if len(names) == 1 else f"{message}, with their objectives",
            help="put back what was committed; a phase that is over stays, with its objectives done or blocked",
        )
