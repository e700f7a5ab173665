"""What of a complete task somebody let pass: an event of its audit says so, with the reason.

No finding is worded here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts import Facts

_WAIVED, _REOPENED = "waived", "reopened"  # events of the audit


def is_waived(facts: Facts) -> bool:
    """Return whether an event since the last reopening waives what is missing; also where the events are unsound."""
    audit = facts.values.get("audit")
    if not isinstance(audit, dict):
        return "audit" in facts.document.front_matter
    names = [event.get("event") for event in audit.get("events", ())]
    since = max((number for number, name in enumerate(names) if name == _REOPENED), default=-1)
    return _WAIVED in names[since + 1 :]
