"""Reads the citations of a state file (the json fence under Standards), without those that break the schema."""

from __future__ import annotations

from taskstate.model.statuses import CLOSED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lint.facts.json_values import JsonValue
    from taskstate.syntax.nodes import Node

CAPTURED = ("file", "section", "content_sha")


class CapturedCitation(NamedTuple):
    """A citation with a hash of the cited section: the values it is checked by, its node, and its index in the list."""

    values: Mapping[str, str]
    node: Node
    number: int

    def at(self, key: str) -> Node:
        """Return the node of a key's value, or the whole citation where it has no such key."""
        return self.node.get(key) or self.node


def captured_citations(value: JsonValue) -> Iterator[CapturedCitation]:
    """Yield the citations that have a hash of the cited section; those that break the schema are left out (TS603)."""
    for number, node in enumerate(value.root.items):
        nodes = {key: node.get(key) for key in CAPTURED}
        if all(value_node and value.is_sound(number, key) for key, value_node in nodes.items()):
            texts = {key: value_node.text for key, value_node in nodes.items() if value_node}
            yield CapturedCitation(texts, node, number)


def capturing(facts: Facts) -> str:
    """Return the command that captures what is cited: one that seals, too, where that was never done."""
    return f"taskstate context {'rebuild' if facts.blocks.context.seal else 'init'} {facts.shown_id}"


def is_closed(facts: Facts) -> bool:
    """Return whether the task is complete or dropped: from then on its sources may change without making it stale."""
    return facts.values.get("status") in CLOSED
