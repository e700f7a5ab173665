"""timestamps-order: `updated_at` is before `created_at`, or a time is in the future.

## What

The front matter says that the file was changed before it was created, or has a time in the future; or `created_at` is
another one than at the compared revision, and later than a session. Whether a time is in
the future is known only where the linter has a clock: on the command line and in hooks. Times of another form are
reported by TS103, and ignored here.

## Why

Lists and boards sort by these times: they show the task at the wrong place, and a time in the future keeps a file at
the top. Usually the clock of a machine is wrong, or a time was typed in the local zone.

## Example

```yaml
created_at: "2026-01-31T12:00:00Z"
updated_at: "2026-01-30T09:00:00Z"
```

## Instead

Correct the one that is wrong. Both are set by the tool and need not be edited:

```yaml
created_at: "2026-01-30T08:00:00Z"
updated_at: "2026-01-30T09:00:00Z"
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostics, Rule
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS104", __name__, "`updated_at` before `created_at`, or in the future", severity=WARNING, reads=FRONT_MATTER
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding: at the first time in the future, otherwise at an `updated_at` before `created_at`."""
    key = facts.impossible_time
    if not key:
        return
    if facts.queries.is_future(facts.values[key]):
        problem = "is in the future"
        help_ = "correct it; if the clock of this machine is wrong, set that"
    elif key == "created_at":
        problem, help_ = (
            "is after the first session",
            "restore the old value: a task is created before its first session",
        )
    else:
        problem = f"is before `created_at`, {facts.values['created_at']}"
        help_ = "correct the one that is wrong"
    yield RULE.at(facts.value_span(key), f"`{key}` is {facts.values[key]}, which {problem}", help=help_)
