"""What of a complete task somebody let pass: an event of its audit says so, with the reason.

What the event lists is let pass, and nothing that came later. No finding is worded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.canonical_json import audit_seal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.lint.facts.file_facts import Facts

_WAIVED, _REOPENED = "waived", "reopened"  # events of the audit


class Waived(NamedTuple):
    """What is let pass: everything, or the gaps with these keys."""

    everything: bool = False
    keys: frozenset[str] = frozenset()

    def covers(self, key: str) -> bool:
        """Return whether a gap is let pass."""
        return self.everything or key in self.keys


def waived(facts: Facts) -> Waived:
    """Return what the events since the last reopening let pass; everything where the events themselves are unsound.

    An event without a list is one that somebody wrote: it lets everything pass, unless the file has a seal and the seal
    is broken.
    """
    audit = facts.values.get("audit")
    if not isinstance(audit, dict):
        return Waived(everything="audit" in facts.document.front_matter)
    events = audit.get("events", ())
    since = max((number for number, event in enumerate(events) if event.get("event") == _REOPENED), default=-1)
    found = [event.get(_WAIVED) for event in events[since + 1 :] if event.get("event") == _WAIVED]
    lists = [each for each in found if isinstance(each, list)]
    everything = len(lists) < len(found) and _is_sound(facts.values, audit)
    return Waived(everything, frozenset(str(key) for keys in lists for key in keys))


def _is_sound(values: Mapping[str, Any], audit: Mapping[str, Any]) -> bool:
    seal = audit.get("seal")
    return seal is None or seal == audit_seal(values)
