"""status-transition: the status went a way that the lifecycle does not know.

## What

Since the compared revision (`--against REV`; in the pre-commit hook HEAD) the status went back to `created`, or a task
that was `complete` is open again without `taskstate reopen` having recorded it. A task goes from `created` to
`in_progress`, from there to `blocked` and back any number of times, and to `complete`. There may be several steps
between two revisions, so `created` may have become `complete`. During a merge the change must be valid from both sides.

## Why

A complete task has handed its output to other tasks, which build on it. If it is reopened silently, they go on with
what may be wrong. And work that was begun cannot become not begun: a status that is `created` again usually comes from
a merge or from an old copy of the file.

## Example

Committed was `status: complete`; now it says

```yaml
status: in_progress
```

## Instead

`taskstate reopen 101 --note 'tokens never expire'` sets the status and records who reopened the task, when and why. A
task that was begun by mistake becomes `blocked`, with a session that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostic, Rule
from taskstate.model.statuses import COMPLETE, CREATED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS107",
    name="status-transition",
    summary="the status changed since the compared revision in a way that the lifecycle does not know",
    reads=FRONT_MATTER,
)

_REOPENED = "reopened"  # the audit event of `taskstate reopen`


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield at most one finding, at a status that the lifecycle does not allow after the earlier one."""
    now = facts.values.get("status")
    if now is None or now == COMPLETE:
        return
    before = {str(then.values.get("status", CREATED)) for then in facts.past or () if _binds(then, facts)} - {CREATED}
    if COMPLETE in before:
        yield RULE.at(
            facts.value_span("status"),
            f"the task was complete, and is {now} without having been reopened",
            help=f"take the status back, or reopen the task: `taskstate reopen {facts.shown_id} --note TEXT`",
        )
    elif now == CREATED and before:
        earlier = min(before)
        yield RULE.at(
            facts.value_span("status"),
            f"the task was {earlier}, and is {now} again",
            help=f"take the status back to {earlier}; what cannot go on is blocked",
        )


def _binds(then: Facts, facts: Facts) -> bool:
    """Return whether an earlier status limits the present one: the kind is the same, and the task was not reopened."""
    comparable = not then.newer and then.kind.name == facts.kind.name
    return comparable and not (then.values.get("status") == COMPLETE and _is_reopened(facts, then))


def _is_reopened(facts: Facts, then: Facts) -> bool:
    """Return whether a complete task was reopened since; True also where the audit breaks its schema."""
    if facts.values.get("status") == CREATED:
        return False
    if facts.front_matter and facts.front_matter.entry("audit") and "audit" not in facts.values:
        return True
    last = max(_reopenings(then), default="")
    return any(at > last for at in _reopenings(facts))


def _reopenings(facts: Facts) -> list[str]:
    """Return the times at which the task was reopened."""
    return [each.at or "" for each in facts.blocks.audit.events if each.event == _REOPENED]
