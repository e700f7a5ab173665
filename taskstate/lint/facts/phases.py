"""The phases of a task: the json fences below the headings `### Phase <P>: <name>` of the Feature Checklist."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.model.phases import SCHEMA, phases_in_section

if TYPE_CHECKING:
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
        for part in phases_in_section(document, spec, section):
            value = json_value(document.json(part.fences[0]), SCHEMA) if part.fences else None
            found.append(Phase(part.section, part.name, part.fences, value))
    return tuple(found)
