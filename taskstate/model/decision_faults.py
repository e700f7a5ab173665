"""Says what is wrong with the Architecture Decisions of a permanent task, by themselves. Pure."""

from __future__ import annotations

import re
from collections import Counter

from taskstate.model.permanent import PROPOSED, SUPERSEDED, decisions, labelled, line_of_label, text_below
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.model.permanent import Decision
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span

_UNMARKED = "is not marked as superseded"
_NAMED = r"\bAD-(\d{1,9})\b"


class DecisionFault(NamedTuple):
    """What is wrong with a decision: its place, in words, and what to write."""

    place: Span
    message: str
    help: str


def faults(state: TaskState) -> Iterator[str]:
    """Yield what lint calls an error, whatever was committed: a number twice, no status, no decision, no heir."""
    found, text = decisions(state), state.document.text
    for number, count in Counter(each.number for each in found).items():
        if count > 1:
            yield f"there are {count} decisions AD-{number}"
    for each in found:
        if not each.status:
            yield f"AD-{each.number} has no **Status:** such as {PROPOSED}"
        elif "decision" in labelled(body := each.section.body.of(text)) and not text_below(body, "decision"):
            yield f"AD-{each.number} does not say what was decided"
    yield from (each.message for each in heir_faults(state))


def heir_faults(state: TaskState) -> Iterator[DecisionFault]:
    """Yield a fault for each superseded decision without its heir, and each ancestor that does not say so."""
    document = state.document
    found = {each.number: each for each in decisions(state)}
    named = {each.number: _numbers(each.section.body.of(document.text)) for each in found.values()}
    ancestors = {each.number: _numbers(_supersedes(each, document)) for each in found.values()}
    for each in found.values():
        # An heir that names one which is not there names a wrong one: that is told below.
        its = ancestors.get(each.heir or 0, [])
        if each.status == SUPERSEDED and all(number in found and number != each.heir for number in its):
            place = line_of_label(document.text, each.section, "status")
            yield from _faults_of_heir(each, named, ancestors, place)
        for number in ancestors[each.number]:
            ancestor = found.get(number)
            place = line_of_label(document.text, each.section, "supersedes")
            if ancestor is None or ancestor.status != SUPERSEDED or ancestor is each:
                what = "is not there" if ancestor is None else "is itself" if ancestor is each else _UNMARKED
                write = f"write `**Status:** superseded by AD-{each.number}` under AD-{number}"
                meant = [other.number for other in found.values() if other.heir == each.number]
                right = f"`**Supersedes:** AD-{meant[0]}`" if len(meant) == 1 else "the decision that is meant"
                help_ = write if what == _UNMARKED else f"write {right}, or remove the line"
                message = f"AD-{each.number} supersedes AD-{number}, which {what}"
                yield DecisionFault(place, message, help_)


def _supersedes(decision: Decision, document: Document) -> str:
    return labelled(decision.section.body.of(document.text)).get("supersedes", "")


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.compile(_NAMED).findall(text)]


def _faults_of_heir(
    decision: Decision, named: Mapping[int, list[int]], ancestors: Mapping[int, list[int]], place: Span
) -> Iterator[DecisionFault]:
    """Yield a fault where a superseded decision names no heir, or one that does not name it.

    `named` are the decisions that each one names, `ancestors` those that it says it supersedes.
    """
    number, heir = decision.number, decision.heir
    claimed = next((each for each, its in ancestors.items() if number in its), None)
    form = f"write `**Status:** superseded by AD-{claimed or 'N'}`"
    what = "" if claimed else ", with the number of the decision that counts instead"
    if heir is None:
        yield DecisionFault(place, f"AD-{number} is superseded, and does not say by which decision", form + what)
    elif heir == number:
        yield DecisionFault(place, f"AD-{number} is superseded by itself", form + what)
    elif heir not in named:
        help_ = f"{form}{what}" if claimed else f"add AD-{heir}, or {form}{what}"
        yield DecisionFault(place, f"AD-{number} is superseded by AD-{heir}, which is not there", help_)
    elif number not in named[heir]:
        message = f"AD-{number} is superseded by AD-{heir}, which does not name it"
        yield DecisionFault(place, message, f"write `**Supersedes:** AD-{number}` under AD-{heir}")
