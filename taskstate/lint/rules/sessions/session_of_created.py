"""session-of-created: the task has sessions, and its status says that nobody has begun.

## What

The status is `created`, and the Progress Log has a session, or an Archived Summary.

## Why

`taskstate next` and `list` take such a task for one that nobody works on, and rules that hold for work in progress stay
silent.

## Example

```markdown
---
status: created
---

## 4. Progress Log

### Session 1 - 2026-01-31 12:00
```

## Instead

`taskstate lint --fix` writes `status: in_progress`, if Task Description and Acceptance Criteria are written; a task in
progress may not have placeholders there. Commands that begin work do so by themselves.
"""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import CannotEdit
from taskstate.lint.diagnostics import WARNING, Diagnostics, Fix, Rule
from taskstate.model.start_of_work import start_of_work, unfilled
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS414", __name__, "a task that has sessions is still `created`", severity=WARNING, fixable=True)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the status."""
    if not facts.is_begun_unsaid:
        return
    missing, edits = unfilled(facts.state), tuple[Edit, ...]()
    with suppress(CannotEdit):  # the key is written in a form that only a hand changes
        edits = start_of_work(facts.state).edits
    first = f"write something under {missing}, then " if missing else ""
    yield RULE.at(
        facts.value_span("status"),
        "the task has sessions, and its status is `created`",
        help=f"{first}write `status: in_progress`",
        fix=Fix(edits=edits, safe=True) if edits else None,
    )
