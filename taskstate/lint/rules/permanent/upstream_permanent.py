"""upstream-permanent: `depends_on` names a permanent task.

## What

A task waits for a permanent task. That one is no work: it is kept up to date for as long as the work goes on, and has
no output that it could hand down.

## Why

The task can never begin: `next` leaves it out, and `start` names what it waits for, until somebody closes the shared
context that all others still read. Every task reads the permanent task anyway, without being told where it is.

## Example

Task 1 has `kind: permanent`:

```yaml
task_id: "101"
depends_on: ["1", "100"]
```

## Instead

```yaml
task_id: "101"
depends_on: ["100"]
```
"""

from __future__ import annotations

from taskstate.lint.diagnostics import FRONT_MATTER, Diagnostics, Rule
from taskstate.lint.facts.upstreams import is_own_task
from taskstate.model.permanent import PERMANENT
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts

RULE = Rule.of("TSP08", __name__, "`depends_on` names a permanent task", reads=FRONT_MATTER)


def check(facts: Facts) -> Diagnostics:
    """Yield a finding for each item of `depends_on` that is a permanent task; its own id is no upstream."""
    for dependency in facts.dependencies:
        if is_own_task(facts, dependency.id):
            continue
        if any(each.kind == PERMANENT for each in facts.queries.upstream(dependency.id) or ()):
            yield RULE.at(
                dependency.span,
                f"task {dependency.id} is a permanent task, which has no output to pull",
                help=f"remove {dependency.id} from `depends_on`: every task reads the permanent task anyway",
            )
