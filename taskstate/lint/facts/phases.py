"""Reads the phases of a task: the json fences under the headings `### Phase <P>: <name>` of the Feature Checklist."""

from __future__ import annotations

from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.model.phases import SCHEMA, phases_in_section
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.lint.facts.outline import Outline
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block


class Phase(NamedTuple):
    """A phase: its section, the name in its heading, its json fences, and the value of the first where it parses."""

    section: Section
    name: str
    fences: tuple[Block, ...]
    value: JsonValue | None


def phases_of(document: Document, outline: Outline) -> tuple[Phase, ...]:
    """Return the phases of a document, in document order."""
    phases = []
    for spec, section in outline.present:
        for part in phases_in_section(document, spec, section):
            value = json_value(document.json(part.fences[0]), SCHEMA) if part.fences else None
            phases.append(Phase(part.section, part.name, part.fences, value))
    return tuple(phases)
