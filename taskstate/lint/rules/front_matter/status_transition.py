"""status-transition: the status went a way that the lifecycle does not know.

## What

Since the compared revision (HEAD, or `--against REV`) the status went back to `created`, or a task
that was `complete` or `dropped` is so no more without `taskstate reopen` having recorded it, or it is `dropped` without
`taskstate drop` having recorded that. A task goes from `created` to `in_progress`, from there to `blocked` and back any
number of times (`taskstate edit` blocks a task, and gives it back the status that it had), and to `complete`; it can be
`dropped` at any time before that. There may be several steps between two
revisions, so `created` may have become `complete`. During a merge the change must be valid from both sides.

## Why

A complete task has handed its output to other tasks, which build on it. If it is reopened silently, they go on with
what may be wrong. And work that was begun cannot become not begun: a status that is `created` again usually comes from
a merge or from an old copy of the file. Why a task was given up is what people ask first when they find it.

## Example

Committed was `status: complete`; now it says

```yaml
status: in_progress
```

## Instead

`taskstate reopen 101 --note 'tokens never expire'` sets the status and records who reopened the task, when and why;
`taskstate drop 101 --note 'the library does it now'` does the same for a task that is given up. A task that was begun
by mistake becomes `blocked` or is dropped.
"""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Fix, Rule
from taskstate.model.statuses import BLOCKED, CLOSED, CREATED, DROPPED
from taskstate.model.tool_blocks import REOPENED, UNBLOCKED
from taskstate.syntax.edits import Edit
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS107",
    __name__,
    "the status changed since the compared revision in a way that the lifecycle does not know",
    reads=FRONT_MATTER,
    fixable=True,
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at a status that the lifecycle does not allow after the earlier one."""
    now = facts.values.get("status")
    if now is None:
        return
    past = [then for then in facts.past or () if not then.newer and then.kind.name == facts.kind.name]
    before = {_status(then) for then in past if not _is_reopened(facts, then)} - {CREATED, now}
    blocked = [then for then in past if _status(then) == BLOCKED]
    if now == CREATED and all(_has_since(UNBLOCKED, facts, then) for then in blocked):
        before -= {BLOCKED}
    closed = next((status for status in CLOSED if status in before), "")
    if closed:
        yield RULE.at(
            facts.value_span("status"),
            f"the status was `{closed}`, and is `{now}` without the task having been reopened",
            help=_opening(facts, closed),
        )
    elif now == DROPPED and any(_status(then) != DROPPED and not _has_since(DROPPED, facts, then) for then in past):
        yield RULE.at(
            facts.value_span("status"),
            "the task is dropped, and no event says who gave it up and why",
            help=f"`taskstate drop {facts.shown_id} --note TEXT` records it",
        )
    elif now == CREATED and before:
        earlier = min(before)
        yield RULE.at(
            facts.value_span("status"),
            f"the status was `{earlier}`, and is `{now}` again",
            help=f"write `status: {earlier}` again; a task that cannot go on is `blocked`",
            fix=Fix(edits=(Edit(*facts.value_span("status"), earlier),)),
        )


def _opening(facts: Facts, closed: str) -> str:
    """Return how a task that a hand has opened is opened; where no command closed it, none knows that it was closed."""
    command = f"`taskstate reopen {facts.shown_id} --note TEXT`"
    if facts.values.get("status") in CLOSED or facts.blocks.is_closed:
        return f"{command} records who opened it and why; if it was a mistake, write `status: {closed}` again"
    return f"write `status: {closed}` again; then {command} opens the task"


def _status(then: Facts) -> str:
    return str(then.values.get("status", CREATED))


def _is_reopened(facts: Facts, then: Facts) -> bool:
    """Return whether a task that was closed was reopened since, so that its earlier status limits nothing."""
    if _status(then) not in CLOSED or facts.values.get("status") == CREATED:
        return False
    return _has_since(REOPENED, facts, then)


def _has_since(event: str, facts: Facts, then: Facts) -> bool:
    """Return whether there is such an event that an earlier version has not; True where the audit breaks its schema."""
    if facts.front_matter and facts.front_matter.entry("audit") and "audit" not in facts.values:
        return True
    earlier = _times(event, then)
    last = max(earlier, default="")
    new = Counter(_times(event, facts)) - Counter(earlier)  # times are whole seconds: two events may have the same
    return any(at >= last for at in new)


def _times(event: str, facts: Facts) -> list[str]:
    """Return the times of the events of a kind."""
    return [each.at or "" for each in facts.blocks.audit.events if each.event == event]
