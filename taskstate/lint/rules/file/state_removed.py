"""state-removed: a state file is gone, and its task was neither complete nor dropped.

## What

The compared revision (`--against REV`) has a state file that no longer exists, neither there nor under another name,
and its task was neither complete nor dropped. The finding names the removed file; it is reported where the folder of
that file is linted. Moved files are recognised, and tasks that got another id.

## Why

With the state file, all knowledge about the task is removed: what was tried, what was decided, what is left to do. Git
still has it, but nobody looks there for a task that no list shows any more.

## Example

```console
$ git rm .taskstate/tasks/task-101-state.md     # while 101 is in progress
```

## Instead

Restore the file with `git checkout REV -- path`. A task that is finished should be completed first, `taskstate complete
101`, and one that is given up dropped: `taskstate drop 101 --note "the library does it now"`. Then its file may go.

## Configuration

`per-file-ignores` silences this for files that may be removed at any time: `{ "scratch/**" = ["TS012"] }`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import WARNING, WHOLE, Diagnostic, Rule
from taskstate.model.statuses import CLOSED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document

RULE = Rule(
    code="TS012",
    name="state-removed",
    severity=WARNING,
    summary="a state file of the compared revision is gone, and its task was neither complete nor dropped",
    reads=WHOLE,
)


def check(document: Document, facts: Facts) -> Iterator[Diagnostic]:  # noqa: ARG001 - every rule takes both
    """Yield a finding for the removed file, at its first line, unless its task was complete or dropped."""
    status = facts.values.get("status")
    if status not in CLOSED:
        names = facts.queries.earlier_names()
        import shlex

        shown = f"; `git show {shlex.quote(names[0])}` prints it" if names else ""
        yield RULE.at(
            facts.first_line,
            f"the state file of task {facts.shown_id} is gone, and the task was {status or 'not complete'}",
            help=f"take it back, and complete or drop the task before its file goes{shown}",
        )
