"""The features of the Feature Checklist: their values, and places only for those that a rule has to look at.

A checklist may hold thousands, and finding the place of each key takes ten times as long as reading the values.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from taskstate.lint.facts.header_facts import HeaderFacts
from taskstate.lint.facts.json_values import JsonValue, json_value
from taskstate.lint.facts.moments import those_in_future
from taskstate.model.derived_values import overall_progress
from taskstate.model.phases import SCHEMA, phases_in_section
from taskstate.model.statuses import CLOSED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from taskstate.syntax.document import Section
    from taskstate.syntax.markdown_blocks import Block
    from taskstate.syntax.nodes import Node
    from taskstate.syntax.spans import Span


class SoundFeature(NamedTuple):
    """A feature with its values; none of those that a rule asked for breaks the schema."""

    node: Node
    values: Mapping[str, Any]

    def span(self, key: str) -> Span:
        """Return the place of a value."""
        return (self.node.get(key) or self.node).span


class Phase(NamedTuple):
    """A phase: its section, name and title in its heading, its json fences, and the value of the first if it parses."""

    section: Section
    name: str
    fences: tuple[Block, ...]
    value: JsonValue | None
    title: str = ""

    def sound(self, key: str) -> Node | None:
        """Return the value of a key, or None where there is none that meets the schema."""
        return self.value.root.get(key) if self.value and self.value.is_sound(key) else None


class FeatureFacts(HeaderFacts):
    """The features of one file. Those that a rule has to look at are given as numbers: their places in the list."""

    @cached_property
    def feature_values(self) -> Mapping[int, Mapping[str, Any]]:
        """The plain values by number; what is no map is left out."""
        value = self.checklist_value.value if self.checklist_value else None
        features = value.get("features") if isinstance(value, dict) else None
        listed = features if isinstance(features, list) else ()
        return {number: each for number, each in enumerate(listed) if isinstance(each, dict)}

    def sound_features(
        self, *keys: str, optional: tuple[str, ...] = (), among: Iterable[int] | None = None
    ) -> Iterator[SoundFeature]:
        """Yield each feature that has all `keys`, if none of these and of the `optional` ones has a fault.

        With `among`, only the features with these numbers are looked at.
        """
        numbers = tuple(self.feature_values if among is None else among)
        checklist, value = self.checklist, self.checklist_value
        features = checklist.root.get("features") if numbers and checklist else None
        if features is None or value is None:
            return
        wanted, is_whole = (*keys, *optional), not value.faults
        for number in numbers:
            values = self.feature_values[number]
            if any(key not in values for key in keys):
                continue
            if is_whole or all(value.is_sound("features", number, key) for key in wanted if key in values):
                yield SoundFeature(features.items[number], values)

    def is_sound(self, *path: str | int) -> bool:
        """Return whether nothing in the checklist breaks its schema at `path`, above or below it."""
        value = self.checklist_value
        return value is None or value.is_sound(*path)

    @property
    def has_checklist_fault(self) -> bool:
        """Whether the checklist breaks its schema, or has an id of several words."""
        value = self.checklist_value
        return value is not None and bool(value.faults or value.has_wrong_time or self.spaced_features)

    @cached_property
    def repeated_features(self) -> list[int]:
        """Those whose id another one has, too."""
        ids = {number: each["id"] for number, each in self.feature_values.items() if isinstance(each.get("id"), str)}
        if len({*ids.values()}) == len(ids):
            return []
        counts = Counter(ids.values())
        return [number for number, name in ids.items() if counts[name] > 1]

    @cached_property
    def spaced_features(self) -> list[int]:
        """Those whose id is more than one word."""
        return [number for number, each in self.feature_values.items() if len(str(each.get("id")).split()) > 1]

    @cached_property
    def moved_features(self) -> list[int]:
        """Those that another task took over."""
        return [number for number, each in self.feature_values.items() if isinstance(each.get("moved_to"), str)]

    @cached_property
    def passing_features(self) -> list[int]:
        """Those that pass."""
        return [number for number, each in self.feature_values.items() if each.get("passes") is True]

    @cached_property
    def untested_features(self) -> list[int]:
        """Those that pass and were never tested."""
        return [number for number in self.passing_features if self.feature_values[number].get("tested_at") is None]

    @cached_property
    def doubtful_features(self) -> list[int]:
        """Those that pass, and whose evidence has to be looked at.

        What was committed is not, nor is what is in a closed task, unless the configuration demands evidence of all.
        """
        if self.config.lint.require_command_evidence:
            return self.passing_features
        if self.past and not self.changed:
            return []
        if self.values.get("status") in CLOSED:
            return self.passing_features if self.changed else []
        if self.past is not None:
            return self.passing_features
        return [number for number in self.passing_features if _names_log(self.feature_values[number])]

    @cached_property
    def future_features(self) -> list[int]:
        """Those that were tested in the future."""
        tests = {number: each.get("tested_at") for number, each in self.feature_values.items()}
        return those_in_future({number: at for number, at in tests.items() if isinstance(at, str)}, self.queries)

    @cached_property
    def other_progress(self) -> str:
        """The percentage of them that pass, if the checklist records another one; else empty."""
        checklist = self.checklist
        actual = overall_progress(checklist) if checklist else ""
        return actual if checklist and checklist.progress != actual else ""

    @cached_property
    def phases(self) -> tuple[Phase, ...]:
        """The phases: the json fences under the headings `### Phase <P>: <name>` of the Feature Checklist."""
        phases = []
        for spec, section in self.outline.present:
            for part in phases_in_section(self.document, spec, section):
                value = json_value(self.document.json(part.fences[0]), SCHEMA) if part.fences else None
                phases.append(Phase(part.section, part.name, part.fences, value, part.title))
        return tuple(phases)


def _names_log(feature: Mapping[str, Any]) -> bool:
    evidence = feature.get("evidence")
    return isinstance(evidence, dict) and isinstance(evidence.get("log_sha256"), str)
