"""Reads which gaps of a complete task were waived (`taskstate complete --force`), from the events of its audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.statuses import COMPLETE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.nodes import Node

_WAIVED, _REOPENED = "waived", "reopened"  # events of the audit


class Waivers(NamedTuple):
    """The waived gaps: all, or those with these keys, such as `criterion:2`."""

    everything: bool = False
    keys: frozenset[str] = frozenset()

    def covers(self, key: str) -> bool:
        """Return whether a gap is waived."""
        return self.everything or key in self.keys


def is_waived(feature: Mapping[str, Node], facts: Facts) -> bool:
    """Return whether the task is complete and the evidence of this feature was waived."""
    feature_id = feature.get("id")
    return (
        feature_id is not None
        and facts.values.get("status") == COMPLETE
        and read_waivers(facts).covers(f"evidence:{feature_id.value()}")
    )


def read_waivers(facts: Facts) -> Waivers:
    """Return the gaps that the events since the last reopening waive; all where the audit breaks its schema.

    An event without a list was written by hand: it waives everything, unless the file has a seal that is broken.
    """
    if "audit" not in facts.values:
        return Waivers(everything="audit" in facts.document.front_matter)
    events = facts.blocks.audit.events
    since = max((number for number, event in enumerate(events) if event.event == _REOPENED), default=-1)
    lists = [event.waived for event in events[since + 1 :] if event.event == _WAIVED]
    everything = None in lists and not facts.blocks.edited
    return Waivers(everything, frozenset(key for keys in lists for key in keys or ()))
