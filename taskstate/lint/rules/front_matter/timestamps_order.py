"""timestamps-order: `updated_at` lies before `created_at`, or a time lies in the future.

## What

The front matter says that the file was changed before it was made, or names a moment that has not come yet. Whether it
has come is known where the linter has a clock: on the command line and in hooks. Times of another form are told by
TS103, and left alone here.

## Why

Who sorts by these times, such as `list` and the boards, shows the task at the wrong place, and a time in the future
keeps a file at the top for good. Mostly the clock of one machine is wrong, or a time was typed in the local zone.

## Example

```yaml
created_at: "2026-01-31T12:00:00Z"
updated_at: "2026-01-30T09:00:00Z"
```

## Instead

Correct the one that is wrong. Both are set by the tool, so whoever leaves them alone has no trouble with them:

```yaml
created_at: "2026-01-30T08:00:00Z"
updated_at: "2026-01-30T09:00:00Z"
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostic, Rule
from taskstate.lint.rules.front_matter.timestamp_format import is_exact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS104",
    name="timestamps-order",
    severity=WARNING,
    summary="`updated_at` before `created_at`, or in the future",
    reads=FRONT_MATTER,
)

_KEYS = ("created_at", "updated_at")


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule is called alike
    """Yield at most one finding: at the first time that lies in the future, else at the last change if it is early."""
    told = {key: facts.values[key] for key in _KEYS if is_exact(facts.values.get(key))}
    future = next((key for key in told if facts.queries.is_future(told[key])), None)
    if future:
        yield RULE.at(
            facts.value_span(future),
            f"`{future}` is {told[future]}, which has not come yet",
            help="correct it; if the clock of this machine is wrong, set that",
        )
    elif len(told) == len(_KEYS) and told["updated_at"] < told["created_at"]:
        yield RULE.at(
            facts.value_span("updated_at"),
            f"`updated_at` is {told['updated_at']}, which is before `created_at`, {told['created_at']}",
            help="correct the one that is wrong",
        )
