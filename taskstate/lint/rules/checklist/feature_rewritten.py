"""feature-rewritten: a committed feature was removed or reworded.

## What

A feature of the compared revision (HEAD, or `--against REV`) has another description or another id
now, or was removed. Only `passes`, `tested_at`, `evidence`, `notes`, `moved_to` and keys of your own (`x-…`) of a
feature may change. A feature that is not committed yet may be changed freely, and new ones may be added at any time.

## Why

The checklist is what was agreed on. If it could be adapted to what was built, every task would end at 100 % and nobody
would see what was left out. A changed id breaks the references to it.

## Example

`"logs a user out after 15 minutes without a click"` was committed; now it says

```json
{"id": "auth-2", "description": "logs a user out after a while", "passes": true, "tested_at": "2026-01-31T12:00:00Z"}
```

## Instead

Restore the description, and leave the feature open. What was learned goes into `notes`, a changed requirement into a
new feature:

```json
{"id": "auth-2", "description": "logs a user out after 15 minutes without a click", "passes": false, "tested_at": null,
 "notes": "superseded by auth-7"},
{"id": "auth-7", "description": "logs a user out after 8 hours", "passes": false, "tested_at": null}
```

A feature that another task takes over stays in the list, with `moved_to`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.stable_entries import differences, stable_entries
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS305", __name__, "a feature was removed or reworded since the compared revision")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each feature that was reworded or got another id, and one for all that were removed."""
    now = stable_entries(facts.checklist_value, "features")
    then = [found for past in comparable(facts) if (found := stable_entries(past.checklist_value, "features"))]
    if now and then:
        yield from differences(now, then, RULE, noun="feature")
