"""feature-rewritten: a committed feature was removed or reworded.

## What

A feature of the compared revision (`--against REV`; in the pre-commit hook HEAD) has another description or another id
now, or is gone. A feature may only change in `passes`, `tested_at`, `evidence`, `notes`, `moved_to` and in keys of your
own (`x-…`). One that no commit holds yet may be changed at will, and new ones may be added at any time.

## Why

The checklist is what was agreed on. If it can be bent to what was built, every task ends at 100 % and nobody sees what
was left out. An id that changes breaks what refers to it.

## Example

Committed was `"logs a user out after 15 minutes without a click"`; now it says

```json
{"id": "auth-2", "description": "logs a user out after a while", "passes": true, "tested_at": "2026-01-31T12:00:00Z"}
```

## Instead

Take the description back, and leave the feature open. What was learned goes into `notes`, what is wanted now into a
feature of its own:

```json
{"id": "auth-2", "description": "logs a user out after 15 minutes without a click", "passes": false, "tested_at": null,
 "notes": "superseded by auth-7"},
{"id": "auth-7", "description": "logs a user out after 8 hours", "passes": false, "tested_at": null}
```

A feature that another task takes over stays here, with `moved_to`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import Diagnostic, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.stable_entries import differences, stable_entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS305",
    name="feature-rewritten",
    summary="a feature was removed or reworded since the compared revision",
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield the features that are not what was committed."""
    now = stable_entries(facts.checklist_value, "features")
    then = [found for past in comparable(facts) if (found := stable_entries(past.checklist_value, "features"))]
    if now and then:
        yield from differences(now, then, RULE, noun="feature")
