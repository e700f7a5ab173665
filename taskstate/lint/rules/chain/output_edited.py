"""output-edited: the output of a complete task was edited after its completion.

## What

`output.sha256`, which the command wrote that completed the task, is the hash of its Chain Output. The Chain Output was
edited since.

## Why

Tasks downstream have pulled the output, and were built on it. What they quote and what stands here are two stories
then, and nobody was told of the second one.

## Example

`two tables` was handed down when task 100 was completed; now its Chain Output says `three tables`.

## Instead

Take the edit back. If the new words are right, complete the task with them, which hands them down:

```console
$ taskstate reopen 100 --note "the output was wrong"
$ taskstate complete 100
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import Diagnostics, Rule
from taskstate.lint.facts.session_history import comparable
from taskstate.lint.facts.wording import first_change, shown_by
from taskstate.model.chain import OUTPUT, is_as_completed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TS907", __name__, "the output of a complete task was edited after its completion")


def check(facts: Facts) -> Diagnostics:
    """Yield at most one finding, where an earlier version shows what changed, or at the heading of the output."""
    section = facts.state.section(OUTPUT)
    if not facts.is_complete or section is None or is_as_completed(facts.document):
        return
    past = (each for each in comparable(facts) if each.is_complete and is_as_completed(each.document))
    then = next(((each.document, part) for each in past if (part := each.state.section(OUTPUT))), None)
    place = first_change(facts.document, section.body, then[1].body.of(then[0].text)) if then else section.heading
    message = "this output was edited after the task was completed"
    again = f'`taskstate reopen {facts.shown_id} --note "WHY"`, edit, and complete it again'
    yield RULE.at(place, message, help=f"undo the change{shown_by(facts.queries, changed=facts.changed)}, or {again}")
