"""The Impact Map of a permanent task as the rules see it: its JSON in the section's fence or in a file of its own."""

from __future__ import annotations

from taskstate.lint.facts.json_values import json_value
from taskstate.lint.facts.wording import first_line_of
from taskstate.model.impact_map import SCHEMA, stored_in
from taskstate.model.permanent import PERMANENT
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span


class LinkedMap(NamedTuple):
    """The file that a section refers to for its map: its path, the SHA-256 that the section gives, and the link."""

    path: str
    digest: str
    span: Span


def impact_map(document: Document, facts: Facts) -> JsonValue | None:
    """Return the map in a permanent task's section, or in a file of its own; None where it cannot be parsed."""
    if facts.is_json:
        return json_value(facts.whole_json, SCHEMA)
    fences = [fence for name, fence in facts.outline.fences if name == SCHEMA]
    return json_value(document.json(fences[0]), SCHEMA) if fences else None


def linked_map(facts: Facts) -> LinkedMap | None:
    """Return the file that a permanent task's section refers to instead of holding the map itself, or None."""
    stored = stored_in(facts.state) if facts.kind.name == PERMANENT else None
    if stored is None or stored.sha256 is None:
        return None
    path = f"{facts.config.root}/tasks/task-{facts.shown_id}-impact-map.json"
    return LinkedMap(path, stored.sha256, first_line_of(facts.document, stored.place))
