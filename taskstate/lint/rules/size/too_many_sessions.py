"""too-many-sessions: a task has taken so many sessions that it may be several tasks.

## What

The Progress Log and the archive together have more than `max-sessions` (20) sessions, and the task is neither
complete nor dropped, nor dismissed until it has grown by ten. The help suggests subtasks for its open features.

## Why

A task that needs more than twenty sessions was not one task. Whoever continues it reads a summary of a summary, the
checklist mixes what is long done with what nobody has begun, and every task that depends on a part of it must wait for
all of it.

## Example

```text
task-101-state.md  31 sessions, 26 of them archived; 2 of 8 features are open
```

## Instead

`taskstate decompose 101` suggests how to divide it, and with `--apply` creates the subtasks and moves the open features
there. A moved feature stays in the list with the id of its subtask, and no longer counts here:

```json
{"id": "jwt-7", "description": "rotates keys", "passes": false, "tested_at": null, "moved_to": "101a"}
```

Then complete this task with what it has achieved. `taskstate decompose 101 --dismiss` leaves it as it is: nothing is
said of its sessions until there are ten more.

## Configuration

`[tool.taskstate.size]`: `max-sessions = 20`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Rule
from taskstate.tasks.task_size import advice, is_too_long
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS503", __name__, "over 20 sessions: consider a decomposition, with the one suggested", severity=WARNING
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the first line; none where the sessions cannot be counted."""
    total, size = facts.too_many_sessions, facts.config.size
    if facts.values.get("status") is None or not facts.sessions_known:
        return
    if total and is_too_long(facts.state, size):
        yield RULE.at(
            facts.first_line,
            f"the task has {total} sessions; more than {size.max_sessions} are too many for one task",
            help="; ".join(advice(facts.state._replace(id=facts.shown_id))),
        )
