"""upstream-unknown: `depends_on` or a Chain Input names a task that is not there.

## What

The file names a task, in `depends_on`, as the origin of a Chain Input, or in `moved_to` of a feature where that was not
committed so, and the repository has no state file with that id. Case does not matter: `AUTH-1` is `auth-1`. An id that
is in several places gives one finding, at the first. State files that git ignores, or that the configuration's
`exclude` leaves out, do not count.

## Why

The task waits for something that never comes: no output is handed on, and nothing says when to begin. Nearly always the
id is mistyped, or the upstream task was renamed or deleted and this file was forgotten. Where its file is gone since
the compared revision, the finding says so, with the command that takes it back; where that is a finding of its own
(TS012), this one is left out.

## Example

There is a task 100, and no task 10:

```yaml
task_id: "101"
depends_on: ["10"]
```

## Instead

```yaml
task_id: "101"
depends_on: ["100"]
```

If the upstream task is yet to be created, do so: `taskstate new 10 --title "Database Schema"`. If it was removed for
good, remove its id from `depends_on`, and move its output under another heading if it is still needed.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.upstreams import is_own_task
from taskstate.lint.facts.wording import first_line_of, taken_back
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document
    from taskstate.syntax.spans import Span

RULE = Rule.of("TS902", __name__, "`depends_on` or a Chain Input names a task that is not there")


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each unknown id, once, at the first place that names it."""
    seen: set[str] = set()
    for task_id, span, where in _named(facts.document, facts):
        key = task_id.casefold()
        if key in seen or is_own_task(facts, task_id):
            continue
        seen.add(key)
        if facts.queries.upstream(task_id) != ():
            continue
        gone = facts.queries.removed_task(task_id)
        if gone:
            message = f"the state file of task {task_id} is gone, and {where} names it"
            yield RULE.at(span, message, help=f"{taken_back(*gone)}; if it is to go, remove its id here")
        else:
            help_ = f"correct the id, or create the task with `taskstate new {task_id} --title TITLE`"
            yield RULE.at(span, f"there is no task {task_id}, and {where} names it", help=help_)


def _named(document: Document, facts: Facts) -> Iterator[tuple[str, Span, str]]:
    """Yield each upstream id that the file names, with its span and, in words, where it is named."""
    for dependency in facts.dependencies:
        yield dependency.id, dependency.span, "`depends_on`"
    for feature in facts.sound_features("moved_to", among=facts.moved_features):
        if not facts.was_there(f'"{feature.values["moved_to"]}"'):
            yield feature.values["moved_to"], feature.span("moved_to"), "`moved_to`"
    for heading in facts.input_headings:
        yield heading.id, first_line_of(document, heading.section.heading), "a Chain Input"
    for pulled in facts.chain_inputs:
        yield pulled.id, pulled.comment, "a Chain Input"
