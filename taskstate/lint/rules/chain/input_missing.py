"""input-missing: an upstream task is complete, and its output is not among the Chain Inputs.

## What

`depends_on` names a task with status `complete` and a Chain Output, and the section Chain Inputs of this file has
nothing from it. Text under a heading `### From Task #100: …` counts, also if it was written by hand; an empty section
or a placeholder does not. A complete task keeps the inputs on which it was built, and is not looked at. The finding is
at the id in `depends_on`.

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
from taskstate.lint.facts.upstreams import completed_upstream, is_own_task, takes_inputs
from taskstate.model.chain import has_input
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


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each item of `depends_on` whose output is available and was not pulled."""
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
