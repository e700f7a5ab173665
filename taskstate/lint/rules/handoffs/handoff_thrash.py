"""handoff-thrash: a handoff with no objective changed since the one before.

## What

An open handoff was written while all objectives of the task were as they had been at the handoff before, and no session
had been added. The objectives and the number of the newest session are recorded under `verified` of each document; a
document without both is not compared. A document that was still open at that time came from another branch, and does
not count as the handoff before.

## Why

Each handoff costs reading and writing. Two in a row without progress between them are a sign that the objective is too
large for one context, that it is blocked, or that progress is not recorded.

## Example

Phase 3 was handed over at 10:00 and at 11:30, without a session in between, and objective 2 was `in_progress` all the
time, without a note.

## Instead

Record what was done, with `taskstate session add`, or what was achieved, so that the next handoff shows progress:

```console
$ taskstate phase set 101 3 2 --status in_progress --note "4 of 5 cases proved"
```

Divide an objective that is too large with `taskstate phase extend`, and record it if one is blocked:
`taskstate phase set 101 3 2 --status blocked --note "waits for the schema"`.

## Configuration

`minimum-progress = false` in `[tool.taskstate.handoff]` turns this off. Otherwise `taskstate handoff new` refuses such
a handoff too, unless `--force` is given.
"""

from __future__ import annotations

from taskstate.handoff.document import OPEN
from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostics, Rule
from taskstate.model.tool_blocks import read_seen_state
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.handoff.document import WrittenHandoff
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS806", __name__, "a handoff with no objective changed since the one before", severity=WARNING, reads=FRONT_MATTER
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the recorded objectives."""
    values, verified = facts.values, read_seen_state(facts.values.get("verified"))
    objectives, sessions, time = verified.objectives, verified.sessions, values.get("created_at")
    if not (facts.config.handoff.minimum_progress and objectives and time and values.get("status") == OPEN):
        return
    earlier = [each for each in facts.queries.handoffs() or () if each.created_at < time and _was_accepted(each, time)]
    last = max(earlier, key=lambda each: each.created_at, default=None)
    if last and sessions is not None and (last.objectives, last.sessions) == (objectives, sessions):
        yield RULE.at(
            facts.value_span("verified", "objectives"),
            f"no objective has changed and no session was added since the handoff before, of {last.created_at}",
            help=f"record what was done (`taskstate session add {facts.shown_id} --did T --state T --next T`), "
            f"or what was reached (`taskstate phase set {facts.shown_id} P N --status done`)",
        )


def _was_accepted(earlier: WrittenHandoff, time: str) -> bool:
    """Return whether an earlier document had been accepted at a time."""
    return earlier.status != OPEN and earlier.accepted_at <= time
