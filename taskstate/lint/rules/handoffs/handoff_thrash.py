"""handoff-thrash: a handoff with no objective changed since the one before.

## What

An open handoff was written while every objective of the task stood as it did when the handoff before it was written, of
the same phase. What the objectives were then is kept under `verified.objectives` of each document; where one does not
have it, nothing is said.

## Why

Each handoff costs a reading in and a writing up. Two in a row without an objective between them are a sign that the
objective is too large for one context, that it is blocked, or that progress is not recorded.

## Example

Phase 3 was handed over at 10:00 and at 11:30, and objective 2 is `in_progress` all the time, without a note.

## Instead

Record what was reached, so that the next one sees it move:

```console
$ taskstate phase set 101 3 2 --status in_progress --note "4 of 5 cases proved"
```

Divide an objective that is too large with `taskstate phase extend`, and say so where it is blocked:
`taskstate phase set 101 3 2 --status blocked --note "waits for the schema"`.

## Configuration

`minimum-progress = false` in `[tool.taskstate.handoff]`; otherwise `taskstate handoff new` refuses too where no session
was added either, unless it is told `--force`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff_document import OPEN
from taskstate.lint.around import REPOSITORY
from taskstate.lint.diagnostic import FRONT_MATTER, WARNING, Diagnostic, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.document import Document
    from taskstate.lint.facts import Facts

RULE = Rule(
    code="TS806",
    name="handoff-thrash",
    summary="a handoff with no objective changed since the one before",
    severity=WARNING,
    reads=FRONT_MATTER,
    files=frozenset({"handoff"}),
    needs=frozenset({REPOSITORY}),
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield at most one finding, at what the objectives were."""
    values = facts.values
    verified, time = values.get("verified"), values.get("created_at")
    objectives = verified.get("objectives") if isinstance(verified, dict) else None
    if not (facts.config.handoff.minimum_progress and objectives and time and values.get("status") == OPEN):
        return
    phase = str(values.get("phase"))
    others = facts.around.handoffs() or ()
    earlier = [each for each in others if each.phase == phase and each.created_at < time]
    last = max(earlier, key=lambda each: each.created_at, default=None)
    if last and last.objectives == objectives:
        yield RULE.at(
            facts.value_span("verified", "objectives"),
            f"no objective has changed since the handoff before, of {last.created_at}",
            help="record what was reached with `taskstate phase set`, or divide the objective with `phase extend`",
        )
