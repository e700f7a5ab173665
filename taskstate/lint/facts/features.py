"""The features of a checklist as rules look at them: their values, and places only for those that have a finding.

A checklist may hold thousands, and finding the place of each key takes ten times as long as reading the values.
"""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span


class SoundFeature(NamedTuple):
    """A feature with its values; none of those that a rule asked for breaks the schema."""

    node: Node
    values: Mapping[str, Any]

    def span(self, key: str) -> Span:
        """Return the place of a value."""
        return (self.node.get(key) or self.node).span


def sound_features(facts: Facts, *keys: str, optional: tuple[str, ...] = ()) -> Iterator[SoundFeature]:
    """Yield each feature that has all `keys`, if none of these and of the `optional` ones has a fault."""
    features = facts.checklist.root.get("features") if facts.checklist else None
    if features is None or not features.items or facts.checklist_value is None:
        return
    wanted, is_whole = (*keys, *optional), not facts.checklist_value.faults
    for index, (node, value) in enumerate(zip(features.items, facts.checklist_value.value["features"], strict=True)):
        if not isinstance(value, dict) or any(key not in value for key in keys):
            continue
        if is_whole or all(facts.is_sound("features", index, key) for key in wanted if key in value):
            yield SoundFeature(node, value)
