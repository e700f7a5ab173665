"""task-file-changed: the task file is no longer the one that the context was taken from.

## What

`context.task_file` names the task file that section 1 was taken from, and `context.task_file_sha` is git's id of its
content at that time. The content has changed, or the file does not exist. Line ends do not count, since a checkout may
change them. Complete tasks are not checked.

## Why

Somebody has changed the definition of the task in a file that those who work on it no longer look at. Either the work
must follow, or the task file is wrong.

## Example

```yaml
context:
  task_file: tasks/TASK-0101.task.yaml
  task_file_sha: "9b1deb4d3b7d4bad9bdd2b0d7b3dcb6d1f0a2c3e"   # and the file has another criterion since
```

## Instead

See what differs, and update the context (if it is not sealed yet: with `taskstate context init`):

```console
$ taskstate context check 101
$ taskstate context rebuild 101
```

If the file has another name now: `taskstate context rebuild 101 --from tasks/auth/TASK-0101.task.yaml`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, WARNING, Diagnostics, Rule
from taskstate.lint.facts.citations import is_closed
from taskstate.lint.facts.wording import shown
from taskstate.model.static_context import is_sealed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS604", __name__, "the task file's SHA differs from `context.task_file_sha`", severity=WARNING, reads=FRONT_MATTER
)


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at the hash, or at the name of a file that does not exist."""
    name, sha = facts.blocks.context.task_file, facts.blocks.context.task_file_sha
    if not name or not sha or is_closed(facts):
        return
    ids = facts.queries.blob_ids(name)
    if ids is None or sha in ids:
        return
    sealed = is_sealed(facts.front_matter)
    verb = "rebuild" if sealed else "init"
    command = f"`taskstate context {verb} {facts.shown_id}`"
    if not ids:
        message = f"the task file {shown(name)} is not there, or cannot be read"
        named = f"`taskstate context {verb} {facts.shown_id} --from FILE`"
        yield RULE.at(facts.value_span("context", "task_file"), message, help=f"name where it is now: {named}")
    else:
        message = f"the task file {shown(name)} has changed since it was taken over"
        help_ = f"{command} takes over what it says now"
        yield RULE.at(facts.value_span("context", "task_file_sha"), message, help=help_)
