"""The phases of a task: the json fences below the headings `### Phase <P>: <name>` of the Feature Checklist."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.model.phases import IN_PROGRESS, NOT_STARTED, SCHEMA, parts_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic, Rule
    from taskstate.lint.facts.outline import Outline
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block


class Phase(NamedTuple):
    """A phase: its name in the heading, its json fences, and the value of the first one where that can be read."""

    section: Section
    name: str
    fences: tuple[Block, ...]
    value: JsonValue | None


def phases_of(document: Document, outline: Outline) -> tuple[Phase, ...]:
    """Return the phases of a text, in its order."""
    found = []
    for spec, section in outline.found:
        for part in parts_in(document, spec, section):
            value = json_value(document.json(part.fences[0]), SCHEMA) if part.fences else None
            found.append(Phase(part.section, part.name, part.fences, value))
    return tuple(found)


def faults_of(value: JsonValue, document: Document, rule: Rule, *, name: str, where: str) -> Iterator[Diagnostic]:
    """Yield what is wrong with a phase that `where` calls `name`: what breaks the schema, and what contradicts it."""
    yield from value.told(document, rule)
    yield from _twice(value, rule)
    current, told = value.root.get("current_objective"), value.root.get("phase")
    if current and value.is_sound("current_objective") and current.value() is not None:
        known = list(_objectives(value))
        if None not in known and current.text not in known:
            yield rule.at(
                current.span,
                f"`current_objective` is {current.text}, and no objective has this id",
                help=f"name one of {', '.join(each for each in known if each)}, or null"
                if known
                else "write null, since there is no objective",
            )
    waiting = _first_open(value) if current and current.value() is None else None
    if current and waiting:
        yield rule.at(
            current.span,
            f"`current_objective` is null, and objective {waiting} is open",
            help=f"name the one that is worked on, such as {waiting}; null says that none is open",
        )
    if told and value.is_sound("phase") and told.text != name:
        yield rule.at(
            told.span,
            f"`phase` is {told.text}, and {where} says {name}",
            help="write the same in both places",
        )


def _twice(value: JsonValue, rule: Rule) -> Iterator[Diagnostic]:
    """Yield each objective whose id another one before it has."""
    node = value.root.get("objectives")
    seen: set[str] = set()
    for index, name in enumerate(_objectives(value)):
        found = node.items[index].get("id") if node and name is not None else None
        if found and name in seen:
            yield rule.at(
                found.span,
                f"a second objective has the id {name}",
                help="give it an id of its own, so that `taskstate phase set` can tell both apart",
            )
        seen.add(name or "")


def _first_open(value: JsonValue) -> str | None:
    """Return the id of the first objective that somebody works on, or else that nobody has begun, or None.

    What is blocked waits for something else, so that a phase by hand may name none then.
    """
    node = value.root.get("objectives")
    if node is None or not value.is_sound("objectives"):
        return None
    told = [(item.get("id"), item.get("status")) for item in node.items]
    for wanted in (IN_PROGRESS, NOT_STARTED):
        for name, status in told:
            if name and status and status.text == wanted:
                return name.text
    return None


def _objectives(value: JsonValue) -> Iterator[str | None]:
    """Yield the ids of the objectives, None for one that cannot be relied on."""
    node = value.root.get("objectives")
    if node is None or node.kind != "sequence":
        yield None
        return
    for index, item in enumerate(node.items):
        found = item.get("id") if value.is_sound("objectives", index, "id") else None
        yield found.text if found else None
