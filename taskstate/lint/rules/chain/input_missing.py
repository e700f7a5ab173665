"""input-missing: an upstream task is complete, and its output is not among the Chain Inputs.

## What

`depends_on` names a task with status `complete` and a Chain Output, and the section Chain Inputs of this file has
nothing from it. Text under a heading `### From Task #100: …` counts, also if it was written by hand; an empty section
or a placeholder does not. A complete task keeps the inputs on which it was built, and is not looked at. The finding is
at the id in `depends_on`.

Since the compared revision an input has lost the comment that says of which output it is (or the comment has another
form, which the fix fixes), or the task that it is from is not in `depends_on` any more: these are findings, too.

## Why

Whoever works on this task reads its own file, and not those of five others. The decisions, interfaces and warnings of
the upstream task are then worked out again, or missed.

## Example

```yaml
depends_on: ["100"]
```

```markdown
## 2. Chain Inputs

None.
```

## Instead

`taskstate lint --fix` pulls the output: it is quoted under a heading of its own, behind a comment with its revision,
and everything else in the section stays as it is.

```markdown
## 2. Chain Inputs

### From Task #100: Database Schema

<!-- taskstate: input 100 r9 sha256:9f86d081884c7d65 2024-11-26T14:00:00Z -->

> ### Summary
>
> Users table: id (UUID), email (unique), password_hash, created_at.
```

## Configuration

`[tool.taskstate.chain]`: `max-input-kb = 3`. Of a larger output each part is cut to its share.
"""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING, Diagnostics, Fix, Rule
from taskstate.lint.facts.moments import is_timestamp
from taskstate.lint.facts.upstreams import completed_upstream, is_own_task, takes_inputs
from taskstate.lint.facts.wording import first_line_of, shown
from taskstate.model.chain import has_input
from taskstate.syntax.edits import Edit
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of(
    "TS903",
    __name__,
    "an upstream task is complete, and its output is not among the Chain Inputs",
    severity=WARNING,
    fixable=True,
)

_NEEDS = "depends_on"
_COMMENT = r"<!--[ \t]*taskstate: input\b[^\r\n]*?(?:-->|(?=[\r\n]|\Z))"


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each item of `depends_on` whose output was not pulled, and for inputs half taken out."""
    if not any(facts.is_conflicted(each.section.span) for each in facts.input_headings):
        yield from _halves(facts)
    for dependency in facts.dependencies:
        if not takes_inputs(facts) or is_own_task(facts, dependency.id) or has_input(facts.document, dependency.id):
            continue
        upstream = completed_upstream(facts, dependency.id)
        if upstream:
            yield RULE.at(
                dependency.span,
                f"task {upstream.id} is complete, and its output is not among the Chain Inputs",
                help="`--fix` pulls it",
                fix=Fix(job="pull", about=upstream.id),
            )


def _halves(facts: Facts) -> Diagnostics:
    """Yield a finding for each input that has lost its comment, or its task in `depends_on`, since it was committed."""
    past, here = (facts.past or ()), {each.id.casefold() for each in facts.chain_inputs}
    comments = {each.id.casefold(): each.comment.of(then.document.text) for then in past for each in then.chain_inputs}
    needed = {each.id.casefold() for each in facts.dependencies}
    depended = {each.id.casefold() for then in past for each in then.dependencies}
    sound = {each.comment.start for each in facts.chain_inputs if is_timestamp(each.time)}
    for heading in facts.input_headings:
        key, span = heading.id.casefold(), first_line_of(facts.document, heading.section.heading)
        written = compiled(_COMMENT).search(facts.document.text, *heading.section.body)
        if written and key in comments and (key not in here or written.start() not in sound):
            yield RULE.at(
                Span(*written.span()),
                f"the comment of the input of task {heading.id} was changed, so it cannot be checked",
                help=f"write it again as it was: `{comments[key]}`",
                fix=Fix(edits=(Edit(*written.span(), comments[key]),)),
            )
        elif heading.is_filled and key in comments and key not in here:
            message = f"the input of task {heading.id} has lost its `taskstate: input` comment, so it cannot be checked"
            yield RULE.at(span, message, help=f"write below this line again: `{comments[key]}`")
        elif (heading.is_filled or key in here) and key in depended and key not in needed:
            message = f"task {heading.id} is no longer in `{_NEEDS}`, but {shown(heading.section.title)} is still here"
            place = facts.value_span(_NEEDS) if _NEEDS in facts.values else span
            yield RULE.at(place, message, help="write its id there again, or remove that part")
