"""Prepares the findings of roles for a merge: in their present form, and with a number of its own for each."""

from __future__ import annotations

from taskstate.model.role_findings import KEY, OLDER_KEY, read_findings
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from taskstate.model.role_findings import Finding
    from taskstate.units.three_way import Versions

    _Place: TypeAlias = tuple[int, str, Finding]  # the number of a finding, its role, and the finding


def with_numbers_apart(versions: Versions[Any]) -> Versions[Any]:
    """Return versions of the block `coordination` in which no number stands for two findings.

    Both sides number on from the same finding. Of two that have one number, one gets the next that is free; so does
    one whose number the other side has given as well, to a finding that is cleared by now.
    """
    findings = versions.each(lambda block: read_findings(block) if isinstance(block, dict) else {})
    last = findings.each(lambda roles: max((each.number for each in _all(roles)), default=0))
    new = findings.each(lambda roles: {place for place in _places(roles) if place[0] > last.base})
    contested = min(last.ours, last.theirs)  # up to here, both sides have given each number
    claims = sorted((new.ours ^ new.theirs), key=lambda place: (place[0], place[1], str(place[2])))
    numbers: dict[_Place, int] = {}
    free = max(last)
    for place in claims:
        both = [each for each in claims if each[0] == place[0]]
        if place[0] <= contested and (place != both[0] or len(both) == 1):
            free += 1
            numbers[place] = free
    renumbered = findings.each(
        lambda roles: {
            name: tuple(each._replace(number=numbers.get((each.number, name, each), each.number)) for each in listed)
            for name, listed in roles.items()
        }
    )
    return type(versions)(*(_written(block, roles) for block, roles in zip(versions, renumbered, strict=True)))


def moved_numbers(versions: Versions[Any]) -> Versions[dict[int, int]]:
    """Return for each version of the block `coordination` the findings that a merge numbers anew, old to new."""
    pairs = zip(versions, with_numbers_apart(versions), strict=True)
    found = [[_all(read_findings(each)) if isinstance(each, dict) else [] for each in pair] for pair in pairs]
    moves = (zip(before, after, strict=True) for before, after in found)
    return type(versions)(*({old.number: new.number for old, new in each if old != new} for each in moves))


def _places(roles: dict[str, tuple[Finding, ...]]) -> set[_Place]:
    return {(each.number, name, each) for name, listed in roles.items() for each in listed}


def has_open(findings: object) -> bool:
    """Return whether one of a role's findings, as the file holds them, waits for an answer."""
    return any(each.is_open for each in _all(read_findings({"": {KEY: findings}})))


def _all(roles: dict[str, tuple[Finding, ...]]) -> list[Finding]:
    return [each for listed in roles.values() for each in listed]


def _written(block: Any, roles: dict[str, tuple[Finding, ...]]) -> Any:  # noqa: ANN401 - any YAML value
    """Return a block with these findings, in the form in which they are written today."""
    if not isinstance(block, dict):
        return block
    after = {}
    for name, values in block.items():
        if isinstance(values, dict) and not name.startswith("x-"):
            others = {key: value for key, value in values.items() if key not in {KEY, OLDER_KEY}}
            listed = [each.values() for each in roles.get(name, ())]
            after[name] = {**others, **({KEY: listed} if listed else {})}
        else:
            after[name] = values
    return after
