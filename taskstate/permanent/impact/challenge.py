"""Turns what a claim leaves open into questions that a reviewer puts to an implementer.

Every question names entries of the Impact Map, so that both look at the same thing. Categories that the map says
nothing about, such as alternatives that were not taken, are for the reviewer alone.
"""

from __future__ import annotations

from taskstate.messages import first_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.permanent.impact.check import Answer

INTERCONNECTION, RIPPLE, SCOPE = "interconnection map", "ripple trace", "scope boundary"
DEPENDENCY, ASSUMPTION = "dependency risk", "assumption probe"
_ARROW = " -> "
_NAMED = 5


class Question(NamedTuple):
    """A question, its category, and the entries of the map that it names, such as `module core`."""

    category: str
    text: str
    entries: tuple[str, ...]


def questions(answer: Answer) -> tuple[Question, ...]:
    """Return the questions that the map raises about a claim, grouped by category."""
    return tuple(each for ask in _CATEGORIES for each in ask(answer))


def _interconnections(answer: Answer) -> Iterator[Question]:
    for each in answer.missing_modules:
        claimed = " and ".join((each.path[0], each.path[-1]))
        text = f"The map has {_ARROW.join(each.path)}. You claim {claimed}, and not {each.module}: what changes in it?"
        yield Question(INTERCONNECTION, text, tuple(f"module {name}" for name in each.path))
    for path, modules in answer.missing_files.items():
        place = f"in {' and '.join(modules)}" if modules else "in no module"
        text = f"{path} ({place}) is part of this change already, and not of your claim: why does it change?"
        yield Question(INTERCONNECTION, text, tuple(f"module {name}" for name in modules))


def _ripples(answer: Answer) -> Iterator[Question]:
    for ripple, after in answer.ripples:
        if not after:
            continue
        note = f" ({ripple.note})" if ripple.note else ""
        unclaimed = [name for name in after if name not in answer.modules]
        what = (
            f"What reaches {first_of(unclaimed, _NAMED)}, which you do not claim" if unclaimed else "What reaches each"
        )
        text = f"{ripple.id} is a ripple path: {_ARROW.join(ripple.path)}{note}. {what}, and how do you know?"
        yield Question(RIPPLE, text, (f"ripple path {ripple.id}",))


def _boundaries(answer: Answer) -> Iterator[Question]:
    for each in answer.interfaces:
        ends = " and ".join(each.between)
        unclaimed = [name for name in each.between if name not in answer.modules]
        side = f" {unclaimed[0]} is not in your claim: does your scope end there?" if len(unclaimed) == 1 else ""
        promise = f"{each.id} is between {ends}: \u201c{each.contract}\u201d."
        text = f"{promise} Does that still hold after your change?{side}"
        yield Question(SCOPE, text, (f"interface {each.id}",))
    tasks: dict[tuple[str, ...], list[str]] = {}
    for neighbour in answer.neighbours:
        tasks.setdefault(neighbour.modules, []).append(neighbour.task)
    for modules, ids in tasks.items():
        who = f"Tasks {first_of(ids, _NAMED)} work" if len(ids) > 1 else f"Task {ids[0]} works"
        text = f"{who} on {first_of(modules, _NAMED)} as well: which of you changes what?"
        yield Question(SCOPE, text, tuple(f"module {name}" for name in modules))


def _dependencies(answer: Answer) -> Iterator[Question]:
    for name, path in answer.downstream.items():
        text = f"{name} depends on {path[0]} ({_ARROW.join(reversed(path))}): what in it breaks if {path[0]} does?"
        yield Question(DEPENDENCY, text, tuple(f"module {each}" for each in path))


def _assumptions(answer: Answer) -> Iterator[Question]:
    known = answer.map.by_id
    planned = [name for name in (*answer.modules, *answer.downstream) if known[name].planned]
    for name in planned:
        text = f"{name} is planned, and not there yet: what do you assume of it?"
        yield Question(ASSUMPTION, text, (f"module {name}",))
    if answer.outside:
        names = first_of(answer.outside, _NAMED)
        text = f"The map knows no module for {names}: what makes you sure that nothing depends on it?"
        yield Question(ASSUMPTION, text, ())


_CATEGORIES: tuple[Callable[[Answer], Iterator[Question]], ...] = (
    _interconnections,
    _ripples,
    _boundaries,
    _dependencies,
    _assumptions,
)


def question_lines(found: tuple[Question, ...]) -> Iterator[str]:
    """Yield the questions in lines, under the names of their categories."""
    for category in dict.fromkeys(each.category for each in found):
        yield f"{category}:"
        yield from (f"  - {each.text}" for each in found if each.category == category)
