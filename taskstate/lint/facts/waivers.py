"""Reads which gaps of a complete task were waived (`taskstate complete --force`), from the events of its audit."""

from __future__ import annotations

from taskstate.model.statuses import COMPLETE
from taskstate.model.tool_blocks import REOPENED
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.lint.facts.feature_facts import SoundFeature
    from taskstate.lint.facts.file_facts import Facts

_WAIVED = "waived"  # an event of the audit


class Waivers(NamedTuple):
    """The waived gaps: all, or those with these keys, such as `criterion:2`."""

    everything: bool = False
    keys: frozenset[str] = frozenset()

    def covers(self, key: str) -> bool:
        """Return whether a gap is waived."""
        return self.everything or key in self.keys


def is_waived(feature: SoundFeature, waivers: Waivers) -> bool:
    """Return whether the evidence of this feature was waived."""
    return "id" in feature.values and waivers.covers(f"evidence:{feature.values['id']}")


def waivers_of_features(facts: Facts) -> Waivers:
    """Return the waivers that apply to features: those of a complete task."""
    return read_waivers(facts) if facts.values.get("status") == COMPLETE else Waivers()


def read_waivers(facts: Facts) -> Waivers:
    """Return the gaps that the events since the last reopening waive; all where the audit breaks its schema.

    An event without a list was written by hand: it waives everything, unless the file has a seal that is broken. So
    does the import of a task that was done elsewhere.
    """
    if "audit" not in facts.values:
        return Waivers(everything="audit" in facts.document.front_matter)
    events = facts.blocks.audit.events
    since = max((number for number, event in enumerate(events) if event.event == REOPENED), default=-1)
    lists = [event.waived for event in events[since + 1 :] if event.event == _WAIVED]
    everything = (None in lists or facts.blocks.is_imported) and not facts.blocks.edited
    return Waivers(everything, frozenset(key for keys in lists for key in keys or ()))
