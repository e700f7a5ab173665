"""What of a complete task somebody let pass: an event of its audit says so, with the reason.

What the event lists is let pass, and nothing that came later. No finding is worded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

_WAIVED, _REOPENED = "waived", "reopened"  # events of the audit


class Waivers(NamedTuple):
    """What is let pass: everything, or the gaps with these keys."""

    everything: bool = False
    keys: frozenset[str] = frozenset()

    def covers(self, key: str) -> bool:
        """Return whether a gap is let pass."""
        return self.everything or key in self.keys


def read_waivers(facts: Facts) -> Waivers:
    """Return what the events since the last reopening let pass; everything where the events themselves are unsound.

    An event without a list is one that somebody wrote: it lets everything pass, unless the file has a seal and the seal
    is broken.
    """
    if "audit" not in facts.values:
        return Waivers(everything="audit" in facts.document.front_matter)
    events = facts.blocks.audit.events
    since = max((number for number, event in enumerate(events) if event.event == _REOPENED), default=-1)
    found = [event.waived for event in events[since + 1 :] if event.event == _WAIVED]
    everything = None in found and not facts.blocks.edited
    return Waivers(everything, frozenset(key for keys in found for key in keys or ()))
