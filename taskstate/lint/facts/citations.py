"""What a state file cites, as rules need it: the json fence under Standards, and what of it can be relied on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.lint.facts.json_values import json_value
from taskstate.model.statuses import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.document import Document
    from taskstate.syntax.nodes import Node

_SCHEMA = "citations"
CAPTURED = ("file", "section", "content_sha")


class CapturedCitation(NamedTuple):
    """A citation that was captured: the values that it is checked by, and the span tree of all of it."""

    values: Mapping[str, str]
    node: Node
    number: int

    def at(self, key: str) -> Node:
        """Return the value of one of its keys."""
        return self.node.get(key) or self.node


def citations_value(document: Document, facts: Facts) -> JsonValue | None:
    """Return the citations against their schema, or None where there are none that can be read."""
    fence = next((fence for name, fence in facts.declared_fences if name == _SCHEMA), None)
    return json_value(document.json(fence), _SCHEMA) if fence else None


def captured_citations(value: JsonValue) -> Iterator[CapturedCitation]:
    """Yield the citations with a hash of what was cited; what breaks the schema is left to the rule that says so."""
    for number, node in enumerate(value.root.items):
        nodes = {key: node.get(key) for key in CAPTURED}
        if all(each and value.is_sound(number, key) for key, each in nodes.items()):
            yield CapturedCitation({key: each.text for key, each in nodes.items() if each}, node, number)


def is_complete(facts: Facts) -> bool:
    """Return whether the task is complete: what it was made from may change now without making it stale."""
    return facts.values.get("status") == COMPLETE
