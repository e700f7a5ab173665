"""heir-missing: a superseded decision and its heir do not name each other.

## What

An Architecture Decision is superseded without saying by which one (`**Status:** superseded by AD-7`), by one that is
not there, or by itself; its heir does not name it (`**Supersedes:** AD-3`); or a decision says that it supersedes one
whose status does not say so.

## Why

Who comes upon the old decision must find the one that counts instead, and who reads the new one must learn what it
replaced. Two decisions that are both in force contradict each other.

## Example

```markdown
### AD-3: Sessions live in the database

**Status:** superseded
```

## Instead

```markdown
### AD-3: Sessions live in the database

**Status:** superseded by AD-7
```

and under AD-7 `**Supersedes:** AD-3`. `taskstate permanent decide` writes both.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.model.decision_faults import heir_faults
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TSP04", __name__, "a superseded decision and its heir do not name each other")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each superseded decision without its heir, and each ancestor that does not say so."""
    for fault in heir_faults(facts.state) if facts.is_permanent else ():
        yield RULE.at(fault.place, fault.message, help=fault.help)
