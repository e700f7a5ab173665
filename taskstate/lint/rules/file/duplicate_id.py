"""duplicate-id: two state files of the repository have the same id.

## What

Another state file, in any folder, has the same id in its file name. Ids that differ only in case count as the same,
since some file systems cannot tell them apart. Each of the files has the finding, and its message names the others.
Archives and handoffs of the same task are no duplicates.

## Why

A command that is given the id cannot know which file is meant: it refuses, or takes the one in the tasks folder.
Sessions are then written to one file and looked for in the other. It happens when two branches both create the next
task, or when somebody keeps a copy of a file.

## Example

```text
.taskstate/tasks/task-101-state.md
docs/old/task-101-state.md
```

## Instead

If they are two tasks, give one of them another id: in its file name, in `task_id` and in its title line. If one is a
copy, delete it (git keeps it), or give it a name that no state file has, such as `task-101-before.md`.

## Configuration

Files that merely have such names, such as test data, can be excluded: `exclude = ["tests/data/**"]` in
`[tool.taskstate]`.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WHOLE, Diagnostics, Rule
from taskstate.lint.facts.wording import cut
from taskstate.messages import typed_path
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS011", __name__, "two state files of the repository have the same id", reads=WHOLE)

_MAX_NAMES = 3  # other files that the message lists


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, at `task_id`; none in the committed file where the others are new."""
    others = facts.queries.same_id() or ()
    path = f"{facts.folder}/{facts.name}".lstrip("/")
    own = typed_path(path)
    changed = facts.queries.changed_paths() or ()
    # It is told in those that came since; of two that did, in the second one.
    is_told = facts.past is not None and all(each in changed and (facts.past or path < each) for each in others)
    if others and not is_told:
        named = ", ".join(cut(path) for path in others[:_MAX_NAMES]) + (" …" if len(others) > _MAX_NAMES else "")
        owners = "another state file has" if len(others) == 1 else f"{len(others)} other state files have"
        yield RULE.at(
            facts.value_span("task_id"),
            f"{owners} the id {facts.task_id}: {named}",
            help=f"delete this file if it is a copy; else `taskstate doctor renumber {own} NEW` gives it its own id",
        )
